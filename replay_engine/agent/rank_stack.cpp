// SPDX-License-Identifier: GPL-3.0-or-later
// Unwinds by the call frame information of the files that the rank has mapped (elfutils' libdwfl).
// Where it starts from: inside of an MPI call the interposer's frame says what the caller's
// registers were, so that nobody has to stop; elsewhere ptrace gives them.
#include "replay_engine/agent/rank_stack.h"

#include <elfutils/libdwfl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>

#include "replay_engine/agent/read_context.h"

namespace pf::agent {
namespace {

using protocol::CodePlace;

constexpr std::size_t kMostFrames = 64;
constexpr std::chrono::milliseconds kStopWithin(200);

/// What unwinding starts from; the other registers hardly ever say where a frame is.
struct Registers {
  std::uint64_t pc = 0;
  std::uint64_t stack = 0;
  std::uint64_t frame = 0;
  bool afterCall = false;  ///< `pc` is a return address
};

/// Registers of the program where it called MPI, if its first thread is in an MPI call that may
/// block.
std::optional<Registers> callerOfMpi(pid_t pid, const RankPage& page) {
#if defined(__x86_64__)
  const auto phase = static_cast<RankPhase>(page.phase.load(std::memory_order_acquire));
  const bool held =
      phase == RankPhase::Gated || phase == RankPhase::Stopped || phase == RankPhase::Diverged;
  std::uint64_t at = 0;
  std::array<std::uint64_t, 2> frame{};  // the caller's frame pointer, the return address
  const bool inside = held || page.inCall.load(std::memory_order_relaxed) != 0;
  if (inside && page.outermostAt != 0 && readMemory(pid, page.outermostAt, &at, sizeof at) &&
      at != 0 && readMemory(pid, at, frame.data(), sizeof frame)) {
    return Registers{frame[1], at + sizeof frame, frame[0], true};
  }
#else
  static_cast<void>(pid);
  static_cast<void>(page);
#endif
  return std::nullopt;
}

/// Holds one thread as long as it lives. Its end is left to whoever waits for the process.
class HeldThread {
 public:
  explicit HeldThread(pid_t thread) : m_thread(thread) {
    m_seized = ::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0;
    m_stopped = m_seized && ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 && await();
  }
  ~HeldThread() {
    if (m_seized) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the signal that it was about to get
      ::ptrace(PTRACE_DETACH, m_thread, nullptr, reinterpret_cast<void*>(m_signal));
    }
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;

  [[nodiscard]] std::optional<Registers> registers() const {
#if defined(__x86_64__)
    user_regs_struct all{};
    if (m_stopped && ::ptrace(PTRACE_GETREGS, m_thread, nullptr, &all) == 0) {
      return Registers{all.rip, all.rsp, all.rbp, false};
    }
#endif
    return std::nullopt;
  }

 private:
  bool await() {
    const auto deadline = std::chrono::steady_clock::now() + kStopWithin;
    do {
      siginfo_t info{};
      const int how = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;
      if (::waitid(P_PID, static_cast<id_t>(m_thread), &info, how) != 0) {
        return false;
      }
      if (info.si_pid == m_thread) {
        int status = 0;
        const bool stopped = info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED;
        if (!stopped || ::waitpid(m_thread, &status, WNOHANG | __WALL) != m_thread) {
          return false;  // it has ended
        }
        m_signal = status >> 16U == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
        return true;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    } while (std::chrono::steady_clock::now() < deadline);
    return false;
  }

  pid_t m_thread;
  bool m_seized = false;
  bool m_stopped = false;
  long m_signal = 0;
};

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

// NOLINTNEXTLINE(readability-function-size): elfutils has it so
int noDebugInformation(Dwfl_Module* /*module*/, void** /*data*/, const char* /*name*/,
                       Dwarf_Addr /*base*/, const char* /*file*/, const char* /*link*/,
                       GElf_Word /*crc*/, char** /*found*/) {
  return -1;  // the call frame information is in the files themselves
}

/// One walk up a stack.
struct Walk {
  pid_t pid = 0;
  Registers from;
  std::vector<std::uint64_t> addresses;  ///< behind the instruction that each frame is in
};

pid_t nextThread(Dwfl* /*dwfl*/, void* argument, void** threadArgument) {
  if (*threadArgument != nullptr) {
    return 0;
  }
  *threadArgument = argument;
  return static_cast<Walk*>(argument)->pid;
}

bool getThread(Dwfl* /*dwfl*/, pid_t /*thread*/, void* argument, void** threadArgument) {
  *threadArgument = argument;
  return true;
}

bool readWord(Dwfl* /*dwfl*/, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
  return readMemory(static_cast<Walk*>(argument)->pid, address, word, sizeof *word);
}

bool setRegisters(Dwfl_Thread* thread, void* argument) {
  constexpr int kFramePointer = 6;  // DWARF's numbers for x86-64: 6 rbp, 7 rsp, 16 pc
  constexpr int kPc = 16;
  const Registers& from = static_cast<Walk*>(argument)->from;
  const std::array<Dwarf_Word, 2> pointers{from.frame, from.stack};
  const Dwarf_Word pc = from.afterCall ? from.pc - 1 : from.pc;
  return dwfl_thread_state_registers(thread, kFramePointer, pointers.size(), pointers.data()) &&
         dwfl_thread_state_registers(thread, kPc, 1, &pc);
}

int onFrame(Dwfl_Frame* frame, void* argument) {
  auto& addresses = static_cast<Walk*>(argument)->addresses;
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(frame, &pc, &activation)) {
    return DWARF_CB_ABORT;
  }
  addresses.push_back(activation ? pc + 1 : pc);
  return addresses.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

constexpr Dwfl_Callbacks kFiles = {dwfl_linux_proc_find_elf, noDebugInformation, nullptr, nullptr};
constexpr Dwfl_Thread_Callbacks kThreads = {nextThread,   getThread, readWord,
                                            setRegisters, nullptr,   nullptr};

/// As far as it goes: the first frame is there in any case.
void unwind(Walk& walk) {
  const std::unique_ptr<Dwfl, EndDwfl> dwfl(dwfl_begin(&kFiles));
  if (dwfl != nullptr && dwfl_linux_proc_report(dwfl.get(), walk.pid) == 0 &&
      dwfl_report_end(dwfl.get(), nullptr, nullptr) == 0 &&
      dwfl_attach_state(dwfl.get(), nullptr, walk.pid, &kThreads, &walk)) {
    dwfl_getthread_frames(dwfl.get(), walk.pid, onFrame, &walk);
  }
  if (walk.addresses.empty()) {
    walk.addresses.push_back(walk.from.afterCall ? walk.from.pc : walk.from.pc + 1);
  }
}

std::vector<CodePlace> placesOf(const Walk& walk) {
  const std::vector<Mapping> mappings = mappingsOf(walk.pid);
  std::vector<CodePlace> places;
  for (const std::uint64_t address : walk.addresses) {
    places.push_back(placeOf(mappings, address));
  }
  return places;
}

}  // namespace

Result<std::vector<CodePlace>> stackOf(pid_t pid, const RankPage& page, bool hasDebugger) {
  Walk walk;
  walk.pid = pid;
  const std::uint64_t serial = page.serial.load(std::memory_order_acquire);
  if (const auto caller = callerOfMpi(pid, page)) {
    walk.from = *caller;
    unwind(walk);
    if (callerOfMpi(pid, page) && page.serial.load(std::memory_order_acquire) == serial) {
      return placesOf(walk);
    }
    walk.addresses.clear();  // it has gone on meanwhile
  }
  if (hasDebugger) {
    return Error{ErrorCode::System, "it runs in its own code, under its debugger: pause it", {}};
  }
  {
    const HeldThread held(pid);
    if (const auto registers = held.registers()) {
      walk.from = *registers;
      unwind(walk);
    }
  }
  if (!walk.addresses.empty()) {
    return placesOf(walk);
  }
  if (CodePlace place = callPlaceOf(pid, page); !place.module.empty()) {
    return std::vector<CodePlace>{std::move(place)};
  }
  return Error{ErrorCode::System, "its stack cannot be read", {}};
}

}  // namespace pf::agent
