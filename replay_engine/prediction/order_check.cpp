// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/prediction/order_check.h"

#include <algorithm>
#include <deque>

#include <queue>

namespace pf::prediction {
namespace {

/// Clauses that are added before the solver is asked again.
constexpr std::size_t kMostCircles = 64;

struct Edge {
  std::uint32_t to = 0;
  Literal why = 0;   ///< 0: always
  Literal also = 0;  ///< 0: nothing
};

class OrderGraph {
 public:
  explicit OrderGraph(const Encoding& state) : m_state(state), m_model(state.model()) {
    std::uint32_t nodes = 0;
    for (const std::vector<ModelEvent>& events : m_model.ranks) {
      m_first.push_back(nodes);
      nodes += 2 * static_cast<std::uint32_t>(events.size());
    }
    m_deliveries = nodes;
    m_edges.resize(nodes + m_model.receives.size());
    m_takers.assign(m_model.messages.size(), kNone);
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      if (state.messageOf(receive) != kNone) {
        m_takers[state.messageOf(receive)] = receive;
      }
    }
    addDeliveries();
    for (std::size_t rank = 0; rank < m_model.ranks.size(); ++rank) {
      addRank(static_cast<Rank>(rank));
    }
  }

  [[nodiscard]] std::vector<Clause> circles() {
    findComponents();
    std::vector<Clause> clauses;
    std::vector<bool> done(m_edges.size(), false);
    for (std::uint32_t node = 0; node < m_edges.size() && clauses.size() < kMostCircles; ++node) {
      if (m_componentSizes[m_component[node]] > 1 && !done[node] && node >= m_deliveries) {
        addCircle(node, done, clauses);
      }
    }
    for (std::uint32_t node = 0; node < m_deliveries && clauses.empty(); ++node) {
      if (m_componentSizes[m_component[node]] > 1) {
        addCircle(node, done, clauses);
      }
    }
    return clauses;
  }

  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> open(m_edges.size(), 0);
    for (const std::vector<Edge>& edges : m_edges) {
      for (const Edge& edge : edges) {
        ++open[edge.to];
      }
    }
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t node = 0; node < open.size(); ++node) {
      if (open[node] == 0) {
        ready.push(node);
      }
    }
    std::vector<std::uint32_t> receives;
    while (!ready.empty()) {
      const std::uint32_t node = ready.top();
      ready.pop();
      if (node >= m_deliveries && m_state.messageOf(node - m_deliveries) != kNone) {
        receives.push_back(node - m_deliveries);
      }
      for (const Edge& edge : m_edges[node]) {
        if (--open[edge.to] == 0) {
          ready.push(edge.to);
        }
      }
    }
    return receives;
  }

 private:
  [[nodiscard]] std::uint32_t entry(Rank rank, Serial serial) const {
    return m_first[index(rank)] + 2 * static_cast<std::uint32_t>(serial - 1);
  }
  [[nodiscard]] std::uint32_t exit(Rank rank, Serial serial) const {
    return entry(rank, serial) + 1;
  }
  [[nodiscard]] std::uint32_t delivery(std::uint32_t receive) const {
    return m_deliveries + receive;
  }
  void add(std::uint32_t from, std::uint32_t to, Literal why = 0, Literal also = 0) {
    m_edges[from].push_back({to, why, also});
  }
  [[nodiscard]] Literal match(std::uint32_t receive) const { return m_state.matchOf(receive); }

  void addDeliveries() {
    for (std::uint32_t receive = 0; receive < m_model.receives.size(); ++receive) {
      const std::uint32_t taken = m_state.messageOf(receive);
      if (taken == kNone) {
        continue;
      }
      const ModelReceive& posted = m_model.receives[receive];
      const ModelMessage& message = m_model.messages[taken];
      const Literal why = match(receive);
      add(entry(posted.rank, posted.post), delivery(receive));
      add(entry(message.source, message.event), delivery(receive), why);
      if (const std::uint32_t same = m_state.order().sameBefore(receive); same != kNone) {
        add(delivery(same), delivery(receive));
      }
      addBefore(taken, posted.tag, receive, posted.post, delivery(receive), why);
    }
  }

  /// What has to be taken before the message is taken, or seen, at `node`.
  void addBefore(std::uint32_t message, Tag tag, std::uint32_t limit, Serial begin,
                 std::uint32_t node, Literal why) {
    for (const std::uint32_t earlier : m_state.order().receivesBefore(message, limit, begin)) {
      add(delivery(earlier), node, why);
    }
    for (const std::uint32_t earlier : m_state.order().messagesBefore(message, tag)) {
      if (m_takers[earlier] != kNone) {
        add(delivery(m_takers[earlier]), node, why, match(m_takers[earlier]));
      }
    }
  }

  void addRank(Rank rank) {
    const std::size_t events = m_model.ranks[index(rank)].size();
    for (Serial serial = 1; serial <= events; ++serial) {
      if (serial > 1) {
        add(exit(rank, serial - 1), entry(rank, serial));
      }
      if (!m_state.holds(m_state.ended(rank, serial))) {
        return;
      }
      add(entry(rank, serial), exit(rank, serial));
      addWaits(rank, serial);
    }
  }

  void addWaits(Rank rank, Serial serial) {
    const ModelEvent& event = m_model.ranks[index(rank)][serial - 1];
    for (const Wait& wait : event.waits) {
      addWait(wait, exit(rank, serial), 0);
    }
    for (const Encoding::Consumed& consumed : m_state.consumedBy(rank, serial)) {
      if (m_state.holds(consumed.literal)) {
        addWait(consumed.wait, exit(rank, serial), consumed.literal);
      }
    }
    if (event.probe != kNone) {
      addSeen(event.probe, exit(rank, serial));
    }
  }

  void addWait(const Wait& wait, std::uint32_t node, Literal why) {
    switch (wait.kind) {
      case WaitKind::Receive:
        add(delivery(wait.index), node, why);
        return;
      case WaitKind::SynchronousSend:
        add(delivery(m_takers[wait.index]), node, match(m_takers[wait.index]), why);
        return;
      case WaitKind::Collective:
        for (const EventRef& part : m_model.collectives[wait.index].awaits) {
          add(entry(part.rank, part.serial), node, why);
        }
        return;
    }
  }

  /// The first message that it may have seen: one is enough.
  void addSeen(std::uint32_t probe, std::uint32_t node) {
    const ModelProbe& asked = m_model.probes[probe];
    for (const Encoding::Seen& seen : m_state.seenBy(probe)) {
      if (m_state.holds(seen.literal)) {
        const ModelMessage& message = m_model.messages[seen.message];
        add(entry(message.source, message.event), node, seen.literal);
        addBefore(seen.message, asked.tag, m_state.order().limitOf(probe), asked.event, node,
                  seen.literal);
      }
    }
  }

  /// Tarjan's, without recursion.
  void findComponents() {
    const auto count = static_cast<std::uint32_t>(m_edges.size());
    m_component.assign(count, kNone);
    std::vector<std::uint32_t> number(count, kNone);
    std::vector<std::uint32_t> low(count, 0);
    std::vector<std::uint32_t> stack;
    std::vector<std::pair<std::uint32_t, std::size_t>> path;
    std::uint32_t next = 0;
    for (std::uint32_t root = 0; root < count; ++root) {
      if (number[root] != kNone) {
        continue;
      }
      path.emplace_back(root, 0);
      while (!path.empty()) {
        const std::uint32_t node = path.back().first;
        if (path.back().second == 0) {
          number[node] = low[node] = next++;
          stack.push_back(node);
        }
        if (path.back().second < m_edges[node].size()) {
          const std::uint32_t to = m_edges[node][path.back().second++].to;
          if (number[to] == kNone) {
            path.emplace_back(to, 0);
          } else if (m_component[to] == kNone) {
            low[node] = std::min(low[node], number[to]);
          }
          continue;
        }
        path.pop_back();
        if (!path.empty()) {
          low[path.back().first] = std::min(low[path.back().first], low[node]);
        }
        if (low[node] == number[node]) {
          closeComponent(node, stack);
        }
      }
    }
  }

  void closeComponent(std::uint32_t root, std::vector<std::uint32_t>& stack) {
    const auto name = static_cast<std::uint32_t>(m_componentSizes.size());
    m_componentSizes.push_back(0);
    for (std::uint32_t node = kNone; node != root;) {
      node = stack.back();
      stack.pop_back();
      m_component[node] = name;
      ++m_componentSizes.back();
    }
  }

  /// A shortest circle through the node.
  void addCircle(std::uint32_t from, std::vector<bool>& done, std::vector<Clause>& clauses) {
    std::vector<std::pair<std::uint32_t, const Edge*>> cameBy(m_edges.size(), {kNone, nullptr});
    std::deque<std::uint32_t> open{from};
    while (!open.empty() && cameBy[from].second == nullptr) {
      const std::uint32_t node = open.front();
      open.pop_front();
      for (const Edge& edge : m_edges[node]) {
        if (m_component[edge.to] == m_component[from] && cameBy[edge.to].second == nullptr) {
          cameBy[edge.to] = {node, &edge};
          open.push_back(edge.to);
        }
      }
    }
    if (cameBy[from].second == nullptr) {
      return;
    }
    Clause clause;
    Literal reached = 0;
    std::uint32_t node = from;
    do {
      done[node] = true;
      const auto [before, edge] = cameBy[node];
      for (const Literal literal : {edge->why, edge->also}) {
        if (literal != 0 && std::find(clause.begin(), clause.end(), -literal) == clause.end()) {
          clause.push_back(-literal);
        }
      }
      reached = reached == 0 ? endedAt(node) : reached;
      node = before;
    } while (node != from);
    if (clause.empty()) {
      clause.push_back(-reached);  // whatever is matched: nothing on it is ever reached
    }
    clauses.push_back(std::move(clause));
  }

  /// That the exit was reached; 0: it is none.
  [[nodiscard]] Literal endedAt(std::uint32_t node) const {
    if (node >= m_deliveries) {
      return m_state.matched(node - m_deliveries);
    }
    if (node % 2 == 0) {
      return 0;
    }
    const auto after = std::upper_bound(m_first.begin(), m_first.end(), node);
    const auto rank = static_cast<std::size_t>(after - m_first.begin()) - 1;
    return m_state.ended(static_cast<Rank>(rank), (node - m_first[rank]) / 2 + 1);
  }

  const Encoding& m_state;
  const ProgramModel& m_model;
  std::vector<std::uint32_t> m_first;  ///< node of the entry of each rank's first event
  std::uint32_t m_deliveries = 0;
  std::vector<std::vector<Edge>> m_edges;
  std::vector<std::uint32_t> m_takers;
  std::vector<std::uint32_t> m_component;
  std::vector<std::uint32_t> m_componentSizes;
};

}  // namespace

std::vector<Clause> circlesOf(const Encoding& state) {
  return OrderGraph(state).circles();
}

std::vector<std::uint32_t> orderOf(const Encoding& state) {
  return OrderGraph(state).order();
}

}  // namespace pf::prediction
