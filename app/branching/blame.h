// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish blame: which deliveries decide between failing and not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

struct BlameOptions {
  std::string failing;           ///< trace of a run that failed
  std::string good;              ///< of one that did not; empty: it is looked for
  std::string check;             ///< a command of the shell, as UntilFailure::check
  int counterChecks = 5;         ///< runs with the deliveries, and as many without
  std::uint64_t mostRuns = 200;  ///< to look for a good run, and again to find the deliveries
  double runTime = 60;           ///< seconds; a run is ended then
};

/// A delivery without which the run does not fail.
struct BlamedDelivery {
  EventRef receive;
  EventRef took;         ///< in the run that failed: the send
  EventRef tookInstead;  ///< in the good one; not valid: nothing
  std::string
      text;  ///< "rank 0's receive at a.c:8 (event 2) takes rank 2's message before rank 1's"
};

struct Blame {
  std::string outcome;                     ///< of the failing run, as Outcome::name
  std::vector<BlamedDelivery> deliveries;  ///< 1-minimal
  std::string good;                        ///< trace
  std::uint64_t runs = 0;
  int checks = 0;  ///< of each of the two below
  int failedWith =
      0;  ///< runs that took these deliveries, all else as in the good run, with delays
  int failedWithout = 0;  ///< that took those of the good run in their place
  int failedAlone = 0;    ///< that took these, all else free
  int unclear = 0;        ///< of the first two: runs that ended otherwise
  /// The deliveries make it fail, but not always with this outcome: any counts.
  bool anyFailure = false;
  /// "fails if and only if …", or what was seen, where it was not always so.
  std::string sentence;
};

/// Usage: the run did not fail; NotFound: no order was found that does not fail; Divergence: forcing all its deliveries does not make it fail again.
Result<Blame> blame(const BlameOptions& options);

std::string blameText(const Blame& blame);
std::string blameJson(const Blame& blame);

}  // namespace pf::app
