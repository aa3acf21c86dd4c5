// SPDX-License-Identifier: GPL-3.0-or-later
// Columns as the formats 5 to 8 had them.
#pragma once

#include <cstdint>
#include <vector>

#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// Adds to the column store what it has not: the completions in its directory, where the messages
/// were sent that receives took, and the races (readFormerRaces(), of format 8 readRaces()).
/// Damaged chunks stay as they are. Needs an open transaction, and finishSeals() after it. Damaged
/// where the directory, a race or what it names does not verify.
Status completeFormerColumns(Database& database, std::uint32_t version, std::size_t ranks,
                             const std::vector<StoredRace>& races);

}  // namespace pf::db
