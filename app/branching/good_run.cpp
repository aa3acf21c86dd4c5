// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/good_run.h"

#include <algorithm>
#include <filesystem>

#include "app/branching/explore.h"
#include "app/recording/until_failure.h"
#include "db/store/former_file.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kNearRuns = 20;  ///< by flips, before others are tried
constexpr std::uint64_t kFreeRuns = 20;  ///< of which nothing is forced

/// A run of which nothing is forced that ends well: kept as `trace`. False: none of some did.
Result<bool> findFree(const BranchRunner& runner, const ParentRun& failing, const std::string& logs,
                      const std::string& trace) {
  std::error_code ignored;
  for (std::uint64_t seed = 0; seed < kFreeRuns; ++seed) {
    const Result<MadeRun> made = runner.make({}, logs, seed);  // 0: no delays
    if (!made && made.error().code != ErrorCode::Divergence) {
      return made.error();
    }
    const bool good = made && endedWell(made->outcome);
    if (const Status kept = good ? keepRun(logs, made->facts, trace) : Status(); !kept) {
      return kept.error();
    }
    fs::remove_all(logs, ignored);
    if (good) {
      const Status said = keepParent(trace, failing, {});
      return said ? Result<bool>(true) : Result<bool>(said.error());
    }
  }
  return false;
}

/// By flips of the run that failed, its last choices first; goes on with what it has found in `directory`.
Result<Exploration> exploreForGood(const BlameOptions& options, const std::string& directory,
                                   std::uint64_t mostRuns) {
  ExploreOptions look;
  look.trace = options.failing;
  look.madeBy = "blame";
  look.state = directory + "/orders";
  look.mostRuns = mostRuns;
  look.runTime = std::chrono::duration<double>(options.runTime);
  look.check = options.check;
  look.firstGood = true;
  look.farthestFirst = true;
  return explore(look);
}

/// Of a run that ended well; empty: none did.
std::string goodTrace(const Exploration& found) {
  for (const ExploredOutcome& each : found.outcomes) {
    if (endedWell(each.runs.outcome) && !each.runs.trace.empty()) {
      return each.runs.trace;
    }
  }
  return {};
}

Result<std::string> moved(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? Result<std::string>(systemError("cannot make " + to, error.value())) : to;
}

}  // namespace

Result<std::string> findGoodRun(const BlameOptions& options, const std::string& directory,
                                const BranchRunner& runner, const ParentRun& failing) {
  std::string name = goodName(options.failing);
  std::error_code ignored;
  if (fs::exists(name, ignored)) {
    name = db::freeNumberedName(name);
  }
  const std::uint64_t near = std::min(kNearRuns, options.mostRuns);
  Result<Exploration> found = exploreForGood(options, directory, near);
  if (found && goodTrace(*found).empty() && !found->whole()) {
    const Result<bool> free = findFree(runner, failing, directory + "/free.d", name);
    if (!free || *free) {
      return free ? Result<std::string>(name) : Result<std::string>(free.error());
    }
    if (options.mostRuns > near) {
      found = exploreForGood(options, directory, options.mostRuns - near);
    }
  }
  if (!found) {
    return found.error();
  }
  if (const std::string trace = goodTrace(*found); !trace.empty()) {
    return moved(trace, name);
  }
  const std::string runs = std::to_string(found->counts.runs);
  return found->whole() ? Error{ErrorCode::NotFound,
                                "the program fails in each of its " + runs +
                                    " orders: no delivery is to blame",
                                "Debug it as it is: 'photofinish " + options.failing + "'."}
                        : Error{ErrorCode::NotFound,
                                "none of " + runs + " other orders ends well, nor of " +
                                    std::to_string(kFreeRuns) + " runs of which nothing was forced",
                                "Give a good run, or more runs: --max-runs."};
}

}  // namespace pf::app
