// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/proc.h"

#include <cstdlib>
#include <string>

namespace pf::agent {

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
