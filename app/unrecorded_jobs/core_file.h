// SPDX-License-Identifier: GPL-3.0-or-later
// What a core file says of the process that left it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

struct CoreFile {
  std::string path;     ///< absolute
  std::string program;  ///< as the process had it mapped; "" if the file does not say
  pid_t pid = 0;
  int signal = 0;            ///< that ended it, 0 = none (gcore)
  std::optional<Rank> rank;  ///< from its environment
  bool cut = false;          ///< the file ends before its last segment
};

/// Reads the notes of an ELF core file of this machine's kind. Fails with a sentence for files that are none.
[[nodiscard]] Result<CoreFile> readCoreFile(const std::string& path);

inline constexpr Rank kMostRanks = 1 << 20;  ///< a number from there on is no rank

/// The rank that the variables of a launcher name, from NAME=VALUE strings separated by NULs; below kMostRanks.
[[nodiscard]] std::optional<Rank> rankInEnvironment(std::string_view environment);

/// Where the kernel has written (or would write) the core file of a process, as it says in `core_pattern`:
/// a path, or "|PROGRAM" where the kernel hands it to a program. `directory` is that of the process.
[[nodiscard]] std::string coreFileName(std::string_view corePattern, bool usesPid, pid_t pid,
                                       int signal, const std::string& program,
                                       const std::string& directory);

}  // namespace pf::app
