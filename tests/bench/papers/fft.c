/* SPDX-License-Identifier: GPL-3.0-or-later
 * Yan, Tables 1 to 5, FFT: fast Fourier transform of a small vector that is dealt out over all ranks. After
 * every stage (bit reversal, the butterflies, the power spectrum) each rank sends its share to every other
 * rank and takes the shares of the others as they come.
 * fft [POINTS=128]: a power of two
 */
#include <complex.h>

#include "papers.h"

enum { INPUT = 1, POWER, STAGE, SEED = 128 };

struct transform {
    struct world world;
    int n, bits;
    double complex *values, *next;
    double *power;
};

static double complex root(long numerator, int n)
{
    const double angle = -2.0 * 3.14159265358979323846 * (double)numerator / n;
    return cos(angle) + I * sin(angle);
}

static int reversed(int index, int bits)
{
    int result = 0;
    for (int bit = 0; bit < bits; ++bit)
        result |= (index >> bit & 1) << (bits - 1 - bit);
    return result;
}

/* Point index of a butterfly stage, 1 to bits, from all points of the stage before. */
static double complex butterfly(const struct transform *transform, int stage, int index)
{
    const int half = 1 << (stage - 1), within = index & (half - 1);
    const double complex even = transform->values[index & ~half];
    const double complex odd = transform->values[index | half] * root(within, 2 * half);
    return index & half ? even - odd : even + odd;
}

/* Sends the own share of a vector to all, receives the others' from anybody. */
static void spread(const struct transform *transform, void *vector, int doubles, int stage)
{
    const int rank = transform->world.rank, size = transform->world.size, n = transform->n;
    double *share = room((size_t)(n / size + 1) * (size_t)doubles, sizeof *share), *all = vector;
    MPI_Request *requests = room((size_t)size, sizeof(MPI_Request));
    const int first = first_of(n, size, rank), count = (first_of(n, size, rank + 1) - first) * doubles;
    int sends = 0;
    for (int to = 0; to < size; ++to)
        if (to != rank)
            MPI_Isend(&all[first * doubles], count, MPI_DOUBLE, to, STAGE + stage, MPI_COMM_WORLD,
                      &requests[sends++]);
    for (int i = 1; i < size; ++i) {
        MPI_Status status;
        MPI_Recv(share, (n / size + 1) * doubles, MPI_DOUBLE, MPI_ANY_SOURCE, STAGE + stage, MPI_COMM_WORLD,
                 &status);
        const int begins = first_of(n, size, status.MPI_SOURCE);
        const int ends = first_of(n, size, status.MPI_SOURCE + 1);
        memcpy(&all[begins * doubles], share, (size_t)(ends - begins) * doubles * sizeof *share);
    }
    MPI_Waitall(sends, requests, MPI_STATUSES_IGNORE);
    free(requests);
    free(share);
}

static void deal(const struct transform *transform)
{
    uint64_t state = SEED;
    for (int i = 0; i < transform->n && transform->world.rank == 0; ++i) {
        const double real = (double)(next_random(&state) % 2001) / 1000.0 - 1.0;
        transform->values[i] = real + I * ((double)(next_random(&state) % 2001) / 1000.0 - 1.0);
    }
    for (int to = 1; to < transform->world.size && transform->world.rank == 0; ++to)
        MPI_Send(transform->values, 2 * transform->n, MPI_DOUBLE, to, INPUT, MPI_COMM_WORLD);
    if (transform->world.rank != 0)
        MPI_Recv(transform->values, 2 * transform->n, MPI_DOUBLE, 0, INPUT, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Returns the power in the own share of the spectrum. */
static double run(struct transform *transform)
{
    const int n = transform->n, rank = transform->world.rank, size = transform->world.size;
    const int begins = first_of(n, size, rank), ends = first_of(n, size, rank + 1);
    double power = 0.0;
    for (int stage = 0; stage <= transform->bits; ++stage) {
        for (int i = begins; i < ends; ++i)
            transform->next[i] =
                stage == 0 ? transform->values[reversed(i, transform->bits)] : butterfly(transform, stage, i);
        spread(transform, transform->next, 2, stage);
        double complex *old = transform->values;
        transform->values = transform->next;
        transform->next = old;
    }
    for (int i = begins; i < ends; ++i) {
        const double size_of_point = cabs(transform->values[i]);
        power += transform->power[i] = size_of_point * size_of_point / n;
    }
    spread(transform, transform->power, 1, transform->bits + 1);
    return power;
}

/* Against the definition of the transform; the power must be that of the input (Parseval). */
static int right(const struct transform *transform, const double complex *input, double power)
{
    double sum = 0.0, spectrum = 0.0;
    int ok = 1;
    for (int k = 0; k < transform->n; ++k) {
        double complex value = 0.0;
        for (int i = 0; i < transform->n; ++i)
            value += input[i] * root((long)i * k % transform->n, transform->n);
        ok = ok && cabs(value - transform->values[k]) < 1e-8;
        sum += creal(input[k] * conj(input[k]));
        spectrum += transform->power[k];
    }
    return ok && fabs(sum - power) < 1e-8 * sum && fabs(sum - spectrum) < 1e-8 * sum;
}

int main(int argc, char **argv)
{
    struct transform transform = {.world = begin(&argc, &argv, 2)};
    const int n = transform.n = argument(argc, argv, 1, 128), rank = transform.world.rank;
    double complex *input = room((size_t)n, sizeof *input);
    int ok = (n & (n - 1)) == 0;
    if (!ok)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (1 << transform.bits < n)
        ++transform.bits;
    transform.values = room((size_t)n, sizeof *transform.values);
    transform.next = room((size_t)n, sizeof *transform.next);
    transform.power = room((size_t)n, sizeof *transform.power);
    deal(&transform);
    memcpy(input, transform.values, (size_t)n * sizeof *input);
    double power = run(&transform);
    if (rank != 0)
        MPI_Send(&power, 1, MPI_DOUBLE, 0, POWER, MPI_COMM_WORLD);
    for (int i = 1; i < transform.world.size && rank == 0; ++i) {
        double other;
        MPI_Recv(&other, 1, MPI_DOUBLE, MPI_ANY_SOURCE, POWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        power += other;
    }
    if (rank == 0)
        ok = right(&transform, input, power);
    free(input);
    free(transform.values);
    free(transform.next);
    free(transform.power);
    return verdict(transform.world, "fft", ok, "points=%d power=%.6f", n, power);
}
