// SPDX-License-Identifier: GPL-3.0-or-later
// A real program under a real GDB, through pipes, and everything that its session says.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mi_bridge/gdb_session.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::mi::test {

/// Whether this machine lets a process be traced.
[[nodiscard]] bool ptraceWorks();
/// The line of the program that ends in `// MARK name`.
[[nodiscard]] int markedLine(const std::string& name);

/// A child process; ended and reaped by the destructor.
class Child {
 public:
  Child() = default;
  explicit Child(pid_t pid) : m_pid(pid) {}
  ~Child() { end(); }
  Child(Child&& other) noexcept : m_pid(std::exchange(other.m_pid, 0)) {}
  Child& operator=(Child&& other) noexcept {
    end();
    m_pid = std::exchange(other.m_pid, 0);
    return *this;
  }
  [[nodiscard]] pid_t pid() const { return m_pid; }
  [[nodiscard]] bool alive() const;
  void signal(int number) const;
  void end();

 private:
  pid_t m_pid = 0;
};

/// Runs GDB; its output is read by read().
class GdbProcess : public Transport {
 public:
  GdbProcess();
  void send(std::string_view bytes) override;
  /// What came within `milliseconds`; nothing at the end of the output.
  std::optional<std::string> read(int milliseconds);
  [[nodiscard]] const Child& child() const { return m_child; }
  [[nodiscard]] int outputFd() const { return m_programOut.get(); }

 private:
  UniqueFd m_in;
  UniqueFd m_out;
  UniqueFd m_programOut;  ///< GDB's own output, for a program that shares it
  Child m_child;
};

/// Starts the program. `output`: a descriptor for its standard output, or -1.
[[nodiscard]] Child startProgram(const std::string& mode, int output = -1);

class LiveRank : public SessionObserver {
 public:
  explicit LiveRank(const std::string& mode = "loop", bool shareOutput = false);
  ~LiveRank() override;

  /// Feeds the session until `condition` holds. False: it did not within the time.
  bool until(const std::function<bool()>& condition, int milliseconds = 15000);
  /// Runs an asynchronous call to its end.
  Status wait(const std::function<void(Done)>& call);
  template <typename T>
  Result<T> ask(const std::function<void(Callback<T>)>& call) {
    const auto answer = std::make_shared<std::optional<Result<T>>>();
    call([answer](Result<T> value) { answer->emplace(std::move(value)); });
    until([&answer] { return answer->has_value(); });
    return answer->has_value() ? std::move(**answer)
                               : Result<T>(Error{ErrorCode::Internal, "no answer", {}});
  }
  Status attach();
  /// Runs and waits for the stop that follows.
  Status runToStop(const RunCommand& command);
  Status insert(const BreakpointRequest& request, Breakpoint* breakpoint = nullptr);
  [[nodiscard]] std::string evaluate(const std::string& expression);
  [[nodiscard]] const StopEvent& lastStop() const { return stops.back(); }

  void onState(SessionState state) override { states.push_back(state); }
  void onStopped(const StopEvent& stop) override { stops.push_back(stop); }
  void onBreakpointChanged(BreakpointChange change, const Breakpoint&) override {
    changes.push_back(change);
  }
  void onConsole(StreamKind kind, std::string_view text) override;
  void onLost(const std::string& text) override { lost = text; }
  void onEscalate(Escalation escalation) override;
  void onToolAction(ToolAction action, std::string_view) override { actions.push_back(action); }
  void onSlow(const std::string& command, bool) override { slow.push_back(command); }
  void onValuesChanged() override { ++valueChanges; }

  GdbProcess gdb;
  Child program;
  GdbSession session;

  std::vector<SessionState> states;
  std::vector<StopEvent> stops;
  std::vector<BreakpointChange> changes;
  std::vector<Escalation> escalations;
  std::vector<ToolAction> actions;
  std::vector<std::string> slow;
  std::string consoleText;
  std::string logText;
  std::string targetText;
  std::string lost;
  int valueChanges = 0;
};

}  // namespace pf::mi::test
