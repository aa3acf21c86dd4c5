// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/race_reduction.h"

#include <algorithm>
#include <optional>

#include "replay_engine/log/shadow_routes.h"

namespace pf::app {
namespace {

std::pair<std::uint32_t, std::uint32_t> exchanged(const RankLog& log, std::size_t with) {
  const auto found = log.races->exchanged.find(static_cast<std::uint32_t>(with));
  return found != log.races->exchanged.end() ? found->second
                                             : std::pair<std::uint32_t, std::uint32_t>();
}

/// Whether every message that was sent to this rank was received.
bool receivedAll(const std::vector<RankLog>& logs, std::size_t rank) {
  for (std::size_t from = 0; from < logs.size(); ++from) {
    if (exchanged(logs[from], rank).first != exchanged(logs[rank], from).second) {
      return false;
    }
  }
  return true;
}

bool tracesMessages(const std::string& algorithm) {
  return algorithm != "meehan" && algorithm != "naive";
}

/// Whether the deliveries of this rank can be forced by shadow routes: each traced message, and each one
/// that a probe saw, has a name that its sender knows, and no other job can send to it.
bool canBeRouted(const std::vector<RankLog>& logs, const RankLog& log) {
  const auto known = [&](std::uint32_t comm, std::int32_t source, std::uint32_t number) {
    const Rank from = worldRankOf(log, comm, source);
    return number != 0 && from >= 0 && static_cast<std::size_t>(from) < logs.size() &&
           std::ranges::any_of(logs[static_cast<std::size_t>(from)].communicators,
                               [&](const LoggedCommunicator& each) {
                                 return each.key == log.communicators[comm].key;
                               });
  };
  return std::ranges::none_of(log.communicators,
                              [](const LoggedCommunicator& comm) {
                                return std::ranges::any_of(comm.members,
                                                           [](Rank rank) { return rank < 0; });
                              }) &&
         std::ranges::all_of(log.traced,
                             [&](const TracedDelivery& each) {
                               return known(each.comm, each.source, each.number);
                             }) &&
         std::ranges::all_of(log.seen, [&](const SeenMessage& each) {
           return known(each.comm, each.source, each.number);
         });
}

/// Collates what the ranks of `routed` traced, by the senders.
RouteCollation collateTraced(const std::vector<RankLog>& logs, const std::vector<bool>& routed) {
  RouteCollation routes(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (const TracedDelivery& each : logs[i].traced) {
      if (routed[i]) {
        routes.add({logs[i].communicators[each.comm].key,
                    worldRankOf(logs[i], each.comm, each.source), logs[i].rank, each.tag,
                    each.number, each.post, each.source});
      }
    }
  }
  routes.sort();
  return routes;
}

/// What becomes of a rank's log where messages are traced.
LogReduction routedReduction(const RankLog& log, const RouteCollation& routes, bool routed) {
  LogReduction out;
  out.added = routes.records(log);
  if (!routed) {
    return out;
  }
  out.keep.emplace();
  out.dropTraced = true;
  out.keepSeen.emplace();
  for (const SeenMessage& seen : log.seen) {
    out.keepSeen->push_back(routes.postOf(log.communicators[seen.comm].key,
                                          worldRankOf(log, seen.comm, seen.source), log.rank,
                                          seen.tag, seen.number) != kNone);
  }
  out.added.push_back(routes.routesOnly(log.rank));
  return out;
}

/// Reduces the logs of the ranks, by what is known of all of them.
class Reducer {
 public:
  Reducer(const std::vector<RankLog>& logs, bool whole, bool byMessages)
      : m_logs(logs),
        m_whole(whole),
        m_byMessages(whole && byMessages),
        m_routed(logs.size()),
        m_routes(logs.size()) {
    for (std::size_t i = 0; m_byMessages && i < logs.size(); ++i) {
      m_routed[i] = receivedAll(logs, i) && canBeRouted(logs, logs[i]);
    }
    m_routes = collateTraced(logs, m_routed);
  }

  /// Nothing where the log stays as it is.
  [[nodiscard]] std::optional<LogReduction> of(std::size_t i) const {
    if (m_byMessages) {
      return routedReduction(m_logs[i], m_routes, m_routed[i]);
    }
    if (!m_whole || !receivedAll(m_logs, i)) {
      return std::nullopt;
    }
    LogReduction sources;
    sources.keep = m_logs[i].races->kept;
    return sources;
  }
  [[nodiscard]] bool routed(std::size_t i) const { return m_routed[i]; }
  /// Deliveries that the trace holds.
  [[nodiscard]] std::uint64_t kept(std::size_t i) const {
    const RankLog& log = m_logs[i];
    if (m_routed[i]) {
      return log.traced.size();
    }
    return m_whole && !m_byMessages && receivedAll(m_logs, i) ? log.races->kept.count()
                                                              : log.wildSources.size();
  }
  /// Why it holds all of this rank; empty where it does not.
  [[nodiscard]] std::string why(std::size_t i) const {
    const std::string rank = "rank " + std::to_string(m_logs[i].rank);
    if (m_whole && !receivedAll(m_logs, i)) {
      return rank + " left a message unreceived";
    }
    return m_byMessages && !m_routed[i]
               ? "not all messages that " + rank + " received have a name that their senders know"
               : "";
  }

 private:
  const std::vector<RankLog>& m_logs;
  bool m_whole;
  bool m_byMessages;
  std::vector<bool> m_routed;
  RouteCollation m_routes;
};

}  // namespace

std::string algorithmName(std::uint32_t number) {
  if (number >= kWindowAlgorithm) {
    return "window-" + std::to_string(number - kWindowAlgorithm);
  }
  return number < kAlgorithms.size() ? kAlgorithms[number] : "an unknown algorithm";
}

Result<RaceReduction> reduceToRaces(const std::vector<RankLog>& logs,
                                    std::map<Rank, std::vector<unsigned char>>& files) {
  RaceReduction out;
  const auto looked = [](const RankLog& log) { return log.races.has_value(); };
  const auto first = std::ranges::find_if(logs, looked);
  if (first == logs.end()) {
    return out;
  }
  out.races = true;
  out.algorithm = algorithmName(first->races->algorithm);
  const bool whole =
      std::ranges::all_of(logs, [&](const RankLog& log) { return looked(log) && log.complete; });
  const Reducer reducer(logs, whole, tracesMessages(out.algorithm));
  if (!whole) {
    out.why = "the run is cut, and a replay of what was under way needs every source";
  }
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const RankLog& log = logs[i];
    const std::uint64_t wildcards = log.races ? log.races->wildcards : log.wildSources.size();
    const std::uint64_t kept = reducer.kept(i);
    if (const std::string why = reducer.why(i); !why.empty()) {
      out.why = why;
    }
    if (const std::optional<LogReduction> reduction = reducer.of(i)) {
      Result<std::vector<unsigned char>> less = reduceLog(files[log.rank], *reduction);
      if (!less) {
        return less.error();
      }
      files[log.rank] = std::move(*less);
    }
    out.threads = out.threads || log.lanes.size() > 1;
    out.wildcards += wildcards;
    out.kept += kept;
    out.found += log.races ? log.races->found : 0;
    const auto found = log.races ? std::optional<std::uint64_t>(log.races->found) : std::nullopt;
    out.perRank.push_back({log.rank, wildcards, found, kept, reducer.routed(i)});
  }
  return out;
}

}  // namespace pf::app
