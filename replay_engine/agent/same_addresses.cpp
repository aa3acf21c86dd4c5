// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/same_addresses.h"

#include <sys/personality.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace pf::agent {
namespace {

struct Frame {
  std::size_t entries;
  std::size_t bytes;
};
/// The first that has room is taken: far more than what a shell and mpirun need, so that a replay
/// takes the same as its recording did, and no more than the kernel always takes.
constexpr std::array<Frame, 2> kFrames{{{512, 128 << 10}, {4096, 1 << 20}}};
constexpr std::size_t kFreeEntries = 16;
constexpr std::size_t kFreeBytes = 2048;
constexpr std::size_t kNameBytes = 20;     ///< "PHOTOFINISH_PAD0000=" and no more
constexpr std::size_t kLongest = 100'000;  ///< the kernel takes 128 KiB

bool isOfTheRun(const std::string& entry) {
  constexpr std::array<std::string_view, 11> kPrefixes{
      "OMPI_",  "OPAL_", "ORTE_",  "PMIX_",       "PMI_",       "PRTE_",
      "HYDRA_", "MPIR_", "SLURM_", "PHOTOFINISH", "LD_PRELOAD="};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) {
    return std::string_view(entry).substr(0, prefix.size()) == prefix;
  });
}

std::string padName(std::size_t number) {
  const std::string digits = std::to_string(number);
  return "PHOTOFINISH_PAD" + std::string(4 - digits.size(), '0') + digits + "=";
}

}  // namespace

Status stopRandomAddresses() {
  const int now = ::personality(0xFFFFFFFF);
  if (now != -1 && ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) != -1) {
    return {};
  }
  Error error =
      systemError("this system does not let a program run without random addresses", errno);
  error.advice =
      "In a container it may be allowed by --security-opt seccomp=unconfined; or leave out "
      "--same-addresses.";
  return error;
}

std::vector<std::string> padEnvironment(std::vector<std::string> environment) {
  std::stable_partition(environment.begin(), environment.end(),
                        [](const std::string& entry) { return !isOfTheRun(entry); });
  const std::size_t bytes = std::accumulate(
      environment.begin(), environment.end(), std::size_t{0},
      [](std::size_t sum, const std::string& entry) { return sum + entry.size() + 1; });
  for (const Frame& frame : kFrames) {
    const std::size_t entries = environment.size();
    if (entries + kFreeEntries > frame.entries ||
        bytes + (frame.entries - entries) * (kNameBytes + 1) + kFreeBytes > frame.bytes) {
      continue;
    }
    std::size_t left = frame.bytes - bytes - (frame.entries - entries) * (kNameBytes + 1);
    for (std::size_t number = entries; number < frame.entries; ++number) {
      const std::size_t size = std::min(left, kLongest);
      environment.push_back(padName(number) + std::string(size, 'x'));
      left -= size;
    }
    return environment;
  }
  return environment;
}

}  // namespace pf::agent
