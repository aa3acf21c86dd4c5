// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that former trace formats had instead of columns: of format 4 the execution, of the formats
// up to 7 the races.
#pragma once

#include <vector>

#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// The execution of a trace of format 4. Needs an open transaction.
[[nodiscard]] Result<Execution> readFormerExecution(Database& database, LogicalTimes& times);

/// The races of a trace of format 4 to 7, in the order of ranks, without StoredRace::chosen. What
/// they name is not checked. Needs an open transaction.
[[nodiscard]] Result<std::vector<StoredRace>> readFormerRaces(Database& database);

}  // namespace pf::db
