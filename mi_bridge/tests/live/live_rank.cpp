// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/tests/live/live_rank.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "mi_bridge/gdb_command.h"

namespace pf::mi::test {
namespace {

std::pair<UniqueFd, UniqueFd> makePipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

[[noreturn]] void execute(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

bool ptraceWorks() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::pause();
    ::_exit(0);
  }
  int status = 0;
  const bool works = ::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) == 0;
  if (works) {
    ::waitpid(pid, &status, 0);
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, &status, 0);
  return works;
}

int markedLine(const std::string& name) {
  std::ifstream source(PF_MI_RANK_SOURCE);
  const std::string mark = "// MARK " + name;
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.size() >= mark.size() &&
        line.compare(line.size() - mark.size(), mark.size(), mark) == 0) {
      return number;
    }
  }
  return 0;
}

bool Child::alive() const {
  if (m_pid <= 0) {
    return false;
  }
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(m_pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void Child::signal(int number) const {
  if (m_pid > 0) {
    ::kill(m_pid, number);
  }
}

void Child::end() {
  if (m_pid > 0) {
    ::kill(m_pid, SIGKILL);
    int status = 0;
    ::waitpid(m_pid, &status, 0);
    m_pid = 0;
  }
}

GdbProcess::GdbProcess() {
  auto [inRead, inWrite] = makePipe();
  auto [outRead, outWrite] = makePipe();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(inRead.get(), 0);
    ::dup2(outWrite.get(), 1);
    ::dup2(outWrite.get(), 2);
    execute(gdbCommandLine());
  }
  m_child = Child(pid);
  m_in = std::move(inWrite);
  m_out = std::move(outRead);
  m_programOut = std::move(outWrite);
}

void GdbProcess::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(m_in.get(), bytes.data(), bytes.size());
    if (count <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::optional<std::string> GdbProcess::read(int milliseconds) {
  pollfd fd{m_out.get(), POLLIN, 0};
  if (::poll(&fd, 1, milliseconds) <= 0) {
    return m_child.alive() ? std::optional<std::string>("") : std::nullopt;
  }
  std::string buffer(65536, '\0');
  const ssize_t count = ::read(m_out.get(), buffer.data(), buffer.size());
  if (count <= 0) {
    return std::nullopt;
  }
  buffer.resize(static_cast<std::size_t>(count));
  return buffer;
}

Child startProgram(const std::string& mode, int output) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(output >= 0 ? output : null, 1);
    const std::string program = PF_MI_RANK_PROGRAM;
    execute({mode == "stripped" ? program + ".stripped" : program, mode});
  }
  return Child(pid);
}

LiveRank::LiveRank(const std::string& mode, bool shareOutput)
    : program(startProgram(mode, shareOutput ? gdb.outputFd() : -1)), session(gdb, *this) {
  session.tick(std::chrono::steady_clock::now());
  // To make transcripts for the corpus.
  if (const char* directory = std::getenv("PF_MI_TRANSCRIPTS"); directory != nullptr) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "_" + test->name();
    std::replace(name.begin(), name.end(), '/', '_');
    const std::string path = std::string(directory) + "/" + name + ".transcript";
    ::unlink(path.c_str());  // of the time before
    if (auto file = TranscriptFile::create(path, name)) {
      session.setTranscript(
          [file = *file](TranscriptSide side, std::string_view line) { file->write(side, line); });
    }
  }
}

/// GDB first: it lets go of the program, which is then ended.
LiveRank::~LiveRank() {
  gdb.child().signal(SIGTERM);
  program.signal(SIGKILL);
}

bool LiveRank::until(const std::function<bool()>& condition, int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (!condition()) {
    const auto now = std::chrono::steady_clock::now();
    if (now > end) {
      return false;
    }
    session.tick(now);
    const auto bytes = gdb.read(10);
    if (bytes) {
      session.feed(*bytes);
    } else {
      session.closed("its process has ended");
    }
  }
  return true;
}

Status LiveRank::wait(const std::function<void(Done)>& call) {
  const auto answer = std::make_shared<std::optional<Status>>();
  call([answer](Status status) { answer->emplace(std::move(status)); });
  until([&answer] { return answer->has_value(); });
  return answer->has_value() ? **answer : Status(Error{ErrorCode::Internal, "no answer", {}});
}

Status LiveRank::attach() {
  if (const Status started = wait([this](Done done) { session.start(std::move(done)); });
      !started) {
    return started;
  }
  return wait([this](Done done) { session.attach(program.pid(), std::move(done)); });
}

Status LiveRank::runToStop(const RunCommand& command) {
  const std::size_t before = stops.size();
  if (const Status ran = wait([&](Done done) { session.run(command, std::move(done)); }); !ran) {
    return ran;
  }
  if (!until([this, before] { return stops.size() > before; })) {
    return Error{ErrorCode::Internal, "no stop came", {}};
  }
  return {};
}

Status LiveRank::insert(const BreakpointRequest& request, Breakpoint* breakpoint) {
  const auto answer = ask<Breakpoint>(
      [&](Callback<Breakpoint> done) { session.breakpoints().insert(request, std::move(done)); });
  if (!answer) {
    return answer.error();
  }
  if (breakpoint != nullptr) {
    *breakpoint = *answer;
  }
  return {};
}

std::string LiveRank::evaluate(const std::string& expression) {
  const auto value = ask<std::string>([&](Callback<std::string> done) {
    session.inspect().evaluate({session.stop().thread, 0}, expression, std::move(done));
  });
  return value ? *value : "error: " + value.error().message;
}

void LiveRank::onConsole(StreamKind kind, std::string_view text) {
  switch (kind) {
    case StreamKind::Console:
      consoleText += text;
      break;
    case StreamKind::Log:
      logText += text;
      break;
    case StreamKind::Target:
      targetText += text;
      break;
  }
}

void LiveRank::onEscalate(Escalation escalation) {
  escalations.push_back(escalation);
  switch (escalation) {
    case Escalation::InterruptGdb:
      gdb.child().signal(SIGINT);
      break;
    case Escalation::InterruptProgram:
      program.signal(SIGINT);
      break;
    case Escalation::StopProgram:
      program.signal(SIGSTOP);
      break;
    case Escalation::TerminateGdb:
      gdb.child().signal(SIGTERM);
      break;
  }
}

}  // namespace pf::mi::test
