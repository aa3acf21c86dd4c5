/* SPDX-License-Identifier: GPL-3.0-or-later
 * Memory of a rank that receives much: incoming [MIB=1024] [KIB=64]; rank 0 sends so many mebibytes in messages of so many
 * kibibytes, rank 1 receives them. Kilobytes that rank 1 had resident at most, its proportional share of them at the end,
 * which counts what is mapped, and its seconds of processors (not by getrusage, which a replay answers as recorded).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long kilobytes_of(const char *file, const char *name)
{
    char line[256];
    long kilobytes = -1;
    FILE *status = fopen(file, "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), " %ld", &kilobytes) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kilobytes;
}

static double processors(void)
{
    long user = 0, system = 0;
    FILE *status = fopen("/proc/self/stat", "r");
    if (status == NULL || fscanf(status, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) != 2)
        user = system = 0;
    if (status != NULL)
        fclose(status);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const long mebibytes = argc > 1 ? atol(argv[1]) : 1024;
    const int bytes = (argc > 2 ? atoi(argv[2]) : 64) * 1024;
    const long messages = mebibytes * 1024 * 1024 / bytes;
    char *data = malloc((size_t)bytes);
    memset(data, rank, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (long i = 0; i < messages; ++i) {
        memcpy(data, &i, rank == 0 ? sizeof i : 0);
        if (rank == 0)
            MPI_Send(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    const double seconds = MPI_Wtime() - start;
    if (rank == 1)
        printf("bench=incoming kilobytes=%ld share=%ld processors=%.2f seconds=%.6f\n", kilobytes_of("/proc/self/status", "VmHWM:"),
               kilobytes_of("/proc/self/smaps_rollup", "Pss:"), processors(), seconds);
    free(data);
    MPI_Finalize();
    return 0;
}
