// SPDX-License-Identifier: GPL-3.0-or-later
// The journal beside a trace: what SQLite needs to undo a change that its writer did not finish.
#pragma once

#include <string>

#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"

namespace pf::db {

/// "TRACE-journal"
[[nodiscard]] std::string journalOf(const std::string& trace);

/// Size of a file in bytes, -1 if there is none. Follows no link.
[[nodiscard]] std::int64_t sizeOfFile(const std::string& path);

/// Whether SQLite would have written the journal of `trace` for this file: a regular file of the
/// trace's owner or ours, with one name; a header for pages of a trace, or what a torn write leaves
/// of it; no name of another file at its end. ErrorCode::Damaged if not. Good where there is none.
Status checkJournal(const std::string& trace);

/// A trace as it is once the journal has undone its interrupted change, in today's format: a copy
/// that nobody else sees, for reading. The trace and its journal stay as they are. No writer may be
/// at work. `undo` false: the journal is not looked at, as of a foreign trace.
[[nodiscard]] Result<Database> openInCopy(const std::string& trace, bool undo = true);

/// Undoes in `copy`, made of the file of `trace`, what the journal of `trace` says; nothing where
/// there is none.
Status undoInCopy(const std::string& copy, const std::string& trace);

/// Undoes what a dead writer left half done, in the trace itself. Where it cannot be undone the
/// next read says so.
void undoInterruptedWrite(const std::string& trace);

}  // namespace pf::db
