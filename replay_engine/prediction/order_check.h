// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the state that the solver found comes about in some order: the entries and exits of events and
// the deliveries of messages must not run in a circle (the partial order of Forejt et al., without clocks).
// Private to the prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/prediction/encoding.h"

namespace pf::prediction {

/// Clauses that forbid the circles of the state: some of them, where there are any; none: it comes about.
[[nodiscard]] std::vector<Clause> circlesOf(const Encoding& state);

/// The receives that have messages, in an order in which they can take them. circlesOf() has found none.
[[nodiscard]] std::vector<std::uint32_t> orderOf(const Encoding& state);

}  // namespace pf::prediction
