// SPDX-License-Identifier: GPL-3.0-or-later
// What this user has recorded or taken over: a small file of their own, known.db in
// $XDG_STATE_HOME/photofinish (~/.local/state/photofinish), which nobody else can read or write.
// Without it, and in it, nothing is private: it holds names and digests.
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::app {

enum class Mark {
  Started,  ///< name: salt of a recording whose logs are not a trace yet; digest: see
            ///< own_traces.cpp
  Own,      ///< name: the same; digest: of what a replay of it executes
  Taken,    ///< the same for the trace of somebody else
  Words,    ///< name: empty; digest: of texts that a debugger may be given
};

/// Kept in the file, and in any case for the life of this process. System where the file cannot be
/// written.
Status keepMark(Mark mark, const std::string& name, const std::string& digest);
[[nodiscard]] bool hasMark(Mark mark, const std::string& name, const std::string& digest);
/// All of this name.
void dropMarks(Mark mark, const std::string& name);

}  // namespace pf::app
