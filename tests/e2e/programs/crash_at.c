/* SPDX-License-Identifier: GPL-3.0-or-later
 * Preloaded into a Fortran MPI program: rank R dies of SIGSEGV in its N-th call of those below.
 * CRASH_AT=R:N
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void count(void)
{
    static long left = -1;
    if (left < 0) {
        const char *at = getenv("CRASH_AT"), *rank = getenv("OMPI_COMM_WORLD_RANK");
        int victim = -1;
        long call = 0;
        left = 0;
        if (at && rank && sscanf(at, "%d:%ld", &victim, &call) == 2 && victim == atoi(rank))
            left = call;
    }
    if (left > 0 && --left == 0)
        raise(SIGSEGV);
}

/* Fortran passes pointers only; what is behind a routine's last argument is passed on unread. */
typedef void routine(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
#define COUNTED(name)                                                                                               \
    routine name;                                                                                                   \
    void name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j)             \
    {                                                                                                               \
        static routine *next;                                                                                       \
        if (!next)                                                                                                  \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                                              \
        count();                                                                                                    \
        next(a, b, c, d, e, f, g, h, i, j);                                                                         \
    }
COUNTED(mpi_send_)
COUNTED(mpi_isend_)
COUNTED(mpi_recv_)
COUNTED(mpi_irecv_)
COUNTED(mpi_probe_)
COUNTED(mpi_iprobe_)
COUNTED(mpi_wait_)
COUNTED(mpi_test_)
COUNTED(mpi_barrier_)
COUNTED(mpi_bcast_)
COUNTED(mpi_allreduce_)
COUNTED(mpi_reduce_)
