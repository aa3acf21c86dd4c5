// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish explore: every distinct matching of a program's messages, each once (replay_engine/branching/branches.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/branching/exploration_file.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct ExploreOptions {
  std::vector<std::string> command;  ///< launcher, its options, program, arguments; or none, and
  std::string trace;                 ///< a recorded run to begin with
  std::string
      state;  ///< the file of the exploration; empty: PROGRAM.explore here, or TRACE.explore
  std::optional<std::uint64_t> mostRuns;              ///< of this call
  std::optional<std::chrono::duration<double>> time;  ///< no run begins after it
  std::chrono::duration<double> runTime{60};          ///< of one run, which is ended then
  int jobs = 0;                                       ///< runs at once; 0: by cores and ranks
  std::optional<std::uint32_t> bound;  ///< flips between the first run and one that is made
  std::string check;                   ///< a command of the shell, as in UntilFailure
  bool firstFailure = false;           ///< end at the first run that does not end well
  bool firstGood = false;              ///< end at the first run that ends well
  bool farthestFirst =
      false;           ///< branches of runs with most choices first: of a program that fails early
  bool force = false;  ///< go on though the program has changed
  std::string madeBy = "explore";  ///< what kept traces say of that
  bool matchingsOnly = false;      ///< what calls of Waitany's kind give is left to MPI
};

/// A class of runs that ended alike, and what leads there.
struct ExploredOutcome {
  OutcomeClass runs;
  std::vector<TakenInstead> flips;  ///< of its nearest run, from the first run on
};

struct Exploration {
  std::string state;
  std::string firstTrace;
  ExplorationFile::Counts counts;
  std::uint64_t made = 0;  ///< runs of this call
  double seconds = 0;      ///< of this call
  double left = 0;         ///< runs that are left, as far as can be guessed
  bool interrupted = false;
  std::vector<ExploredOutcome> outcomes;
  std::vector<std::string> givenUp;  ///< why branches could not be run

  bool matchingsOnly = false;

  /// Every order was seen, but for what Counts::unvaried counts.
  [[nodiscard]] bool whole() const { return counts.open == 0 && counts.givenUp == 0; }
  [[nodiscard]] bool allEndedWell() const;
};

/// Says now and then on standard error how far it is. Ctrl-C ends it: what was filed stays, and is gone on with by the next call.
/// Usage: the program is not there, its threads call MPI, the file is another's.
Result<Exploration> explore(const ExploreOptions& options);

/// For people, and as JSON (a contract: docs/other-orders.md).
std::string explorationText(const Exploration& exploration);
std::string explorationJson(const Exploration& exploration);

/// How many runs are left, guessed from how many branches runs of each number of flips have shown.
double guessLeft(const ExplorationFile::Counts& counts, std::uint32_t mostFlips);

}  // namespace pf::app
