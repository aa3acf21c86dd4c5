/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded: lets the n-th call of a kind fail in one of our processes, or ends the process there; or makes the disk slow.
 *   FAULT_IN    name of the process (as in /proc/PID/comm); of a slow disk, names with commas between them
 *   FAULT_CALL  malloc write fsync mmap open rename link unlink socket fork room
 *   FAULT_AT    number of the call, from 1; 0: none fails, each is counted
 *   FAULT_WITH  errno, or "kill"
 *   FAULT_ON    if set: all later calls fail, too
 *   FAULT_LOG   gets a line for each call that failed, or was counted
 *   FAULT_SLOW  "WRITE SYNC": nothing fails, but each write to a file, and what changes a name (rename, link, unlink), takes
 *               WRITE microseconds more, fsync and room SYNC more; FAULT_LOG gets a line "PROCESS CALL" for the first of
 *               each kind */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *kind, *note;
static char name[32];
static long at, slowWrite, slowSync;
static int with, on, active;
static atomic_long count;

/* Whether `name` is one of those, with commas between them. */
static int is_among(const char* names) {
  const size_t length = strlen(name);
  for (const char* found = names; (found = strstr(found, name)) != NULL; found += length) {
    if ((found == names || found[-1] == ',') && (found[length] == 0 || found[length] == ',')) {
      return 1;
    }
  }
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  const int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0);
  const long length = syscall(SYS_read, file, name, sizeof name - 1);
  syscall(SYS_close, file);
  const char* where = getenv("FAULT_IN");
  if (where == NULL || length < 1) {
    return;
  }
  name[length - 1] = 0;
  const char* slow = getenv("FAULT_SLOW");
  if (slow != NULL) {
    char* rest;
    slowWrite = strtol(slow, &rest, 10);
    slowSync = strtol(rest, NULL, 10);
    kind = "";
    note = getenv("FAULT_LOG");
    active = is_among(where); /* what this process starts has the same disk */
    return;
  }
  kind = getenv("FAULT_CALL");
  note = getenv("FAULT_LOG");
  at = atol(getenv("FAULT_AT"));
  with = strcmp(getenv("FAULT_WITH"), "kill") == 0 ? -1 : atoi(getenv("FAULT_WITH"));
  on = getenv("FAULT_ON") != NULL;
  active = strcmp(name, where) == 0;
  if (active || strcmp(name, "photofinish-age") == 0) {
    unsetenv("LD_PRELOAD"); /* what this process starts is not meant, and a rank has it in its record */
  }
}

static void note_line(const char* first, const char* second) {
  char line[64];
  const int length = snprintf(line, sizeof line, "%s%s\n", first, second);
  const int file = (int)syscall(SYS_openat, AT_FDCWD, note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  syscall(SYS_write, file, line, (long)length);
  syscall(SYS_close, file);
}

/* The disk is slow. fd: of what is written to, if that is known; pipes and sockets are no disk. */
static void wait_for_disk(const char* call, int number, int fd, long microseconds) {
  static atomic_int noted;
  struct stat what;
  const int before = errno;
  if (active && microseconds > 0 && (fd < 0 || (fstat(fd, &what) == 0 && (S_ISREG(what.st_mode) || S_ISDIR(what.st_mode))))) {
    const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    if (note != NULL && (atomic_fetch_or(&noted, 1 << number) & 1 << number) == 0) {
      char said[64];
      snprintf(said, sizeof said, "%s ", name);
      note_line(said, call);
    }
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
  }
  errno = before;
}
static void wait_for_write(int fd) { wait_for_disk("write", 0, fd, slowWrite); }
static void wait_for_sync(int fd) { wait_for_disk("fsync", 1, fd, slowSync); }
static void wait_for_room(int fd) { wait_for_disk("room", 2, fd, slowSync); }
static void wait_for_name(void) { wait_for_disk("name", 3, -1, slowWrite); }

/* Whether this call fails; errno is set. */
static int fails(const char* call) {
  if (!active || strcmp(call, kind) != 0) {
    return 0;
  }
  const long now = atomic_fetch_add(&count, 1) + 1;
  if (at != 0 && now != at && !(on && now > at)) {
    return 0;
  }
  if (note != NULL && (now == at || at == 0)) {
    note_line(".", "");
  }
  if (at != 0 && with < 0) {
    syscall(SYS_kill, getpid(), SIGKILL);
  }
  errno = with;
  return at != 0;
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
void* malloc(size_t size) { return fails("malloc") ? NULL : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return fails("malloc") ? NULL : __libc_calloc(n, size); }
void* realloc(void* old, size_t size) { return fails("malloc") ? NULL : __libc_realloc(old, size); }

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  /* What is said to the user gets through. */
  if (fd > 2) {
    wait_for_write(fd);
  }
  return fd > 2 && fails("write") ? -1 : syscall(SYS_write, fd, data, size);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  wait_for_write(fd);
  return fails("write") ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }
ssize_t writev(int fd, const struct iovec* parts, int n) {
  if (fd > 2) {
    wait_for_write(fd);
  }
  return fd > 2 && fails("write") ? -1 : syscall(SYS_writev, fd, parts, n);
}
int fsync(int fd) {
  wait_for_sync(fd);
  return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}
int fdatasync(int fd) {
  wait_for_sync(fd);
  return fails("fsync") ? -1 : (int)syscall(SYS_fdatasync, fd);
}
void* mmap(void* where, size_t size, int protection, int flags, int fd, off_t offset) {
  return fails("mmap") ? MAP_FAILED : (void*)syscall(SYS_mmap, where, size, protection, flags, fd, offset);
}
void* mmap64(void* where, size_t size, int protection, int flags, int fd, off64_t offset) {
  return mmap(where, size, protection, flags, fd, offset);
}
static int open_at(int directory, const char* path, int flags, va_list* rest) {
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(*rest, int) : 0;
  return fails("open") ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}
#define OPEN(name)                                              \
  int name(const char* path, int flags, ...) {                  \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    const int file = open_at(AT_FDCWD, path, flags, &rest);     \
    va_end(rest);                                               \
    return file;                                                \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                            \
  int name(int directory, const char* path, int flags, ...) {   \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    const int file = open_at(directory, path, flags, &rest);    \
    va_end(rest);                                               \
    return file;                                                \
  }
OPENAT(openat)
OPENAT(openat64)
int rename(const char* from, const char* to) {
  wait_for_name();
  return fails("rename") ? -1 : (int)syscall(SYS_rename, from, to);
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  wait_for_name();
  return fails("rename") ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}
int link(const char* from, const char* to) {
  wait_for_name();
  return fails("link") ? -1 : (int)syscall(SYS_link, from, to);
}
int unlink(const char* path) {
  wait_for_name();
  return fails("unlink") ? -1 : (int)syscall(SYS_unlink, path);
}
int unlinkat(int directory, const char* path, int flags) {
  wait_for_name();
  return fails("unlink") ? -1 : (int)syscall(SYS_unlinkat, directory, path, flags);
}
int socket(int family, int type, int protocol) {
  return fails("socket") ? -1 : (int)syscall(SYS_socket, family, type, protocol);
}
pid_t fork(void) { return fails("fork") ? -1 : REAL(pid_t, fork, void)(); }
int ftruncate64(int fd, off64_t size) {
  wait_for_room(fd);
  return fails("room") ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
  wait_for_room(fd);
  return fails("room") ? with : REAL(int, posix_fallocate64, int, off64_t, off64_t)(fd, offset, size);
}
int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }
