// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/proc.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pf::agent {
namespace {

/// What it is to itself; its own number where it has no namespace below ours.
pid_t innermostNumber(pid_t pid) {
  constexpr std::string_view kName = "\nNSpid:";
  const std::string text = readProcess(pid, "status");
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) {
    return pid;
  }
  std::istringstream numbers(
      text.substr(at + kName.size(), text.find('\n', at + 1) - at - kName.size()));
  pid_t last = pid;
  for (pid_t number = 0; numbers >> number;) {
    last = number;
  }
  return last;
}

}  // namespace

bool isDescendant(pid_t pid, pid_t ancestor) {
  for (int generation = 0; generation < 64 && pid > 1; ++generation) {
    if (pid == ancestor) {
      return true;
    }
    const std::string text = processStat(pid);
    if (text.size() < 3) {
      return false;
    }
    pid = static_cast<pid_t>(std::strtol(text.c_str() + 2, nullptr, 10));
  }
  return false;
}

pid_t nestedProcess(pid_t pid, pid_t ancestor) {
  constexpr std::size_t kMost = 1000;
  std::vector<pid_t> below{ancestor};
  for (std::size_t i = 0; i < below.size() && i < kMost; ++i) {
    if (below[i] != pid && innermostNumber(below[i]) == pid) {
      return below[i];
    }
    std::error_code gone;
    const std::string tasks = "/proc/" + std::to_string(below[i]) + "/task";
    std::filesystem::directory_iterator thread(tasks, gone);
    const std::filesystem::directory_iterator end;
    for (; !gone && thread != end; thread.increment(gone)) {
      const std::string name = "task/" + thread->path().filename().string() + "/children";
      std::istringstream children(readProcess(below[i], name.c_str()));
      for (pid_t child = 0; children >> child;) {
        below.push_back(child);
      }
    }
  }
  return 0;
}

bool isPending(pid_t pid, int signal) {
  const std::string text = readProcess(pid, "status");
  const std::size_t at = text.find("\nShdPnd:");
  if (at == std::string::npos) {
    return false;
  }
  const unsigned long long mask = std::strtoull(text.c_str() + at + 8, nullptr, 16);
  return ((mask >> static_cast<unsigned>(signal - 1)) & 1U) != 0;
}

}  // namespace pf::agent
