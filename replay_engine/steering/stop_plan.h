// SPDX-License-Identifier: GPL-3.0-or-later
// Where each rank stops next, when several breakpoints on events wait: which of them comes first,
// and who stops with it.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf {

/// Who stops when a rank has come to a breakpoint: that rank alone, it and the ranks of a group, or
/// all. The others stop at the consistent cut of that event, so that they have done what it needs
/// and no more.
enum class StopScope : std::uint8_t { Alone, Group, All };

/// A breakpoint on an event: its rank stops just before it.
struct PendingStop {
  EventRef event;
  StopScope scope = StopScope::Alone;
  std::vector<Rank> group{};  ///< of StopScope::Group
};

/// Where the ranks are, by rank.
struct RanksNow {
  std::vector<Serial> begun;   ///< events begun
  std::vector<bool> standing;  ///< stopped just before the next event: no breakpoint there any more
};

struct StopPlan {
  std::vector<Serial> stops;  ///< by rank, just before this event; 0 = nowhere
  EventRef target;  ///< what the plan is about, if all others let it be reached; else invalid
};

/// `limits`: where the ranks stop anyway (0 = nowhere): at the cut of `goal`, which is invalid if
/// they are to go on to the end. A breakpoint that another one, or a limit, keeps from being
/// reached holds nobody. `times`: logicalTimes() of the execution; which of two comes first is by
/// them.
[[nodiscard]] StopPlan planStops(const Execution& execution,
                                 const std::vector<std::vector<std::uint32_t>>& times,
                                 const RanksNow& now, const std::vector<Serial>& limits,
                                 EventRef goal, const std::vector<PendingStop>& pending);

}  // namespace pf
