// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of many ranks in a report.
#include <algorithm>
#include <cstdio>

#include "app/offline_report/offline_report.h"

namespace pf::headless {
namespace {

/// Same functions at the same places; arguments do not tell ranks apart.
bool same(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b) {
  const auto name = [](const ReportFrame& frame) {
    return frame.function.substr(0, frame.function.find('('));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const ReportFrame& one, const ReportFrame& other) {
                      return name(one) == name(other) && one.place == other.place;
                    });
}

}  // namespace

void addStack(std::vector<ReportStack>& stacks, Rank rank, std::vector<ReportFrame> frames,
              std::string note) {
  for (ReportStack& stack : stacks) {
    if (stack.note == note && same(stack.frames, frames)) {
      stack.ranks.insert(std::upper_bound(stack.ranks.begin(), stack.ranks.end(), rank), rank);
      return;
    }
  }
  stacks.push_back({{rank}, std::move(frames), std::move(note)});
}

std::string snapshotTitle(const ReportSnapshot& snapshot) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", snapshot.seconds);
  return std::string(seconds) + " s after the beginning of the replay" +
         (snapshot.why.empty() ? "" : ", asked for by " + snapshot.why);
}

std::string snapshotsText(const OfflineReport& report) {
  if (report.snapshotEvery <= 0.0 && report.snapshots.empty()) {
    return {};
  }
  char every[48] = "When asked for";
  if (report.snapshotEvery > 0.0) {
    std::snprintf(every, sizeof every, "Every %g s of the replay", report.snapshotEvery);
  }
  const std::size_t count = report.snapshots.size();
  return std::string(every) + ": " +
         (count == 0   ? "no snapshot, it was over before"
          : count == 1 ? "1 snapshot"
                       : std::to_string(count) + " snapshots") +
         ". They stop no rank for longer than it takes to read its stack.";
}

}  // namespace pf::headless
