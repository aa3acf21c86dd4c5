// Columns as the formats 5 to 7 had them.
#pragma once

#include <vector>

#include "base/result.h"
#include "db/database.h"
#include "db/trace_types.h"

namespace pf::db {

/// Adds to the column store what it has not: the completions in its directory, and the races
/// (readFormerRaces()). Chunks stay as they are, damaged ones too. Needs an open transaction, and
/// finishSeals() after it. Damaged where the directory, a race or what it names does not verify.
Status completeFormerColumns(Database& database, std::size_t ranks,
                             const std::vector<StoredRace>& races);

}  // namespace pf::db
