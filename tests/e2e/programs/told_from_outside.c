/* SPDX-License-Identifier: GPL-3.0-or-later */
/* told_from_outside FILE: works until FILE is there, reads a number from it and removes it, and until a signal SIGUSR1 has come:
 * both are told by somebody else, and when it is makes the output. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_signal(int number) { told = number; } /* handler */

int main(int argc, char **argv)
{
    int value = -1, rounds = 0;
    struct sigaction action, again;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    MPI_Init(&argc, &argv);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR1, NULL, &again);
    sigaction(SIGXCPU, &action, NULL); /* as batch systems send it */
    signal(SIGCONT, on_signal);
    sigset(SIGHUP, on_signal);
    __sysv_signal(SIGALRM, on_signal);
    if (argc < 2 || again.sa_handler != on_signal || (again.sa_flags & SA_SIGINFO) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    while (rounds++ < 2000 && (value < 0 || told == 0)) {
        FILE *file = fopen(argv[1], "r");
        if (file != NULL) {
            if (fscanf(file, "%d", &value) != 1)
                value = -1;
            fclose(file);
            if (value >= 0)
                remove(argv[1]);
        }
        usleep(5000);
    }
    printf("told %d and %d\n", value, told != 0);
    FILE *own = fopen("own", "w"); /* what it wrote itself is no news to it */
    fprintf(own, "%d\n", rounds);
    fclose(own);
    own = fopen("own", "r");
    if (own == NULL || fscanf(own, "%d", &rounds) != 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    fclose(own);
    MPI_Finalize();
    return 0;
}
