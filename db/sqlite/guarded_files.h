// SPDX-License-Identifier: GPL-3.0-or-later
// The files that SQLite may touch for a trace: the trace, and the journal of the trace.
#pragma once

namespace pf::db {

/// Name of the VFS (sqlite.org/vfs.html) to open traces with. It is the default one, but for this:
/// a "super-journal", a file whose name SQLite takes from a journal and which it then deletes, is
/// never opened, so never deleted; and no file is deleted whose name does not end in "-journal".
/// Null if SQLite cannot have it: then nothing is to be opened.
[[nodiscard]] const char* guardedFiles();

}  // namespace pf::db
