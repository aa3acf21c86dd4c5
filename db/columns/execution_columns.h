// SPDX-License-Identifier: GPL-3.0-or-later
// The events, receives, probes, messages and collectives of an Execution in the column store, and
// back; its races are written with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "db/columns/race_columns.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// Needs an open transaction and an execution that checkExecution() has passed. `logicalTimes` may
/// be empty. `races` has passed checkRaces().
Status writeExecutionColumns(Database& database, const Execution& execution,
                             const LogicalTimes& logicalTimes, const RaceList& races);

/// Into `execution`, which has its ranks. Needs an open transaction. `logicalTimes` may be null.
/// `begun`: as in TraceStore::readExecutionFrom(); empty: everything.
Status readExecutionColumns(Database& database, Execution& execution, LogicalTimes* logicalTimes,
                            std::span<const std::uint32_t> begun = {});

/// Events of each rank, as the directory says.
[[nodiscard]] Result<std::vector<std::uint64_t>> eventCounts(Database& database, std::size_t ranks);

/// Whose times the events have.
[[nodiscard]] Result<TimeOrigin> timeOrigin(Database& database, std::size_t ranks);

/// Verifies every chunk.
Status checkColumns(Database& database, std::size_t ranks);

}  // namespace pf::db
