// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/outcome.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "app/collation/failure.h"

namespace pf::app {
namespace {

constexpr const char* kDeadlock = "deadlock";
constexpr const char* kHang = "hang";
constexpr const char* kTimeLimit = "time limit";

std::uint64_t digestOf(std::string_view text) {  // FNV-1a
  std::uint64_t digest = 0xCBF29CE484222325ULL;
  for (const char each : text) {
    digest = (digest ^ static_cast<unsigned char>(each)) * 0x100000001B3ULL;
  }
  return digest;
}

std::string digestOfLines(const Printed& printed) {
  std::uint64_t sum = 0;
  bool any = false;
  for (const std::string_view part :
       {std::string_view(printed.beginning), std::string_view(printed.end)}) {
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = std::min(part.find('\n', at), part.size());
      sum += digestOf(part.substr(at, end - at));
      any = true;
      at = end + 1;
    }
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum));
  return any ? text : "";
}

/// That its ranks would never have got on.
bool isProven(const RunFacts& facts) {
  return std::ranges::any_of(
      facts.ends, [](const auto& end) { return end.second.stuck && end.second.stuck->proven; });
}

std::string nameOf(const WhatFailed& failed, const std::vector<db::RankInfo>& ranks,
                   const RunFacts& facts) {
  if (failed.hangs) {
    return isProven(facts) ? kDeadlock : kHang;
  }
  for (const db::RankInfo& rank : ranks) {
    if (rank.rank == failed.rank && rank.exitSignal) {
      return "signal " + std::to_string(*rank.exitSignal);
    }
    if (rank.rank == failed.rank && rank.exitStatus.value_or(0) != 0) {
      return "exit " + std::to_string(*rank.exitStatus);
    }
  }
  return "exit " + std::to_string(facts.exitStatus.value_or(1));
}

}  // namespace

bool endedWell(const Outcome& outcome) {
  return outcome.name == "ok";
}

bool wasCutOff(const Outcome& outcome) {
  return outcome.name == kTimeLimit;
}

bool wasEnded(const Outcome& outcome) {
  return outcome.name == kDeadlock || outcome.name == kHang || wasCutOff(outcome);
}

Outcome outcomeOf(const std::vector<db::RankInfo>& ranks, const RunFacts& facts, bool timeIsUp,
                  const Printed& printed) {
  Outcome outcome{"ok", {}, digestOfLines(printed), {}};
  const std::optional<WhatFailed> failed = whatFailed(ranks, facts.exitStatus);
  const bool hangs = failed && failed->hangs;
  // One whose deadlock was proven was ended for that, however long its launcher took.
  if (timeIsUp && !(hangs && isProven(facts))) {
    outcome.name = kTimeLimit;
    outcome.sentence =
        "it had not ended when its time was up" + (hangs ? ": " + failed->sentence : "");
  } else if (failed) {
    outcome.name = nameOf(*failed, ranks, facts);
    outcome.sentence = failed->sentence;
    outcome.waits = outcome.name == kDeadlock ? waitsText(ranks) : "";
  }
  return outcome;
}

}  // namespace pf::app
