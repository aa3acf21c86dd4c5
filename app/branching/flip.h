// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish flip: the recorded run once more, but a receive takes another message.
//
// All that the receive does not happen before is forced as it was recorded (races.h says what is before what: Netzer and
// Miller's Definition 3.1 on MPI's matching rules); the receive gets the other message; and from there on the program goes on
// by itself, and is recorded.
#pragma once

#include <string>
#include <vector>

#include "app/recording/record.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct FlipOptions {
  std::string trace;
  /// RACE or RACE:ALTERNATIVE (numbers of 'photofinish races --all', from 1), or RANK:EVENT=SENDER:EVENT.
  std::vector<std::string> wishes;
  std::string output;    ///< empty: NAME.flip.pft beside the trace
  bool replace = false;  ///< a trace of that name goes; else it is kept under a number
  std::vector<std::string> launcherOptions;
  bool force = false;  ///< though build or MPI library differ
};

/// Runs the program, makes the trace, says how it ended. Usage: a wish that cannot be; Divergence: the run did not take the
/// message, with the reason; then there is no trace.
Result<Recorded> flip(const FlipOptions& options);

/// "a.pft": "a.flip.pft".
std::string flipName(const std::string& trace);

}  // namespace pf::app
