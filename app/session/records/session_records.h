// SPDX-License-Identifier: GPL-3.0-or-later
// What a user has added to a trace, as a value: to be carried over to another trace of the same
// run.
#pragma once

#include <vector>

#include "db/store/trace_store.h"

namespace pf::session {

struct SessionRecords {
  std::vector<db::Breakpoint> breakpoints;
  std::vector<db::Watch> watches;
  std::vector<db::Cycle> cycles;
  std::vector<db::CycleStop> stops;
  std::vector<db::BreakpointHit> hits;
  std::vector<db::Note> notes;
  friend bool operator==(const SessionRecords&, const SessionRecords&) = default;
};

[[nodiscard]] Result<SessionRecords> readRecords(db::TraceStore& store);

/// Does to the trace `to`, which may be written, what makes `now` of `before`: a row that is new is
/// added, one that was changed or removed is so there, too. What `to` has of others stays. True:
/// rows have the ids there that they have in `now`.
Result<bool> carryRecords(const SessionRecords& before, const SessionRecords& now,
                          db::TraceStore& to);

}  // namespace pf::session
