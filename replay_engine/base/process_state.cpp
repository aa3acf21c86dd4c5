// SPDX-License-Identifier: MIT
#include "replay_engine/base/process_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "replay_engine/base/unique_fd.h"

namespace pf {
namespace {

std::uint64_t numberAfter(const std::string& text, const char* label) {
  const std::size_t at = text.find(label);
  return at == std::string::npos
             ? 0
             : std::strtoull(text.c_str() + at + std::char_traits<char>::length(label), nullptr,
                             10);
}

}  // namespace

std::string readProcess(pid_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t n = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : -1;
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

std::string processStat(pid_t pid) {
  const std::string text = readProcess(pid, "stat");
  const std::size_t end = text.rfind(')');  // the name may hold anything
  return end == std::string::npos || end + 2 >= text.size() ? std::string() : text.substr(end + 2);
}

bool processRuns(pid_t pid) {
  const char state = processState(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

std::int64_t processTime(pid_t pid) {
  constexpr int kUserTime = 11;  // of what follows the name; the kernel's own time is next
  const std::string text = pid > 0 ? processStat(pid) : std::string();
  std::size_t at = 0;
  for (int i = 0; i < kUserTime && at != std::string::npos; ++i) {
    at = text.find(' ', at == 0 ? 0 : at + 1);
  }
  long long user = 0;
  long long system = 0;
  const bool known = at != std::string::npos && !text.empty() &&
                     std::sscanf(text.c_str() + at, "%lld %lld", &user, &system) == 2;
  return known ? user + system : -1;
}

char processState(pid_t pid) {
  const std::string text = pid > 0 ? processStat(pid) : std::string();
  return text.empty() ? '\0' : text.front();
}

std::uint64_t bytesMoved(pid_t pid) {
  const std::string text = pid > 0 ? readProcess(pid, "io") : std::string();
  return numberAfter(text, "rchar: ") + numberAfter(text, "wchar: ");
}

std::string whyNoAnswer(pid_t pid, char state) {
  const std::string number = std::to_string(pid);
  switch (state) {
    case 'T':
      return "it is stopped by a signal (SIGSTOP or the like): kill -CONT " + number +
             " lets it go on";
    case 't':
      return "it is held by a debugger";
    case '\0':
      return "there is no such process any more";
    default:
      return "it runs, and the machine may be too busy for it";
  }
}

}  // namespace pf
