// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/message_sizes.h"

#include <algorithm>

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "replay_engine/log/contents.h"

namespace pf::app {

namespace {

SizesOfRank sizesOfRank(const RankLog& log) {
  SizesOfRank sizes{sizesOf(log.sent), sizesOf(log.given), {}, {}};
  sizes.rooms.resize(log.history.receives.size());
  for (const auto& [post, bytes] : log.rooms) {
    if (post < sizes.rooms.size()) {
      sizes.rooms[post] = bytes;
    }
  }
  for (const StartedCollective& each : log.startedCollectives) {
    sizes.started.emplace(each.part, each.number);
  }
  return sizes;
}

}  // namespace

Result<std::vector<SizesOfRank>> messageSizes(db::TraceStore& store) {
  for (const auto which : {db::TraceStore::Log::Survey, db::TraceStore::Log::Recorded}) {
    if (which == db::TraceStore::Log::Recorded && store.run().mode != "all") {
      continue;
    }
    Result<std::vector<RankLog>> logs = readLogs(store, which, true);
    if (!logs) {
      return logs.error();
    }
    if (std::ranges::none_of(*logs,
                             [](const RankLog& log) { return !log.history.events.empty(); })) {
      continue;
    }
    std::vector<SizesOfRank> sizes;
    for (const RankLog& log : *logs) {
      sizes.push_back(sizesOfRank(log));
    }
    return sizes;
  }
  return Error{ErrorCode::Usage,
               store.path() +
                   ": there are no sizes of messages in this trace, as its logs are not" +
                   (store.run().redacted ? ": 'photofinish redact' has made it" : ""),
               "Give the trace that it was made from, or record again with --mode all."};
}

}  // namespace pf::app
