// SPDX-License-Identifier: MIT
// The clocks, process id, host name and random numbers that the program asks for.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/engine/wrapper_support.h"
#include "replay_engine/rank/inputs/system_values.h"

namespace pf {
namespace {

constexpr std::int64_t kNano = 1'000'000'000;
constexpr std::int64_t kMicro = 1'000'000;

/// A clock: recorded, or given back. `real(&value)` asks the system and says whether it told;
/// `give(value)` puts another value in the place of the system's.
template <typename Real, typename Give>
inline bool clockCall(ValueKind kind, Real real, Give give) {
  std::int64_t value = 0;
  if (g_systemValues.quick.load(std::memory_order_relaxed)) [[likely]] {
    const Writing writing;
    const bool told = real(&value);
    if (told) [[likely]] {
      keepQuickly(kind, value);
    }
    return told;
  }
  const InsideLibc inside;
  if (!recallNumber(kind, &value)) {
    if (!real(&value)) {
      return false;
    }
    value = liveClock(kind, value);
  }
  keepNumber(kind, value);
  give(value);
  return true;
}

/// A number that the system makes up.
template <typename Real>
inline std::int64_t drawnNumber(ValueKind kind, Real real) {
  const InsideLibc inside;
  std::int64_t value = 0;
  if (!recallNumber(kind, &value)) {
    value = real();
  }
  keepNumber(kind, value);
  return value;
}

/// Random bytes; `real(to, size)` returns how many, or -1 with errno.
template <typename Real>
ssize_t drawnBytes(ValueKind kind, void* to, std::size_t size, bool mayBeShort, Real real) {
  const InsideLibc inside;
  auto* bytes = static_cast<unsigned char*>(to);
  std::ptrdiff_t got = recallBytes(kind, to, size);
  if (got < 0) {
    got = real(bytes, size);
  } else if (static_cast<std::size_t>(got) < size && !mayBeShort) {
    const auto done = static_cast<std::size_t>(got);
    got = real(bytes + done, size - done) < 0 ? -1 : static_cast<std::ptrdiff_t>(size);
  }
  if (got >= 0) {
    keepBytes(kind, to, static_cast<std::size_t>(got), size);
  }
  return got;
}

// Where reading the cycle counter traps, the kernel is asked in place of its page in user space.
template <typename Next>
inline int systemClock(Next next, clockid_t id, timespec* out) {
  return g_tscTraps ? static_cast<int>(syscall(SYS_clock_gettime, id, out)) : next(id, out);
}
template <typename Next>
inline int systemTime(Next next, timeval* out, void* zone) {
  return g_tscTraps ? static_cast<int>(syscall(SYS_gettimeofday, out, zone)) : next(out, zone);
}

}  // namespace

double onWtime(const CallPlace& place) {
  // The bindings of Fortran are in the MPI library and ask for the program.
  const bool counts = &t_depth == g_rankOnly.owner
                          ? t_depth == 0 || leftMpi(place.returnAddress, place.slot)
                          : isProgramsCall(place.returnAddress, place.slot);
  if (counts && g_systemValues.quick.load(std::memory_order_relaxed)) [[likely]] {
    const Writing writing;
    const double value = PF_REAL(Wtime)();
    keepSeconds(value);
    return value;
  }
  const InsideLibc inside;
  if (!counts) {
    return PF_REAL(Wtime)();
  }
  double value = 0;
  if (!recallSeconds(&value)) {
    value = liveSeconds(PF_REAL(Wtime)());
  }
  keepSeconds(value);
  return value;
}

}  // namespace pf

using namespace pf;

// -- clocks

PF_LIBC(int, clock_gettime, clockid_t id, timespec* out) {
  constexpr clockid_t kNoClock = 10;
  if (!PF_PROGRAMS_CALL() || id < 0 || id > static_cast<int>(ValueKind::ClockEnd) ||
      id == kNoClock || out == nullptr) {
    return systemClock(PF_NEXT(clock_gettime), id, out);
  }
  const auto real = [id, out](std::int64_t* now) {
    const bool told = systemClock(PF_NEXT(clock_gettime), id, out) == 0;
    *now = out->tv_sec * kNano + out->tv_nsec;
    return told;
  };
  const auto give = [out](std::int64_t value) { *out = {value / kNano, value % kNano}; };
  return clockCall(static_cast<ValueKind>(id), real, give) ? 0 : -1;
}

PF_LIBC(int, gettimeofday, timeval* out, void* zone) {
  if (!PF_PROGRAMS_CALL() || out == nullptr) {
    return systemTime(PF_NEXT(gettimeofday), out, zone);
  }
  const auto real = [out, zone](std::int64_t* now) {
    const bool told = systemTime(PF_NEXT(gettimeofday), out, zone) == 0;
    *now = out->tv_sec * kMicro + out->tv_usec;
    return told;
  };
  const auto give = [out](std::int64_t value) { *out = {value / kMicro, value % kMicro}; };
  return clockCall(ValueKind::Gettimeofday, real, give) ? 0 : -1;
}

PF_LIBC(time_t, time, time_t* out) {
  if (!PF_PROGRAMS_CALL()) {
    return PF_NEXT(time)(out);
  }
  time_t value = 0;
  const auto real = [&value](std::int64_t* now) {
    value = PF_NEXT(time)(nullptr);
    *now = value;
    return true;
  };
  clockCall(ValueKind::Time, real, [&value](std::int64_t given) { value = given; });
  if (out != nullptr) {
    *out = value;
  }
  return value;
}

PF_LIBC(int, timespec_get, timespec* out, int base) {
  if (!PF_PROGRAMS_CALL() || base != TIME_UTC || out == nullptr) {
    return PF_NEXT(timespec_get)(out, base);
  }
  const auto real = [out, base](std::int64_t* now) {
    const bool told = PF_NEXT(timespec_get)(out, base) == base;
    *now = out->tv_sec * kNano + out->tv_nsec;
    return told;
  };
  const auto give = [out](std::int64_t value) { *out = {value / kNano, value % kNano}; };
  return clockCall(ValueKind::TimespecGet, real, give) ? base : 0;
}

PF_LIBC(clock_t, clock) {
  if (!PF_PROGRAMS_CALL()) {
    return PF_NEXT(clock)();
  }
  clock_t value = 0;
  const auto real = [&value](std::int64_t* now) {
    value = PF_NEXT(clock)();
    *now = value;
    return true;
  };
  clockCall(ValueKind::CpuClock, real, [&value](std::int64_t given) { value = given; });
  return value;
}

PF_LIBC(int, getrusage, int who, rusage* out) {
  if (!PF_PROGRAMS_CALL() || out == nullptr || who < RUSAGE_CHILDREN || who > RUSAGE_THREAD) {
    return PF_NEXT(getrusage)(who, out);
  }
  const auto real = [who](unsigned char* to, std::size_t) {
    const bool told = PF_NEXT(getrusage)(who, reinterpret_cast<rusage*>(to)) == 0;
    return told ? static_cast<ssize_t>(sizeof(rusage)) : ssize_t{-1};
  };
  return drawnBytes(ValueKind::Rusage, out, sizeof *out, true, real) < 0 ? -1 : 0;
}

PF_LIBC(clock_t, times, tms* out) {
  if (!PF_PROGRAMS_CALL()) {
    return PF_NEXT(times)(out);
  }
  struct {
    clock_t now;
    tms used;
  } told{};
  drawnBytes(ValueKind::Times, &told, sizeof told, true, [&told](unsigned char*, std::size_t n) {
    told.now = PF_NEXT(times)(&told.used);
    return static_cast<ssize_t>(n);
  });
  if (out != nullptr) {
    *out = told.used;
  }
  return told.now;
}

// -- who and where

namespace pf {
namespace {

pid_t recordedPid() {
  const auto value = static_cast<pid_t>(
      drawnNumber(ValueKind::Getpid, [] { return std::int64_t{syscall(SYS_getpid)}; }));
  if (g_systemValues.replay && g_systemValues.pid != value) {
    const InsideLibc inside;
    g_systemValues.pid = value;
    g_systemValues.realPid = static_cast<pid_t>(syscall(SYS_getpid));
  }
  return value;
}

}  // namespace
}  // namespace pf

PF_LIBC(pid_t, getpid) {
  return PF_PROGRAMS_CALL() ? recordedPid() : PF_NEXT(getpid)();
}

/// The first thread has the number of its process.
PF_LIBC(pid_t, gettid) {
  const bool first = PF_PROGRAMS_CALL() && syscall(SYS_gettid) == syscall(SYS_getpid);
  return first ? recordedPid() : PF_NEXT(gettid)();
}

/// What another process is told by a signal is not in its record.
static void sendsSignal(pid_t pid, int number, void* caller) {
  if (number != 0 && pid != g_systemValues.pid && pid != static_cast<pid_t>(syscall(SYS_getpid))) {
    noteUncovered(NotGuaranteedKind::SignalSent, caller);
  }
}

/// The process that the program means by a number that it has from getpid().
static pid_t meantProcess(pid_t pid) {
  return g_systemValues.pid != 0 && pid == g_systemValues.pid && t_depth == 0
             ? g_systemValues.realPid
             : pid;
}

PF_LIBC(int, kill, pid_t pid, int number) {
  if (PF_PROGRAMS_CALL()) {
    sendsSignal(pid, number, __builtin_return_address(0));
  }
  return PF_NEXT(kill)(meantProcess(pid), number);
}

PF_LIBC(int, sigqueue, pid_t pid, int number, const sigval value) {
  if (PF_PROGRAMS_CALL()) {
    sendsSignal(pid, number, __builtin_return_address(0));
  }
  return PF_NEXT(sigqueue)(meantProcess(pid), number, value);
}

PF_LIBC(int, gethostname, char* name, std::size_t size) {
  if (!PF_PROGRAMS_CALL() || name == nullptr) {
    return PF_NEXT(gethostname)(name, size);
  }
  const InsideLibc inside;
  char text[kValueBytes] = {};
  std::ptrdiff_t length = recallBytes(ValueKind::Hostname, text, sizeof text - 1);
  if (length < 0) {
    if (PF_NEXT(gethostname)(text, sizeof text - 1) != 0) {
      return -1;
    }
    length = static_cast<std::ptrdiff_t>(std::strlen(text));
  }
  const auto used = static_cast<std::size_t>(length);
  keepBytes(ValueKind::Hostname, text, used, used);
  std::memcpy(name, text, used + 1 < size ? used + 1 : size);
  if (used >= size) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return 0;
}

// -- random numbers

PF_LIBC(ssize_t, getrandom, void* to, std::size_t size, unsigned flags) {
  if (!PF_PROGRAMS_CALL() || to == nullptr || size == 0) {
    return PF_NEXT(getrandom)(to, size, flags);
  }
  return drawnBytes(
      ValueKind::Getrandom, to, size, true,
      [flags](unsigned char* bytes, std::size_t n) { return PF_NEXT(getrandom)(bytes, n, flags); });
}

PF_LIBC(int, getentropy, void* to, std::size_t size) {
  if (!PF_PROGRAMS_CALL() || to == nullptr || size == 0 || size > kValueBytes) {
    return PF_NEXT(getentropy)(to, size);
  }
  const auto real = [](unsigned char* bytes, std::size_t n) {
    return PF_NEXT(getentropy)(bytes, n) == 0 ? static_cast<ssize_t>(n) : ssize_t{-1};
  };
  return drawnBytes(ValueKind::Getentropy, to, size, false, real) < 0 ? -1 : 0;
}

PF_LIBC(void, arc4random_buf, void* to, std::size_t size) {
  if (!PF_PROGRAMS_CALL() || to == nullptr || size == 0) {
    PF_NEXT(arc4random_buf)(to, size);
    return;
  }
  drawnBytes(ValueKind::Arc4randomBuf, to, size, false, [](unsigned char* bytes, std::size_t n) {
    PF_NEXT(arc4random_buf)(bytes, n);
    return static_cast<ssize_t>(n);
  });
}

PF_LIBC(std::uint32_t, arc4random) {
  if (!PF_PROGRAMS_CALL()) {
    return PF_NEXT(arc4random)();
  }
  return static_cast<std::uint32_t>(
      drawnNumber(ValueKind::Arc4random, [] { return std::int64_t{PF_NEXT(arc4random)()}; }));
}

PF_LIBC(std::uint32_t, arc4random_uniform, std::uint32_t bound) {
  if (!PF_PROGRAMS_CALL()) {
    return PF_NEXT(arc4random_uniform)(bound);
  }
  const auto real = [bound] { return std::int64_t{PF_NEXT(arc4random_uniform)(bound)}; };
  const auto value = static_cast<std::uint32_t>(drawnNumber(ValueKind::Arc4randomUniform, real));
  return value < bound || bound < 2 ? value : PF_NEXT(arc4random_uniform)(bound);
}

/// std::random_device, which may ask the processor itself.
PF_LIBC(unsigned, _ZNSt13random_device9_M_getvalEv, void* device) {
  if (!PF_PROGRAMS_CALL()) {
    return PF_NEXT(_ZNSt13random_device9_M_getvalEv)(device);
  }
  return static_cast<unsigned>(drawnNumber(ValueKind::RandomDevice, [device] {
    return std::int64_t{PF_NEXT(_ZNSt13random_device9_M_getvalEv)(device)};
  }));
}
