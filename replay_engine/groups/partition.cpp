// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/groups/partition.h"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <unordered_map>

namespace pf {
namespace {

constexpr std::size_t kMostClique = 256;  // members of a communicator of which all pairs are edges
constexpr std::size_t kNeighboursOfLarge = 8;
constexpr std::size_t kMostTried = 64;
constexpr std::size_t kManyEdges = std::size_t{1} << 22;
constexpr std::size_t kFewRanks = 64;  // of which several partitions are made
constexpr std::uint32_t kSeedsOfFew = 8;
constexpr std::size_t kMostLooks = 50'000'000;  // at edges, in one improvement

struct Edge {
  std::uint32_t low;
  std::uint32_t high;
  std::uint64_t weight;
};

/// Edges in any order and many times over.
class EdgeSums {
 public:
  void add(Rank a, Rank b, std::uint64_t weight) {
    if (a == b || weight == 0) {
      return;
    }
    const auto low = static_cast<std::uint32_t>(std::min(a, b));
    const auto high = static_cast<std::uint32_t>(std::max(a, b));
    m_edges.push_back({low, high, weight});
    if (m_edges.size() >= m_limit) {
      join();
      m_limit = std::max(kManyEdges, m_edges.size() * 2);
    }
  }
  /// Each once, in ascending order.
  std::vector<Edge> finish() {
    join();
    return std::move(m_edges);
  }

 private:
  void join() {
    std::ranges::sort(m_edges, [](const Edge& a, const Edge& b) {
      return a.low != b.low ? a.low < b.low : a.high < b.high;
    });
    std::size_t last = 0;
    for (std::size_t i = 1; i < m_edges.size(); ++i) {
      if (m_edges[i].low == m_edges[last].low && m_edges[i].high == m_edges[last].high) {
        m_edges[last].weight = addedUp(m_edges[last].weight, m_edges[i].weight);
      } else {
        m_edges[++last] = m_edges[i];
      }
    }
    m_edges.resize(m_edges.empty() ? 0 : last + 1);
  }

  std::vector<Edge> m_edges;
  std::size_t m_limit = kManyEdges;
};

void addExchanges(const CommunicatorTraffic& traffic, std::size_t ranks, EdgeSums& edges) {
  const std::vector<Rank>& members = traffic.members;
  const auto both = [&traffic](std::size_t a, std::size_t b) {
    return addedUp(traffic.toEach[a], traffic.toEach[b]);
  };
  if (members.size() > kMostClique) {
    for (std::size_t a = 0; members.size() < ranks && !traffic.inter() && a < members.size(); ++a) {
      for (std::size_t b = a + 1; b <= a + kNeighboursOfLarge && b < members.size(); ++b) {
        edges.add(members[a], members[b], both(a, b));
      }
    }
    return;
  }
  for (std::size_t a = 0; a < members.size(); ++a) {
    for (std::size_t b = traffic.inter() ? std::max(a, traffic.firstGroup) : a + 1;
         b < members.size() && (!traffic.inter() || a < traffic.firstGroup); ++b) {
      edges.add(members[a], members[b], both(a, b));
    }
  }
}

void addResults(const CommunicatorTraffic& traffic, std::size_t most, EdgeSums& edges) {
  const std::size_t members = traffic.members.size();
  if (members < 2 || members > std::min(most, kMostClique)) {
    return;
  }
  std::uint64_t whole = 0;
  for (std::size_t member = 0; member < members; ++member) {
    whole = addedUp(whole, addedUp(traffic.whole[member], traffic.wholeOfLower[member]));
  }
  const std::uint64_t share = whole / (members * (members - 1) / 2);
  for (std::size_t a = 0; a < members; ++a) {
    for (std::size_t b = a + 1; b < members; ++b) {
      edges.add(traffic.members[a], traffic.members[b],
                whole == 0 ? 0 : std::max<std::uint64_t>(1, share));
    }
  }
}

}  // namespace

TrafficGraph trafficGraph(const Traffic& traffic, std::size_t most) {
  EdgeSums sums;
  for (const PairTraffic& pair : traffic.pairs) {
    sums.add(pair.from, pair.to, pair.bytes);
  }
  for (const CommunicatorTraffic& each : traffic.communicators) {
    addExchanges(each, traffic.ranks, sums);
    addResults(each, most, sums);
  }
  const std::vector<Edge> edges = sums.finish();
  TrafficGraph graph;
  graph.begins.assign(traffic.ranks + 1, 0);
  for (const Edge& edge : edges) {
    ++graph.begins[edge.low + 1];
    ++graph.begins[edge.high + 1];
  }
  std::partial_sum(graph.begins.begin(), graph.begins.end(), graph.begins.begin());
  std::vector<std::size_t> next(graph.begins.begin(), graph.begins.end() - 1);
  graph.neighbours.resize(edges.size() * 2);
  graph.weights.resize(edges.size() * 2);
  const auto put = [&](std::uint32_t rank, std::uint32_t neighbour, std::uint64_t weight) {
    graph.neighbours[next[rank]] = neighbour;
    graph.weights[next[rank]++] = weight;
  };
  for (const Edge& edge : edges) {  // by the lower rank: each rank gets its lower neighbours first
    put(edge.high, edge.low, edge.weight);
  }
  for (const Edge& edge : edges) {
    put(edge.low, edge.high, edge.weight);
  }
  return graph;
}

namespace {

/// A partition in the making.
class Parts {
 public:
  Parts(const TrafficGraph& graph, std::size_t most, std::vector<std::uint32_t> partOf,
        std::size_t parts)
      : m_graph(graph),
        m_most(most),
        m_partOf(std::move(partOf)),
        m_members(parts),
        m_place(m_partOf.size()),
        m_links(parts) {
    for (std::uint32_t rank = 0; rank < m_partOf.size(); ++rank) {
      m_place[rank] = m_members[m_partOf[rank]].size();
      m_members[m_partOf[rank]].push_back(rank);
    }
  }

  void mend();
  void improve();
  bool join();
  [[nodiscard]] const std::vector<std::uint32_t>& partOf() const { return m_partOf; }

 private:
  /// What a rank sends to and gets from each part that it talks with, until forget().
  void look(std::uint32_t rank);
  void forget();
  /// The same of one part.
  [[nodiscard]] std::uint64_t linkTo(std::uint32_t rank, std::uint32_t part);
  void move(std::uint32_t rank, std::uint32_t to);
  struct Leaving {
    std::uint32_t rank;
    std::uint32_t to;
  };
  [[nodiscard]] Leaving cheapest(std::uint32_t part, std::uint32_t roomy);
  bool moveToOther(std::uint32_t rank);
  bool changePlaces(std::uint32_t rank, std::uint32_t with);
  [[nodiscard]] bool hasRoom(std::uint32_t part) const { return m_members[part].size() < m_most; }

  const TrafficGraph& m_graph;
  std::size_t m_most;
  std::vector<std::uint32_t> m_partOf;
  std::vector<std::vector<std::uint32_t>> m_members;
  std::vector<std::size_t> m_place;  // of each rank among the members of its part
  std::vector<std::uint64_t> m_links;
  std::vector<std::uint32_t> m_linked;  // parts of which m_links is set
  std::size_t m_looks = 0;
};

void Parts::look(std::uint32_t rank) {
  for (std::size_t i = m_graph.begins[rank]; i < m_graph.begins[rank + 1]; ++i) {
    const std::uint32_t part = m_partOf[m_graph.neighbours[i]];
    if (m_links[part] == 0) {
      m_linked.push_back(part);
    }
    m_links[part] = addedUp(m_links[part], m_graph.weights[i]);
    ++m_looks;
  }
}

void Parts::forget() {
  for (const std::uint32_t part : m_linked) {
    m_links[part] = 0;
  }
  m_linked.clear();
}

std::uint64_t Parts::linkTo(std::uint32_t rank, std::uint32_t part) {
  std::uint64_t link = 0;
  for (std::size_t i = m_graph.begins[rank]; i < m_graph.begins[rank + 1]; ++i) {
    link = addedUp(link, m_partOf[m_graph.neighbours[i]] == part ? m_graph.weights[i] : 0);
  }
  m_looks += m_graph.begins[rank + 1] - m_graph.begins[rank];
  return link;
}

void Parts::move(std::uint32_t rank, std::uint32_t to) {
  std::vector<std::uint32_t>& from = m_members[m_partOf[rank]];
  from[m_place[rank]] = from.back();
  m_place[from.back()] = m_place[rank];
  from.pop_back();
  m_partOf[rank] = to;
  m_place[rank] = m_members[to].size();
  m_members[to].push_back(rank);
}

/// Who leaves a part with the least loss, and where to. `roomy`: a part with room that it need not talk with.
Parts::Leaving Parts::cheapest(std::uint32_t part, std::uint32_t roomy) {
  Leaving best{m_members[part].front(), roomy};
  auto least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t rank : m_members[part]) {
    look(rank);
    m_linked.push_back(roomy);
    for (const std::uint32_t other : m_linked) {
      const double loss = static_cast<double>(m_links[part]) - static_cast<double>(m_links[other]);
      if (hasRoom(other) && (loss < least || (loss == least && rank < best.rank))) {
        least = loss;
        best = {rank, other};
      }
    }
    forget();
  }
  return best;
}

/// No part has more than its most: from those that have, the ranks go that lose least.
void Parts::mend() {
  std::set<std::uint32_t> roomy;
  for (std::uint32_t part = 0; part < m_members.size(); ++part) {
    if (hasRoom(part)) {
      roomy.insert(part);
    }
  }
  for (std::uint32_t part = 0; part < m_members.size(); ++part) {
    while (m_members[part].size() > m_most) {
      const Leaving leaving = cheapest(part, *roomy.begin());
      move(leaving.rank, leaving.to);
      if (!hasRoom(leaving.to)) {
        roomy.erase(leaving.to);
      }
    }
  }
}

/// To the part with room that it talks most with, if that is more than its own. Else it changes places.
bool Parts::moveToOther(std::uint32_t rank) {
  const std::uint32_t own = m_partOf[rank];
  look(rank);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> better;
  for (const std::uint32_t part : m_linked) {
    if (part != own && m_links[part] > m_links[own]) {
      better.emplace_back(m_links[part], part);
    }
  }
  forget();
  std::ranges::sort(better, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [link, part] : better) {
    if (hasRoom(part)) {
      move(rank, part);
      return true;
    }
    if (changePlaces(rank, part)) {
      return true;
    }
  }
  return false;
}

/// With the rank of a full part that makes the gain largest, if it is one.
bool Parts::changePlaces(std::uint32_t rank, std::uint32_t with) {
  const std::uint32_t own = m_partOf[rank];
  const double gainOfRank =
      static_cast<double>(linkTo(rank, with)) - static_cast<double>(linkTo(rank, own));
  std::unordered_map<std::uint32_t, std::uint64_t> neighbours;
  for (std::size_t i = m_graph.begins[rank]; i < m_graph.begins[rank + 1]; ++i) {
    neighbours.emplace(m_graph.neighbours[i], m_graph.weights[i]);
  }
  double most = 0;
  std::optional<std::uint32_t> found;
  for (const std::uint32_t other : m_members[with]) {
    const auto edge = neighbours.find(other);
    const double between = edge == neighbours.end() ? 0 : static_cast<double>(edge->second);
    const double gain = gainOfRank + static_cast<double>(linkTo(other, own)) -
                        static_cast<double>(linkTo(other, with)) - 2 * between;
    if (gain > most || (gain == most && found && other < *found)) {
      most = gain;
      found = other;
    }
  }
  if (!found) {
    return false;
  }
  move(*found, own);
  move(rank, with);
  return true;
}

void Parts::improve() {
  m_looks = 0;
  constexpr int kMostPasses = 20;
  bool any = true;
  for (int pass = 0; any && pass < kMostPasses; ++pass) {
    any = false;
    for (std::uint32_t rank = 0; rank < m_partOf.size() && m_looks < kMostLooks; ++rank) {
      any = moveToOther(rank) || any;
    }
  }
}

/// Parts that talk and fit together become one, those that talk most first. Whether there were any.
bool Parts::join() {
  EdgeSums sums;
  for (std::uint32_t rank = 0; rank < m_partOf.size(); ++rank) {
    for (std::size_t i = m_graph.begins[rank]; i < m_graph.begins[rank + 1]; ++i) {
      const std::uint32_t other = m_graph.neighbours[i];
      const std::uint32_t own = m_partOf[rank];
      if (other > rank && m_members[own].size() + m_members[m_partOf[other]].size() <= m_most) {
        sums.add(static_cast<Rank>(own), static_cast<Rank>(m_partOf[other]), m_graph.weights[i]);
      }
    }
  }
  std::vector<Edge> edges = sums.finish();
  std::ranges::stable_sort(edges, [](const Edge& a, const Edge& b) { return a.weight > b.weight; });
  std::vector<bool> joined(m_members.size());
  for (const Edge& edge : edges) {
    if (joined[edge.low] || joined[edge.high]) {
      continue;
    }
    joined[edge.low] = joined[edge.high] = true;
    const std::vector<std::uint32_t> moving = m_members[edge.high];
    for (const std::uint32_t rank : moving) {
      move(rank, edge.low);
    }
  }
  return !edges.empty();
}

/// METIS' numbers have 32 bits, and so have their sums.
struct MetisGraph {
  std::vector<idx_t> begins;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;

  explicit MetisGraph(const TrafficGraph& graph)
      : begins(graph.begins.begin(), graph.begins.end()),
        neighbours(graph.neighbours.begin(), graph.neighbours.end()) {
    constexpr double kMostSum = 1U << 29U;
    double sum = 0;
    for (const std::uint64_t weight : graph.weights) {
      sum += static_cast<double>(weight);
    }
    const double scale = sum > kMostSum ? kMostSum / sum : 1;
    weights.reserve(graph.weights.size());
    for (const std::uint64_t weight : graph.weights) {
      weights.push_back(
          std::max<idx_t>(1, static_cast<idx_t>(static_cast<double>(weight) * scale)));
    }
  }
};

/// `slack`: how many times the mean a part may be.
Result<std::vector<std::uint32_t>> metisParts(const TrafficGraph& graph, std::size_t parts,
                                              double slack, std::uint32_t seed) {
  if (graph.neighbours.size() > static_cast<std::size_t>(IDX_MAX) / 2) {
    return Error{ErrorCode::System, "more pairs of ranks talk than METIS can take", {}};
  }
  MetisGraph metis(graph);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_UFACTOR] =
      static_cast<idx_t>(std::clamp((slack - 1) * 1000, 1.0, 100'000.0));
  auto vertices = static_cast<idx_t>(graph.ranks());
  auto wanted = static_cast<idx_t>(parts);
  idx_t constraints = 1;
  idx_t cut = 0;
  std::vector<idx_t> part(graph.ranks());
  const int status = METIS_PartGraphKway(
      &vertices, &constraints, metis.begins.data(), metis.neighbours.data(), nullptr, nullptr,
      metis.weights.data(), &wanted, nullptr, nullptr, options, &cut, part.data());
  if (status != METIS_OK) {
    return Error{ErrorCode::System,
                 status == METIS_ERROR_MEMORY ? "METIS has not enough memory for the groups"
                                              : "METIS has found no groups",
                 {}};
  }
  return std::vector<std::uint32_t>(part.begin(), part.end());
}

/// Ranks of successive numbers, as equal as can be.
std::vector<std::uint32_t> blocks(std::size_t ranks, std::size_t parts) {
  std::vector<std::uint32_t> partOf(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    partOf[rank] = static_cast<std::uint32_t>(rank * parts / ranks);
  }
  return partOf;
}

Result<std::vector<std::uint32_t>> firstParts(const TrafficGraph& graph, std::size_t parts,
                                              double slack, std::uint32_t seed) {
  return parts == 1 || parts >= graph.ranks() || graph.neighbours.empty()
             ? Result<std::vector<std::uint32_t>>(blocks(graph.ranks(), parts))
             : metisParts(graph, parts, slack, seed);
}

ReplayGroups improved(const TrafficGraph& graph, std::size_t most,
                      std::vector<std::uint32_t> partOf, std::size_t parts) {
  Parts made(graph, most, std::move(partOf), parts);
  made.mend();
  made.improve();
  while (made.join()) {
    made.improve();
  }
  return ReplayGroups::of(made.partOf());
}

constexpr double kBalanced = 1.03;  // METIS' own

}  // namespace

Result<ReplayGroups> partition(const TrafficGraph& graph, std::size_t parts, std::size_t most,
                               std::uint32_t seed) {
  Result<std::vector<std::uint32_t>> first = firstParts(graph, parts, kBalanced, seed);
  return first ? Result<ReplayGroups>(improved(graph, most, std::move(*first), parts))
               : first.error();
}

std::vector<std::size_t> partsToTry(std::size_t ranks, std::size_t most) {
  most = std::clamp<std::size_t>(most, 1, ranks);
  const std::size_t fewest = (ranks + most - 1) / most;
  const std::size_t last = std::min(ranks, (2 * ranks - 1) / most);
  std::vector<std::size_t> all;
  if (last - fewest < kMostTried) {
    all.resize(last - fewest + 1);
    std::iota(all.begin(), all.end(), fewest);
    return all;
  }
  const std::size_t step = (most / 2 + kMostTried - 1) / kMostTried;
  for (std::size_t size = most; size > most / 2;
       size -= std::min(size, std::max<std::size_t>(1, step))) {
    const std::size_t parts = (ranks + size - 1) / size;
    if (all.empty() || all.back() != parts) {
      all.push_back(parts);
    }
  }
  return all;
}

Result<GroupSearch> findGroups(const Traffic& traffic, std::size_t most) {
  most = std::clamp<std::size_t>(most, 1, traffic.ranks);
  const TrafficGraph graph = trafficGraph(traffic, most);
  const std::uint32_t seeds = traffic.ranks <= kFewRanks ? kSeedsOfFew : 1;
  GroupSearch search;
  std::vector<std::uint32_t> single(traffic.ranks);
  std::iota(single.begin(), single.end(), 0U);
  const ReplayGroups grown = improved(graph, most, std::move(single), traffic.ranks);
  const auto better = [](const GroupCandidate& a, const GroupCandidate& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.groups.largest() < b.groups.largest();
  };
  const std::vector<std::size_t> numbers = partsToTry(traffic.ranks, most);
  bool grownIsIn = false;
  for (const std::size_t parts : numbers) {
    std::optional<GroupCandidate> found;
    if (!grownIsIn && (parts >= grown.count() || parts == numbers.back())) {
      grownIsIn = true;
      found = GroupCandidate{parts, grown, traffic.bytesToLog(grown)};
    }
    for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
      Result<ReplayGroups> groups = partition(graph, parts, most, seed);
      if (!groups) {
        return groups.error();
      }
      const std::uint64_t bytes = traffic.bytesToLog(*groups);
      GroupCandidate each{parts, std::move(*groups), bytes};
      if (!found || better(each, *found)) {
        found = std::move(each);
      }
    }
    search.candidates.push_back(std::move(*found));
  }
  for (std::size_t i = 1; i < search.candidates.size(); ++i) {
    search.best = better(search.candidates[i], search.candidates[search.best]) ? i : search.best;
  }
  return search;
}

ReplayGroups randomGroups(const ReplayGroups& like, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> groupOf;
  for (std::uint32_t group = 0; group < like.count(); ++group) {
    groupOf.insert(groupOf.end(), like.members(group).size(), group);
  }
  for (std::size_t i = groupOf.size(); i > 1; --i) {
    std::swap(groupOf[i - 1], groupOf[random() % i]);
  }
  return ReplayGroups::of(groupOf);
}

}  // namespace pf
