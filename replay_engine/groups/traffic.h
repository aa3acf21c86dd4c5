// SPDX-License-Identifier: GPL-3.0-or-later
// What each rank gets from the others over a whole execution, in bytes, and from that what is logged where only the ranks of
// a replay group are replayed (MPIWiz, sections 3.2 and 3.3: the contents of what comes from outside of the group are
// logged, for point-to-point messages and for collectives, which are replayed as such messages).
//
//   call                         what is counted                                  logged where
//   Send, Recv and the like      the message's bytes, of those that were received  sender in another group
//   Bcast                        the buffer, from the root to each other member    root in another group
//   Scatter                      bytes / members, from the root to each other      root in another group
//   Scatterv *                   the same: of all pieces the trace has the sum     root in another group
//   Gather, Gatherv              each piece, from its member to the root           member in another group than the root
//   Allgather, Allgatherv        each contribution, to each other member           contributor in another group
//   Alltoall                     bytes / members, to each other member             sender in another group
//   Alltoallv, Alltoallw *       the same: of all pieces the trace has the sum     sender in another group
//   Neighbor_… *                 what the member gives, spread evenly over all     sender in another group
//                                others: who its neighbours are the trace has not
//   Reduce                       the result, at the root                           any member outside of the root's group
//   Allreduce                    the result, at each member                        any member outside of its group
//   Reduce_scatter_block         bytes / members, at each member                   any member outside of its group
//   Reduce_scatter *             the same: of all counts the trace has the sum     any member outside of its group
//   Scan, Exscan                 the result, at each member                        any lower member outside of its group
//   Barrier, constructors        nothing
//
// * estimates; TrafficGaps names those that an execution has. Non-blocking and large-count forms (_c) are as their first
// forms, each start of a persistent one as a call. A sum that does not divide is rounded down once for each member of a communicator. What a reduction brings cannot
// be split by sender, hence whole results. In an inter-communicator the others are the members of the other group. Not
// counted: one-sided communication, and what a rank sends to itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf {

inline constexpr std::uint64_t kNoSize = ~std::uint64_t{0};

/// Sizes that a log has and an Execution has not.
struct SizesOfRank {
  std::vector<std::uint64_t> sent;  ///< of each of RankHistory::sends
  std::vector<std::uint64_t>
      given;  ///< of each of RankHistory::collectives; kNoSize: the rank gave nothing, or it is not known
  std::vector<std::optional<std::uint64_t>>
      rooms{};  ///< of the buffer of each of RankHistory::receives; nothing: not known
  /// Of RankHistory::collectives that are starts of persistent ones: 1 + which of its communicator, as they are made.
  std::map<std::size_t, std::uint32_t> started{};
};

/// All that `to` got from `from` in messages of their own.
struct PairTraffic {
  Rank from = kUnknownRank;
  Rank to = kUnknownRank;
  std::uint64_t bytes = 0;
  friend bool operator==(const PairTraffic&, const PairTraffic&) = default;
};

/// What collectives of a communicator bring, member by member: an Allgather of n ranks takes room for n, not for n * n.
struct CommunicatorTraffic {
  std::vector<Rank>
      members;  ///< of an inter-communicator those of the other group behind those of the first
  std::size_t firstGroup = 0;         ///< members of the first group; all, where it is none
  std::vector<std::uint64_t> toEach;  ///< that each other member gets of this one
  std::vector<std::uint64_t> whole;   ///< results at this member, made of what all others give
  std::vector<std::uint64_t> wholeOfLower;  ///< the same of those before it

  [[nodiscard]] bool inter() const { return firstGroup != members.size(); }
  [[nodiscard]] bool empty() const;
};

/// What is not counted, or not exactly.
struct TrafficGaps {
  std::uint64_t unknownSends = 0;  ///< messages received whose send is not in the record
  std::uint64_t notEntered = 0;    ///< parts in collectives that not every member has entered
  std::uint64_t persistent =
      0;  ///< starts of persistent collectives, of which an older Photofinish has recorded no sizes
  std::vector<std::string>
      estimated;  ///< calls of the execution whose traffic is an estimate, by name
};

struct Traffic {
  std::size_t ranks = 0;
  std::vector<PairTraffic> pairs;  ///< by from and to, each pair once, none with itself
  std::vector<CommunicatorTraffic> communicators;
  TrafficGaps gaps;

  /// Exact over pairs and communicators. Sums that have no room in 64 bits stay at their end.
  [[nodiscard]] std::uint64_t bytesToLog(const ReplayGroups& groups) const;
  /// What one rank gets of another, in `cells` equal parts of the ranks (as many at most): `from` * cells + `to`. `places`: of
  /// each rank, another order than that of the ranks. Whole results have no sender and are not in it.
  [[nodiscard]] std::vector<std::uint64_t> matrix(std::size_t cells,
                                                  std::span<const std::size_t> places = {}) const;
};

/// `sizes`: of each rank. Version: a collective has no size, as logs before version 5 have none. Damaged: `sizes` are of another execution.
[[nodiscard]] Result<Traffic> trafficOf(const Execution& execution,
                                        std::span<const SizesOfRank> sizes);

/// Neither runs over: kNoSize is the most.
[[nodiscard]] std::uint64_t addedUp(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::uint64_t multiplied(std::uint64_t a, std::uint64_t b);

}  // namespace pf
