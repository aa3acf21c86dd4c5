// SPDX-License-Identifier: GPL-3.0-or-later
// Opening a file that may be damaged or hostile, up to the point where its tables may be read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "db/sqlite/database.h"
#include "db/store/origin.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// The real path of a regular file.
[[nodiscard]] Result<std::string> locateTrace(const std::string& path);

/// Opens a trace after these checks, in this order: a regular file; SQLite's magic; our application
/// id; a version that we know; the layout that we write; the size that the header tells; exactly
/// our tables; the seal of the seals. `access` is Read or Update. An interrupted write is undone
/// first: with Read in a copy that is then read instead, the file and its journal stay as they are. What originOf() calls foreign is read alone, and Usage for Update; it is not asked where
/// that is `known`, as of a file that was made just now.
[[nodiscard]] Result<Database> openTrace(const std::string& path, Database::Access access,
                                         std::optional<Origin> known = std::nullopt);

/// Does `work` while no other connection writes; does nothing if one is in the middle of that. On a
/// connection that has read nothing yet. Waits for a writer that is about to finish, five seconds.
Status withoutWriters(Database& database, const std::function<Status()>& work);

/// Of a trace of ours, its version; 0 of another file.
[[nodiscard]] std::uint32_t versionOf(Database& database);

/// Those of the checks that tell what kind of file it is (magic, application id, version).
Status checkIdentity(Database& database);
/// That which tells that its tables may be read: exactly ours.
Status checkTables(Database& database);

/// For reading, and nothing but the file itself is looked at: no journal, no lock.
[[nodiscard]] Result<Database> openAlone(const std::string& path);
/// As setOriginOf() has it.
[[nodiscard]] Origin originOf(const std::string& path);

}  // namespace pf::db
