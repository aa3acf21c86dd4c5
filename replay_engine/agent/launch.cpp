// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/launch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "replay_engine/agent/proc.h"

namespace pf::agent {
namespace {

/// Ours to read; all but SIGCHLD are passed on to the program.
constexpr std::array kSignals{SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    out.push_back(
        const_cast<char*>(text.c_str()));  // NOLINT: execve's interface; it does not write
  }
  out.push_back(nullptr);
  return out;
}

void replace(int fd, int target) {
  if (fd >= 0) {
    ::dup2(fd, target);
  }
}

}  // namespace

AgentSignals::AgentSignals() {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, &m_pipe);
  action.sa_handler = SIG_DFL;  // ignored, we could not wait for our children
  ::sigaction(SIGCHLD, &action, &m_child);
  sigset_t ours{};
  ::sigemptyset(&ours);
  for (const int number : kSignals) {
    ::sigaddset(&ours, number);
  }
  ::sigprocmask(SIG_BLOCK, &ours, &m_mask);
  m_fd.reset(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
}

void AgentSignals::restore() const {
  ::sigaction(SIGPIPE, &m_pipe, nullptr);
  ::sigaction(SIGCHLD, &m_child, nullptr);
  ::sigprocmask(SIG_SETMASK, &m_mask, nullptr);
}

Result<pid_t> launch(const LaunchPlan& plan, const AgentSignals& signals) {
  const std::vector<char*> arguments = pointers(plan.arguments);
  const std::vector<char*> environment = pointers(plan.environment);
  std::array<int, 2> failure{};
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) {
    return systemError("cannot start '" + plan.arguments[0] + "'", errno);
  }
  const UniqueFd reader(failure[0]);
  UniqueFd writer(failure[1]);
  const pid_t agent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {  // only async-signal-safe calls from here
    ::prctl(PR_SET_PDEATHSIG, plan.deathSignal);
    if (::getppid() != agent) {
      ::_exit(126);
    }
    if (plan.ownSession) {
      ::setsid();
    }
    if (!plan.coreFile) {
      const rlimit none{0, 0};
      ::setrlimit(RLIMIT_CORE, &none);
    }
    replace(plan.in, STDIN_FILENO);
    replace(plan.out, STDOUT_FILENO);
    replace(plan.err, STDERR_FILENO);
    signals.restore();
    ::execvpe(arguments[0], arguments.data(), environment.data());
    const int error = errno;
    static_cast<void>(::write(writer.get(), &error, sizeof error) == sizeof error);
    ::_exit(127);
  }
  if (pid < 0) {
    return systemError("cannot start '" + plan.arguments[0] + "'", errno);
  }
  writer.reset();
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(reader.get(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizeof error)) {
    return pid;
  }
  ::waitpid(pid, nullptr, 0);
  Error failed = systemError("cannot run '" + plan.arguments[0] + "'", error);
  failed.code = error == ENOENT || error == ENOTDIR ? ErrorCode::NotFound : ErrorCode::System;
  return failed;
}

void SignalCanary::start() {
  const pid_t agent = ::getpid();
  m_pid = ::fork();
  if (m_pid != 0) {
    return;
  }
  sigset_t all{};
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "pf-signals");
  ::close_range(0, ~0U, 0);
  while (::getppid() == agent) {
    ::pause();
  }
  ::_exit(0);
}

void SignalCanary::stop() {
  if (m_pid > 0) {
    ::kill(m_pid, SIGKILL);
    ::waitpid(m_pid, nullptr, 0);
    m_pid = -1;
  }
}

bool SignalCanary::wasForAll(int signal) {
  // The kernel signals a group one process after another: let it finish.
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (m_pid <= 0 || !isPending(m_pid, signal)) {
    return false;
  }
  stop();  // a new one has nothing pending
  start();
  return true;
}

}  // namespace pf::agent
