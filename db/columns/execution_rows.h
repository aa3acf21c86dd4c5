// SPDX-License-Identifier: GPL-3.0-or-later
// An Execution as rows, and back.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/columns/column_store.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// What goes into the execution tables together.
struct ExecutionParts {
  const Execution& execution;
  const std::vector<Race>& races;
  const LogicalTimes& logicalTimes;  ///< may be empty
  const RaceClasses& raceClasses;
};

/// Usage error unless every index and serial in an execution names something in it.
Status checkExecution(const Execution& execution);
/// The same of races: in the order of ranks, their alternatives ascending.
Status checkRaces(const Execution& execution, const std::vector<Race>& races);

/// Writes table `race_class`, which must be empty, and its seal. Usage error unless `classes` are
/// of so many races.
Status writeRaceClasses(Database& database, const RaceClasses& classes, std::size_t races);
/// The same of texts: the id of each of `classes`, one
/// for each race; kNone where it is empty.
[[nodiscard]] Result<std::vector<std::uint32_t>> writeRaceClasses(
    Database& database, const std::vector<std::string>& classes);

/// Writes all execution tables, which must be empty, and their seals. Needs an open transaction and
/// finishSeals() after it.
Status writeExecutionRows(Database& database, const ExecutionParts& parts);

/// More ranks than a file can be of: each takes a byte of it at least.
[[nodiscard]] bool tooManyRanks(Database& database, std::int32_t ranks);

/// The number of ranks, communicators, call sites and names of calls. Needs an open transaction.
Status readNameRows(Database& database, Execution& execution);
/// Reads them back. Needs an open transaction. `logicalTimes` may be null.
[[nodiscard]] Result<Execution> readExecutionRows(Database& database, LogicalTimes* logicalTimes,
                                                  std::span<const std::uint32_t> begun = {});
[[nodiscard]] Result<std::vector<CallSite>> readCallSiteRows(Database& database);
/// The texts of `race_class`, by id. `exact`: of RaceClasses; may be null.
[[nodiscard]] Result<std::vector<std::string>> readRaceClasses(Database& database,
                                                               bool* exact = nullptr);
/// Those of a trace of `ranks`. Needs an open transaction.
[[nodiscard]] Result<std::vector<StoredRace>> readRaces(Database& database, std::size_t ranks);
/// The same one after the other.
Status forEachRace(Database& database, std::size_t ranks,
                   const std::function<void(const RaceRecord&)>& visit);

/// Writes table `run`, which must be empty, without its seal.
Status writeRun(Database& database, const RunInfo& run);
/// The totals of table `run`.
void setTotals(RunInfo& run, const Execution& execution, const std::vector<Race>& races);

}  // namespace pf::db
