// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/part_of_trace.h"

#include "app/replaying/replay.h"
#include "app/session/records/trusted_trace.h"
#include "app/traces/own_traces.h"
#include "replay_engine/base/shown_text.h"

namespace pf::session {
namespace {

Status partIsThere(const std::string& trace, const app::PartOfJob& part) {
  const Result<db::TraceStore> store = app::openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  const auto ranks = app::ranksOfPart(*store, part);
  return ranks ? Status() : Status(ranks.error());
}

}  // namespace

Result<LoadedTrace> loadPartToReplay(const QString& path, bool trusted,
                                     const app::PartOfJob& part) {
  const std::string trace = path.toStdString();
  if (!part.isWhole() && (trusted || app::mayRun(trace))) {
    if (const Status there = partIsThere(trace, part); !there) {
      return there.error();
    }
    if (const Result<bool> surveys = app::needsSurvey(trace); surveys && *surveys) {
      tell(
          "these ranks run alone from the first replay on; for the trace's events, all ranks run "
          "once before");
    }
  }
  return loadToReplay(path, trusted);
}

}  // namespace pf::session
