// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts that were not computed but given: by a user, or by where ranks are.
#pragma once

#include <optional>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf {

/// Something that an event in a cut waits for, and that is not in the cut.
struct Crossing {
  EventRef from;  ///< not in the cut: the send, or what another rank gives to a collective
  EventRef to;    ///< in the cut
  std::uint32_t message = kNone;  ///< kNone: a collective, or the end of a synchronous send
};

/// What shows that a cut (`done`: for each rank how many of its events it has done) is not
/// consistent: the first of the lowest rank; nothing if it is. Needs matchMessages() first.
[[nodiscard]] std::optional<Crossing> crossing(const Execution& execution,
                                               const std::vector<Serial>& done);

/// The largest consistent cut in `done`: without events that wait for what is not in it.
[[nodiscard]] std::vector<Serial> consistentPart(const Execution& execution,
                                                 std::vector<Serial> done);

}  // namespace pf
