// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a recording were started with (replay_engine/protocol/program_context.h), in the trace, and in what a
// replay differs from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/job/launcher.h"
#include "db/schema/trace_types.h"
#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/protocol/program_context.h"

namespace pf::app {

/// Names of the variables that the launcher is told to pass on: -x NAME, -genv NAME VALUE …
std::vector<std::string> exportedVariables(const LaunchCommand& command);

/// What the agents left in the directory of the logs: all facts of the first rank that has some, and
/// of the others what differs from it.
Result<std::vector<db::LaunchFact>> launchFacts(const std::string& logDirectory,
                                                std::int32_t ranks);

/// From these. Ranks of which nothing is known are not in it.
std::map<Rank, protocol::LaunchContext> contextsOf(const std::vector<db::LaunchFact>& facts,
                                                   std::int32_t ranks);

/// What gives a program the variables of a recorded rank, as SessionConfig::environment: for a run
/// that nobody asked for with other ones. `more`: names that are looked at besides those that
/// always are.
std::vector<std::string> recordedVariables(const protocol::LaunchContext& recorded,
                                           const std::vector<std::string>& more);

/// What the ranks' programs were started with, as SessionConfig::recordedEnvironment.
std::map<std::int32_t, std::vector<std::string>> recordedEnvironments(
    const std::map<Rank, protocol::LaunchContext>& contexts);

/// One line a difference, for people: "TZ is 'UTC', recorded: not set".
std::vector<std::string> contextDifferences(const protocol::LaunchContext& recorded,
                                            const protocol::LaunchContext& now);

}  // namespace pf::app
