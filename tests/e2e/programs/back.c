/* SPDX-License-Identifier: GPL-3.0-or-later
 * What a rank has that goes back: a total, memory, a file, a count of signals. Each pass is one event; in pass i the total is
 * that of all before. With "thread": a thread of its own sleeps meanwhile.
 *
 * With another word it has what a copy of it would not have, or would share with it: from the first pass on, but with a word
 * that ends in "-later" from pass kLater to pass kUntil only. g_value is then what it reads of that, and i + 1 in pass i. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long g_total;
static int g_children;
static long g_at; /* of the file */
static char *g_heap;
static int g_value;
static int g_atFork;
static int g_failed;
enum { kLater = 100, kUntil = 200 };

static void onChild(int number)
{
    (void)number;
    ++g_children;
}

static void *sleeper(void *unused)
{
    for (;;) {
        sleep(1000);
    }
    return unused;
}

/* -- what a copy of this process would not have, or share */

static const char *g_what = "";
static char g_name[4096];
static int g_ends[2] = {-1, -1}, g_file = -1, g_many[100];
static int *g_shared;
static pid_t g_child;
static FILE *g_piped;
static timer_t g_timer;
static int g_alarms;

static void onAlarm(int number)
{
    (void)number;
    ++g_alarms;
}

static void childOfFork(void)
{
    ++g_atFork;
}

static int has(const char *what)
{
    return strncmp(g_what, what, strlen(what)) == 0;
}

static void begins(void)
{
    const struct itimerspec soon = {{0, 0}, {1, 0}};
    struct sigevent silent;
    memset(&silent, 0, sizeof silent);
    silent.sigev_notify = SIGEV_NONE;
    if (has("pipe")) {
        g_failed += pipe(g_ends) != 0;
    } else if (has("socket")) {
        g_failed += socketpair(AF_UNIX, SOCK_STREAM, 0, g_ends) != 0;
    } else if (has("popen")) {
        g_piped = popen("cat > /dev/null", "w");
    } else if (has("shared")) {
        g_shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    } else if (has("child")) {
        g_child = fork();
        if (g_child == 0) {
            _exit(7);
        }
    } else if (has("alarm")) {
        signal(SIGALRM, onAlarm);
        alarm(2);
    } else if (has("timer")) {
        g_failed += timer_create(CLOCK_MONOTONIC, &silent, &g_timer) != 0;
        g_failed += timer_settime(g_timer, 0, &soon, NULL) != 0;
    } else if (has("many")) {
        for (int i = 0; i < 100; ++i) {
            g_many[i] = open("/proc/self/exe", O_RDONLY);
        }
    } else if (has("rw")) {
        const int zero = 0;
        g_file = open(g_name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        g_failed += pwrite(g_file, &zero, sizeof zero, 0) != sizeof zero;
    } else if (has("append")) {
        unlink(g_name);
        g_file = open(g_name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    } else if (has("lock") || has("late-lock")) {
        g_file = open(g_name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        g_failed += has("lock") && flock(g_file, LOCK_EX | LOCK_NB) != 0;
    } else if (has("atfork")) {
        pthread_atfork(NULL, NULL, childOfFork);
    }
}

static void uses(int i)
{
    int read_ = 0;
    g_value = i + 1;
    if (g_ends[0] >= 0) {
        g_failed += write(g_ends[1], &g_value, sizeof g_value) != sizeof g_value;
        g_failed += read(g_ends[0], &read_, sizeof read_) != sizeof read_;
        g_value = read_;
    } else if (g_shared != NULL) {
        g_value = ++*g_shared;
    } else if (has("rw") && g_file >= 0) {
        g_failed += pread(g_file, &read_, sizeof read_, 0) != sizeof read_;
        g_value = read_ + 1;
        g_failed += pwrite(g_file, &g_value, sizeof g_value, 0) != sizeof g_value;
    } else if (has("append") && g_file >= 0) {
        g_failed += write(g_file, "x", 1) != 1;
        g_value = (int)lseek(g_file, 0, SEEK_END);
    } else if (has("late-lock") && i % 40 == 39) { /* it has been open for a while, and copies have it */
        g_failed += flock(g_file, LOCK_EX | LOCK_NB) != 0;
        close(g_file);
        g_file = open(g_name, O_WRONLY);
    }
}

static void ends(void)
{
    int status = 0;
    if (g_ends[0] >= 0) {
        close(g_ends[0]);
        close(g_ends[1]);
        g_ends[0] = -1;
    }
    if (g_piped != NULL) {
        g_failed += pclose(g_piped) != 0;
    }
    if (g_shared != NULL) {
        munmap(g_shared, 4096);
        g_shared = NULL;
    }
    if (g_child != 0) {
        g_failed += waitpid(g_child, &status, 0) != g_child || WEXITSTATUS(status) != 7;
    }
    if (has("timer")) {
        g_failed += timer_delete(g_timer) != 0;
    }
    for (int i = 0; has("alarm") && g_alarms == 0 && i < 600; ++i) {
        usleep(10000);
    }
    g_failed += has("alarm") && g_alarms != 1;
    for (int i = 0; has("many") && i < 100; ++i) {
        close(g_many[i]);
    }
    if (g_file >= 0) {
        close(g_file);
        g_file = -1;
    }
}

static void event(int i)
{
    const int later = strstr(g_what, "-later") != NULL;
    if (i == (later ? kLater : 0)) {
        begins();
    }
    uses(i);
    if (later && i == kUntil) {
        ends();
    }
    MPI_Barrier(MPI_COMM_SELF);
}

static int hasTrouble(int passes, const char *what, const char *path)
{
    g_what = what;
    snprintf(g_name, sizeof g_name, "%s.trouble", path);
    for (int i = 0; i < passes; ++i) {
        event(i);
    }
    if (strstr(what, "-later") == NULL) {
        ends();
    }
    printf("failed %d, value %d\n", g_failed, g_value);
    MPI_Finalize();
    return g_failed != 0;
}

static void pass(int i, int rank, int size, FILE *file)
{
    int in = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    g_total += in;
    g_heap[i % 4096] = (char)in;
    fprintf(file, "%08d\n", in);
    fflush(file);
    g_at = (long)lseek(fileno(file), 0, SEEK_CUR);
}

int main(int argc, char **argv)
{
    int rank = 0, size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        return 2;
    }
    if (argc > 3 && strcmp(argv[3], "thread") != 0) {
        return hasTrouble(atoi(argv[1]), argv[3], argv[2]);
    }
    signal(SIGCHLD, onChild);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[2], rank);
    FILE *file = fopen(name, "w");
    g_heap = calloc(4096, 1);
    pthread_t thread;
    if (argc > 3 && strcmp(argv[3], "thread") == 0) {
        pthread_create(&thread, NULL, sleeper, NULL);
    }
    const int passes = atoi(argv[1]);
    for (int i = 0; i < passes; ++i) {
        pass(i, rank, size, file);
    }
    MPI_Finalize();
    int finalized = 0;
    MPI_Finalized(&finalized);
    printf("total %ld, %d children, finalized %d\n", g_total, g_children, finalized);
    fclose(file);
    return finalized ? 0 : 1;
}
