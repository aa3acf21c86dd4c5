// SPDX-License-Identifier: GPL-3.0-or-later
// Starting the user's program, GDB, and knowing whom a signal was meant for.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {

/// The agent's own signal set-up, and how to undo it in a child.
class AgentSignals {
 public:
  /// Blocks what the agent reads from fd(), ignores SIGPIPE.
  AgentSignals();
  AgentSignals(const AgentSignals&) = delete;
  AgentSignals& operator=(const AgentSignals&) = delete;
  ~AgentSignals() = default;

  [[nodiscard]] int fd() const { return m_fd.get(); }
  /// In a child, before exec: everything as the launcher gave it to us.
  void restore() const;

 private:
  sigset_t m_mask{};
  struct sigaction m_pipe {};
  struct sigaction m_child {};
  UniqueFd m_fd;
};

struct LaunchPlan {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  int in = -1;  ///< becomes stdin; -1 = as ours
  int out = -1;
  int err = -1;
  int deathSignal = SIGKILL;  ///< sent to it when the agent dies
  bool ownSession = false;
  bool coreFile = true;  ///< whether it leaves one where the user works, if it crashes
};

/// Forks and executes, from the main thread only (its death sends `deathSignal`). Error::code is
/// NotFound if there is no such program, System if it cannot be executed.
[[nodiscard]] Result<pid_t> launch(const LaunchPlan& plan, const AgentSignals& signals);

/// Launchers signal either one process or its whole group, and then the program has the signal
/// already. A process in our group that blocks everything tells which it was.
class SignalCanary {
 public:
  SignalCanary() { start(); }
  ~SignalCanary() { stop(); }
  SignalCanary(const SignalCanary&) = delete;
  SignalCanary& operator=(const SignalCanary&) = delete;

  /// True if `signal`, which just came to us, went to the whole group.
  [[nodiscard]] bool wasForAll(int signal);
  void stop();
  [[nodiscard]] pid_t pid() const { return m_pid; }

 private:
  void start();

  pid_t m_pid = -1;
};

}  // namespace pf::agent
