// SPDX-License-Identifier: GPL-3.0-or-later
// Carries what ranks know forward through an execution: along messages, synchronous sends and
// collectives, and along each rank. Private to the analysis.
//
// What is known is a value that only grows. Values are shared as long as they do not change, so a
// message costs a pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/traversal.h"

namespace pf {

/// `Value`: bool covers(const Value&), void join(const Value&). `Policy` is asked to change a
/// rank's value in place of `known` (null: nothing is known), before anything leaves at the entry
/// of an event: void enter(Place, Known& known); and once all that its exit waits for has been
/// joined: void leave(Place, Known& known).
template <typename Value, typename Policy>
class ForwardPass {
 public:
  using Known = std::shared_ptr<const Value>;

  /// `synchronous`: follow also what the completion of a synchronous send proves.
  ForwardPass(const EventGraph& graph, Policy& policy, bool synchronous)
      : m_graph(graph),
        m_policy(policy),
        m_synchronous(synchronous),
        m_known(graph.rankCount()),
        m_ready(graph.rankCount(), 0),
        m_sent(graph.messageCount()),
        m_uses(graph.uses(LinkKind::Message)),
        m_contributed(graph.members().size()),
        m_joined(graph.instances().size()) {
    for (const CollectiveInstance& instance : graph.instances()) {
      m_missing.push_back(instance.contributors);
    }
    if (synchronous) {
      m_posted.resize(m_sent.size());
    }
  }

  /// Returns what each rank knows in the end.
  std::vector<Known> run() {
    Traversal<ForwardPass>(m_graph, m_progress, *this).run();
    return std::move(m_known);
  }

  bool tryEnter(Place place) {
    Known& known = m_known[place.rank];
    m_policy.enter(place, known);
    m_ready[place.rank] = 0;
    for (const Link link : m_graph.outgoing(place)) {
      if (link.kind == LinkKind::Collective) {
        contribute(link.index, known);
      } else if (link.kind == LinkKind::Message) {
        m_sent[link.index] = m_uses[link.index] > 0 ? known : nullptr;
      } else if (m_synchronous) {
        m_posted[link.index] = known;
      }
    }
    return true;
  }

  bool tryLeave(Place place) {
    const auto incoming = m_graph.incoming(place);
    std::size_t& ready = m_ready[place.rank];
    for (; ready < incoming.size(); ++ready) {
      if (!isReady(incoming[ready])) {
        return false;
      }
    }
    leave(place);
    return true;
  }

  /// Only a damaged record stalls: the first rank goes on without what it waits for.
  void resolveStall(const std::vector<std::uint32_t>& ranks) {
    const Place place{ranks.front(), m_progress.left[ranks.front()] + 1};
    if (!m_progress.isEntered(place)) {
      tryEnter(place);
      m_progress.entered[place.rank] = place.serial;
    }
    leave(place);
    m_progress.left[place.rank] = place.serial;
  }

  static void join(Known& known, const Known& from) {
    if (from == nullptr || from == known || (known != nullptr && known->covers(*from))) {
      return;
    }
    if (known == nullptr || from->covers(*known)) {
      known = from;
      return;
    }
    auto both = std::make_shared<Value>(*known);
    both->join(*from);
    known = std::move(both);
  }

 private:
  [[nodiscard]] bool isReady(Link link) const {
    return (link.kind == LinkKind::Synchronous && !m_synchronous) ||
           pf::isReady(m_graph, m_progress, m_missing, link);
  }

  void leave(Place place) {
    Known& known = m_known[place.rank];
    for (const Link link : m_graph.incoming(place)) {
      if (link.kind == LinkKind::Collective) {
        take(link.index, known);
      } else if (link.kind == LinkKind::Synchronous) {
        if (m_synchronous) {
          join(known, m_posted[link.index]);
          m_posted[link.index].reset();
        }
      } else {
        join(known, m_sent[link.index]);
        if (--m_uses[link.index] == 0) {
          m_sent[link.index].reset();
        }
      }
    }
    m_policy.leave(place, known);
  }

  void contribute(std::uint32_t member, const Known& known) {
    const std::uint32_t instance = m_graph.members()[member].instance;
    --m_missing[instance];
    if (m_graph.instances()[instance].flow == CollectiveFlow::FromLower) {
      m_contributed[member] = known;
    } else {
      join(m_joined[instance], known);
    }
  }

  void take(std::uint32_t member, Known& known) {
    const std::uint32_t instance = m_graph.members()[member].instance;
    if (m_graph.instances()[instance].flow != CollectiveFlow::FromLower) {
      join(known, m_joined[instance]);
      return;
    }
    for (std::uint32_t i = m_graph.instances()[instance].begin; i < m_graph.sourcesEnd(member);
         ++i) {
      join(known, m_contributed[i]);
    }
  }

  const EventGraph& m_graph;
  Policy& m_policy;
  bool m_synchronous;
  Progress m_progress;
  std::vector<Known> m_known;            ///< by rank
  std::vector<std::size_t> m_ready;      ///< by rank: incoming links of its event found ready
  std::vector<Known> m_sent;             ///< by message: what was known at the send
  std::vector<Known> m_posted;           ///< by message: what was known at its receive's post
  std::vector<std::uint32_t> m_uses;     ///< by message: links still to use m_sent
  std::vector<Known> m_contributed;      ///< by member, in FromLower only
  std::vector<Known> m_joined;           ///< by instance: of its contributors, other flows
  std::vector<std::uint32_t> m_missing;  ///< by instance: contributors that have not entered
};

}  // namespace pf
