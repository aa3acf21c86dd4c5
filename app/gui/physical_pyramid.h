// SPDX-License-Identifier: GPL-3.0-or-later
// The pyramid of a diagram's physical axis: core makes it, views ask for it.
#pragma once

#include <vector>

#include "replay_engine/causality/cut_pyramid.h"

namespace pf::gui {

/// For SpaceTimeView::setPyramidMaker().
inline CutPyramid physicalPyramid(const Execution& execution, const std::vector<Race>& races,
                                  const std::vector<std::vector<std::uint32_t>>& times,
                                  const std::vector<std::vector<std::uint32_t>>& departures) {
  return cutPyramid(execution, races, times, 0, &departures);
}

}  // namespace pf::gui
