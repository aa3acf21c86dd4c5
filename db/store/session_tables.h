// SPDX-License-Identifier: GPL-3.0-or-later
// What a user adds to a trace: breakpoints, watches, cycles with their stops and hits, notes.
#pragma once

#include <cstdint>
#include <vector>

#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// `T` is one of Breakpoint, Watch, Cycle, CycleStop, BreakpointHit, Note,
/// RankGroup, RankArrangement, BenignRace, PartOfJob, JudgedRace, Branch, BranchFlip. Every change is one
/// transaction that survives a crash whole or not at all, and seals the table again. A trace opened
/// ReadOnly refuses changes. A damaged table is neither given out nor changed.
class SessionTables {
 public:
  explicit SessionTables(Database& database) : m_database(&database) {}

  /// By id.
  template <typename T>
  [[nodiscard]] Result<std::vector<T>> all();
  /// Gives the value an id unless it has one, and returns it.
  template <typename T>
  Result<std::int64_t> add(const T& value);
  /// Many at once, much faster than one by one; sets their ids.
  template <typename T>
  Status addAll(std::vector<T>& values);
  /// NotFound if there is none of value.id.
  template <typename T>
  Status update(const T& value);
  /// Puts the cycle (value.id is given) and its stops in the place of what there is of it, in one transaction.
  Status replaceCycle(const Cycle& cycle, std::vector<CycleStop>& stops);
  /// With a cycle go its stops and hits; with a breakpoint, its hits.
  template <typename T>
  Status remove(std::int64_t id);

 private:
  Database* m_database;
};

}  // namespace pf::db
