// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish-agent [--session DIRECTORY] [--] PROGRAM ARGUMENTS: what the launcher starts in place of PROGRAM.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "replay_engine/agent/agent.h"
#include "replay_engine/base/caught.h"

namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

/// A descriptor of ours must not become somebody's stdin.
void fillStandardDescriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd > STDERR_FILENO) {
    ::close(fd);
  }
}

/// Ends as the program did, so that the launcher sees what it would have seen.
[[noreturn]] void endAs(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);  // the program has left its own
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
    sigset_t mask{};
    ::sigemptyset(&mask);
    ::sigaddset(&mask, number);
    ::kill(::getpid(), number);
    ::sigprocmask(SIG_UNBLOCK, &mask, nullptr);
    ::_exit(128 + number);
  }
  ::_exit(WEXITSTATUS(status));
}

int startFailed(const pf::Error& error) {
  if (!error.message.empty()) {  // another agent of this host has said it
    pf::agent::say(error.text());
  }
  const bool aboutProgram = error.message.rfind("cannot run '", 0) == 0;
  if (!aboutProgram) {
    return 1;
  }
  return error.code == pf::ErrorCode::NotFound ? kNotFound : kNotExecutable;
}

int runAgent(const char* directory, std::vector<std::string> command) {
  if (directory == nullptr) {
    pf::agent::say(
        "photofinish-agent is started by photofinish, not by hand\n"
        "  try: photofinish record mpirun -n 4 PROGRAM");
    return 2;
  }
  const pf::agent::AgentSignals signals;
  pf::agent::SignalCanary canary;  // before the session: a copy of its lock must not outlive us
  pf::Result<pf::protocol::SessionDirectory> session =
      pf::protocol::SessionDirectory::open(directory);
  if (!session) {
    pf::agent::say(session.error().text());
    return 1;
  }
  int status = 0;
  {  // its end removes what is ours of the session
    pf::agent::Agent agent(std::move(*session), std::move(command), signals, canary);
    pf::Result<int> ended = agent.run();
    if (!ended) {
      return startFailed(ended.error());
    }
    if (agent.ownStatus()) {
      return *agent.ownStatus();
    }
    status = *ended;
  }
  canary.stop();
  endAs(status);
}

int agentMain(int argc, char** argv) {
  fillStandardDescriptors();
  const char* session = std::getenv(pf::protocol::kSessionVariable);
  int next = 1;
  if (argc > 2 && std::strcmp(argv[1], "--session") == 0) {
    session = argv[2];
    next = 3;
  }
  if (next < argc && std::strcmp(argv[next], "--") == 0) {
    ++next;
  }
  std::vector<std::string> command(argv + next, argv + argc);
  if (command.empty()) {
    pf::agent::say("usage: photofinish-agent [--session DIRECTORY] [--] PROGRAM ARGUMENTS");
    return 2;
  }
  return runAgent(session, std::move(command));
}

}  // namespace

int main(int argc, char** argv) {
  return pf::lastCatch("photofinish", agentMain, argc, argv);
}
