// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/headless.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "app/files/paths.h"
#include "app/files/private_file.h"
#include "app/job/job.h"
#include "app/recording/record.h"
#include "app/unrecorded_jobs/core_file.h"
#include "app/unrecorded_jobs/running_job.h"
#include "replay_engine/base/shown_text.h"

namespace pf::cli {
namespace {

namespace fs = std::filesystem;

/// Where a report can be written: asked before the program is run for it.
Status reportCanBe(const std::string& path) {
  const fs::path file = app::absolutePath(path);
  const std::string extension = file.extension().string();
  if (extension != ".html" && extension != ".htm" && extension != ".txt") {
    return Error{ErrorCode::Usage, "'" + path + "' is no name of a report",
                 "Give -o NAME.html, or NAME.txt for plain text."};
  }
  if (!app::isDirectory(file.parent_path()) || access(file.parent_path().c_str(), W_OK) != 0 ||
      app::isDirectory(file)) {
    return Error{ErrorCode::NotFound, "cannot write " + path,
                 "Give a name in a directory that is there and can be written."};
  }
  return app::mayFollowLink(file, "Give another name with -o.");
}

}  // namespace

void become(const std::string& name, std::vector<std::string> words) {
  words.insert(words.begin(), app::programDirectory() + "/" + name);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  execv(arguments.front(), arguments.data());
}

Error becomeHeadless(const std::vector<std::string>& words) {
  become("photofinish-headless", words);
  return {ErrorCode::System, app::programDirectory() + "/photofinish-headless is not there",
          "In a checkout, ./run --build makes it (a build with APP_BUILD_GUI=OFF has none); else "
          "install it."};
}

std::string runningJobsText() {
  std::string text;
  for (const app::RunningJob& job : app::runningJobs()) {
    text += std::to_string(job.launcher) + "  " + std::to_string(job.ranks.size()) + " ranks  " +
            job.command + "\n";
    for (const app::RunningRank& rank : job.ranks) {
      text += "    rank " + std::to_string(rank.rank) + ": process " + std::to_string(rank.pid) +
              ", " + rank.program + "\n";
    }
  }
  return text.empty() ? "No MPI job of yours runs on this host.\n" : text;
}

Result<std::vector<std::string>> attachWords(int pid) {
  const auto job = app::runningJob(pid);
  if (!job) {
    return job.error();
  }
  std::vector<std::string> problems;
  for (const app::RunningRank& rank : job->ranks) {
    if (const std::string why = app::whyNotTraceable(rank.pid); !why.empty()) {
      problems.push_back("rank " + std::to_string(rank.rank) + " (process " +
                         std::to_string(rank.pid) + ") cannot be debugged: " + why);
    }
  }
  if (!problems.empty() && problems.size() == job->ranks.size()) {
    return Error{ErrorCode::System, problems.front(), {}};
  }
  for (const std::string& problem : problems) {  // the others can
    tell(problem);
  }
  return std::vector<std::string>{"--attach", std::to_string(pid)};
}

Result<std::vector<std::string>> coreWords(const std::vector<std::string>& files,
                                           const std::string& program) {
  std::vector<std::string> words;
  for (const std::string& file : files) {
    const auto core = app::readCoreFile(file);
    if (!core) {
      return core.error();
    }
    words.insert(words.end(), {"--core", core->path});
  }
  if (!program.empty()) {
    words.insert(words.end(), {"--program", app::absolutePath(program)});
  }
  return words;
}

std::string wrongPlace(const std::string& text, bool expression) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string place = text.substr(0, blank);
  const std::size_t colon = place.rfind(':');
  const bool line = colon != std::string::npos && colon > 0 && colon + 1 < place.size() &&
                    place.find_first_not_of("0123456789", colon + 1) == std::string::npos &&
                    place.size() - colon <= 9;
  const bool words = text.find_first_not_of(' ', blank) != std::string::npos;
  return line && words == expression
             ? ""
             : "'" + text + "' is not " + (expression ? "FILE:LINE EXPRESSION" : "FILE:LINE");
}

Status isNoPart(const app::PartOfJob& part) {
  return part.isWhole()
             ? Status()
             : Error{ErrorCode::Usage, "--group and --ranks name a part of a recorded job",
                     "Record with 'photofinish record --groups', then give its FILE.pft."};
}

std::vector<std::string> partWords(const app::PartOfJob& part) {
  if (part.group) {
    return {"--group", std::to_string(*part.group)};
  }
  std::string ranks;
  for (const Rank rank : part.ranks) {
    ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
  }
  return ranks.empty() ? std::vector<std::string>() : std::vector<std::string>{"--ranks", ranks};
}

Result<int> debugOffline(const std::vector<std::string>& words, const OfflineOptions& options) {
  if (Status can = reportCanBe(options.output); !can) {
    return can.error();
  }
  // A snapshot of what is not replayed yet: no reason to end. Ranks get the default back.
  std::signal(SIGUSR1, [](int) {});
  std::string trace = words.size() == 1 ? words.front() : "";
  std::string status;
  if (trace.size() < 5 || trace.substr(trace.size() - 4) != ".pft") {
    if (Status whole = isNoPart(options.part); !whole) {
      return whole.error();
    }
    app::RecordOptions recording;
    recording.command = words;
    recording.endStuck = true;
    recording.stallAfter = options.stallAfter;
    auto recorded = app::record(recording);
    if (!recorded) {
      return recorded.error();
    }
    if (recorded->trace.empty()) {
      return recorded->exitStatus;
    }
    trace = recorded->trace;
    status = std::to_string(recorded->exitStatus);
  }
  std::vector<std::string> next = {"offline", trace, options.output, status};
  for (const std::string& place : options.breaks) {
    next.insert(next.end(), {"--break", place});
  }
  for (const std::string& place : options.logs) {
    next.insert(next.end(), {"--log", place});
  }
  if (!options.transcripts.empty()) {
    next.insert(next.end(), {"--transcripts", app::absolutePath(options.transcripts)});
  }
  if (options.trusted || !status.empty()) {  // what has been recorded just now is one's own
    next.insert(next.begin() + 1, "--trust");
  }
  if (options.snapshotEvery > 0.0) {
    next.insert(next.end(), {"--snapshot-every", std::to_string(options.snapshotEvery)});
  }
  const std::vector<std::string> part = partWords(options.part);
  next.insert(next.end(), part.begin(), part.end());
  std::signal(SIGUSR1, SIG_IGN);  // until the other program knows what it is for
  return becomeHeadless(next);
}

}  // namespace pf::cli
