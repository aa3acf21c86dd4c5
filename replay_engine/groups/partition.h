// SPDX-License-Identifier: GPL-3.0-or-later
// Finds replay groups that leave little to log (MPIWiz, section 4): the ranks are the vertices of a graph, what two of them
// send each other is the weight of their edge, and METIS' multilevel k-way partitioning cuts it into k parts. Of all k with
// S/2 < n/k <= S the one is best that leaves the fewest bytes to log. It is a heuristic: no part is proven to be the best.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/groups/traffic.h"

namespace pf {

/// Who talks with whom, both directions as one. In it are the pairs, and of each communicator
///  - what members send each other, if it has at most 256 of them. What a larger one adds hardly depends on the groups: of
///    it each member and the eight behind it are neighbours, and nothing if all ranks are in it;
///  - whole results, spread over its pairs, if a group has room for it. In no other can they be saved.
struct TrafficGraph {
  std::vector<std::size_t> begins;        ///< of each rank's edges; one more than ranks
  std::vector<std::uint32_t> neighbours;  ///< of one rank behind those of the other, ascending
  std::vector<std::uint64_t> weights;     ///< as `neighbours`

  [[nodiscard]] std::size_t ranks() const { return begins.size() - 1; }
};
/// `most`: ranks of a group.
[[nodiscard]] TrafficGraph trafficGraph(const Traffic& traffic, std::size_t most);

/// Groups of at most `most` ranks each, about `parts` of them (`parts` * `most` >= ranks, and at least one). METIS leaves parts
/// that are too large: the ranks that cost least go from those to where there is room. Then ranks move or change places while
/// that leaves less weight between groups, and groups that talk and fit together are one. The same for the same arguments.
[[nodiscard]] Result<ReplayGroups> partition(const TrafficGraph& graph, std::size_t parts,
                                             std::size_t most, std::uint32_t seed = 1);

struct GroupCandidate {
  std::size_t parts = 0;  ///< that were asked for; groups have 'ranks / parts' members or so
  ReplayGroups groups;
  std::uint64_t bytes = 0;  ///< to log
};
struct GroupSearch {
  std::vector<GroupCandidate> candidates;  ///< fewest parts first
  std::size_t best =
      0;  ///< that leaves the fewest bytes; of several the one with the smaller groups
};
/// Beside METIS' groups, those that single ranks grow to are looked at: it is not made for groups of a few ranks.
/// At most 64 numbers of parts are tried. Where there are more, those that the whole numbers of ranks a group give, from `most` on.
[[nodiscard]] Result<GroupSearch> findGroups(const Traffic& traffic, std::size_t most);

/// The numbers of parts that findGroups() tries.
[[nodiscard]] std::vector<std::size_t> partsToTry(std::size_t ranks, std::size_t most);

/// Groups of the same sizes, of ranks by chance. The same for the same seed.
[[nodiscard]] ReplayGroups randomGroups(const ReplayGroups& like, std::uint32_t seed);

}  // namespace pf
