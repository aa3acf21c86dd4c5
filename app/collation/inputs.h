// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a recording looked at besides messages (replay_engine/log_format/system_values.h, InputFile),
// in the trace, and what of it is another one now.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/store/trace_store.h"
#include "replay_engine/log/rank_log.h"
#include "replay_engine/protocol/program_context.h"

namespace pf::app {

/// What the ranks saw: each file, directory and variable once.
std::vector<db::SeenInput> seenInputs(const std::vector<RankLog>& logs);

/// Files that a rank read, that are younger than the run, and that none of the ranks wrote: somebody
/// else did, and will not in a replay. By the first rank that read each.
std::vector<std::pair<Rank, std::string>> filesOfOthers(const std::vector<RankLog>& logs);

/// What is not as it was recorded.
struct ChangedInputs {
  std::vector<std::string> names;  ///< "/home/me/in.dat (changed)"
  std::set<std::string> asked;     ///< variables that the recorded program asked for by name
};
/// Looks at the files of ranks that ran on `host`, the recorder's.
ChangedInputs changedInputs(const std::vector<db::SeenInput>& inputs,
                            const std::vector<db::RankInfo>& ranks, const std::string& host);

/// What a replay says of the environment of its ranks (GivenEnvironment::differences).
struct EnvironmentNews {
  std::vector<std::string> given;    ///< have the recorded value, not the one of now
  std::vector<std::string> differ;   ///< have not, and may decide
  std::vector<std::string> unasked;  ///< have not; only who reads them all has seen them
};
EnvironmentNews environmentNews(const protocol::LaunchContext& differences,
                                const std::set<std::string>& asked);

/// "a, b, c and 4 more"
std::string firstOf(const std::vector<std::string>& names, std::size_t most = 8);

}  // namespace pf::app
