/* Preloaded: lets the n-th call of a kind fail in one of our processes, or ends the process there.
 *   FAULT_IN    name of the process (as in /proc/PID/comm)
 *   FAULT_CALL  malloc write fsync mmap open rename link unlink socket fork room
 *   FAULT_AT    number of the call, from 1; 0: none fails, each is counted
 *   FAULT_WITH  errno, or "kill"
 *   FAULT_ON    if set: all later calls fail, too
 *   FAULT_LOG   gets a line for each call that failed, or was counted */
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
#include <sys/syscall.h>
#include <unistd.h>

static const char *kind, *note;
static long at;
static int with, on, active;
static atomic_long count;

__attribute__((constructor)) static void begin(void) {
  char name[32] = {0};
  const int file = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0);
  const long length = syscall(SYS_read, file, name, sizeof name - 1);
  syscall(SYS_close, file);
  const char* where = getenv("FAULT_IN");
  if (where == NULL || length < 1) {
    return;
  }
  name[length - 1] = 0;
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
    const int file = (int)syscall(SYS_openat, AT_FDCWD, note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    syscall(SYS_write, file, ".\n", 2L);
    syscall(SYS_close, file);
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
  return fd > 2 && fails("write") ? -1 : syscall(SYS_write, fd, data, size);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return fails("write") ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }
ssize_t writev(int fd, const struct iovec* parts, int n) {
  return fd > 2 && fails("write") ? -1 : syscall(SYS_writev, fd, parts, n);
}
int fsync(int fd) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails("fsync") ? -1 : (int)syscall(SYS_fdatasync, fd); }
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
int rename(const char* from, const char* to) { return fails("rename") ? -1 : (int)syscall(SYS_rename, from, to); }
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  return fails("rename") ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}
int link(const char* from, const char* to) { return fails("link") ? -1 : (int)syscall(SYS_link, from, to); }
int unlink(const char* path) { return fails("unlink") ? -1 : (int)syscall(SYS_unlink, path); }
int unlinkat(int directory, const char* path, int flags) {
  return fails("unlink") ? -1 : (int)syscall(SYS_unlinkat, directory, path, flags);
}
int socket(int family, int type, int protocol) {
  return fails("socket") ? -1 : (int)syscall(SYS_socket, family, type, protocol);
}
pid_t fork(void) { return fails("fork") ? -1 : REAL(pid_t, fork, void)(); }
int ftruncate64(int fd, off64_t size) { return fails("room") ? -1 : (int)syscall(SYS_ftruncate, fd, size); }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int posix_fallocate64(int fd, off64_t offset, off64_t size) {
  return fails("room") ? with : REAL(int, posix_fallocate64, int, off64_t, off64_t)(fd, offset, size);
}
int posix_fallocate(int fd, off_t offset, off_t size) { return posix_fallocate64(fd, offset, size); }
