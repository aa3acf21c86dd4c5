/* SPDX-License-Identifier: GPL-3.0-or-later
 * harvest: what will a field trial yield?
 *
 * Rank 0 is the station. It hands out the plots of the field one at a time; the other ranks are
 * growers, who grow the crop on a plot minute by minute through its season and send back what it
 * weighs. When no plot is left a grower is sent home, and reports what it brought in, with the
 * bootstrap error of its mean.
 */
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLOTS = 13, MAX_RANKS = 64, MINUTES_A_DAY = 1440, RESAMPLES = 160000 };
enum { TAG_GROW = 1, TAG_HOME = 2, TAG_YIELD = 3, TAG_REPORT = 4 };

struct plot {
    int number;
    int days;           /* from sowing to harvest */
    double capacity;    /* kg that the soil can carry */
    double vigour;      /* growth per minute of full light */
};

struct parcel {
    int number;         /* of the plot; in a report, how many plots */
    double kilograms;
    double error;       /* of the mean, in a report; a yield has none: -1 */
};

struct trial {
    struct plot plots[PLOTS];
    double kilograms[PLOTS];
    int given[MAX_RANKS];      /* plots handed to each grower */
    int next;
};

static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("harvest: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    fflush(NULL);
    abort();
}

static void sow(struct trial *trial)
{
    for (int i = 0; i < PLOTS; ++i) {
        struct plot *plot = &trial->plots[i];
        plot->number = i;
        plot->days = 96 + (i * 5) % 9;
        plot->capacity = 140.0 + 11.0 * ((i * 7) % PLOTS);
        plot->vigour = 8.0e-5 + 2.0e-6 * (i % 4);
    }
}

/* Logistic growth in daylight. */
static double grow(const struct plot *plot)
{
    double mass = 0.5;
    const int season = plot->days * MINUTES_A_DAY;
    for (int minute = 0; minute < season; ++minute) {
        const double noon = fabs((minute % MINUTES_A_DAY) / 720.0 - 1.0);
        const double light = noon < 0.6 ? 1.0 - noon : 0.0;
        mass += plot->vigour * light * mass * (1.0 - mass / plot->capacity);
    }
    return mass;
}

/* Bootstrap: draw as many plots as there are, with replacement, and see how the mean spreads. */
static double error_of_mean(const double *kilograms, int count)
{
    unsigned long random = 12345;
    double sum = 0.0, squares = 0.0;
    for (int sample = 0; sample < RESAMPLES; ++sample) {
        double mean = 0.0;
        for (int i = 0; i < count; ++i) {
            random = random * 6364136223846793005ul + 1442695040888963407ul;
            mean += kilograms[(random >> 33) % (unsigned long)count];
        }
        mean /= count;
        sum += mean;
        squares += mean * mean;
    }
    sum /= RESAMPLES;
    return sqrt(fmax(0.0, squares / RESAMPLES - sum * sum));
}

/* The next plot for this grower, or home. */
static void send_out(struct trial *trial, int grower)
{
    if (trial->next == PLOTS) {
        MPI_Send(NULL, 0, MPI_BYTE, grower, TAG_HOME, MPI_COMM_WORLD);
        return;
    }
    const struct plot *plot = &trial->plots[trial->next++];
    trial->given[grower]++;
    MPI_Send(plot, (int)sizeof *plot, MPI_BYTE, grower, TAG_GROW, MPI_COMM_WORLD);
}

static void collect_yields(struct trial *trial)
{
    for (int weighed = 0; weighed < PLOTS; ++weighed) {
        struct parcel parcel;
        MPI_Status status;
        MPI_Recv(&parcel, (int)sizeof parcel, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        trial->kilograms[parcel.number] = parcel.kilograms;
        send_out(trial, status.MPI_SOURCE);
    }
}

/* One report from each grower; returns what they brought in together. */
static double collect_reports(const struct trial *trial, int growers)
{
    double total = 0.0;
    for (int i = 0; i < growers; ++i) {
        struct parcel report;
        MPI_Status status;
        MPI_Recv(&report, (int)sizeof report, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        const int grower = status.MPI_SOURCE;
        const int expected = trial->given[grower];
        if (report.number != expected || report.error < 0.0)
            fail("grower %d reports %d plots, %.1f kg, but was given %d", grower, report.number,
                 report.kilograms, expected);
        printf("grower %d: %2d plots, %7.1f kg, mean +- %.2f\n", grower, report.number,
               report.kilograms, report.error);
        total += report.kilograms;
    }
    return total;
}

static void run_station(int growers)
{
    struct trial trial = {0};
    double total = 0.0;
    sow(&trial);
    for (int grower = 1; grower <= growers; ++grower)
        send_out(&trial, grower);
    collect_yields(&trial);
    const double reported = collect_reports(&trial, growers);
    for (int i = 0; i < PLOTS; ++i)
        total += trial.kilograms[i];
    if (fabs(total - reported) > 1e-6)
        fail("the plots weigh %.1f kg, the growers report %.1f kg", total, reported);
    printf("harvest of %d plots: %.3f kg\n", PLOTS, total);
}

static void run_grower(void)
{
    double kilograms[PLOTS];
    static struct parcel report, parcel; /* so that what lies between their members is set, too */
    for (;;) {
        struct plot plot;
        MPI_Status status;
        MPI_Recv(&plot, (int)sizeof plot, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_HOME)
            break;
        parcel.number = plot.number, parcel.kilograms = grow(&plot), parcel.error = -1.0;
        MPI_Send(&parcel, (int)sizeof parcel, MPI_BYTE, 0, TAG_YIELD, MPI_COMM_WORLD);
        kilograms[report.number++] = parcel.kilograms;
        report.kilograms += parcel.kilograms;
    }
    if (report.number > 0)
        report.error = error_of_mean(kilograms, report.number);
    MPI_Send(&report, (int)sizeof report, MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2 || size > MAX_RANKS)
        fail("needs 2 to %d ranks, has %d", MAX_RANKS, size);
    if (rank == 0)
        run_station(size - 1);
    else
        run_grower();
    MPI_Finalize();
    return 0;
}
