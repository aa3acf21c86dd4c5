// SPDX-License-Identifier: MIT
// What is neither recorded nor given back, and is noted: other processes, memory shared with them,
// descriptors that the kernel writes to, and limits of time.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <wordexp.h>

#include <csignal>
#include <cstdarg>
#include <ctime>

#include "replay_engine/rank/inputs/system_values.h"

using namespace pf;

#define PF_NOTE(kind)                                                    \
  if (PF_PROGRAMS_CALL()) {                                              \
    noteUncovered(NotGuaranteedKind::kind, __builtin_return_address(0)); \
  }
#define PF_NOTE_IF(condition, kind) \
  if (condition) {                  \
    PF_NOTE(kind)                   \
  }

// -- other processes

PF_LIBC(int, socket, int domain, int type, int protocol) {
  constexpr int kUnix = 1;
  constexpr int kInet = 2;
  constexpr int kInet6 = 10;
  PF_NOTE_IF(domain == kInet || domain == kInet6, Socket)
  PF_NOTE_IF(domain == kUnix, LocalSocket)
  return PF_NEXT(socket)(domain, type, protocol);
}

PF_LIBC(int, socketpair, int domain, int type, int protocol, int* ends) {
  PF_NOTE(LocalSocket)
  return PF_NEXT(socketpair)(domain, type, protocol, ends);
}

PF_LIBC(pid_t, fork) {
  PF_NOTE(Child)
  return PF_NEXT(fork)();
}

PF_LIBC(pid_t, _Fork) {
  PF_NOTE(Child)
  return PF_NEXT(_Fork)();
}

PF_LIBC(int, wordexp, const char* words, wordexp_t* to, int flags) {
  PF_NOTE_IF((flags & WRDE_NOCMD) == 0, Child)
  return PF_NEXT(wordexp)(words, to, flags);
}

PF_LIBC(int, pipe, int* ends) {
  PF_NOTE(Child)
  return PF_NEXT(pipe)(ends);
}

PF_LIBC(int, pipe2, int* ends, int flags) {
  PF_NOTE(Child)
  return PF_NEXT(pipe2)(ends, flags);
}

PF_LIBC(pid_t, getppid) {
  PF_NOTE(ParentId)
  return PF_NEXT(getppid)();
}

PF_LIBC(pid_t, getpgrp) {
  PF_NOTE(ParentId)
  return PF_NEXT(getpgrp)();
}

PF_LIBC(pid_t, getpgid, pid_t pid) {
  PF_NOTE(ParentId)
  return PF_NEXT(getpgid)(pid);
}

PF_LIBC(pid_t, getsid, pid_t pid) {
  PF_NOTE(ParentId)
  return PF_NEXT(getsid)(pid);
}

PF_LIBC(int, sched_getcpu) {
  PF_NOTE(Processor)
  return PF_NEXT(sched_getcpu)();
}

PF_LIBC(int, sched_getaffinity, pid_t pid, std::size_t size, cpu_set_t* set) {
  PF_NOTE(Processor)
  return PF_NEXT(sched_getaffinity)(pid, size, set);
}

PF_LIBC(int, sysinfo, struct sysinfo* info) {
  PF_NOTE(KernelFile)
  return PF_NEXT(sysinfo)(info);
}

// -- memory shared with them

PF_LIBC(int, shm_open, const char* name, int flags, mode_t mode) {
  PF_NOTE(SharedMemory)
  return PF_NEXT(shm_open)(name, flags, mode);
}

PF_LIBC(int, shmget, key_t key, std::size_t size, int flags) {
  PF_NOTE_IF(key != IPC_PRIVATE, SharedMemory)
  return PF_NEXT(shmget)(key, size, flags);
}

PF_LIBC(sem_t*, sem_open, const char* name, int flags, ...) {
  PF_NOTE(SharedMemory)
  if ((flags & O_CREAT) == 0) {
    return PF_NEXT(sem_open)(name, flags);
  }
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  const unsigned value = va_arg(arguments, unsigned);
  va_end(arguments);
  return PF_NEXT(sem_open)(name, flags, mode, value);
}

// -- what the kernel says when it pleases

PF_LIBC(int, setitimer, int which, const itimerval* value, itimerval* before) {
  PF_NOTE(Timer)
  return PF_NEXT(setitimer)(which, value, before);
}

PF_LIBC(unsigned, alarm, unsigned seconds) {
  PF_NOTE_IF(seconds != 0, Timer)
  return PF_NEXT(alarm)(seconds);
}

PF_LIBC(useconds_t, ualarm, useconds_t first, useconds_t then) {
  PF_NOTE_IF(first != 0, Timer)
  return PF_NEXT(ualarm)(first, then);
}

PF_LIBC(int, timer_create, clockid_t clock, sigevent* event, timer_t* timer) {
  PF_NOTE(Timer)
  return PF_NEXT(timer_create)(clock, event, timer);
}

PF_LIBC(int, timerfd_create, clockid_t clock, int flags) {
  PF_NOTE(Descriptor)
  return PF_NEXT(timerfd_create)(clock, flags);
}

PF_LIBC(int, signalfd, int fd, const sigset_t* mask, int flags) {
  PF_NOTE(Descriptor)
  return PF_NEXT(signalfd)(fd, mask, flags);
}

PF_LIBC(int, eventfd, unsigned value, int flags) {
  PF_NOTE(Descriptor)
  return PF_NEXT(eventfd)(value, flags);
}

PF_LIBC(int, inotify_init) {
  PF_NOTE(Descriptor)
  return PF_NEXT(inotify_init)();
}

PF_LIBC(int, inotify_init1, int flags) {
  PF_NOTE(Descriptor)
  return PF_NEXT(inotify_init1)(flags);
}

// -- limits of time; without descriptors they only pause

PF_LIBC(int, poll, pollfd* fds, nfds_t count, int limit) {
  PF_NOTE_IF(count > 0 && limit >= 0, TimeLimit)
  return PF_NEXT(poll)(fds, count, limit);
}

PF_LIBC(int, ppoll, pollfd* fds, nfds_t count, const timespec* limit, const sigset_t* mask) {
  PF_NOTE_IF(count > 0 && limit != nullptr, TimeLimit)
  return PF_NEXT(ppoll)(fds, count, limit, mask);
}

PF_LIBC(int, select, int count, fd_set* in, fd_set* out, fd_set* other, timeval* limit) {
  PF_NOTE_IF(count > 0 && limit != nullptr, TimeLimit)
  return PF_NEXT(select)(count, in, out, other, limit);
}

PF_LIBC(int, pselect, int count, fd_set* in, fd_set* out, fd_set* other, const timespec* limit,
        const sigset_t* mask) {
  PF_NOTE_IF(count > 0 && limit != nullptr, TimeLimit)
  return PF_NEXT(pselect)(count, in, out, other, limit, mask);
}

PF_LIBC(int, epoll_wait, int fd, epoll_event* events, int most, int limit) {
  PF_NOTE_IF(limit >= 0, TimeLimit)
  return PF_NEXT(epoll_wait)(fd, events, most, limit);
}

PF_LIBC(int, epoll_pwait, int fd, epoll_event* events, int most, int limit, const sigset_t* mask) {
  PF_NOTE_IF(limit >= 0, TimeLimit)
  return PF_NEXT(epoll_pwait)(fd, events, most, limit, mask);
}
