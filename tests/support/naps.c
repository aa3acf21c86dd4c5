// SPDX-License-Identifier: GPL-3.0-or-later
// Preloaded into what the tests run: a rank that waits sleeps. Open MPI asks the system for other processes' turns instead, MPICH
// looks for messages, both without end; where there are more ranks than processors that takes half of the time of the tests.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
static uint64_t ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#else
static uint64_t ticks(void)
{
    return 0;
}
#endif

enum { kLooks = 100, kWorkTicks = 50000, kNapNanoseconds = 50000 };

static __thread unsigned t_looks;
static __thread uint64_t t_last;

/* No value of the program's is read here, and no function of libc's called that a recording looks at. */
static int waits(void)
{
    if (ticks() - t_last > kWorkTicks)
        t_looks = 0; /* it has worked meanwhile */
    return ++t_looks >= kLooks;
}

static void nap(void)
{
    const struct timespec length = {0, kNapNanoseconds};
    syscall(SYS_nanosleep, &length, NULL);
}

int sched_yield(void)
{
    if (waits())
        nap();
    else
        syscall(SYS_sched_yield);
    t_last = ticks();
    return 0;
}

/* Of UCX, through which MPICH looks for messages; 0: there was nothing. */
unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    if (real == NULL) {
        void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        if (found == NULL)
            found = dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
        *(void **)&real = found;
    }
    const unsigned progress = real(worker);
    if (progress != 0)
        t_looks = 0;
    else if (waits())
        nap();
    t_last = ticks();
    return progress;
}
