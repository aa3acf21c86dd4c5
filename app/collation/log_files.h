// SPDX-License-Identifier: GPL-3.0-or-later
// The files in a directory of logs. Whoever sends a trace may send such a directory with it: its
// files are opened and removed by this alone. Private to app/collation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/collation/collate.h"
#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"

namespace pf::app {

/// Of "rank-12.log" 12. Nothing: no rank's log has this name.
std::optional<Rank> rankOfLog(std::string_view name);

/// The same of "rank-12.payload".
std::optional<Rank> rankOfPayload(std::string_view name);

/// Whether a recorder, or a rank of it, makes files of this name in the directory.
bool isNameInLogs(std::string_view name);

/// The logs that are there may be of so many ranks: memory is taken for each one.
bool mayBeRanks(std::int32_t ranks, std::size_t logs);

/// Whether there is something that a trace may be made of, or it cannot be seen.
bool holdsLogs(const std::string& directory);

/// Damaged where the directory is a symbolic link: no recorder makes one.
Status isNoLink(const std::string& directory);

/// Follows no link, of the directory and of the file, and waits for nobody. Damaged, with its name,
/// unless it is a regular file.
Result<UniqueFd> openInLogs(const std::string& directory, const std::string& name);

/// All of it; Damaged if it is longer than `most` bytes.
Result<std::string> readInLogs(const std::string& directory, const std::string& name,
                               std::size_t most);
/// Nothing where there is none.
Result<std::optional<std::string>> readIfInLogs(const std::string& directory,
                                                const std::string& name, std::size_t most);

/// More than any file but a log has.
inline constexpr std::size_t kMostInText = 32U << 20;

/// A log of a rank without the zeros at its end, which it was not written to.
Result<std::vector<unsigned char>> readRankLog(const std::string& directory,
                                               const std::string& name);

/// Removes the files whose names isNameInLogs(), and the directory if it is empty then. The name of
/// something else that is in it, and stays; or empty.
std::string removeLogFiles(const std::string& directory);

}  // namespace pf::app
