// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/shadow_routes.h"

#include <algorithm>

#include "replay_engine/log/varint.h"

namespace pf {
namespace {

/// Which rank of communicator `key` a world rank is, as `log` knows it; negative if none.
std::int32_t peerOf(const RankLog& log, std::uint64_t key, Rank world) {
  for (const LoggedCommunicator& comm : log.communicators) {
    if (comm.key != key) {
      continue;
    }
    const std::size_t first = comm.inter ? comm.groupSize : 0U;
    const std::size_t last = comm.inter
                                 ? comm.members.size()
                                 : std::min<std::size_t>(comm.groupSize, comm.members.size());
    for (std::size_t i = first; i < last; ++i) {
      if (comm.members[i] == world) {
        return static_cast<std::int32_t>(i - first);
      }
    }
  }
  return kUnknownRank;
}

Error lost(Rank rank) {
  return Error{ErrorCode::Damaged,
               "the deliveries of rank " + std::to_string(rank) +
                   " were traced by their senders, whose logs lack them",
               "Without them the run cannot be replayed: record the program again."};
}

}  // namespace

bool ShadowRoutes::any() const {
  return std::ranges::any_of(ranks, [](const RankRoutes& rank) { return rank.forced; });
}

void RouteCollation::add(const RoutedMessage& message) {
  m_ranks[static_cast<std::size_t>(message.to)].receives.push_back(
      {message.post, message.from, message.source, message.tag});
  m_ranks[static_cast<std::size_t>(message.from)]
      .sends[{message.key, message.to, message.tag}]
      .push_back({message.number, message.post});
}

void RouteCollation::sort() {
  for (OfRank& rank : m_ranks) {
    std::ranges::sort(rank.receives, {}, &ScheduleRoute::post);
    for (auto& [stream, messages] : rank.sends) {
      std::ranges::sort(messages, {}, &ScheduleRouteSend::number);
    }
  }
}

void RouteCollation::see(Rank rank, std::uint32_t probe, std::uint32_t post) {
  m_ranks[static_cast<std::size_t>(rank)].seen.emplace_back(probe, post);
}

std::uint32_t RouteCollation::postOf(std::uint64_t key, Rank from, Rank to, Tag tag,
                                     std::uint32_t number) const {
  if (from < 0 || static_cast<std::size_t>(from) >= m_ranks.size()) {
    return kNone;
  }
  const OfRank& sender = m_ranks[static_cast<std::size_t>(from)];
  const auto stream = sender.sends.find({key, to, tag});
  if (stream == sender.sends.end()) {
    return kNone;
  }
  const auto found =
      std::ranges::lower_bound(stream->second, number, {}, &ScheduleRouteSend::number);
  return found == stream->second.end() || found->number != number ? kNone : found->post;
}

std::vector<std::vector<unsigned char>> RouteCollation::records(const RankLog& log) const {
  std::vector<std::vector<unsigned char>> out;
  for (const auto& [stream, messages] : m_ranks[static_cast<std::size_t>(log.rank)].sends) {
    const auto& [key, to, tag] = stream;
    const auto comm = std::ranges::find_if(
        log.communicators, [wanted = key](const auto& each) { return each.key == wanted; });
    auto message = messages.begin();
    for (std::size_t left = messages.size(); left > 0;) {
      const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(left, kMostTagged));
      std::vector<unsigned char>& record = out.emplace_back(madeRecord<RecordKind::Routed>(
          {static_cast<std::uint32_t>(comm - log.communicators.begin()), to, tag, n}));
      std::uint32_t number = 0;
      std::uint32_t post = 0;
      for (std::uint32_t i = 0; i < n; ++i, ++message) {
        const std::uint32_t step = message->post - post;
        putVarint(record, message->number - number);
        putVarint(record, (step << 1) ^ (0U - (step >> 31)));
        number = message->number;
        post = message->post;
      }
      left -= n;
    }
  }
  return out;
}

std::vector<unsigned char> RouteCollation::routesOnly(Rank rank) const {
  return madeRecord<RecordKind::RoutesOnly>({static_cast<std::uint32_t>(received(rank))});
}

ShadowRoutes RouteCollation::finish() const {
  ShadowRoutes routes;
  for (const OfRank& rank : m_ranks) {
    RankRoutes& out = routes.ranks.emplace_back();
    out.forced = rank.forced;
    out.receives = rank.receives;
    if (!rank.receives.empty()) {
      routes.lastPost = std::max<std::uint64_t>(routes.lastPost, rank.receives.back().post);
    }
    for (const auto& [stream, messages] : rank.sends) {
      const auto& [key, to, tag] = stream;
      out.streams.push_back({key, to, tag, static_cast<std::uint32_t>(out.sends.size()),
                             static_cast<std::uint32_t>(messages.size())});
      out.sends.insert(out.sends.end(), messages.begin(), messages.end());
    }
    for (const auto& [probe, post] : rank.seen) {
      const auto found = std::ranges::lower_bound(rank.receives, post, {}, &ScheduleRoute::post);
      out.seen.push_back({probe, static_cast<std::uint32_t>(found - rank.receives.begin())});
    }
    std::ranges::sort(out.seen, {}, &ScheduleRouteSeen::probe);
  }
  return routes;
}

Rank worldRankOf(const RankLog& log, std::uint32_t comm, std::int32_t peer) {
  if (comm >= log.communicators.size() || peer < 0) {
    return kUnknownRank;
  }
  const LoggedCommunicator& known = log.communicators[comm];
  const std::size_t index = (known.inter ? known.groupSize : 0U) + static_cast<std::size_t>(peer);
  return index < known.members.size() ? known.members[index] : kUnknownRank;
}

Result<ShadowRoutes> collatedRoutes(const std::vector<RankLog>& logs) {
  RouteCollation routes(logs.size());
  for (const RankLog& log : logs) {
    if (log.routesOnly) {
      routes.force(log.rank);
    }
    for (const RoutedStream& stream : log.routed) {
      if (stream.comm >= log.communicators.size() || stream.dest < 0 ||
          static_cast<std::size_t>(stream.dest) >= logs.size()) {
        continue;  // it will be missed
      }
      const std::uint64_t key = log.communicators[stream.comm].key;
      const std::int32_t source =
          peerOf(logs[static_cast<std::size_t>(stream.dest)], key, log.rank);
      for (const auto& [number, post] : stream.messages) {
        if (source >= 0) {
          routes.add({key, log.rank, stream.dest, stream.tag, number, post, source});
        }
      }
    }
  }
  routes.sort();
  for (const RankLog& log : logs) {
    if (!log.routesOnly) {
      continue;
    }
    if (routes.received(log.rank) != *log.routesOnly) {
      return lost(log.rank);
    }
    for (const SeenMessage& seen : log.seen) {
      const std::uint64_t key =
          seen.comm < log.communicators.size() ? log.communicators[seen.comm].key : 0;
      const Rank from = worldRankOf(log, seen.comm, seen.source);
      const std::uint32_t post = routes.postOf(key, from, log.rank, seen.tag, seen.number);
      if (post == kNone) {
        return lost(log.rank);
      }
      routes.see(log.rank, seen.probe, post);
    }
  }
  return routes.finish();
}

}  // namespace pf
