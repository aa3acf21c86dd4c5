// SPDX-License-Identifier: GPL-3.0-or-later
// The oracle of the prediction: all executions of a small program, state by state, on a model of MPI that shares
// nothing with the encoding. A state is where each rank is and which message each receive has; a step begins or
// ends an event, or gives a message to a receive by the words of MPI 3.1, 3.5.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay_engine/prediction/tests/small_program.h"

namespace pf::prediction::test {

struct Outcomes {
  bool whole = true;  ///< false: too many states
  /// Final states in which ranks wait: of each such rank that waits in no collective "0@3" (of all, if all do).
  std::set<std::string> deadlocks;
  /// Those that are reached only where some blocking standard send waits for its receive.
  std::set<std::string> synchronousDeadlocks;
  std::set<std::string> unreceived;   ///< "0@1": left over where all ranks end
  std::set<std::string> truncations;  ///< "1@2<0@1": receive, send
};

[[nodiscard]] Outcomes bruteForce(const Program& program, std::size_t mostStates = 200000);

struct Recording {
  Execution execution;
  PredictionFacts facts;
  bool ended = false;  ///< all ranks
  /// A wait had nothing to complete of requests that an MPI_Waitany took: what it waits for is not in the record.
  bool idle = false;
};

/// A run in which what happens next is chosen by `seed`; 0: the first thing that can.
[[nodiscard]] Recording record(const Program& program, std::uint64_t seed);

}  // namespace pf::prediction::test
