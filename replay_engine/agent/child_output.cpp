// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "replay_engine/base/unique_fd.h"

namespace pf::agent {
namespace {

constexpr std::chrono::seconds kMayTake(10);
constexpr std::size_t kMaxAnswer = std::size_t{1} << 20U;

std::string readUntilEnd(int fd, std::chrono::steady_clock::time_point end) {
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < kMaxAnswer) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (found < 0 && errno == EINTR) {
      continue;
    }
    const ssize_t n = found > 0 ? ::read(fd, piece.data(), piece.size()) : 0;
    if (n <= 0) {
      break;
    }
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

std::string outputOfChild(const std::function<void(int)>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    // A launcher that ends its job signals our children, too: who asks is to have its answer.
    sigset_t all{};
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::dup2(nowhere, fd);
    }
    work(writer.get());
    ::_exit(1);
  }
  writer.reset();
  if (child < 0) {
    return {};
  }
  std::string text = readUntilEnd(reader.get(), std::chrono::steady_clock::now() + kMayTake);
  ::kill(child, SIGKILL);  // has closed its end, or had its time
  int status = 0;
  ::waitpid(child, &status, 0);
  return text;
}

std::string outputOfProgram(const std::vector<std::string>& words, const std::string& input) {
  std::array<int, 2> ends{};
  if (words.empty() || input.size() > kMaxInput || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const bool given = ::write(writer.get(), input.data(), input.size()) ==
                     static_cast<ssize_t>(input.size());  // fits into an empty pipe
  writer.reset();
  return !given ? std::string() : outputOfChild([&](int out) {
    ::dup2(reader.get(), STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: POSIX takes them so
    }
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
  });
}

}  // namespace pf::agent
