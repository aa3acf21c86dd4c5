// SPDX-License-Identifier: GPL-3.0-or-later
// A recording from its launch to its end: what the daemon says of it is filed and told.
#pragma once

#include <functional>

#include "app/collation/collate.h"
#include "app/job/job.h"
#include "app/recording/input_tee.h"

namespace pf::app {

struct Patience {
  bool endStuck = false;        ///< end a program that cannot get on
  std::function<bool()> ended;  ///< somebody has asked us to end it
  bool quiet = false;           ///< that it cannot get on is filed, and not told
};

/// Until the launcher has ended and nothing more comes: its exit status. A program that was ended
/// because it could not get on has none of its own: 1 then, if the launcher says 0. Divergence where the beginning of the
/// run is forced (kBranch), and a rank did something else there, or is another program. Ends a program
/// that ought to be one rank and is more (an error). `input` may be null.
[[nodiscard]] Result<int> followRecording(Job& job, RunFacts& facts, InputTee* input,
                                          const Patience& patience);

}  // namespace pf::app
