// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/process_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

namespace pf::agent {
namespace {

using protocol::ContextFact;
using protocol::LaunchContext;

/// Not of core files, which we may switch off ourselves.
constexpr std::pair<const char*, __rlimit_resource> kLimits[] = {
    {"RLIMIT_AS", RLIMIT_AS},           {"RLIMIT_CPU", RLIMIT_CPU},
    {"RLIMIT_DATA", RLIMIT_DATA},       {"RLIMIT_FSIZE", RLIMIT_FSIZE},
    {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK}, {"RLIMIT_NOFILE", RLIMIT_NOFILE},
    {"RLIMIT_NPROC", RLIMIT_NPROC},     {"RLIMIT_STACK", RLIMIT_STACK}};

std::string textOf(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : std::to_string(limit);
}

/// As /proc/self/status has it: asking the kernel would change it.
std::string maskOfFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Umask:")) {
      return line.substr(std::min(line.find_last_of(" \t") + 1, line.size()));
    }
  }
  return {};
}

}  // namespace

LaunchContext processLimits() {
  LaunchContext facts;
  if (const std::string mask = maskOfFiles(); !mask.empty()) {
    facts.push_back({"limit", "umask", mask, {}});
  }
  facts.push_back({"limit", "nice", std::to_string(::getpriority(PRIO_PROCESS, 0)), {}});
  for (const auto& [name, resource] : kLimits) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0) {
      facts.push_back(
          {"limit", name, textOf(limit.rlim_cur) + " of " + textOf(limit.rlim_max), {}});
    }
  }
  return facts;
}

LaunchContext changedLimits(const LaunchContext& recorded, const LaunchContext& now) {
  LaunchContext differences;
  for (const ContextFact& fact : now) {
    const auto was = std::find_if(recorded.begin(), recorded.end(), [&](const ContextFact& each) {
      return each.kind == "limit" && each.name == fact.name;
    });
    if (was != recorded.end() && was->value != fact.value) {
      differences.push_back(
          {"other", fact.name, "'" + fact.value + "', recorded: '" + was->value + "'", {}});
    }
  }
  return differences;
}

}  // namespace pf::agent
