// SPDX-License-Identifier: GPL-3.0-or-later
// Vector clocks of an execution's events, for tools that draw from them.
//
// A rank's component counts its *steps*, from 1. Mostly an event is one step. An event that sends a
// message and waits for something as well (MPI_Sendrecv) is two, or two such that exchange messages
// would each be before the other. Ranks that meet in a collective know of one another what was
// before it. Order is along messages and collectives; what the completion of a synchronous send
// proves is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "replay_engine/execution/execution.h"

namespace pf {

struct ClockStep {
  enum class Part : std::uint8_t { Whole, Send, Rest };
  EventRef event;
  Part part = Part::Whole;
  std::span<const std::uint32_t> clock;  ///< by rank; its own component counts this step
};

/// Visits all steps in an order that respects the clocks. Needs matchMessages() first.
void visitClocks(const Execution& execution, const std::function<void(const ClockStep&)>& visit);

}  // namespace pf
