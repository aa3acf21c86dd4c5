// SPDX-License-Identifier: GPL-3.0-or-later
// A replay of a recorded execution that enforces a trace and otherwise does its worst: whatever MPI
// would allow and the trace does not forbid, it finds.
//
// A model on the oracle's (oracle_model.h: what lets an event finish), with its own matching. It
// holds the trace against what a replayer can do, and knows nothing of races, clocks or rules.
//   - A delivery can be made at any time after the send and the post, late ones included.
//   - By tag (Netzer and Miller 4.2): a traced message and its receive are matched apart from all
//     others. They are in nobody's way, and nobody is in theirs.
//   - By source (Meehan 5.2): a traced receive asks for its source, and otherwise is as any other.
//   - A cancelled receive was cancelled in the recording, so takes nothing, is in nobody's way.
//   - A traced probe, or one by source, waits for its message. An untraced wildcard probe sees any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay_engine/races/tests/oracle_model.h"
#include "replay_engine/races/tests/random_execution.h"
#include "replay_engine/races/tracing.h"

namespace pf::oracle {

enum class Enforce : std::uint8_t { Tag, Source };

class TracedReplay {
 public:
  TracedReplay(const Execution& execution, const std::vector<TracedReceive>& trace, Enforce enforce)
      : m_execution(execution), m_withoutProbes(dropProbes(execution)), m_model(m_withoutProbes) {
    m_tagged.resize(execution.messages.size(), false);
    for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
      addRank(execution.ranks[rank], static_cast<Rank>(rank));
    }
    for (const TracedReceive& traced : trace) {
      auto& choosers = traced.probe ? m_probes : m_receives;
      Chooser& chooser = choosers[at(traced.rank)][traced.receive];
      if (traced.probe || enforce == Enforce::Source) {
        chooser.wantedSource = execution.messages[chooser.message].send.rank;
      } else {
        m_tagged[chooser.message] = true;
      }
    }
  }

  /// The first wrong delivery found, in any state that can be reached: every order of events and
  /// deliveries. `mostStates`: gives up after so many.
  std::optional<Deviation> searchAll(std::size_t mostStates, bool& complete) {
    m_seen.clear();
    m_mostStates = mostStates;
    const auto found = search({m_model.nothingDone(), m_model.nothingDelivered()});
    complete = m_seen.size() < mostStates;
    return found;
  }

  /// The same for executions of any size: each receive (probe) in turn is held back, and all others
  /// go on, which only adds to what it could take.
  std::optional<Deviation> searchHoldingOne() {
    for (const auto* all : {&m_receives, &m_probes}) {
      for (const auto& ofRank : *all) {
        for (const Chooser& chooser : ofRank) {
          if (const auto found = wrong(runToEnd(&chooser), chooser)) {
            return found;
          }
        }
      }
    }
    return std::nullopt;
  }

  /// Is every message that was received delivered in the end?
  bool ends() {
    const State last = runToEnd(nullptr);
    for (std::size_t m = 0; m < last.delivered.size(); ++m) {
      if (!last.delivered[m] && m_execution.messages[m].post != kNone) {
        return false;
      }
    }
    return true;
  }

 private:
  struct State {
    Frontier frontier;
    Flags delivered;
    // NOLINTNEXTLINE(modernize-use-nullptr): there is none
    friend auto operator<=>(const State&, const State&) = default;
  };

  static Execution dropProbes(Execution execution) {
    for (RankHistory& history : execution.ranks) {
      for (ProbeHit& probe : history.probes) {
        probe.message = kNone;
      }
    }
    return execution;
  }

  void addRank(const RankHistory& history, Rank rank) {
    std::vector<Chooser> receives = m_model.receives()[at(rank)];
    std::vector<Chooser> probes = m_model.probes()[at(rank)];
    for (std::size_t i = 0; i < probes.size(); ++i) {
      probes[i].message = history.probes[i].message;
    }
    m_receives.push_back(std::move(receives));
    m_probes.push_back(std::move(probes));
  }

  [[nodiscard]] bool isTagged(const Chooser& chooser) const {
    return !chooser.probe && chooser.message != kNone && m_tagged[chooser.message];
  }

  [[nodiscard]] bool isWaiting(const State& state, const Chooser& receive) const {
    const PostedReceive& posted = m_execution.ranks[at(receive.rank)].receives[receive.index];
    return m_model.begun(state.frontier, receive.rank, receive.begins) &&
           posted.state != ReceiveState::Cancelled &&
           (receive.message == kNone || !state.delivered[receive.message]);
  }

  [[nodiscard]] bool isSent(const State& state, std::uint32_t m) const {
    const EventRef send = m_execution.messages[m].send;
    return m_model.begun(state.frontier, send.rank, send.serial);
  }

  /// By MPI's rules for what has no tag: is m, sent, the next of its source for this chooser, and
  /// no receive posted before it in the queue for it?
  [[nodiscard]] bool mayTake(const State& state, const Chooser& chooser, std::uint32_t m) const {
    const Message& message = m_execution.messages[m];
    if (state.delivered[m] || m_tagged[m] || !acceptsEnvelope(chooser, message) ||
        !isSent(state, m)) {
      return false;
    }
    for (std::uint32_t other = 0; other < m_tagged.size(); ++other) {
      const Message& earlier = m_execution.messages[other];
      if (!state.delivered[other] && !m_tagged[other] && earlier.send.rank == message.send.rank &&
          earlier.sendIndex < message.sendIndex && acceptsEnvelope(chooser, earlier)) {
        return false;
      }
    }
    const std::vector<Chooser>& receives = m_receives[at(chooser.rank)];
    return std::none_of(receives.begin(), receives.begin() + chooser.position,
                        [&](const Chooser& earlier) {
                          return !isTagged(earlier) && isWaiting(state, earlier) &&
                                 acceptsEnvelope(earlier, message);
                        });
  }

  /// What this chooser, waiting, could take and did not in the record.
  [[nodiscard]] std::optional<Deviation> wrong(const State& state, const Chooser& chooser) const {
    if (isTagged(chooser) || (chooser.probe && chooser.wantedSource != kAnySource) ||
        !(chooser.probe ? state.frontier[at(chooser.rank)] + 1 == chooser.begins
                        : isWaiting(state, chooser))) {
      return std::nullopt;
    }
    for (std::uint32_t m = 0; m < m_tagged.size(); ++m) {
      // To a receive that got nothing, what nobody received is nothing wrong.
      const bool harmless = chooser.message == kNone && m_execution.messages[m].post == kNone;
      if (m != chooser.message && !harmless && mayTake(state, chooser, m)) {
        return Deviation{chooser.rank, chooser.probe, chooser.index, m};
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Deviation> wrong(const State& state) const {
    for (const auto* all : {&m_receives, &m_probes}) {
      for (const auto& ofRank : *all) {
        for (const Chooser& chooser : ofRank) {
          if (const auto found = wrong(state, chooser)) {
            return found;
          }
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool canDeliver(const State& state, std::uint32_t m) const {
    const Message& message = m_execution.messages[m];
    if (state.delivered[m] || message.post == kNone) {
      return false;
    }
    const Chooser& receive = m_receives[at(message.dest)][message.post];
    return isWaiting(state, receive) &&
           (m_tagged[m] ? isSent(state, m) : mayTake(state, receive, m));
  }

  [[nodiscard]] bool canFinish(const State& state, Rank rank) const {
    const Serial next = state.frontier[at(rank)] + 1;
    return m_model.canFinish(state.frontier, state.delivered, at(rank)) &&
           std::ranges::all_of(m_probes[at(rank)], [&](const Chooser& probe) {
             return probe.begins != next || probe.message == kNone || isSent(state, probe.message);
           });
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as there are events and messages
  std::optional<Deviation> search(const State& state) {
    if (m_seen.size() >= m_mostStates || !m_seen.insert(state).second) {
      return std::nullopt;
    }
    if (const auto found = wrong(state)) {
      return found;
    }
    for (std::uint32_t m = 0; m < m_tagged.size(); ++m) {
      if (canDeliver(state, m)) {
        State next = state;
        next.delivered[m] = true;
        if (const auto found = search(next)) {
          return found;
        }
      }
    }
    for (std::size_t rank = 0; rank < state.frontier.size(); ++rank) {
      if (canFinish(state, static_cast<Rank>(rank))) {
        State next = state;
        ++next.frontier[rank];
        if (const auto found = search(next)) {
          return found;
        }
      }
    }
    return std::nullopt;
  }

  State runToEnd(const Chooser* held) const {
    State state{m_model.nothingDone(), m_model.nothingDelivered()};
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t m = 0; m < m_tagged.size(); ++m) {
        const bool mine = held != nullptr && !held->probe && held->message == m;
        if (!mine && canDeliver(state, m)) {
          state.delivered[m] = moved = true;
        }
      }
      for (std::size_t rank = 0; rank < state.frontier.size(); ++rank) {
        const bool mine = held != nullptr && held->probe && at(held->rank) == rank &&
                          held->begins == state.frontier[rank] + 1;
        if (!mine && canFinish(state, static_cast<Rank>(rank))) {
          ++state.frontier[rank];
          moved = true;
        }
      }
    }
    return state;
  }

  const Execution& m_execution;
  Execution m_withoutProbes;
  Model m_model;
  Flags m_tagged;
  std::vector<std::vector<Chooser>> m_receives;
  std::vector<std::vector<Chooser>> m_probes;
  std::set<State> m_seen;
  std::size_t m_mostStates = 0;
};

}  // namespace pf::oracle
