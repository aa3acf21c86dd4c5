// SPDX-License-Identifier: GPL-3.0-or-later
// Big executions for measurements and property tests, the same for the same numbers: a halo
// exchange on a ring of ranks, bursts of racing messages, messages between random ranks,
// collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::bench {

struct Traffic {
  int ranks = 64;                ///< at least 3
  std::size_t events = 1000000;  ///< of all ranks together, about
  std::uint32_t seed = 1;
  int burstEvery =
      16;  ///< rounds from one burst to the next: two wildcard receives a rank, the first one races
  int collectiveEvery = 50;  ///< rounds from one MPI_Allreduce to the next
  int randomPercent = 10;    ///< of the ranks that send to a random rank in a round
  int crashed = -1;          ///< a rank that ended by SIGSEGV
  std::string groups = {};   ///< SPEC of groups that can be replayed alone; empty: none
};

/// What the ranks did, without `messages`: matchMessages() makes those.
[[nodiscard]] Execution makeExecution(const Traffic& traffic);

/// Seconds of CPU time that the parts of a collation took.
struct CollationTimes {
  double match = 0;
  double races = 0;
  double logicalTimes = 0;
  double write = 0;
  std::size_t events = 0;
  std::size_t messages = 0;
  std::size_t racing = 0;
  [[nodiscard]] double all() const { return match + races + logicalTimes + write; }
};

/// Makes a trace file of it as a collation does: matched, races found, logical times, written.
[[nodiscard]] Result<CollationTimes> writeSyntheticTrace(const std::string& path,
                                                         const Traffic& traffic);

/// The same of an execution that has no `messages` yet, of `traffic.ranks`.
[[nodiscard]] Result<CollationTimes> writeTraceOf(const std::string& path, const Traffic& traffic,
                                                  Execution execution);

/// CPU time of this process, in seconds.
[[nodiscard]] double processSeconds();

}  // namespace pf::bench
