/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control flow, messages and output depend on the clock, the process id, random numbers and the host's name: before
   MPI_Init, between, and after MPI_Finalize. clocks [crash] */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static uint64_t hash = 1469598103934665603u;
static void mix(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; ++i)
        hash = (hash ^ p[i]) * 1099511628211u;
}
static void show(const char *what)
{
    printf("%s %016llx\n", what, (unsigned long long)hash);
    fflush(stdout);
}

static void ask_all(void)
{
    struct timespec t;
    struct timeval v;
    unsigned char bytes[700];
    char name[256];
    for (clockid_t id = 0; id < 8; ++id) {
        clock_gettime(id, &t);
        mix(&t, sizeof t);
    }
    timespec_get(&t, TIME_UTC);
    mix(&t, sizeof t);
    gettimeofday(&v, NULL);
    mix(&v, sizeof v);
    const time_t now = time(NULL);
    mix(&now, sizeof now);
    const clock_t used = clock();
    mix(&used, sizeof used);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    mix(&usage, sizeof usage);
    struct tms cpu;
    const clock_t ticks = times(&cpu);
    mix(&ticks, sizeof ticks);
    mix(&cpu, sizeof cpu);
    const pid_t pid = getpid();
    mix(&pid, sizeof pid);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes || getrandom(bytes, 512, 0) != 512)
        abort();
    mix(bytes, sizeof bytes);
    if (getentropy(bytes, 256) != 0)
        abort();
    mix(bytes, 256);
    gethostname(name, sizeof name);
    mix(name, strlen(name));
    FILE *stream = fopen("/dev/urandom", "rb");
    if (stream == NULL || fread(bytes, 1, 300, stream) != 300)
        abort();
    mix(bytes, 300);
    const int c = fgetc(stream);
    mix(&c, sizeof c);
    fclose(stream);
    const int fd = open("/dev/urandom", O_RDONLY);
    if (read(fd, bytes, 16) != 16)
        abort();
    mix(bytes, 16);
    close(fd);
#if __GLIBC__ > 2 || __GLIBC_MINOR__ >= 36
    uint32_t number = arc4random();
    mix(&number, sizeof number);
    number = arc4random_uniform(1000);
    mix(&number, sizeof number);
    arc4random_buf(bytes, 33);
    mix(bytes, 33);
#endif
    const double w = MPI_Wtime();
    mix(&w, sizeof w);
}

int main(int argc, char **argv)
{
    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    int seeded = rand();
    mix(&seeded, sizeof seeded);
    ask_all();
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    show("before");
    for (int round = 0; round < 20; ++round) {
        ask_all();
        /* who sends to whom, and how often, is up to chance */
        struct { uint64_t hash; int pid; int more; } out = {hash, (int)getpid(), rand() % 3}, in;
        MPI_Send(&out, sizeof out, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD);
        MPI_Recv(&in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mix(&in, sizeof in);
        for (int i = 0; i < out.more; ++i)
            MPI_Send(&out, sizeof out, MPI_BYTE, (rank + 1) % size, 2, MPI_COMM_WORLD);
        for (int i = 0; i < in.more; ++i)
            MPI_Recv(&in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        usleep(50 + rand() % 100);
        clock_gettime(CLOCK_MONOTONIC, &after);
        if ((after.tv_nsec - before.tv_nsec) / 1000 % 2 != 0)
            MPI_Barrier(MPI_COMM_SELF);
        if (round == 10 && rank == 0 && argc > 1 && strcmp(argv[1], "crash") == 0) {
            show("crash");
            abort();
        }
    }
    show("rounds");
    const double start = MPI_Wtime();
    long polls = 0;
    int flag = 0;
    while (MPI_Wtime() < start + 0.05) {
        if (++polls % 1000 == 0)
            MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    mix(&polls, sizeof polls);
    show("polled");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    ask_all();
    show("after");
    return 0;
}
