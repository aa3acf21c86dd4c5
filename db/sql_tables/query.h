// SPDX-License-Identifier: GPL-3.0-or-later
// SQL over a trace: the tables of its file, and `event`, `receive`, `probe`, `message`,
// `collective` over its columns (docs/trace-format.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// One row of what a query gives; good until the next one.
using QueryRow = std::vector<Statement::Value>;

/// Runs one SELECT on the trace, on a connection of its own. `onColumns` gets their names, before
/// the rows. Usage if the SQL is wrong or more than a SELECT; else what opening a trace gives.
Status queryTrace(const std::string& path, const std::string& sql,
                  const std::function<void(const std::vector<std::string>&)>& onColumns,
                  const std::function<void(const QueryRow&)>& onRow);

}  // namespace pf::db
