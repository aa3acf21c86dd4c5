// SPDX-License-Identifier: GPL-3.0-or-later
// Groups of ranks that the selection in the diagram stands for.
#pragma once

#include "views/trace/trace_index.h"
#include "views/values/rank_groups.h"

namespace pf::gui {

/// The event's rank with those that it exchanges messages with (of a collective: all its ranks), and those that
/// could have sent a racing receive its message. Without repeats; groups of one rank are left out.
[[nodiscard]] QList<values::RankGroup> groupsOfEvent(const views::TraceIndex& index,
                                                     EventRef event);

}  // namespace pf::gui
