// SPDX-License-Identifier: GPL-3.0-or-later
// What a user has added to a trace, as a value: to be carried over to another trace of the same
// run.
#pragma once

#include <cstdint>
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
  std::vector<db::RankGroup> groups;
  std::vector<db::RankArrangement> arrangements;
  std::vector<db::BenignRace> benign;
  std::vector<db::JudgedRace> judged;
  std::vector<db::PartOfJob> parts;
  friend bool operator==(const SessionRecords&, const SessionRecords&) = default;
};

[[nodiscard]] Result<SessionRecords> readRecords(db::TraceStore& store);

/// Keeps a row: a new one, or in the place of the one with its id. Returns its id; 0: it could not be kept, or `store` is
/// null.
template <typename T>
std::int64_t keepRow(db::TraceStore* store, const T& row) {
  if (store == nullptr) {
    return 0;
  }
  if (row.id != 0 && store->session().update(row)) {
    return row.id;
  }
  const Result<std::int64_t> id = store->session().add(row);
  return id ? *id : 0;
}

/// Does to the trace `to`, which may be written, what makes `now` of `before`: a row that is new is
/// added, one that was changed or removed is so there, too. What `to` has of others stays. True:
/// rows have the ids there that they have in `now`.
Result<bool> copyRecords(const SessionRecords& before, const SessionRecords& now,
                         db::TraceStore& to);

}  // namespace pf::session
