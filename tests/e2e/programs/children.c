/* SPDX-License-Identifier: GPL-3.0-or-later */
/* children: processes that a rank makes in all ways there are, and that ask for the time as it does. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t made(int how)
{
    if (how == 0)
        return fork();
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
    if (how == 1)
        return _Fork();
#endif
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
    struct timespec time;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_gettime(CLOCK_REALTIME, &time);
    for (int how = 0; how < 3; ++how) {
        int status = 0;
        const pid_t child = made(how);
        if (child == 0) {
            time.tv_sec = 0;
            for (int i = 0; i < 1000; ++i)
                clock_gettime(CLOCK_REALTIME, &time);
            MPI_Wtime();
            _exit(time.tv_sec > 0 ? 7 : 1);
        }
        waitpid(child, &status, 0);
        printf("child %d: %s %d\n", how, WIFSIGNALED(status) ? "signal" : "exit", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        clock_gettime(CLOCK_REALTIME, &time);
        printf("%ld.%09ld\n", (long)time.tv_sec, time.tv_nsec);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
