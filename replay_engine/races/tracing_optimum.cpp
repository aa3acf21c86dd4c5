// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "replay_engine/races/tracing.h"

namespace pf {
namespace {

constexpr std::size_t kSmall = 40;  ///< vertices, for branch and bound

using Neighbours = std::vector<std::vector<std::uint32_t>>;  ///< sorted, each once

/// A graph, and the vertices that cannot be in a cover.
struct RaceGraph {
  Neighbours neighbours;
  std::vector<bool> fixed;  ///< nobody received it

  RaceGraph(const Execution& execution, const std::vector<Race>& races) {
    const std::size_t messages = execution.messages.size();
    neighbours.resize(messages);
    for (const Race& race : races) {
      std::size_t vertex = race.taken;
      if (race.probe) {
        vertex = neighbours.size();
        neighbours.emplace_back();
      }
      for (const std::uint32_t other : race.alternatives) {
        if (vertex < neighbours.size() && other < messages) {
          neighbours[vertex].push_back(other);
          neighbours[other].push_back(static_cast<std::uint32_t>(vertex));
        }
      }
    }
    for (std::vector<std::uint32_t>& list : neighbours) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    fixed.resize(neighbours.size(), false);
    for (std::size_t message = 0; message < messages; ++message) {
      fixed[message] = execution.messages[message].completion == 0;
    }
  }

  /// Takes the neighbours of all that cannot be in a cover; says how many.
  std::uint64_t takeForced() {
    std::vector<bool> taken(neighbours.size(), false);
    for (std::size_t vertex = 0; vertex < neighbours.size(); ++vertex) {
      for (const std::uint32_t other : neighbours[vertex]) {
        taken[other] = taken[other] || fixed[vertex];
      }
    }
    std::uint64_t count = 0;
    for (std::size_t vertex = 0; vertex < neighbours.size(); ++vertex) {
      if (taken[vertex]) {
        ++count;
        neighbours[vertex].clear();
      } else {
        std::erase_if(neighbours[vertex], [&](std::uint32_t other) { return taken[other]; });
      }
    }
    return count;
  }
};

/// Smallest vertex cover of up to 64 vertices.
class BranchAndBound {
 public:
  explicit BranchAndBound(std::vector<std::uint64_t> neighbours)
      : m_neighbours(std::move(neighbours)), m_best(m_neighbours.size()) {}

  std::uint64_t run() {
    const std::size_t n = m_neighbours.size();
    search(n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1, 0);
    return m_best;
  }

 private:
  [[nodiscard]] static std::size_t first(std::uint64_t set) {
    return static_cast<std::size_t>(std::countr_zero(set));
  }
  [[nodiscard]] std::uint64_t within(std::size_t vertex, std::uint64_t left) const {
    return m_neighbours[vertex] & left;
  }

  /// Edges without common ends: each costs a vertex.
  [[nodiscard]] std::uint64_t matching(std::uint64_t left) const {
    std::uint64_t edges = 0;
    while (left != 0) {
      const std::size_t vertex = first(left);
      left &= left - 1;
      if (const std::uint64_t others = within(vertex, left); others != 0) {
        left &= ~(others & (~others + 1));
        ++edges;
      }
    }
    return edges;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as there are vertices, 40
  void search(std::uint64_t left, std::uint64_t taken) {
    std::size_t widest = 0;
    int most = 0;
    for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const std::size_t vertex = first(rest);
      const int degree = std::popcount(within(vertex, left));
      if (degree == 1) {  // its neighbour is as good as it
        const std::uint64_t neighbour = within(vertex, left);
        return search(left & ~neighbour & ~(std::uint64_t{1} << vertex), taken + 1);
      }
      if (degree > most) {
        most = degree;
        widest = vertex;
      }
    }
    if (most == 0) {
      m_best = std::min(m_best, taken);
      return;
    }
    if (taken + matching(left) >= m_best) {
      return;
    }
    const std::uint64_t others = within(widest, left);
    left &= ~(std::uint64_t{1} << widest);
    search(left, taken + 1);
    search(left & ~others, taken + static_cast<std::uint64_t>(most));
  }

  std::vector<std::uint64_t> m_neighbours;
  std::uint64_t m_best;
};

/// A connected component with its own numbers.
class Component {
 public:
  Component(const Neighbours& graph, const std::vector<std::uint32_t>& vertices,
            std::vector<std::uint32_t>& numbers)
      : m_neighbours(vertices.size()) {
    for (std::uint32_t i = 0; i < vertices.size(); ++i) {
      numbers[vertices[i]] = i;
    }
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      for (const std::uint32_t other : graph[vertices[i]]) {
        m_neighbours[i].push_back(numbers[other]);
      }
      std::ranges::sort(m_neighbours[i]);
    }
  }

  [[nodiscard]] OptimalTrace solve() const {
    if (const std::uint64_t cover = completeMultipartite(); cover != 0) {
      return {cover, cover, true};
    }
    if (m_neighbours.size() <= kSmall) {
      std::vector<std::uint64_t> masks(m_neighbours.size(), 0);
      for (std::size_t i = 0; i < masks.size(); ++i) {
        for (const std::uint32_t other : m_neighbours[i]) {
          masks[i] |= std::uint64_t{1} << other;
        }
      }
      const std::uint64_t cover = BranchAndBound(masks).run();
      return {cover, cover, true};
    }
    const OptimalTrace bounds{matching(), greedyCover(), false};
    return {bounds.lower, bounds.upper, bounds.lower == bounds.upper};
  }

 private:
  /// All but the largest part, if vertices that are not joined have the same neighbours; else 0.
  [[nodiscard]] std::uint64_t completeMultipartite() const {
    // Most are not, and soon known not to be: a part of n vertices has n of the same degree.
    std::vector<std::size_t> ofDegree(m_neighbours.size(), 0);
    for (const std::vector<std::uint32_t>& list : m_neighbours) {
      ++ofDegree[list.size()];
    }
    for (std::size_t degree = 0; degree < ofDegree.size(); ++degree) {
      if (ofDegree[degree] % (m_neighbours.size() - degree) != 0) {
        return 0;
      }
    }
    std::map<std::vector<std::uint32_t>, std::uint64_t> parts;
    for (const std::vector<std::uint32_t>& list : m_neighbours) {
      ++parts[list];
    }
    std::uint64_t largest = 0;
    for (const auto& [list, size] : parts) {
      if (list.size() + size != m_neighbours.size()) {
        return 0;
      }
      largest = std::max(largest, size);
    }
    return m_neighbours.size() - largest;
  }

  [[nodiscard]] std::uint64_t matching() const {
    std::vector<bool> used(m_neighbours.size(), false);
    std::uint64_t edges = 0;
    for (const std::uint32_t vertex : byDegree()) {
      if (used[vertex]) {
        continue;
      }
      const auto free = std::ranges::find_if(m_neighbours[vertex],
                                             [&](std::uint32_t other) { return !used[other]; });
      if (free != m_neighbours[vertex].end()) {
        used[vertex] = used[*free] = true;
        ++edges;
      }
    }
    return edges;
  }

  /// All but an independent set that takes those with the fewest neighbours first.
  [[nodiscard]] std::uint64_t greedyCover() const {
    std::vector<bool> covered(m_neighbours.size(), false);
    std::vector<bool> left(m_neighbours.size(), false);
    for (const std::uint32_t vertex : byDegree()) {
      if (!covered[vertex]) {
        left[vertex] = true;
        for (const std::uint32_t other : m_neighbours[vertex]) {
          covered[other] = true;
        }
      }
    }
    return static_cast<std::uint64_t>(std::ranges::count(left, false));
  }

  [[nodiscard]] std::vector<std::uint32_t> byDegree() const {
    std::vector<std::uint32_t> order(m_neighbours.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {},
                             [&](std::uint32_t vertex) { return m_neighbours[vertex].size(); });
    return order;
  }

  Neighbours m_neighbours;
};

std::vector<std::uint32_t> componentOf(const Neighbours& graph, std::uint32_t start,
                                       std::vector<bool>& seen) {
  std::vector<std::uint32_t> vertices{start};
  seen[start] = true;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    for (const std::uint32_t other : graph[vertices[i]]) {
      if (!seen[other]) {
        seen[other] = true;
        vertices.push_back(other);
      }
    }
  }
  return vertices;
}

}  // namespace

OptimalTrace optimalTrace(const Execution& execution, const std::vector<Race>& races) {
  RaceGraph graph(execution, races);
  const std::uint64_t forced = graph.takeForced();
  OptimalTrace sum{forced, forced, true};
  std::vector<bool> seen(graph.neighbours.size(), false);
  std::vector<std::uint32_t> numbers(graph.neighbours.size(), 0);
  for (std::uint32_t vertex = 0; vertex < graph.neighbours.size(); ++vertex) {
    if (seen[vertex] || graph.neighbours[vertex].empty()) {
      continue;
    }
    const OptimalTrace part =
        Component(graph.neighbours, componentOf(graph.neighbours, vertex, seen), numbers).solve();
    sum.lower += part.lower;
    sum.upper += part.upper;
    sum.exact = sum.exact && part.exact;
  }
  return sum;
}

}  // namespace pf
