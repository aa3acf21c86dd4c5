// SPDX-License-Identifier: GPL-3.0-or-later
// Random small executions of random MPI programs, as a recorder would have recorded them: 2-5 ranks
// on SimulatedMpi under random scheduling, every rank choosing its next call at random. Deadlocks
// are kept: their last events never finish. Also: runs of a recorded program under other schedules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::oracle {

struct RandomExecution {
  Execution execution;  ///< messages not matched
  std::vector<std::vector<std::uint32_t>>
      takers;         ///< post that took each send, [rank][send], kNone if none
  bool whole = true;  ///< not cut, and the record has the completion of every receive, but for
                      ///< those that a rank was blocked in at the end
};

struct RandomOptions {
  int eventsAtMost = 40;  ///< about; finishing what was begun may need more
  bool cut = false;       ///< cut some records at a random place
};

[[nodiscard]] RandomExecution randomExecution(std::uint64_t seed,
                                              const RandomOptions& options = {});

/// A receive or probe that took (saw) another message than in the record.
struct Deviation {
  Rank rank = kUnknownRank;
  bool probe = false;
  std::uint32_t index = kNone;    ///< into RankHistory::receives, or ::probes
  std::uint32_t message = kNone;  ///< into Execution::messages
};

/// A posted receive.
struct PostRef {
  Rank rank = kUnknownRank;
  std::uint32_t post = kNone;
  friend bool operator==(const PostRef&, const PostRef&) = default;
};

/// Runs the recorded calls again under a random schedule, forcing nothing, up to the first receive
/// or probe that does something else than in the record. Nothing if there was none, or if a receive
/// that completed with no message in the record took one. The record must be whole, its messages
/// matched. `towards`: keeps to the record, mostly, till this receive deviates.
[[nodiscard]] std::optional<Deviation> rerun(const Execution& execution, std::uint64_t seed,
                                             std::optional<PostRef> towards = std::nullopt);

/// How many random executions a test looks at: PF_ORACLE_RUNS, or `normal`.
[[nodiscard]] std::uint64_t runs(std::uint64_t normal);

}  // namespace pf::oracle
