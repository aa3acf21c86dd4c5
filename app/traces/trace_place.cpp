// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/traces/trace_place.h"

#include <algorithm>
#include <cstdio>

#include "app/files/paths.h"

namespace pf::app {
namespace {

/// A look at a recording that went on: not all of its logs.
bool madeWhileItRan(const db::RankInfo& rank) {
  return rank.cutReason.starts_with(kStillRan);
}

}  // namespace

Status mayBecomeTrace(const std::string& path) {
  if (!isThere(path) || db::looksLikeTrace(path)) {
    return {};
  }
  return Error{ErrorCode::Usage,
               path + " is there already and is no trace; the program was not started",
               "Give another name with -o FILE: only traces are ever replaced."};
}

LogsAndTrace compareWithTrace(const RunFacts& logs, const std::string& trace) {
  if (!isThere(trace)) {
    return LogsAndTrace::Alone;
  }
  const Result<db::TraceStore> store =
      db::TraceStore::open(absolutePath(trace), db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return LogsAndTrace::Later;
  }
  const db::RunInfo& run = store->run();
  if (run.salt == logs.salt && logs.salt != 0) {
    const auto ranks = store->ranks();
    return std::any_of(ranks.begin(), ranks.end(), madeWhileItRan) ? LogsAndTrace::Later
                                                                   : LogsAndTrace::Made;
  }
  return run.createdUtc <= logs.createdUtc ? LogsAndTrace::Later : LogsAndTrace::Earlier;
}

void sayKept(const std::string& trace, const std::string& kept) {
  if (!kept.empty()) {
    const std::string directory = trace.substr(0, trace.size() - fileName(trace).size());
    std::fprintf(stderr, "photofinish: the former %s is kept as %s%s\n", trace.c_str(),
                 directory.c_str(), fileName(kept).c_str());
  }
}

}  // namespace pf::app
