// SPDX-License-Identifier: GPL-3.0-or-later
// Deliveries forced by shadow routes (Netzer and Miller, 4.2): a traced message goes over a communicator of
// our own, with the number of its receive as tag, so that it goes to that receive and to no other.
// The traces are collated by sender: what a rank needs to know is which of the messages that it
// sends are traced, and for which receives.
//
// A message is named by its sender, its receiver, communicator (key) and tag, and its number among
// these. All deliveries of one rank are forced in one way, by shadow routes or by pins: a traced message
// must be out of reach of the receives that are not traced, which a pin does not do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "replay_engine/log/rank_log.h"

namespace pf {

/// A traced delivery, named so that both of its ends know it.
struct RoutedMessage {
  std::uint64_t key = 0;  ///< of the communicator
  Rank from = 0;          ///< world rank
  Rank to = 0;
  Tag tag = 0;
  std::uint32_t number = 0;  ///< in its stream, from 1
  std::uint32_t post = 0;    ///< of its receive
  std::int32_t source = 0;   ///< `from` as a rank of the communicator
};

/// What a schedule holds of shadow routes.
struct RankRoutes {
  bool forced = false;  ///< the deliveries of this rank are forced by shadow routes
  std::vector<ScheduleRoute> receives;
  std::vector<ScheduleRouteStream> streams;
  std::vector<ScheduleRouteSend> sends;
  std::vector<ScheduleRouteSeen> seen;
};

struct ShadowRoutes {
  std::vector<RankRoutes> ranks;
  std::uint64_t lastPost = 0;
  [[nodiscard]] bool any() const;
};

/// Collates traced deliveries by sender: first all are added, then sort() is called, then it is
/// asked.
class RouteCollation {
 public:
  explicit RouteCollation(std::size_t ranks) : m_ranks(ranks) {}
  /// Deliveries of this rank are forced by shadow routes.
  void force(Rank rank) { m_ranks[static_cast<std::size_t>(rank)].forced = true; }
  void add(const RoutedMessage& message);
  void sort();

  /// A successful probe of `rank` saw the message of receive `post`, which is traced.
  void see(Rank rank, std::uint32_t probe, std::uint32_t post);
  /// The receive of a traced message, or kNone.
  [[nodiscard]] std::uint32_t postOf(std::uint64_t key, Rank from, Rank to, Tag tag,
                                     std::uint32_t number) const;
  /// Traced deliveries of a rank.
  [[nodiscard]] std::size_t received(Rank rank) const {
    return m_ranks[static_cast<std::size_t>(rank)].receives.size();
  }
  /// What a rank sends traced, in streams that `log` knows by its own numbers, as Routed records.
  [[nodiscard]] std::vector<std::vector<unsigned char>> records(const RankLog& log) const;
  /// The record that says that the deliveries of this rank are in its senders' logs.
  [[nodiscard]] std::vector<unsigned char> routesOnly(Rank rank) const;
  [[nodiscard]] ShadowRoutes finish() const;

 private:
  using Stream = std::tuple<std::uint64_t, Rank, Tag>;  ///< key, to, tag
  struct OfRank {
    bool forced = false;
    std::vector<ScheduleRoute> receives;                        ///< by post
    std::map<Stream, std::vector<ScheduleRouteSend>> sends;     ///< by number
    std::vector<std::pair<std::uint32_t, std::uint32_t>> seen;  ///< probe, post
  };
  std::vector<OfRank> m_ranks;
};

/// LaunchContext rank of `peer` of communicator `comm`, as this rank numbers it; negative if there is none.
[[nodiscard]] Rank worldRankOf(const RankLog& log, std::uint32_t comm, std::int32_t peer);

/// Of a reduced trace. Error Damaged where senders' logs lack what receivers need.
[[nodiscard]] Result<ShadowRoutes> collatedRoutes(const std::vector<RankLog>& logs);

/// Of an execution whose deliveries to these posts, by rank, are traced. Ranks without (nullopt),
/// and those whose traced messages cannot all be named (they came from another job), are not forced
/// by shadow routes.
[[nodiscard]] ShadowRoutes routesOf(
    const Execution& execution,
    const std::vector<std::optional<std::vector<std::uint32_t>>>& traced);
/// The same of what Netzer and Miller's algorithm traces of it, run offline, at the ranks `which`.
[[nodiscard]] ShadowRoutes routesOf(const Execution& execution, const std::vector<bool>& which);

}  // namespace pf
