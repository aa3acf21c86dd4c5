// SPDX-License-Identifier: GPL-3.0-or-later
// Which first differences others follow from, and how far they reach. Private to the analysis.
#pragma once

#include "replay_engine/comparison/difference.h"

namespace pf {

/// Fills cause, after and the cones of `comparison`, whose `ranks` are given.
void findCauses(const Execution& a, const Execution& b, Comparison& comparison);

}  // namespace pf
