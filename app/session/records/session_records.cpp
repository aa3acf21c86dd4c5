// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/records/session_records.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>

namespace pf::session {
namespace {

using Ids =
    std::map<std::int64_t, std::int64_t>;  ///< in `now` -> in the other trace, where they differ

template <typename T>
bool sameBut(T a, const T& b) {
  a.id = b.id;
  return a == b;
}

std::int64_t idIn(const Ids& ids, std::int64_t id) {
  const auto found = ids.find(id);
  return found == ids.end() ? id : found->second;
}

/// Carries one table over, and returns which ids became others.
template <typename T>
Result<Ids> carry(const std::vector<T>& before, const std::vector<T>& now, db::TraceStore& to) {
  if (before == now) {
    return Ids();
  }
  db::SessionTables tables = to.session();
  Result<std::vector<T>> there = tables.all<T>();
  if (!there) {
    return there.error();
  }
  const auto known = [](const std::vector<T>& rows, std::int64_t id) {
    return std::ranges::find(rows, id, &T::id);
  };
  for (const T& row : before) {
    const auto same = known(*there, row.id);
    if (known(now, row.id) == now.end() && same != there->end()) {
      if (const Status removed = tables.template remove<T>(row.id); !removed) {
        return removed.error();
      }
      there->erase(same);
    }
  }
  Ids others;
  std::vector<T> added;
  std::vector<std::int64_t> from;
  for (const T& row : now) {
    const auto was = known(before, row.id);
    if (was != before.end()) {
      if (const Status changed = *was == row ? Status() : tables.update(row); !changed) {
        return changed.error();
      }
      continue;
    }
    const auto equal =
        std::ranges::find_if(*there, [&row](const T& other) { return sameBut(other, row); });
    if (equal != there->end()) {
      others.emplace(row.id, equal->id);
      continue;
    }
    T copy = row;
    copy.id = known(*there, row.id) == there->end() ? row.id : 0;
    from.push_back(row.id);
    added.push_back(std::move(copy));
  }
  if (const Status status = added.empty() ? Status() : tables.addAll(added); !status) {
    return status.error();
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    others.emplace(from[i], added[i].id);
  }
  std::erase_if(others, [](const auto& pair) { return pair.first == pair.second; });
  return others;
}

}  // namespace

Result<SessionRecords> readRecords(db::TraceStore& store) {
  SessionRecords records;
  Status status;
  const auto read = [&status, &store](auto& rows) {
    using T = typename std::remove_reference_t<decltype(rows)>::value_type;
    Result<std::vector<T>> all = store.session().template all<T>();
    if (all) {
      rows = std::move(*all);
    } else {
      status = all.error();
    }
  };
  read(records.breakpoints);
  read(records.watches);
  read(records.cycles);
  read(records.stops);
  read(records.hits);
  read(records.notes);
  read(records.groups);
  read(records.arrangements);
  read(records.benign);
  read(records.judged);
  read(records.parts);
  if (!status) {
    return status.error();
  }
  return records;
}

Result<bool> copyRecords(const SessionRecords& before, const SessionRecords& now,
                         db::TraceStore& to) {
  const Result<Ids> breakpoints = carry(before.breakpoints, now.breakpoints, to);
  const Result<Ids> watches = carry(before.watches, now.watches, to);
  const Result<Ids> notes = carry(before.notes, now.notes, to);
  const Result<Ids> groups = carry(before.groups, now.groups, to);
  const Result<Ids> arrangements = carry(before.arrangements, now.arrangements, to);
  const Result<Ids> benign = carry(before.benign, now.benign, to);
  const Result<Ids> judged = carry(before.judged, now.judged, to);
  const Result<Ids> parts = carry(before.parts, now.parts, to);
  const Result<Ids> cycles = carry(before.cycles, now.cycles, to);
  for (const Result<Ids>* each : {&breakpoints, &watches, &notes, &groups, &arrangements, &benign,
                                  &judged, &parts, &cycles}) {
    if (!*each) {
      return each->error();
    }
  }
  std::vector<db::CycleStop> stops = now.stops;
  for (db::CycleStop& stop : stops) {
    stop.cycle = idIn(*cycles, stop.cycle);
  }
  std::vector<db::BreakpointHit> hits = now.hits;
  for (db::BreakpointHit& hit : hits) {
    hit.cycle = idIn(*cycles, hit.cycle);
    hit.breakpoint = idIn(*breakpoints, hit.breakpoint);
  }
  const Result<Ids> stopIds = carry(before.stops, stops, to);
  const Result<Ids> hitIds = carry(before.hits, hits, to);
  for (const Result<Ids>* each : {&stopIds, &hitIds}) {
    if (!*each) {
      return each->error();
    }
  }
  return breakpoints->empty() && watches->empty() && groups->empty() && arrangements->empty() &&
         cycles->empty() && hitIds->empty();
}

}  // namespace pf::session
