// SPDX-License-Identifier: GPL-3.0-or-later
// Table `race_alternative` for SQL: of each race the messages that it could have taken.
#pragma once

struct sqlite3;

namespace pf::db {

class StreamTables;

/// Makes it known to a connection, which must not outlive `tables`. False: SQLite refused.
[[nodiscard]] bool attachAlternatives(sqlite3* connection, StreamTables& tables);

}  // namespace pf::db
