// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/locality_groups.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "app/collation/message_sizes.h"
#include "app/files/passing_directory.h"
#include "app/files/paths.h"
#include "app/job/launcher.h"
#include "app/replaying/report_parts.h"
#include "app/traces/own_traces.h"
#include "db/store/former_file.h"
#include "replay_engine/base/shown_text.h"
#include "replay_engine/groups/partition.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kAuto = "auto";

/// Where the trace will be.
std::string directoryOf(const RecordOptions& recording) {
  const std::string place = fs::path(recording.output).parent_path().string();
  return place.empty() ? "." : place;
}

std::string fromDirectory(const std::string& directory, const std::string& program) {
  const std::string found = findInPath(program);
  const std::string& path = found.empty() ? program : found;
  return fs::path(path).is_absolute() ? path
                                      : (fs::path(directory) / path).lexically_normal().string();
}

/// Whether it is of the same programs, each behind the same words of the launcher, and may be used.
bool mayBeTaken(const std::string& trace, const LaunchCommand& command) {
  Result<db::TraceStore> store = db::TraceStore::open(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return false;
  }
  const db::RunInfo& run = store->run();
  const Result<LaunchCommand> other = parseLaunch(run.command);
  if (run.redacted || !other || other->launcher != command.launcher ||
      other->programs.size() != command.programs.size()) {
    return false;
  }
  std::error_code gone;
  for (std::size_t i = 0; i < command.programs.size(); ++i) {
    if (optionsOfProgram(*other, i) != optionsOfProgram(command, i) ||
        (i != 0 && other->words[other->programs[i]] != command.words[command.programs[i]])) {
      return false;
    }
  }
  if (fromDirectory(run.workingDirectory, run.program) !=
      fromDirectory(fs::current_path(gone).string(), command.program())) {
    return false;
  }
  const Result<bool> surveyed = store->hasExecution();
  const Result<Owner> owner = ownerOf(*store);
  return surveyed && owner && (*surveyed || *owner != Owner::Foreign);
}

/// Traces of this directory, the newest first.
std::vector<std::string> tracesIn(const std::string& directory) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code gone;
    const std::string path =
        directory == "." ? each->path().filename().string() : each->path().string();
    if (each->path().extension() == ".pft" && db::looksLikeTrace(path)) {
      if (const auto time = fs::last_write_time(path, gone); !gone) {
        found.emplace_back(time, path);
      }
    }
  }
  std::ranges::sort(found, std::greater<>());
  std::vector<std::string> paths;
  paths.reserve(found.size());
  for (auto& each : found) {
    paths.push_back(std::move(each.second));
  }
  return paths;
}

/// The standard input, for the recording itself. Usage: the first run has read it, and nobody can again.
Status restoreInput(off_t place, const std::string& trace) {
  if (place >= 0) {
    ::lseek(STDIN_FILENO, place, SEEK_SET);
    return {};
  }
  Result<db::TraceStore> store = db::TraceStore::open(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const auto& input = store->run().input;
  return !input || input->bytes.empty()
             ? Status()
             : Error{ErrorCode::Usage,
                     "the run in which groups are looked for has read the standard input, and it "
                     "can be read once only",
                     "Give it from a file: < FILE. Or record a run without --groups first."};
}

bool endedFromOutside(int status) {
  return status == 128 + SIGINT || status == 128 + SIGTERM || status == 128 + SIGHUP;
}

/// Runs the program for its messages. They are known, and the trace is gone, when this returns.
Result<Traffic> profile(const RecordOptions& recording) {
  const PassingDirectory place(directoryOf(recording) + "/.photofinish-profile.");
  if (Status made = place.made(); !made) {
    return made.error();
  }
  RecordOptions first;
  first.command = recording.command;
  first.output = place.file("profile.pft");
  first.mode = "all";
  first.endStuck = recording.endStuck;
  first.stallAfter = recording.stallAfter;
  first.stallLimit = recording.stallLimit;
  first.quiet = true;
  const off_t input = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  const Result<Recorded> recorded = record(first);
  if (!recorded) {
    return recorded.error();
  }
  if (recorded->trace.empty() || endedFromOutside(recorded->exitStatus)) {
    return Error{ErrorCode::System,
                 "the run in which groups are looked for did not come to its end",
                 "Nothing was recorded. Give groups as ranks: --groups 0-7,8-15."};
  }
  if (Status restored = restoreInput(input, first.output); !restored) {
    return restored.error();
  }
  return trafficOfTrace(first.output);
}

Result<std::string> bestOf(const Traffic& traffic, std::size_t most) {
  const Result<GroupSearch> search = findGroups(traffic, most);
  if (!search) {
    return search.error();
  }
  const GroupCandidate& best = search->candidates[search->best];
  const std::uint64_t each =
      traffic.bytesToLog(*ReplayGroups::parse("each", static_cast<std::int32_t>(traffic.ranks)));
  std::fprintf(
      stderr,
      "photofinish: %zu ranks in %zu groups: %.1f %% of the bytes that each rank on its own would "
      "need\n",
      traffic.ranks, best.groups.count(),
      each == 0 ? 0.0 : 100 * static_cast<double>(best.bytes) / static_cast<double>(each));
  return best.groups.text();
}

}  // namespace

Result<std::optional<std::size_t>> mostOfAutoGroups(std::string_view spec) {
  const std::string_view size = spec.substr(std::min(spec.size(), kAuto.size() + 1));
  if (spec != kAuto && !spec.starts_with("auto:")) {
    return std::optional<std::size_t>();
  }
  std::size_t most = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), most);
  if (error != std::errc() || end != size.data() + size.size() || most < 1 ||
      most > kMostInAGroup) {
    return Error{ErrorCode::Usage,
                 "'" + std::string(spec) + "' does not say how many ranks a group may have",
                 "Give a number from 1 on: --groups auto:8."};
  }
  return std::optional<std::size_t>(most);
}

Result<Traffic> trafficOfTrace(const std::string& trace) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  Result<std::vector<SizesOfRank>> sizes = messageSizes(loaded->store);
  if (!sizes) {
    return sizes.error();
  }
  return trafficOf(loaded->execution, *sizes);
}

Result<std::string> groupsByLocality(const RecordOptions& recording, std::size_t most) {
  const Result<LaunchCommand> command = parseLaunch(recording.command);
  if (!command) {
    return command.error();
  }
  for (const std::string& trace : tracesIn(directoryOf(recording))) {
    if (!mayBeTaken(trace, *command)) {
      continue;
    }
    const Result<Traffic> traffic = trafficOfTrace(trace);
    if (traffic) {
      tell("groups of at most " + std::to_string(most) + " ranks are those that " + trace +
           " shows");
      return bestOf(*traffic, most);
    }
    tell(trace + " does not show groups: " + traffic.error().message);
    break;  // a former one would not do better
  }
  tell("no trace of this program is in " + absolutePath(directoryOf(recording)) +
       ": it is run once to find groups of at most " + std::to_string(most) +
       " ranks, then it is recorded");
  const Result<Traffic> traffic = profile(recording);
  if (!traffic) {
    return traffic.error();
  }
  return bestOf(*traffic, most);
}

}  // namespace pf::app
