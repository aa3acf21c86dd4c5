// SPDX-License-Identifier: MIT
// Causal past, future and partners of an event, along messages, collectives and program order.
// QtCore only.
#pragma once

#include <vector>

#include "views/trace/trace_index.h"

namespace pf::views {

/// For each rank the number of its events that happen before `ref` (itself included).
[[nodiscard]] std::vector<Serial> pastOf(const TraceIndex& trace, EventRef ref);
/// For each rank the first serial that happens after `ref` (itself included); 0 = none.
[[nodiscard]] std::vector<Serial> futureOf(const TraceIndex& trace, EventRef ref);
/// Other ends of the messages of this event, else the other parts of its collective.
[[nodiscard]] std::vector<EventRef> partnersOf(const TraceIndex& trace, EventRef ref);

}  // namespace pf::views
