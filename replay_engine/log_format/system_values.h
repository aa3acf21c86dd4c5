// SPDX-License-Identifier: MIT
// What the system told the program, and how a log keeps it (RecordKind::Value).
//
// Each kind is a stream of its own: a replay gives the n-th value of a kind for the n-th call of that kind. Values asked
// for before MPI_Init stand before the record of kind kValuesJoin, which has no payload.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pf {

/// The order is the log's: append only.
enum class ValueKind : std::uint8_t {
  Clock,  ///< clock_gettime of CLOCK_REALTIME; Clock + n is clock n, up to CLOCK_TAI: nanoseconds
  ClockEnd = 11,
  Gettimeofday,  ///< microseconds
  Time,          ///< seconds
  TimespecGet,   ///< nanoseconds
  CpuClock,      ///< clock()
  Wtime,         ///< MPI_Wtime
  Getpid,
  Arc4random,
  Arc4randomUniform,
  RandomDevice,
  Getrandom,
  Getentropy,
  Arc4randomBuf,
  Urandom,  ///< reads from /dev/urandom and /dev/random
  Hostname,
  Input,   ///< an InputFile: a file that the program opened for reading
  Rusage,  ///< what getrusage fills in
  Times,   ///< times(): what it returns, 8 bytes, and fills in
  Cycles,  ///< rdtsc and rdtscp, with the option
  Fetched,  ///< what one-sided communication brought, call by call (replay_engine/rank/calls/one_sided.h)
};
inline constexpr std::size_t kValueKinds = 31;
static_assert(kValueKinds == static_cast<std::size_t>(ValueKind::Fetched) + 1);
inline constexpr std::uint8_t kValuesJoin = 255;

enum class ValueShape : std::uint8_t {
  Number,  ///< zigzag varint of the difference to the last value of the kind (first: to 0)
  Seconds,  ///< a varint, difference (zigzag) * 4 + form: nanoseconds in one of the forms of secondsOf(); or
            ///< kSecondsBits, then a varint with the bits of the double
  Bytes,  ///< varint n, n bytes: up to kValueBytes of one call; longer results go on in the next one, and a result
          ///< that is shorter than asked for ends in a piece of less than kValueBytes
};
inline constexpr std::size_t kValueBytes = 256;
inline constexpr std::uint32_t kSecondsBits = 3;

[[nodiscard]] constexpr ValueShape shapeOf(ValueKind kind) {
  return kind == ValueKind::Wtime ? ValueShape::Seconds
         : kind == ValueKind::Fetched || (kind >= ValueKind::Getrandom && kind <= ValueKind::Times)
             ? ValueShape::Bytes
             : ValueShape::Number;
}

[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1U) + 1U));
}

/// How MPI libraries make seconds of nanoseconds; the last bit differs.
[[nodiscard]] constexpr double secondsOf(std::int64_t nanoseconds, std::uint32_t form) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t whole = nanoseconds / kSecond;
  const std::int64_t rest = nanoseconds % kSecond;
  switch (form) {
    case 0:
      return static_cast<double>(rest) / 1.0e+9 + static_cast<double>(whole);
    case 1:  // the difference of two times whose nanoseconds went down
      return static_cast<double>(rest - kSecond) / 1.0e+9 + static_cast<double>(whole + 1);
    default:
      return static_cast<double>(whole) + 1.0e-9 * static_cast<double>(rest);
  }
}

/// What a file was like that is older than the run; a replay tells where it is another one now. In the log, an
/// InputState follows, and the absolute name; not so in logs of former versions.
struct InputFile {
  std::uint64_t path;  ///< pathHash() of the name that it was opened by
  std::uint64_t size;
  std::int64_t modified;  ///< nanoseconds
};

enum class InputState : std::uint8_t {
  File,       ///< was there
  Absent,     ///< was not there: the program looked, or made it itself
  Directory,  ///< its listing was read: `size` names, `modified` is a checksum of them
  Variable,   ///< a variable of the environment that was asked for: a name only
  Exists,     ///< was there, and nothing else of it was looked at
  Link,       ///< a symbolic link that was read: `modified` is pathHash() of what it leads to
  Young,      ///< was read, and is younger than the run
  Written,    ///< was opened for writing, or got this name
};

/// Where a link leads, up to so much of it.
inline constexpr std::size_t kLongestLink = 1024;

[[nodiscard]] constexpr std::uint64_t pathHash(const char* path) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (; *path != '\0'; ++path) {
    hash = (hash ^ static_cast<unsigned char>(*path)) * 0x100000001B3ULL;
  }
  return hash;
}

/// What a Note record can be about besides an MPI routine: its site's call is kFirstNote + NotGuaranteedKind.
enum class NotGuaranteedKind : std::uint8_t {
  OtherThread,
  Socket,
  Timer,
  EarlyLost,
  Child,
  LocalSocket,
  SharedMemory,
  Descriptor,
  TimeLimit,
  SignalSent,
  ParentId,
  Processor,
  KernelFile,
  Threads,
  SignalGot,
  FileLock,
  InputsLeftOut,
};
inline constexpr std::uint16_t kFirstNote = 1024;
/// Plus a call that a group cannot do alone: contents are kept up to it (rank/group_recording).
inline constexpr std::uint16_t kFirstAlone = 2048;
inline constexpr const char* kContentsEnd =
    "contents from outside of its group, which are kept up to ";
inline constexpr const char* kNotGuaranteedTexts[] = {
    ("clock, random numbers, process id, files or the like asked for by another thread than the "
     "first, first"),
    "socket to another host",
    "timer that sends signals",
    "more clock and random values before MPI_Init than are kept, last",
    "child process, or a pipe to another one",
    "socket to another process of this host",
    "memory shared with other processes",
    "timerfd, signalfd, eventfd or inotify",
    "poll, select or epoll with a time limit",
    "signal to another process",
    "number of the parent process, of a group or a session",
    "number of the processor that it runs on, or which ones it may use",
    "file of /proc or /sys, or sysinfo",
    "what threads share without a lock, first thread made",
    "signal from another process, taken",
    "lock on a file, which another rank may hold",
    "more files than are kept track of, or with longer names",
};
inline constexpr std::size_t kNoteKinds = sizeof kNotGuaranteedTexts / sizeof *kNotGuaranteedTexts;
static_assert(kNoteKinds == static_cast<std::size_t>(NotGuaranteedKind::InputsLeftOut) + 1);

}  // namespace pf
