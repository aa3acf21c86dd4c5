// SPDX-License-Identifier: GPL-3.0-or-later
// record --groups auto:SIZE: groups that talk much among themselves, by what the program did in an earlier run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "app/recording/record.h"
#include "replay_engine/base/result.h"
#include "replay_engine/groups/traffic.h"

namespace pf::app {

/// What may be asked for at most: more than any job has.
inline constexpr std::size_t kMostInAGroup = 100'000'000;

/// SIZE of "auto:SIZE"; nothing: `spec` is another one. Usage: SIZE is no number of ranks.
[[nodiscard]] Result<std::optional<std::size_t>> mostOfAutoGroups(std::string_view spec);

/// A SPEC of groups of at most `most` ranks for this recording. They are found in the newest trace of its directory with the same
/// program behind the same words of the launcher (so of as many ranks). Where none can be used, the program is run once for
/// it. Says on standard error which of both.
[[nodiscard]] Result<std::string> groupsByLocality(const RecordOptions& recording,
                                                   std::size_t most);

/// What each rank got from the others, of a trace that is surveyed first if it has no events.
[[nodiscard]] Result<Traffic> trafficOfTrace(const std::string& trace);

}  // namespace pf::app
