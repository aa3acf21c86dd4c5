// SPDX-License-Identifier: GPL-3.0-or-later
// One GDB, its pipes, and how it is ended without taking its rank with it.
//
// SIGTERM lets a GDB detach whatever its rank does; SIGKILL takes a running rank that has a
// breakpoint in it (measured), so it is only used when the rank
// is stopped or gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "replay_engine/agent/launch.h"
#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::agent {

class GdbProcess {
 public:
  GdbProcess() = default;
  GdbProcess(const GdbProcess&) = delete;
  GdbProcess& operator=(const GdbProcess&) = delete;
  ~GdbProcess() = default;

  /// `gdb`, for the process `rank`, which it does not attach to yet.
  [[nodiscard]] Status start(const std::string& gdb, const AgentSignals& signals,
                             const std::vector<std::string>& environment, pid_t rank);
  [[nodiscard]] bool runs() const { return m_pid > 0; }
  [[nodiscard]] pid_t pid() const { return m_pid; }
  [[nodiscard]] bool askedToEnd() const { return m_asked; }

  // For poll(): output, complaints, and input while something is queued for it.
  [[nodiscard]] int outFd() const { return m_out.get(); }
  [[nodiscard]] int errFd() const { return m_err.get(); }
  [[nodiscard]] int inFd() const { return m_in.get(); }
  [[nodiscard]] bool wantsWrite() const { return m_in.valid() && !m_queue.empty(); }

  void write(const std::string& bytes);
  void flush();
  /// What GDB says now, at most one chunk; empty if nothing.
  [[nodiscard]] std::string read();
  /// Keeps the last lines that GDB wrote to stderr.
  void readComplaints();

  void signal(int number) const;
  /// Asks it to end: it detaches.
  void end();
  /// After end(): kills it if it hangs and `rank` (a process) is stopped or gone.
  void killIfHung(pid_t rank, std::chrono::milliseconds patience);
  /// True if it has ended; then text() says how.
  [[nodiscard]] bool reap();
  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  pid_t m_pid = -1;
  bool m_asked = false;
  std::chrono::steady_clock::time_point m_askedAt;
  UniqueFd m_in;
  UniqueFd m_out;
  UniqueFd m_err;
  std::string m_queue;
  std::string m_complaints;
  std::string m_text;
};

}  // namespace pf::agent
