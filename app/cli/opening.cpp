// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/opening.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "app/cli/headless.h"
#include "app/cli/output.h"
#include "app/job/job.h"
#include "app/recording/record.h"
#include "app/traces/own_traces.h"

namespace pf::cli {
namespace {

/// Of a trace that is one's own.
int trustContents(const std::string& trace) {
  const Result<bool> others = app::takeOverContents(trace);
  if (!others && others.error().code != ErrorCode::System) {
    return fail(others.error());
  }
  if (others && *others) {
    std::fprintf(stderr,
                 "photofinish: %s has other contents of messages than were recorded: these count "
                 "as recorded now\n",
                 app::shownWord(trace).c_str());
  }
  return 0;
}

}  // namespace

int openWindow(const std::vector<std::string>& words) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr &&
      std::getenv("QT_QPA_PLATFORM") == nullptr) {
    return fail({ErrorCode::System,
                 words.empty() ? "there is no display to open the window on"
                               : "there is no display to open " + words.back() + " on",
                 "Set DISPLAY, or use the command line: photofinish races, replay, events (see "
                 "photofinish --help)."});
  }
  become("photofinish-gui", words);
  const std::string gui = app::programDirectory() + "/photofinish-gui";
  std::fprintf(stderr,
               "photofinish: the window (%s) is not installed\n  Build with APP_BUILD_GUI=ON, or "
               "use the command line: photofinish --help\n",
               gui.c_str());
  return 1;
}

std::chrono::milliseconds stallTime(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

int trust(const std::string& trace) {
  const Status may = app::mayRun(trace);
  if (!may && may.error().code != ErrorCode::Usage) {
    return fail(may.error());
  }
  if (may) {
    return trustContents(trace);
  }
  const auto facts = db::readFacts(trace);
  const Status taken = app::takeOver(trace);
  if (!facts || (!taken && taken.error().code != ErrorCode::System)) {
    return fail(facts ? taken.error() : facts.error());
  }
  std::fprintf(stderr, "photofinish: %s is taken over, with what it runs:\n%s",
               app::shownWord(trace).c_str(), app::whatItRuns(*facts).c_str());
  if (!taken) {
    std::fprintf(stderr, "photofinish: %s: it is taken over for this command only\n",
                 taken.error().message.c_str());
  }
  return 0;
}

int recordAndOpen(const std::vector<std::string>& command, std::chrono::milliseconds stallAfter) {
  app::RecordOptions options;
  options.command = command;
  options.stallAfter = stallAfter;
  auto recorded = app::record(options);
  if (!recorded || recorded->trace.empty()) {
    return recorded ? recorded->exitStatus : fail(recorded.error());
  }
  return openWindow({"--trust", recorded->trace});  // one's own
}

}  // namespace pf::cli
