// SPDX-License-Identifier: GPL-3.0-or-later
// The beginning of a rank's log, for a replay that forces only so much of it and lets the program go on by itself.
#pragma once

#include <cstdint>
#include <span>

#include "replay_engine/base/result.h"
#include "replay_engine/log/rank_log.h"

namespace pf {

struct LogPrefix {
  RankLog forced;  ///< the beginning
  RankLog whole;   ///< all of it, but for the system's values
};

/// What a whole log with events says of the rank's first `events` events, as if the record ended there; of two things all
/// that there is: the values that the system gave (they go on for as long as the program asks alike), and, for each kind of
/// tests and probes, the failed ones before the next that succeeded, as some of them were made before the end.
/// Usage: the log has no events, or is of a rank whose threads called MPI.
Result<LogPrefix> readLogPrefix(std::span<const unsigned char> file, Serial events);

}  // namespace pf
