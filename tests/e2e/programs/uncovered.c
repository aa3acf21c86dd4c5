/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is not covered, one a rank: 0 a socket, 1 a timer, 2 a second thread that asks for the time.
   uncovered FILE: also asks for the time as often as FILE says. */
#include <arpa/inet.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *asks(void *argument)
{
    *(time_t *)argument = time(NULL);
    return NULL;
}

static void child(const char *when)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(getpid() == (pid_t)syscall(SYS_getpid) ? 7 : 8);
    int status = 0;
    waitpid(pid, &status, 0);
    printf("child %s: %d\n", when, WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    int rank, times = 3;
    time_t now = time(NULL);
    child("before");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (file != NULL && fscanf(file, "%d", &times) == 1)
        fclose(file);
    for (int i = 0; i < times; ++i) {
        struct timeval t;
        unsigned char seed[4];
        now = time(NULL);
        gettimeofday(&t, NULL);
        FILE *random = fopen("/dev/urandom", "rb");
        if (fread(seed, 1, 4, random) != 4)
            abort();
        fclose(random);
        (void)getpid();
    }
    if (rank == 0)
        close(socket(AF_INET, SOCK_STREAM, 0));
    if (rank == 1) {
        const struct itimerval none = {{0, 0}, {0, 0}};
        setitimer(ITIMER_REAL, &none, NULL);
    }
    if (rank == 2) {
        pthread_t thread;
        pthread_create(&thread, NULL, asks, &now);
        pthread_join(thread, NULL);
    }
    child("between");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    child("after");
    return now == 0;
}
