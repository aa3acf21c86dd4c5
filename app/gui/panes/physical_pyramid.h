// SPDX-License-Identifier: GPL-3.0-or-later
// The pyramid of a diagram's physical axis: core makes it, views ask for it.
#pragma once

#include <vector>

#include "replay_engine/causality/density_pyramid.h"

namespace pf::gui {

/// For SpaceTimeView::setPyramidMaker().
inline DensityPyramid physicalPyramid(const Execution& execution, const std::vector<Race>& races,
                                      const std::vector<std::vector<std::uint32_t>>& times,
                                      const std::vector<std::vector<std::uint32_t>>& departures) {
  return densityPyramid(execution, races, times, 0, &departures);
}

}  // namespace pf::gui
