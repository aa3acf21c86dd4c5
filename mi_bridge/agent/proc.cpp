#include "proc.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"

namespace pf::agent {
namespace {

std::string readProc(pid_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4096> text{};
  const ssize_t n = fd.valid() ? ::read(fd.get(), text.data(), text.size()) : -1;
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

/// State and parent: what follows the name in parentheses, which may hold anything.
std::string afterName(pid_t pid) {
  const std::string text = readProc(pid, "stat");
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? std::string() : text.substr(end + 2);
}

}  // namespace

char processState(pid_t pid) {
  const std::string text = pid > 0 ? afterName(pid) : std::string();
  return text.empty() ? '\0' : text.front();
}

bool isDescendant(pid_t pid, pid_t ancestor) {
  for (int generation = 0; generation < 64 && pid > 1; ++generation) {
    if (pid == ancestor) {
      return true;
    }
    const std::string text = afterName(pid);
    if (text.size() < 3) {
      return false;
    }
    pid = static_cast<pid_t>(std::strtol(text.c_str() + 2, nullptr, 10));
  }
  return false;
}

bool isPending(pid_t pid, int signal) {
  const std::string text = readProc(pid, "status");
  const std::size_t at = text.find("\nShdPnd:");
  if (at == std::string::npos) {
    return false;
  }
  const unsigned long long mask = std::strtoull(text.c_str() + at + 8, nullptr, 16);
  return ((mask >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
}

}  // namespace pf::agent
