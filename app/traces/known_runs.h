// SPDX-License-Identifier: GPL-3.0-or-later
// What this user has recorded or taken over: a small file of their own, known.db in
// $XDG_STATE_HOME/photofinish (~/.local/state/photofinish), which nobody else can read or write.
// Without it, and in it, nothing is private: it holds names and digests.
#pragma once

#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

enum class Mark {
  Started,   ///< name: salt of a recording whose logs are not a trace yet; digest: see
             ///< own_traces.cpp
  Own,       ///< name: the same; digest: of what a replay of it executes
  Taken,     ///< the same for the trace of somebody else
  Groups,    ///< name: the same; digest: of which groups were recorded
  Contents,  ///< name: the same, "/", a rank; digest: ContentsDigest of it, chunks and row in one
  Words,     ///< name: empty; digest: of texts that a debugger may be given
};

struct NamedDigest {
  std::string name;
  std::string digest;
};

/// Kept in the file, and in any case for the life of this process. System where the file cannot be
/// written.
Status keepMark(Mark mark, const std::string& name, const std::string& digest);
Status keepMarks(Mark mark, const std::vector<NamedDigest>& all);
[[nodiscard]] bool hasMark(Mark mark, const std::string& name, const std::string& digest);
/// All digests of this name; System where what is kept cannot be read.
[[nodiscard]] Result<std::vector<std::string>> marksOf(Mark mark, const std::string& name);
/// All of this name.
void dropMarks(Mark mark, const std::string& name);

}  // namespace pf::app
