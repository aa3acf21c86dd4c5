// SPDX-License-Identifier: MIT
// What the system tells the program (clocks, random numbers, process id, host name): recorded, and
// given back in a replay. Only calls of the program itself count, and of its first thread: that is
// the one whose order is known. Libraries that the program calls count as the program.
//
// What is asked for before MPI_Init waits in memory until the log is open. A replay has it from the
// schedule that the agent names before the program starts.
#pragma once

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "replay_engine/log_format/system_values.h"
#include "replay_engine/rank/engine/engine.h"

#ifdef PF_NOT_INTERPOSED  // a build for the thread sanitizer
#define PF_EXPORTED "pf_not_interposed_"
#else
#define PF_EXPORTED ""
#endif
/// Defines a routine of libc that the program calls in place of the real one, PF_NEXT(name).
#define PF_LIBC(returns, name, ...)                           \
  extern "C" __attribute__((visibility("default"), noinline)) \
  returns pf_##name(__VA_ARGS__) __asm__(PF_EXPORTED #name);  \
  namespace {                                                 \
  __attribute__((constructor)) void findNext_##name() {       \
    ::pf::NextRoutine<#name>::findEarly();                    \
  }                                                           \
  }                                                           \
  returns pf_##name(__VA_ARGS__)
/// Parameters or arguments as one argument of a macro.
#define PF_TOGETHER(...) __VA_ARGS__
#define PF_NEXT(name) (reinterpret_cast<decltype(&pf_##name)>(::pf::NextRoutine<#name>::get()))

namespace pf {

/// The routine behind us; ends the process with a clear line if there is none.
void* nextSymbol(const char* name);
/// The same; null: there is none yet.
void* nextSymbolYet(const char* name);

template <std::size_t kSize>
struct RoutineName {
  char text[kSize];
  consteval RoutineName(const char (&from)[kSize])  // NOLINT: converts
      : text{} {
    for (std::size_t i = 0; i < kSize; ++i) {
      text[i] = from[i];
    }
  }
};

/// The routine behind us of this name: looked for once, when the process begins, as that takes the loader's lock. A thread that
/// holds it (dlopen()) may wait, in a constructor, for one that calls us.
template <RoutineName kName>
class NextRoutine {
 public:
  static void* get() {
    void* found = s_known.load(std::memory_order_relaxed);
    if (found == nullptr) [[unlikely]] {  // called before, or of a library that came later
      found = nextSymbol(kName.text);
      s_known.store(found, std::memory_order_relaxed);
    }
    return found;
  }
  static void findEarly() { s_known.store(nextSymbolYet(kName.text), std::memory_order_relaxed); }

 private:
  static inline constinit std::atomic<void*> s_known = nullptr;
};

/// Gives back the pages of the schedule that values were read from (leftPiece()).
void giveBackValues();

/// The recorded values of one kind, as a replay reads them.
struct ValueStream {
  const unsigned char* at;
  const unsigned char* end;
  std::int64_t given;  ///< the last one
  double seconds;      ///< the last one of MPI_Wtime
  bool any;            ///< one has been given
  bool live;           ///< the record has been used up
  std::int64_t ahead;  ///< live: added to the real clock, so that it goes on where the record ended
  double secondsAhead;
};

/// Whose calls count: of the thread with &t_depth == g_rankOnly.owner; null: of none.
struct SystemValues {
  SeenByAll<bool> asleep = true;  ///< nothing has been asked for yet
  SeenByAll<bool> record = false;
  SeenByAll<bool> replay = false;
  SeenByAll<bool> joined = false;  ///< the log is open; until then records go to memory
  std::atomic<bool> quick{false};  ///< only recording, no lock is needed, no note waits
  std::uint8_t lastKind = kValuesJoin;
  std::int64_t last[kValueKinds] = {};  ///< in the log
  ValueStream streams[kValueKinds] = {};
  std::int64_t wall = 0;  ///< replay: nanoseconds, what the program was last told
  std::int64_t monotonic = 0;
  std::int64_t started = 0;  ///< nanoseconds; files that are younger are the run's own
  std::int32_t pid = 0;      ///< replay: what getpid() returns
  std::int32_t realPid = 0;
  std::atomic<std::uint32_t> notesWaiting{0};
};
extern SystemValues g_systemValues;

/// MPI_Init has returned, log and schedule are open. `joined` false: nothing is recorded or
/// replayed.
void valuesJoin(bool joined);
/// Several threads may write records from now on.
void valuesShare();
/// Writes the notes that other threads left; at MPI_Finalize.
void valuesFlush();
/// In a child after fork.
void valuesForget();

/// The page of the rank that this process may become; null: it will not.
const RankPage* mapLaunchPage();
void unmapLaunchPage(const RankPage* page);

/// Reading the cycle counter traps: libc's clocks must not use it.
extern bool g_tscTraps;

/// Files something that is not covered, once, with its place.
void noteUncovered(NotGuaranteedKind kind, void* caller);

/// Makes a thread that MPI wants for itself: nothing that it does is the program's.
using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int createInternalThread(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes,
                         void* (*routine)(void*), void* argument, bool ofMpi);
/// How many of these there are that MPI's own libraries made (`ofMpi`), and how many have ended. Those that a callback of the
/// program's made, in one of MPI's calls, are not among them: a snapshot would lack them.
struct InternalThreads {
  int now;
  int ended;
};
InternalThreads internalThreads();

/// `until`, a time of the program's clock, on the kernel's, which a replay does not change; `moved`
/// is room for it.
const timespec* onKernelsClock(clockid_t clock, const timespec* until, timespec* moved);
/// The clock of a condition variable is among its attributes: the times themselves tell.
clockid_t clockOf(const timespec* until);

// -- whose call it is

constexpr std::size_t kCallers = 256;
/// Return address * 2 + whether it is the program's.
extern std::atomic<std::uintptr_t> g_callers[kCallers];
bool askOther(void* caller);
bool learnCaller(void* caller, const void* frame);

/// Whether MPI has been left by a jump although t_depth says that this thread is inside.
bool leftMpi(void* caller, const void* frame);

/// Whether this thread's values count and the call that returns to `caller` is the program's.
/// `frame`: of the routine that it called.
__attribute__((always_inline)) inline bool isProgramsCall(void* caller, const void* frame) {
  if (&t_depth != g_rankOnly.owner) [[unlikely]] {
    return askOther(caller) && t_depth == 0 && learnCaller(caller, frame);
  }
  if (t_depth > 0 && !leftMpi(caller, frame)) {
    return false;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const std::uintptr_t known =
      g_callers[(address ^ address >> 8) % kCallers].load(std::memory_order_relaxed);
  return known >> 1 == address ? (known & 1U) != 0 : learnCaller(caller, frame);
}
#define PF_PROGRAMS_CALL() \
  (::pf::isProgramsCall(__builtin_return_address(0), __builtin_frame_address(0)))

/// For t_outermost: no frame is above it.
inline const void* const kNeverLeft = reinterpret_cast<const void*>(~std::uintptr_t{0});

/// What is called here is ours, or a means to an end: its own calls do not count.
class InsideLibc {
 public:
  InsideLibc() : m_outermost(t_outermost) {
    ++t_depth;
    t_outermost = kNeverLeft;
  }
  ~InsideLibc() {
    t_outermost = m_outermost;
    --t_depth;
  }
  InsideLibc(const InsideLibc&) = delete;
  InsideLibc& operator=(const InsideLibc&) = delete;

 private:
  const void* m_outermost;
};

// -- values

/// Gives back the next recorded number of this kind. False: none, ask the system.
bool recallNumber(ValueKind kind, std::int64_t* value);
void keepNumber(ValueKind kind, std::int64_t value);
bool recallSeconds(double* value);
void keepSeconds(double value);
/// Fills in recorded bytes: how many, up to `size`; -1: none recorded.
std::ptrdiff_t recallBytes(ValueKind kind, void* to, std::size_t size);
/// `asked`: bytes that the program wanted.
void keepBytes(ValueKind kind, const void* from, std::size_t size, std::size_t asked);

/// Puts what was asked for before MPI_Init into the log.
void flushEarly();
/// Writes the notes that wait; under the lock.
void writeNotes();

// Files, directories and variables that the program looks at (input_files.cpp). They are kept once
// each; a replay says which are not as they were. `path` is relative to the directory `from`.
void sawInput(int from, const char* path, int fd, void* caller);  ///< opened for reading
void sawAbsent(int from, const char* path);  ///< it is not there, or was not before this call
void sawExisting(int from, const char* path);
/// What a regular file is like.
struct LookedAt {
  InputFile file;
  bool older;  ///< than the run, which has not written it then
};
void sawRegular(int from, const char* path, LookedAt looked);  ///< what stat told
void sawListing(const char* path);
void sawListingAt(int from, const char* path);
void sawTree(const char* path);  ///< the listing of each directory in it
/// Each part of `path` that is a symbolic link: where it leads was asked.
void sawLinks(int from, const char* path);
/// Reads from what was not opened for reading only: `opened` is what it was like then.
void sawReading(int fd, const LookedAt& opened);
/// Opened for writing, or renamed to `path`: what is read of it then is the run's own.
void wroteFile(int from, const char* path);
/// MPI_File_open, before it.
void sawMpiFile(const char* name, int mode);
void sawMpiDelete(const char* name);  ///< MPI_File_delete, before it
/// Variables that were asked for so far, into the log; of the thread whose calls count.
void keepAskedVariables();
void keepVariable(const char* name);
/// False: it is no regular one, or the kernel makes it up.
bool lookAtFile(int fd, LookedAt* looked);
/// `info`: of a regular file; its path is left open.
LookedAt lookedAt(const struct stat& info);

/// The system's value, where a replay has none: a clock goes on from the last one given back.
std::int64_t liveClock(ValueKind kind, std::int64_t real);
double liveSeconds(double real);

// -- in a recording, where a call costs little more than the system's own

/// While a quick record is written: what a signal handler asks for then does not count.
class Writing {
 public:
  Writing() {
    ++t_depth;
    t_outermost = kNeverLeft;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Writing() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --t_depth;
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
};

inline unsigned char* beginQuickly(ValueKind kind) {
  const auto number = static_cast<std::uint8_t>(kind);
  unsigned char* p = g_engine.log.reserve();
  if (g_systemValues.lastKind == number) [[likely]] {
    return putRecord<RecordKind::NextValue>(p, {});
  }
  g_systemValues.lastKind = number;
  return putRecord<RecordKind::Value>(p, {number});
}

/// The record of a value whose one field is `coded`.
inline void addQuickly(ValueKind kind, std::uint64_t coded) {
  constexpr unsigned kMostVarint = 7;  // bytes, behind the record's kind
  if (g_systemValues.lastKind == static_cast<std::uint8_t>(kind) && coded >> 7 * kMostVarint == 0)
      [[likely]] {
    auto record = static_cast<std::uint64_t>(RecordKind::NextValue);
    unsigned size = 1;
    for (; coded >= 0x80; coded >>= 7) {
      record |= ((coded & 0x7F) | 0x80) << 8 * size++;
    }
    record |= coded << 8 * size++;
    g_engine.log.addWord(record, size);
  } else {
    g_engine.log.commit(putVarint(beginQuickly(kind), coded));
  }
  g_engine.log.publish();
}

inline void keepQuickly(ValueKind kind, std::int64_t value) {
  std::int64_t& last = g_systemValues.last[static_cast<std::size_t>(kind)];
  const auto difference = static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(last);
  last = value;
  addQuickly(kind, zigzag(static_cast<std::int64_t>(difference)));
}

}  // namespace pf
