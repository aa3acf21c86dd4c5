// SPDX-License-Identifier: GPL-3.0-or-later
// From a trace file to what the views show. Runs on a worker thread: opens its own store.
#pragma once

#include <QString>

#include "app/collation/collate.h"
#include "db/store/trace_store.h"
#include "views/trace/chunks/trace_view_data.h"

namespace pf::session {

struct LoadedTrace {
  views::TraceDataPtr data;
  db::RunInfo run;
  std::vector<db::RankInfo> ranks;
  std::vector<db::Printed> printed;  ///< while it was recorded; nothing where it cannot be read
};

/// What can be shown of a trace before its events are read: soon there, however many they are.
/// Null where the file has no summary (docs/trace-format.md).
[[nodiscard]] views::TraceDataPtr loadOutline(const QString& path);

/// Opens `path`; runs the program once more first if the trace holds choices only. `outline`: of
/// the same file, or null. Of a trace with more than `mostInMemory` events the views read chunks
/// when they need them; TraceData::whole() then reads the rest.
[[nodiscard]] Result<LoadedTrace> loadTrace(const QString& path,
                                            const views::TraceDataPtr& outline = nullptr,
                                            std::uint64_t mostInMemory = UINT64_MAX);

/// For a window: 2,000,000, at 100 bytes an event, or PHOTOFINISH_EVENTS_IN_MEMORY.
[[nodiscard]] std::uint64_t mostEventsInMemory();

/// How a rank ended, from what the store says of it.
[[nodiscard]] views::RankEnd rankEnd(const db::RankInfo& rank, const RankHistory& history,
                                     const Execution& execution);

/// The event at which the run failed: the last receive of the rank that crashed, aborted or hung
/// (its last event where it received nothing). Invalid if no rank failed.
[[nodiscard]] views::Failure findFailure(const std::vector<db::RankInfo>& ranks,
                                         const Execution& execution);

}  // namespace pf::session
