// SPDX-License-Identifier: GPL-3.0-or-later
// Words for events, messages and races: what tooltips, the race list and the details pane say.
// Plain text, outside strings made visible. QtCore only.
#pragma once

#include <QString>

#include "views/trace/trace_index.h"

namespace pf::views {

/// "1250.5 ms", "3 s" …: of an axis whose ticks are `step` nanoseconds apart and end at `last`; all
/// are in one unit.
[[nodiscard]] QString clockTickText(double nanoseconds, double step, double last);
/// One moment or duration, with three digits behind the point at most.
[[nodiscard]] QString clockText(double nanoseconds);
/// "times of the recording", or of what else; empty where there are none.
[[nodiscard]] QString timeOriginText(TimeOrigin origin);
[[nodiscard]] QString callName(const TraceIndex& trace, EventRef ref);  ///< "MPI_Recv"
[[nodiscard]] QString kindText(EventKind kind);  ///< "receive", "non-blocking receive posted"
[[nodiscard]] const CallSite* siteOf(const TraceIndex& trace, EventRef ref);  ///< null if unknown
[[nodiscard]] QString siteText(const TraceIndex& trace,
                               EventRef ref);  ///< "worker.c:88", or module+offset, or ""
[[nodiscard]] QString rankText(Rank rank);     ///< "any source" for kAnySource
[[nodiscard]] QString tagText(Tag tag);        ///< "any tag" for kAnyTag
[[nodiscard]] QString commText(const TraceIndex& trace, std::uint32_t comm);
[[nodiscard]] QString eventTitle(const TraceIndex& trace,
                                 EventRef ref);  ///< "rank 2, event 17: MPI_Recv"
[[nodiscard]] QString messageText(const TraceIndex& trace, std::uint32_t message);  ///< one line
/// Everything known of an event, line by line, for a tooltip.
[[nodiscard]] QString eventDetails(const TraceIndex& trace, EventRef ref);

/// "receive", "posted receive" (non-blocking) or "probe".
[[nodiscard]] QString raceClass(const TraceIndex& trace, std::size_t race);
/// What the racing receive accepts: "any source, tag 7, MPI_COMM_WORLD".
[[nodiscard]] QString raceEnvelope(const TraceIndex& trace, std::size_t race);
/// Why `alternative` (index into Execution::messages) could have been taken instead.
[[nodiscard]] QString whyConcurrent(const TraceIndex& trace, std::size_t race,
                                    std::uint32_t alternative);

/// The message that the racing receive `event` could have taken as its `number`-th alternative
/// (from 1), on one line; empty if there is none.
[[nodiscard]] QString alternativeText(const TraceIndex& trace, EventRef event, int number);

}  // namespace pf::views
