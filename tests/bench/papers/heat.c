/* SPDX-License-Identifier: GPL-3.0-or-later
 * Yan, Tables 1 to 5, HEAT: heat diffusion through a wire. Every rank has a stretch of the wire and sends
 * its end points to its neighbours at every step; the neighbours' points are taken from anybody with one
 * tag, so left and right race, and a point of the next step may come before one of this step.
 * heat [STEPS=750] [POINTS=900]
 */
#include "papers.h"

enum { DEAL = 1, EDGE, RESULT };

/* An end point, and the step it is of; sent as two doubles. */
struct edge {
    double step, value;
};

struct wire {
    struct world world;
    int n, first, count;
    double *now, *next;  /* own points at 1 to count, the neighbours' beside them */
    struct edge kept[2]; /* of the next step, come early: from the left, from the right */
};

static double at_first(int point, int n)
{
    return 100.0 * sin(3.14159265358979323846 * (point + 1.0) / (n + 1.0));
}

static void diffuse(const double *from, double *to, int count)
{
    for (int i = 1; i <= count; ++i)
        to[i] = from[i] + 0.4 * (from[i - 1] - 2.0 * from[i] + from[i + 1]);
}

static void swap(struct wire *wire)
{
    double *old = wire->now;
    wire->now = wire->next;
    wire->next = old;
}

static void deal(struct wire *wire)
{
    const int rank = wire->world.rank, size = wire->world.size;
    double *points = room((size_t)wire->n, sizeof *points);
    for (int i = 0; i < wire->n && rank == 0; ++i)
        points[i] = at_first(i, wire->n);
    for (int to = 1; to < size && rank == 0; ++to) {
        const int first = first_of(wire->n, size, to);
        MPI_Send(points + first, first_of(wire->n, size, to + 1) - first, MPI_DOUBLE, to, DEAL,
                 MPI_COMM_WORLD);
    }
    if (rank == 0)
        memcpy(wire->now + 1, points, (size_t)wire->count * sizeof *points);
    else
        MPI_Recv(wire->now + 1, wire->count, MPI_DOUBLE, 0, DEAL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(points);
}

/* Puts the neighbours' points of this step beside the own ones; the ends of the wire are kept at zero. */
static void exchange(struct wire *wire, int step)
{
    const int rank = wire->world.rank, size = wire->world.size;
    double *beside[2] = {&wire->now[0], &wire->now[wire->count + 1]};
    int missing = 0;
    for (int side = 0; side < 2; ++side) {
        const int to = rank + (side == 0 ? -1 : 1);
        const struct edge edge = {step, wire->now[side == 0 ? 1 : wire->count]};
        *beside[side] = 0.0;
        if (to < 0 || to >= size)
            continue;
        MPI_Send(&edge, 2, MPI_DOUBLE, to, EDGE, MPI_COMM_WORLD);
        if (wire->kept[side].step == step)
            *beside[side] = wire->kept[side].value;
        else
            ++missing;
    }
    while (missing > 0) {
        struct edge edge;
        MPI_Status status;
        MPI_Recv(&edge, 2, MPI_DOUBLE, MPI_ANY_SOURCE, EDGE, MPI_COMM_WORLD, &status);
        const int side = status.MPI_SOURCE > rank;
        if (edge.step > step) {
            wire->kept[side] = edge;
        } else {
            *beside[side] = edge.value;
            --missing;
        }
    }
}

/* A result begins with where it belongs. */
static void collect(const struct wire *wire, double *points)
{
    const int rank = wire->world.rank, size = wire->world.size, most = wire->n / size + 2;
    double *result = room((size_t)most, sizeof *result);
    result[0] = wire->first;
    memcpy(result + 1, wire->now + 1, (size_t)wire->count * sizeof *result);
    if (rank != 0)
        MPI_Send(result, wire->count + 1, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD);
    else
        memcpy(points, wire->now + 1, (size_t)wire->count * sizeof *result);
    for (int i = 1; i < size && rank == 0; ++i) {
        MPI_Status status;
        int count;
        MPI_Recv(result, most, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        memcpy(points + (int)result[0], result + 1, (size_t)(count - 1) * sizeof *result);
    }
    free(result);
}

static double greatest_error(const double *points, int n, int steps)
{
    struct wire alone = {.now = room((size_t)n + 2, sizeof(double)),
                         .next = room((size_t)n + 2, sizeof(double))};
    double most = 0.0;
    for (int i = 0; i < n; ++i)
        alone.now[i + 1] = at_first(i, n);
    for (int step = 1; step <= steps; ++step) {
        diffuse(alone.now, alone.next, n);
        swap(&alone);
    }
    for (int i = 0; i < n; ++i)
        most = worse(most, fabs(points[i] - alone.now[i + 1]));
    free(alone.now);
    free(alone.next);
    return most;
}

int main(int argc, char **argv)
{
    struct wire wire = {.world = begin(&argc, &argv, 2)};
    const int steps = argument(argc, argv, 1, 750), n = wire.n = argument(argc, argv, 2, 900);
    const int rank = wire.world.rank, size = wire.world.size;
    double *points = room((size_t)n, sizeof *points);
    if (n < size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    wire.first = first_of(n, size, rank);
    wire.count = first_of(n, size, rank + 1) - wire.first;
    wire.now = room((size_t)wire.count + 2, sizeof *wire.now);
    wire.next = room((size_t)wire.count + 2, sizeof *wire.next);
    deal(&wire);
    for (int step = 1; step <= steps; ++step) {
        exchange(&wire, step);
        diffuse(wire.now, wire.next, wire.count);
        swap(&wire);
    }
    collect(&wire, points);
    const int ok = rank != 0 || greatest_error(points, n, steps) < 1e-9;
    const double middle = points[n / 2];
    free(points);
    free(wire.now);
    free(wire.next);
    return verdict(wire.world, "heat", ok, "points=%d steps=%d middle=%.9f", n, steps, middle);
}
