/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kinds of input that a program may depend on, each a line "kind value". inputs DIRECTORY [KIND ...]: in a directory of
   files; without kinds, all of them. */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long number(const char *text) { return text == NULL ? -1 : atol(text); }

/* -- variables */
static long env_changed(void) { return number(getenv("INPUT_CHANGED")); }
static long env_new(void) { return number(getenv("INPUT_NEW")); }
static long env_gone(void) { return number(getenv("INPUT_GONE")); }
static long env_secure(void) { return number(secure_getenv("INPUT_SECURE")); }
static long env_secret(void) { return number(getenv("INPUT_TOKEN")); }
static long env_unsafe(void) { return number(getenv("INPUT_PLUGIN_PATH")); }
static long env_terminal(void) { return number(getenv("COLUMNS")); }
static long env_child(void) { return WEXITSTATUS(system("exit $INPUT_CHILD")); }
static long env_walked(void)
{
    for (char **entry = environ; *entry != NULL; ++entry)
        if (strncmp(*entry, "INPUT_WALKED=", 13) == 0)
            return atol(*entry + 13);
    return -1;
}
static long env_own(void)
{
    const char *before = getenv("INPUT_OWN");
    setenv("INPUT_OWN", "77", 1);
    const long set = number(getenv("INPUT_OWN"));
    unsetenv("INPUT_OWN");
    return before != NULL && getenv("INPUT_OWN") == NULL ? set : -1;
}

/* -- files */
static long from_stream(const char *path, const char *mode)
{
    long value = -1;
    FILE *file = fopen(path, mode);
    if (file != NULL) {
        if (fscanf(file, "%ld", &value) != 1)
            value = -2;
        fclose(file);
    }
    return value;
}
static long from_descriptor(int fd)
{
    char text[32] = "";
    if (fd < 0)
        return -1;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n < 0 ? -2 : atol(text);
}
static long file_changed(void) { return from_stream("file_changed", "r"); }
static long file_relative(void) { return from_stream("./sub/../file_relative", "r"); }
static long file_updated(void) { return from_stream("file_updated", "r+"); }
static long file_link(void) { return from_stream("file_link", "r"); }
static long file_gone(void) { return from_stream("file_gone", "r"); }
static long file_new(void) { return from_stream("file_new", "r"); }
static long file_both(void) { return from_descriptor(open("file_both", O_RDWR)); }
static long file_both_new(void) { return from_descriptor(open("file_both_new", O_RDWR | O_CREAT, 0600)); }
static long file_at(void)
{
    const int directory = open("sub", O_RDONLY | O_DIRECTORY);
    const long value = from_descriptor(openat(directory, "file_at", O_RDONLY));
    close(directory);
    return value;
}
static long file_pread(void)
{
    char text[32] = "";
    const int fd = open("file_pread", O_RDWR);
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    return n < 0 ? -1 : atol(text);
}
static long file_mapped(void)
{
    const int fd = open("file_mapped", O_RDWR);
    const char *text = mmap(NULL, 2, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    return text == MAP_FAILED ? -1 : text[0];
}
static long file_mpi(void)
{
    MPI_File file;
    char text[8] = "";
    if (MPI_File_open(MPI_COMM_SELF, "file_mpi", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return -1;
    MPI_File_read_at_all(file, 0, text, 2, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return atol(text);
}
static long file_made(void) /* a checkpoint: goes on from the one that the last run left */
{
    const long value = from_stream("file_made", "r");
    FILE *file = fopen("file_made", "w");
    fprintf(file, "%ld\n", value + 100);
    fclose(file);
    return value;
}
static long file_locked(void)
{
    const int fd = open("file_locked", O_CREAT | O_EXCL | O_WRONLY, 0600);
    close(fd);
    return fd >= 0;
}
static long file_access(void) { return access("file_access", R_OK); }
static long file_stat(void)
{
    struct stat info;
    return stat("file_stat", &info) == 0 ? (long)info.st_size : -1;
}
static long file_reopened(void)
{
    long value = -1;
    FILE *file = fopen("/dev/null", "r");
    file = freopen("file_reopened", "r", file);
    if (file == NULL || fscanf(file, "%ld", &value) != 1)
        return -2;
    fclose(file);
    return value;
}
static long file_fdopen(void)
{
    long value = -1;
    FILE *file = fdopen(open("file_fdopen", O_RDWR), "r+");
    if (file == NULL || fscanf(file, "%ld", &value) != 1)
        return -2;
    fclose(file);
    return value;
}
static long in_parts(int fd)
{
    char text[32] = "";
    const struct iovec part = {text, 2};
    const ssize_t n = readv(fd, &part, 1);
    close(fd);
    return n == 2 ? (unsigned char)text[0] + 256L * (unsigned char)text[1] : -1;
}
static long file_parts(void) { return in_parts(open("file_parts", O_RDWR)); }
static long file_twice(void)
{
    const int first = open("file_twice", O_RDWR), second = dup(first);
    close(first);
    return from_descriptor(second);
}
static long file_size(void)
{
    struct stat info;
    const int fd = open("file_size", O_RDWR);
    const int result = fstat(fd, &info);
    close(fd);
    return result == 0 ? (long)info.st_size : -1;
}
static long file_end(void)
{
    const int fd = open("file_end", O_WRONLY | O_APPEND);
    const off_t end = lseek(fd, 0, SEEK_END);
    close(fd);
    return (long)end;
}
static long file_appended_to(void)
{
    FILE *file = fopen("file_appended_to", "a");
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    fclose(file);
    return end;
}
static long file_appended_new(void)
{
    FILE *file = fopen("file_appended_new", "a+");
    fseek(file, 0, SEEK_END);
    const long end = ftell(file);
    fputs("more", file);
    fclose(file);
    return end;
}
static long file_copied(void)
{
    const int fd = open("file_copied", O_RDWR), to = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0600);
    const ssize_t n = sendfile(to, fd, NULL, 1000);
    close(fd);
    close(to);
    return n;
}
static long file_statx(void)
{
    struct statx info;
    return statx(AT_FDCWD, "file_statx", 0, STATX_BASIC_STATS, &info) == 0 ? (long)info.stx_size : -1;
}
static long file_faccess(void) { return faccessat(AT_FDCWD, "file_faccess", R_OK, 0); }
static long file_future(void) { return from_stream("file_future", "r"); }
static long link_read(void)
{
    char text[100] = "";
    return readlink("link_read", text, sizeof text - 1);
}
static long link_real(void)
{
    char *path = realpath("link_real", NULL);
    const long value = path != NULL ? from_stream(path, "r") : -1;
    free(path);
    return value;
}
static long file_written(void) /* no input: truncated, appended to, and opened for both but only written */
{
    FILE *file = fopen("file_written", "w");
    fputs("out\n", file);
    fclose(file);
    file = fopen("file_appended", "a");
    fputs("out\n", file);
    fclose(file);
    const int fd = open("file_output", O_RDWR | O_CREAT, 0600);
    const ssize_t n = write(fd, "out\n", 4);
    close(fd);
    return n;
}

/* -- directories */
static long dir_listing(void)
{
    long n = 0;
    DIR *directory = opendir("dir_listing");
    while (directory != NULL && readdir(directory) != NULL)
        ++n;
    if (directory != NULL)
        closedir(directory);
    return n;
}
static long dir_scan(void)
{
    struct dirent **names;
    const int n = scandir("dir_scan", &names, NULL, alphasort);
    for (int i = 0; i < n; ++i)
        free(names[i]);
    if (n >= 0)
        free(names);
    return n;
}
static long dir_glob(void)
{
    glob_t found;
    const int result = glob("dir_glob/*", 0, NULL, &found);
    const long n = result == 0 ? (long)found.gl_pathc : 0;
    if (result == 0)
        globfree(&found);
    return n;
}

static int walked;
static int visit(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    walked += path != NULL && info != NULL && kind == FTW_F && where != NULL;
    return 0;
}
static long dir_walk(void)
{
    walked = 0;
    return nftw("dir_walk", visit, 8, 0) == 0 ? walked : -1;
}

/* -- what another process or the kernel says */
static long child_popen(void)
{
    long value = -1;
    FILE *pipe = popen("date +%N", "r");
    if (fscanf(pipe, "%ld", &value) != 1)
        value = -2;
    pclose(pipe);
    return value;
}
static long told_by_child(int in, int out)
{
    struct timespec now;
    long value = -1;
    const pid_t child = fork();
    if (child == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        _exit(write(out, &now.tv_nsec, sizeof value) < 0);
    }
    if (read(in, &value, sizeof value) < 0)
        value = -2;
    waitpid(child, NULL, 0);
    close(in);
    close(out);
    return value;
}
static long child_pipe(void)
{
    int ends[2];
    return pipe(ends) == 0 ? told_by_child(ends[0], ends[1]) : -1;
}
static long socket_unix(void)
{
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? told_by_child(ends[0], ends[1]) : -1;
}
static long socket_inet(void) { return close(socket(AF_INET, SOCK_STREAM, 0)); }
static long memory_named(void)
{
    const int fd = shm_open("/pf-e2e-inputs", O_RDWR | O_CREAT, 0600);
    shm_unlink("/pf-e2e-inputs");
    return close(fd);
}
static long memory_file(void)
{
    const int fd = open("memory_file", O_RDWR);
    char *shared = mmap(NULL, 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return shared == MAP_FAILED ? -1 : shared[0];
}
static long kernel_timer(void) { return close(timerfd_create(CLOCK_MONOTONIC, 0)); }
static long kernel_events(void) { return close(eventfd(0, 0)); }
static long kernel_watch(void) { return close(inotify_init()); }
static long kernel_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    return close(signalfd(-1, &none, 0));
}
static long limit_poll(void)
{
    struct pollfd none = {-1, POLLIN, 0};
    return poll(&none, 1, 1);
}
static long limit_select(void)
{
    struct timeval soon = {0, 1000};
    fd_set in;
    FD_ZERO(&in);
    return select(1, &in, NULL, NULL, &soon);
}
static long limit_epoll(void)
{
    struct epoll_event event;
    const int fd = epoll_create1(0);
    const int n = epoll_wait(fd, &event, 1, 1);
    close(fd);
    return n;
}
static long signal_sent(void)
{
    const pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    kill(child, SIGKILL);
    return waitpid(child, NULL, 0) == child;
}
static long parent(void) { return getppid(); }
static long processor(void) { return sched_getcpu(); }
static long kernel_file(void) { return from_stream("/proc/self/stat", "r"); }
static long kernel_uptime(void)
{
    double value = 0;
    FILE *file = fopen("/proc/uptime", "r");
    if (file == NULL || fscanf(file, "%lf", &value) != 1)
        value = -1;
    fclose(file);
    return (long)(value * 100);
}
static int tickets;
static void *draw(void *argument)
{
    for (int i = 0; i < 1000; ++i)
        __atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED);
    return argument;
}
static long threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, draw, NULL);
    draw(NULL);
    const int drawn = __atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    return drawn;
}

/* -- what is recorded */
static long value_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_nsec;
}
static long value_random(void)
{
    unsigned short value = 0;
    return getentropy(&value, sizeof value) == 0 ? value : -1;
}
static long value_pid(void) { return getpid(); }
static long value_device(void)
{
    unsigned short value = 0;
    FILE *file = fopen("/dev/urandom", "r");
    const size_t n = fread(&value, sizeof value, 1, file);
    fclose(file);
    return n == 1 ? value : -1;
}

static long value_thread(void) { return gettid(); }
static long value_parts(void) { return in_parts(open("/dev/urandom", O_RDONLY)); }
static long value_stream(void)
{
    FILE *file = fdopen(open("/dev/urandom", O_RDONLY), "r");
    const long value = fgetc(file) + 256L * fgetc(file);
    fclose(file);
    return value;
}
static long value_link(void)
{
    FILE *file = fopen("link_random", "r");
    const long value = fgetc(file) + 256L * fgetc(file);
    fclose(file);
    return value;
}
static long group(void) { return getpgrp(); }

/* -- other ways to files, and names */
static long file_dupfd(void)
{
    const int fd = open("file_dupfd", O_RDWR);
    char text[10] = "";
    const int other = fcntl(fd, F_DUPFD, 50);
    const long value = read(other, text, sizeof text - 1) > 0 ? atol(text) : -1;
    close(other);
    close(fd);
    return value;
}
static long file_aio(void)
{
    char text[10] = "";
    struct aiocb64 request = {.aio_fildes = open("file_aio", O_RDWR), .aio_buf = text, .aio_nbytes = sizeof text - 1};
    struct aiocb64 *const all[] = {&request};
    request.aio_lio_opcode = LIO_READ;
    const int listed = lio_listio64(LIO_WAIT, all, 1, NULL);
    close(request.aio_fildes);
    return listed == 0 ? atol(text) : -1;
}
static long file_position(void)
{
    FILE *file = fopen("file_position", "a");
    fpos_t at;
    const long value = fgetpos(file, &at) == 0 ? at.__pos : -1;
    fclose(file);
    return value;
}
static long file_statx_fd(void)
{
    struct statx info;
    const int fd = open("file_statx_fd", O_RDWR);
    const long value = statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &info) == 0 ? (long)info.stx_size : -1;
    close(fd);
    return value;
}
static long dir_entries(void)
{
    char room[4096];
    const int fd = open("dir_entries", O_RDONLY | O_DIRECTORY);
    const long value = getdents64(fd, room, sizeof room);
    close(fd);
    return value;
}
static long dir_scan_at(void)
{
    struct dirent **names;
    const int fd = open(".", O_RDONLY | O_DIRECTORY);
    const int n = scandirat(fd, "dir_scan_at", &names, NULL, alphasort);
    for (int i = 0; i < n; ++i)
        free(names[i]);
    free(n >= 0 ? names : NULL);
    close(fd);
    return n;
}
static long name_made(void)
{
    const int made = mkdir("name_made", 0700);
    if (made == 0)
        rmdir("name_made");
    return made;
}
static long name_gone(void) { return unlink("name_gone"); }
static long name_entered(void) { return chdir("name_entered") == 0 ? chdir("..") : -1; }
static long name_deleted(void)
{
    int class = -1;
    MPI_Error_class(MPI_File_delete("name_deleted", MPI_INFO_NULL), &class);
    return class == MPI_SUCCESS;
}
/* Two files of one name, seen from two directories. */
static long name_twice(void)
{
    const long first = chdir("sub") == 0 && access("name_twice", F_OK) == 0;
    const long second = chdir("../sub2") == 0 && access("name_twice", F_OK) == 0;
    return chdir("..") == 0 ? 10 * first + second : -1;
}
static long lock_file(void)
{
    const int fd = open("file_changed", O_RDONLY);
    const int locked = flock(fd, LOCK_EX | LOCK_NB);
    close(fd);
    return locked;
}

#define KIND(name) {#name, name}
static const struct {
    const char *name;
    long (*value)(void);
} kinds[] = {KIND(env_changed), KIND(env_new), KIND(env_gone), KIND(env_secure), KIND(env_secret), KIND(env_unsafe),
             KIND(env_terminal), KIND(env_child), KIND(env_walked), KIND(env_own), KIND(file_changed), KIND(file_relative),
             KIND(file_updated), KIND(file_link), KIND(file_gone), KIND(file_new), KIND(file_both), KIND(file_both_new),
             KIND(file_at), KIND(file_pread), KIND(file_mapped), KIND(file_mpi), KIND(file_made), KIND(file_locked),
             KIND(file_access), KIND(file_stat), KIND(file_written), KIND(dir_listing), KIND(dir_scan), KIND(dir_glob),
             KIND(child_popen), KIND(child_pipe), KIND(socket_unix), KIND(socket_inet), KIND(memory_named),
             KIND(memory_file), KIND(kernel_timer), KIND(kernel_events), KIND(kernel_watch), KIND(kernel_signals),
             KIND(limit_poll), KIND(limit_select), KIND(limit_epoll), KIND(signal_sent), KIND(parent), KIND(processor),
             KIND(kernel_file), KIND(kernel_uptime), KIND(threads), KIND(value_clock), KIND(value_random),
             KIND(value_pid), KIND(value_device), KIND(file_reopened), KIND(file_fdopen), KIND(file_parts), KIND(file_twice),
             KIND(file_size), KIND(file_end), KIND(file_appended_to), KIND(file_appended_new), KIND(file_copied), KIND(file_statx), KIND(file_faccess),
             KIND(file_future), KIND(link_read), KIND(link_real), KIND(dir_walk), KIND(value_thread), KIND(value_parts),
             KIND(value_stream), KIND(value_link), KIND(group), KIND(file_dupfd), KIND(file_aio), KIND(file_position),
             KIND(file_statx_fd), KIND(dir_entries), KIND(dir_scan_at), KIND(name_made), KIND(name_gone), KIND(name_entered),
             KIND(name_deleted), KIND(name_twice), KIND(lock_file)};

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; ++i)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc < 2 || chdir(argv[1]) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (wanted(kinds[i].name, argc, argv))
            printf("%s %ld\n", kinds[i].name, kinds[i].value());
    MPI_Finalize();
    return 0;
}
