// SPDX-License-Identifier: GPL-3.0-or-later
// A run of which only the beginning is forced: what its ranks are given. Private to app/branching.
#pragma once

#include <vector>

#include "app/collation/logs_of_trace.h"
#include "replay_engine/base/result.h"
#include "replay_engine/branching/choices.h"

namespace pf::app {

/// A wildcard receive or probe that is to take, or see, the next message of a rank; or a call of Waitany's kind that is to give
/// some of its requests. Such a call must be the first one of its name behind what is forced.
struct ForcedChoice {
  RunChoice choice;
  Rank source = kUnknownRank;  ///< world rank
  Tag tag = 0;                 ///< of the message
  GivenCode given = 0;         ///< by such a call
};

/// The choice with what it is to choose, of an execution that has it.
ForcedChoice forcedTo(const Execution& execution, const RunChoice& choice,
                      const ChosenName& chosen);

struct ForcedPrefix {
  std::vector<Serial> done;  ///< of each rank, the events that are as they were
  /// Choices behind that, and of receives that were posted in it and complete behind it.
  std::vector<ForcedChoice> choices;
};

/// Choices of a recorded run.
struct ChoicesOfRun {
  const LogFiles* logs = nullptr;  ///< of all ranks, with events
  std::vector<ForcedChoice> choices;
};

/// Schedules that force these choices of receives and probes, of several runs of one program, wherever the program comes to them, and
/// nothing else: a polled probe fails until what it is to see is there, calls of Waitany's kind are free. The first run that names a
/// choice has it. The system's values are those of the first run.
Result<std::vector<std::vector<unsigned char>>> schedulesOf(const std::vector<ChoicesOfRun>& runs);

/// The schedule of each rank. `logs`: of all ranks, with events.
Result<std::vector<std::vector<unsigned char>>> schedulesOf(const LogFiles& logs,
                                                            const ForcedPrefix& prefix);

}  // namespace pf::app
