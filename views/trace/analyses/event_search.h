// SPDX-License-Identifier: GPL-3.0-or-later
// Search over the whole trace: which events a query names. QtCore only.
//
// A query is words that must all hold of an event: `kind:racing` (send, receive, wildcard, racing,
// probe, post, completion, collective, local, start), `call:recv`, `file:master.c`, `line:88`,
// `function:collect`, `rank:2`, `event:17`, `tag:7`, `from:1` (took a message of rank 1), `to:3`
// (sends to rank 3), `comm:row`, `bytes:>1024` (also < and =). Any other word is looked for in the
// call's name, the function and the file.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include <QString>

#include "views/trace/trace_index.h"

namespace pf::views {

struct EventSearch {
  std::vector<EventRef> hits;        ///< by time, then rank
  std::vector<std::uint32_t> times;  ///< of each of them, on the axis of the trace searched
  QString problem;  ///< what of the query is not understood; then there are no hits
};

/// There may be millions of hits.
using EventSearchPtr = std::shared_ptr<const EventSearch>;

/// An empty query finds nothing. O(events). `stop`: the result is not wanted any more, and may be
/// anything then.
[[nodiscard]] EventSearch searchEvents(const TraceIndex& trace, const QString& query,
                                       const std::stop_token& stop = {});

/// The same for the events of one rank: O(its events).
[[nodiscard]] EventSearch searchRank(const TraceIndex& trace, Rank rank, const QString& query,
                                     const std::stop_token& stop = {});

/// The same by the times of `trace`, which has the events on another axis.
[[nodiscard]] EventSearchPtr onAxisOf(const TraceIndex& trace, const EventSearch& found);

/// Index of the first hit after (`step` > 0) or the last before `from`, round the end; -1 without
/// hits. `from` invalid: the first, or the last.
[[nodiscard]] int nextHit(const TraceIndex& trace, const std::vector<EventRef>& hits, EventRef from,
                          int step);

}  // namespace pf::views
