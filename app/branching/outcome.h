// SPDX-License-Identifier: GPL-3.0-or-later
// How a run ended, in so few words that runs which end alike are equal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/collation/collate.h"
#include "app/recording/kept_output.h"

namespace pf::app {

struct Outcome {
  /// "ok", "exit 3", "signal 11", "deadlock", "hang" (no rank got on, and nothing proves that they never would), "time limit",
  /// "wrong" (--check says so).
  std::string name;
  std::string sentence;  ///< the same for people, with rank and event; empty where it ended well
  /// Of all lines that it printed, in any order, as ranks print side by side: a digest; empty: it printed nothing.
  std::string printed;
  std::string
      waits;  ///< of a deadlock: waitsText() (app/collation/failure.h), as one knot is not another
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

[[nodiscard]] bool endedWell(const Outcome& outcome);
/// It was ended because its time was up.
[[nodiscard]] bool wasCutOff(const Outcome& outcome);
/// It did not end by itself.
[[nodiscard]] bool wasEnded(const Outcome& outcome);

/// `timeIsUp`: the run was ended because of that.
Outcome outcomeOf(const std::vector<db::RankInfo>& ranks, const RunFacts& facts, bool timeIsUp,
                  const Printed& printed);

}  // namespace pf::app
