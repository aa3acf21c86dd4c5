// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/gdb_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "mi_bridge/gdb_command.h"
#include "replay_engine/agent/proc.h"
#include "replay_engine/agent/separate_symbols.h"
#include "replay_engine/protocol/messages.h"

namespace pf::agent {
namespace {

constexpr std::size_t kMaxQueue = std::size_t{4} << 20U;
constexpr std::size_t kMaxComplaints = 2000;

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Pipe makePipe() {
  std::array<int, 2> fds{-1, -1};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
    return {};
  }
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

void makeNonBlocking(const UniqueFd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

Status GdbProcess::start(const std::string& gdb, const AgentSignals& signals,
                         const std::vector<std::string>& environment, pid_t rank) {
  Pipe in = makePipe();
  Pipe out = makePipe();
  Pipe err = makePipe();
  if (!err.reader.valid() || !out.reader.valid() || !in.reader.valid()) {
    return systemError("cannot make pipes for gdb", errno);
  }
  LaunchPlan plan;
  plan.arguments = mi::gdbCommandLine(gdb, !onlyTheCLibraryIsThere(mappingsOf(rank)));
  plan.environment = environment;
  plan.in = in.reader.get();
  plan.out = out.writer.get();
  plan.err = err.writer.get();
  plan.deathSignal = SIGTERM;
  plan.ownSession = true;
  plan.coreFile = false;
  Result<pid_t> pid = launch(plan, signals);
  if (!pid) {
    if (pid.error().code == ErrorCode::NotFound) {
      return Error{ErrorCode::NotFound,
                   gdb == "gdb" ? "gdb not found: install it (apt-get install gdb)"
                                : gdb + " not found, which is to be the GDB",
                   {}};
    }
    return pid.error();
  }
  m_pid = *pid;
  m_asked = false;
  m_queue.clear();
  m_complaints.clear();
  m_text.clear();
  m_in = std::move(in.writer);
  m_out = std::move(out.reader);
  m_err = std::move(err.reader);
  makeNonBlocking(m_in);
  makeNonBlocking(m_out);
  makeNonBlocking(m_err);
  return {};
}

void GdbProcess::write(const std::string& bytes) {
  if (m_in.valid() && m_queue.size() + bytes.size() <= kMaxQueue) {
    m_queue += bytes;
    flush();
  }
}

void GdbProcess::flush() {
  while (wantsWrite()) {
    const ssize_t n = ::write(m_in.get(), m_queue.data(), m_queue.size());
    if (n > 0) {
      m_queue.erase(0, static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      return;
    } else {
      m_in.reset();
    }
  }
}

std::string GdbProcess::read() {
  std::string bytes(protocol::kMaxChunk, '\0');
  const ssize_t n = m_out.valid() ? ::read(m_out.get(), bytes.data(), bytes.size()) : -1;
  if (n == 0) {
    m_out.reset();
  }
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

void GdbProcess::readComplaints() {
  std::array<char, 4096> bytes{};
  const ssize_t n = m_err.valid() ? ::read(m_err.get(), bytes.data(), bytes.size()) : -1;
  if (n == 0) {
    m_err.reset();
  } else if (n > 0) {
    m_complaints.append(bytes.data(), static_cast<std::size_t>(n));
    if (m_complaints.size() > kMaxComplaints) {
      m_complaints.erase(0, m_complaints.size() - kMaxComplaints);
    }
  }
}

void GdbProcess::signal(int number) const {
  if (m_pid > 0) {
    ::kill(m_pid, number);
  }
}

void GdbProcess::end() {
  if (m_pid > 0 && !m_asked) {
    m_asked = true;
    m_askedAt = std::chrono::steady_clock::now();
    ::kill(m_pid, SIGTERM);
    ::kill(m_pid, SIGCONT);
  }
}

void GdbProcess::killIfHung(pid_t rank, std::chrono::milliseconds patience) {
  if (m_pid <= 0 || !m_asked || std::chrono::steady_clock::now() - m_askedAt < patience) {
    return;
  }
  const char state = processState(rank);
  if (state == 't' || state == 'T' || state == 'Z' || state == '\0') {
    ::kill(m_pid, SIGKILL);
  }
}

bool GdbProcess::reap() {
  int status = 0;
  if (m_pid <= 0 || ::waitpid(m_pid, &status, WNOHANG) != m_pid) {
    return false;
  }
  m_pid = -1;
  readComplaints();
  m_text = WIFSIGNALED(status)
               ? std::string("gdb was ended by signal ") + std::to_string(WTERMSIG(status)) + " (" +
                     ::strsignal(WTERMSIG(status)) + ")"
               : "gdb ended with status " + std::to_string(WEXITSTATUS(status));
  if (!m_complaints.empty() && !m_asked) {
    m_text += ": " + m_complaints;
  }
  m_in.reset();
  return true;
}

}  // namespace pf::agent
