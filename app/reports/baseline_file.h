// SPDX-License-Identifier: GPL-3.0-or-later
// The file of known races that is kept with the source of a program.
#pragma once

#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/races/race_baseline.h"

namespace pf::app {

/// NotFound: it is not there; otherwise as RaceBaseline::parse().
Result<RaceBaseline> readBaseline(const std::string& path);
/// The same, and an empty one where no file is there.
Result<RaceBaseline> readBaselineIfThere(const std::string& path);
/// The file is whole, or as it was, whatever happens meanwhile. A link is followed; access rights stay as they are.
Status writeBaseline(const std::string& path, const RaceBaseline& baseline);

}  // namespace pf::app
