// SPDX-License-Identifier: GPL-3.0-or-later
// Whose a trace is, as far as opening it goes. This library does not know: who does says so once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/schema/trace_types.h"
#include "replay_engine/base/result.h"

namespace pf::db {

enum class Origin : std::uint8_t {
  Own,
  /// Of somebody else: read as the bytes that it is. Nothing beside it is looked at, no journal is
  /// undone, no former format is brought up to date in its place (a private copy is), and Update is
  /// refused.
  Foreign,
};

/// Called with the real path of each trace before it is opened, by whichever thread opens it.
using OriginOf = Origin (*)(const std::string& path);
/// Once, before any trace is opened. Without it every trace is one's own.
void setOriginOf(OriginOf function);

/// What a trace says of its run, and what a debugger would be given of it.
struct TraceFacts {
  RunInfo run;
  std::vector<RankInfo> ranks;
  std::vector<LaunchFact> launch;
  std::vector<ModuleInfo> modules;
  std::vector<Breakpoint> breakpoints;
  std::vector<Watch> watches;
  std::optional<Branch> branch{};  ///< of which run this is another order
  std::vector<BranchFlip> flips{};
};
/// Reads them as of a foreign trace, also while somebody writes into it: `path` as for TraceStore.
/// What does not verify is left out of breakpoints, watches and branch, and an error elsewhere.
[[nodiscard]] Result<TraceFacts> readFacts(const std::string& path);
/// The same at once, for who looks at many files. Version: it is of a former format, which would have to be copied.
[[nodiscard]] Result<TraceFacts> readPresentFacts(const std::string& path);

}  // namespace pf::db
