// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/logs_of_trace.h"

#include <algorithm>
#include <future>
#include <utility>

namespace pf::app {

RankLog emptyLog(Rank rank, std::int32_t size, std::string why) {
  RankLog log;
  log.rank = rank;
  log.size = size;
  log.cut = std::move(why);
  log.hasEvents = true;
  return log;
}

namespace {

Error anotherRanks(Rank rank, Rank owner) {
  return Error{
      ErrorCode::Damaged,
      "the log of rank " + std::to_string(rank) + " is that of rank " + std::to_string(owner),
      "The trace was not written so: take another copy of it, or record again."};
}

}  // namespace

Status logsAreTheirRanks(db::TraceStore& store) {
  for (const db::RankInfo& rank : store.ranks()) {
    std::vector<unsigned char> start;
    const Status status = store.logChunks(rank.rank, [&](std::uint64_t, db::Bytes data) {
      if (start.empty()) {
        start.assign(data.begin(), data.end());
      }
      return Status();
    });
    if (!status) {
      return status;
    }
    const Result<RankLog> log = start.empty()
                                    ? Result<RankLog>(emptyLog(rank.rank, store.run().ranks, {}))
                                    : readLog(start);
    if (!log || log->rank != rank.rank) {
      return log ? anotherRanks(rank.rank, log->rank) : log.error();
    }
  }
  return {};
}

Result<std::vector<RankLog>> readLogs(db::TraceStore& store, db::TraceStore::Log which,
                                      bool contents) {
  std::vector<std::future<Result<RankLog>>> decoding;  // one thread reads, others decode
  for (const db::RankInfo& rank : store.ranks()) {
    std::vector<unsigned char> bytes;
    const Status status = store.logChunks(
        rank.rank,
        [&](std::uint64_t, db::Bytes data) {
          bytes.insert(bytes.end(), data.begin(), data.end());
          return Status();
        },
        which);
    if (!status) {
      return status.error();
    }
    const auto policy = bytes.size() > kLogBlockSize ? std::launch::async : std::launch::deferred;
    decoding.push_back(std::async(policy, [&store, rank, contents, content = std::move(bytes)] {
      Result<RankLog> log =
          content.empty() ? Result<RankLog>(emptyLog(rank.rank, store.run().ranks, rank.cutReason))
                          : readLog(content, contents);
      return log && log->rank != rank.rank ? Result<RankLog>(anotherRanks(rank.rank, log->rank))
                                           : std::move(log);
    }));
  }
  std::vector<RankLog> logs;
  for (auto& each : decoding) {
    Result<RankLog> log = each.get();
    if (!log) {
      return log.error();
    }
    logs.push_back(std::move(*log));
  }
  return logs;
}

Result<LogFiles> logFilesOf(db::TraceStore& store, db::TraceStore::Log which) {
  LogFiles files;
  for (const db::RankInfo& rank : store.ranks()) {
    std::vector<unsigned char>& bytes = files[rank.rank];
    const Status read = store.logChunks(
        rank.rank,
        [&bytes](std::uint64_t, db::Bytes data) {
          bytes.insert(bytes.end(), data.begin(), data.end());
          return Status();
        },
        which);
    if (!read) {
      return read.error();
    }
    if (bytes.empty()) {
      files.erase(rank.rank);
    }
  }
  return files;
}

void useRecordedTimes(db::TraceStore& store, Execution& surveyed) {
  surveyed.timeOrigin = hasTimes(surveyed) ? TimeOrigin::Reexecution : TimeOrigin::None;
  if (store.run().mode != "all") {
    return;
  }
  Result<std::vector<RankLog>> logs = readLogs(store, db::TraceStore::Log::Recorded);
  if (!logs) {
    return;  // a damaged log takes its times away, and nothing else
  }
  Result<Execution> recorded = assemble(std::move(*logs));
  if (!recorded || recorded->timeOrigin == TimeOrigin::None) {
    return;
  }
  for (std::size_t rank = 0; rank < surveyed.ranks.size(); ++rank) {
    if (recorded->ranks[rank].times.size() < surveyed.ranks[rank].events.size()) {
      return;
    }
  }
  for (std::size_t rank = 0; rank < surveyed.ranks.size(); ++rank) {
    surveyed.ranks[rank].times = std::move(recorded->ranks[rank].times);
    surveyed.ranks[rank].times.resize(surveyed.ranks[rank].events.size());
  }
  surveyed.timeOrigin = TimeOrigin::Recording;
}

bool seenAgain(Serial seen, Serial recorded, bool complete) {
  return seen + (complete ? 0U : 1U) >= recorded;
}

Result<Execution> loadExecution(db::TraceStore& store) {
  for (const auto which : {db::TraceStore::Log::Survey, db::TraceStore::Log::Recorded}) {
    if (which == db::TraceStore::Log::Recorded && store.run().mode != "all") {
      continue;
    }
    Result<std::vector<RankLog>> logs = readLogs(store, which);
    if (!logs) {
      return logs.error();
    }
    if (std::none_of(logs->begin(), logs->end(),
                     [](const RankLog& log) { return !log.history.events.empty(); })) {
      continue;
    }
    Result<Execution> execution = assemble(std::move(*logs));
    Result<std::vector<CallSite>> sites = store.callSites();
    if (execution && sites && sites->size() == execution->sites.size()) {
      execution->sites = std::move(*sites);
      if (which == db::TraceStore::Log::Survey) {
        useRecordedTimes(store, *execution);
      }
      return execution;
    }
  }
  return store.readExecution();
}

}  // namespace pf::app
