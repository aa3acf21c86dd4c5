// SPDX-License-Identifier: GPL-3.0-or-later
// What has the name of a new trace already, and the names under which it is kept.
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::db {

/// What becomes of a file that has the name of a new trace.
enum class Existing {
  Refuse,   ///< it stays, and the new one is not made (Usage)
  Keep,     ///< it is kept under the next free numbered name
  Replace,  ///< it goes if it is a trace; anything else is kept as by Keep
};

/// An ordinary file, no link, that begins as traces of any version do. It may be damaged.
[[nodiscard]] bool looksLikeTrace(const std::string& path);

/// run.pft as run.1.pft; a name without .pft gets the number at its end.
[[nodiscard]] std::string numberedName(const std::string& path, int number);

/// The first numbered name that neither a file, nor its journal, nor the logs of a recording have.
[[nodiscard]] std::string freeNumberedName(const std::string& path);

/// Gives the file `path` (which has to be there), and its journal, a free numbered name besides its
/// own. One that has it already, by a process that was killed after this, keeps that. On file
/// systems without hard links the file has only the new name afterwards.
[[nodiscard]] Result<std::string> keepUnderNumber(const std::string& path);

}  // namespace pf::db
