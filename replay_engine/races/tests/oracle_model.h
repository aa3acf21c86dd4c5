// SPDX-License-Identifier: GPL-3.0-or-later
// The oracle's model of MPI: what an execution's messages and receives are doing at a frontier.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::oracle {

using Frontier = std::vector<Serial>;  ///< events finished, per thread (of all ranks)
using Flags = std::vector<bool>;       ///< one per message: delivered

/// A receive or a probe: what asks for a message.
struct Chooser {
  Rank rank = kUnknownRank;
  bool probe = false;
  std::uint32_t index = kNone;
  Serial begins = 0;  ///< event that posts it, or the probe
  std::uint32_t comm = kNone;
  Rank wantedSource = kAnySource;
  Tag wantedTag = kAnyTag;
  std::uint32_t position = 0;     ///< receives posted before it
  std::uint32_t message = kNone;  ///< that it took in P
};

inline bool acceptsEnvelope(const Chooser& chooser, const Message& message) {
  return message.dest == chooser.rank && message.comm == chooser.comm &&
         (chooser.wantedSource == kAnySource || chooser.wantedSource == message.send.rank) &&
         (chooser.wantedTag == kAnyTag || chooser.wantedTag == message.tag);
}

inline std::size_t at(Rank rank) {
  return static_cast<std::size_t>(rank);
}

/// The execution's MPI state, as a function of a frontier.
class Model {
 public:
  explicit Model(const Execution& execution) : m_execution(execution) {
    for (const auto& rank : execution.ranks) {
      addThreads(rank);
    }
    for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
      addRank(static_cast<Rank>(rank), execution.ranks[rank]);
    }
    findSendOrder();
  }

  /// Never delivered to (a probe: never finishes).
  void hold(const Chooser* chooser) { m_held = chooser; }

  [[nodiscard]] const std::vector<std::vector<Chooser>>& receives() const { return m_receives; }
  [[nodiscard]] const std::vector<std::vector<Chooser>>& probes() const { return m_probes; }
  [[nodiscard]] Frontier nothingDone() const { return Frontier(m_threads.size(), 0); }
  [[nodiscard]] Flags nothingDelivered() const { return Flags(m_execution.messages.size(), false); }

  /// Makes every delivery of P that MPI allows at this frontier.
  void deliver(const Frontier& frontier, Flags& delivered) const {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::uint32_t m = 0; m < delivered.size(); ++m) {
        const Message& message = m_execution.messages[m];
        if (delivered[m] || message.post == kNone) {
          continue;
        }
        const Chooser& receive = m_receives[at(message.dest)][message.post];
        if (!isHeld(receive) && begun(frontier, receive.rank, receive.begins) &&
            visibleInP(frontier, delivered, receive, m)) {
          delivered[m] = true;
          moved = true;
        }
      }
    }
  }

  /// May the thread's next event finish?
  [[nodiscard]] bool canFinish(const Frontier& frontier, const Flags& delivered,
                               std::size_t thread) const {
    if (frontier[thread] >= m_threads[thread].events.size()) {
      return false;
    }
    const Rank rank = m_threads[thread].rank;
    const RankHistory& history = m_execution.ranks[at(rank)];
    const Serial next = m_threads[thread].events[frontier[thread]];
    return begun(frontier, rank, next) && receivesDone(delivered, history, next) &&
           sendsDone(delivered, rank, next) && probesDone(frontier, delivered, rank, next) &&
           collectivesDone(frontier, rank, next);
  }

  /// What is delivered, but for what went to receives posted after the chooser: those of other
  /// threads need not have been posted when it looks.
  [[nodiscard]] Flags leftFor(const Chooser& chooser, Flags delivered) const {
    for (std::uint32_t m = 0; m < delivered.size(); ++m) {
      const Message& message = m_execution.messages[m];
      delivered[m] =
          delivered[m] && (message.dest != chooser.rank || message.post < chooser.position);
    }
    return delivered;
  }

  /// Could the rank's two messages be sent the other way round, too?
  [[nodiscard]] bool atOnce(std::uint32_t one, std::uint32_t other) const {
    return hasThreads(m_execution.messages[one].send.rank) && !m_sentBefore[one][other] &&
           !m_sentBefore[other][one];
  }
  [[nodiscard]] bool hasThreads(Rank rank) const {
    return rank >= 0 && m_placeOf[at(rank)].several;
  }

  /// Could MPI hand the message to this chooser, which has none yet, at this frontier?
  [[nodiscard]] bool couldAccept(const Frontier& frontier, const Flags& delivered,
                                 const Chooser& chooser, std::uint32_t candidate) const {
    const Message& message = m_execution.messages[candidate];
    if (delivered[candidate] || !acceptsEnvelope(chooser, message) ||
        !begun(frontier, message.send.rank, message.send.serial)) {
      return false;
    }
    return firstInTheWay(delivered, chooser, candidate) == kNone &&
           !earlierReceiveWaits(frontier, delivered, chooser, message);
  }

  /// The first message of the candidate's source that the chooser must take before it; kNone if
  /// none.
  [[nodiscard]] std::uint32_t firstInTheWay(const Flags& delivered, const Chooser& chooser,
                                            std::uint32_t candidate) const {
    for (std::uint32_t m = 0; m < delivered.size(); ++m) {
      if (overtakes(m_execution.messages[candidate], m) &&
          acceptsEnvelope(chooser, m_execution.messages[m]) && !delivered[m]) {
        return m;
      }
    }
    return kNone;
  }

  /// Would MPI hand the message to a receive posted before the chooser?
  [[nodiscard]] bool earlierReceiveWaits(const Frontier& frontier, const Flags& delivered,
                                         const Chooser& chooser, const Message& message) const {
    const std::vector<Chooser>& receives = m_receives[at(chooser.rank)];
    return std::any_of(
        receives.begin(), receives.begin() + chooser.position, [&](const Chooser& earlier) {
          return acceptsEnvelope(earlier, message) && inQueue(frontier, delivered, earlier);
        });
  }

  [[nodiscard]] bool begun(const Frontier& frontier, Rank rank, Serial serial) const {
    if (serial == 0 || finished(frontier, rank, serial)) {
      return true;
    }
    const auto& [thread, position] = m_placeOf[at(rank)].events[serial - 1];
    const auto& links = m_execution.ranks[at(rank)].threadLinks;
    return position == frontier[thread] + 1 &&
           std::all_of(links.begin(), links.end(), [&](const ThreadLink& link) {
             return link.after != serial || finished(frontier, rank, link.before);
           });
  }

  [[nodiscard]] bool finished(const Frontier& frontier, Rank rank, Serial serial) const {
    if (serial == 0 || serial > m_placeOf[at(rank)].events.size()) {
      return false;
    }
    const auto& [thread, position] = m_placeOf[at(rank)].events[serial - 1];
    return position <= frontier[thread];
  }

 private:
  struct Thread {
    Rank rank;
    std::vector<Serial> events;
  };
  struct RankPlaces {
    std::vector<std::pair<std::size_t, Serial>> events;  ///< thread, position from 1
    bool several = false;
  };

  void addThreads(const RankHistory& history) {
    RankPlaces& places = m_placeOf.emplace_back();
    const std::size_t first = m_threads.size();
    std::vector<std::uint32_t> lanes;
    for (Serial serial = 1; serial <= history.events.size(); ++serial) {
      const std::uint32_t lane = history.events[serial - 1].lane;
      const auto known = std::find(lanes.begin(), lanes.end(), lane);
      const std::size_t thread = first + static_cast<std::size_t>(known - lanes.begin());
      if (known == lanes.end()) {
        lanes.push_back(lane);
        m_threads.push_back({static_cast<Rank>(m_placeOf.size() - 1), {}});
      }
      m_threads[thread].events.push_back(serial);
      places.events.emplace_back(thread, m_threads[thread].events.size());
    }
    if (lanes.empty()) {  // where no rank has several, a thread's number is its rank
      m_threads.push_back({static_cast<Rank>(m_placeOf.size() - 1), {}});
    }
    places.several = lanes.size() > 1;
  }

  /// One message of a rank comes before another if that cannot be sent while the first one's call
  /// goes on.
  void findSendOrder() {
    m_sentBefore.resize(m_execution.messages.size());
    for (std::uint32_t one = 0; one < m_execution.messages.size(); ++one) {
      const Message& first = m_execution.messages[one];
      if (!hasThreads(first.send.rank)) {
        continue;
      }
      const Frontier reached = reachedWithout(first.send);
      for (const Message& second : m_execution.messages) {
        const bool later = first.send.serial == second.send.serial
                               ? first.sendIndex < second.sendIndex
                               : !begun(reached, second.send.rank, second.send.serial);
        m_sentBefore[one].push_back(first.send.rank == second.send.rank && later);
      }
    }
  }

  /// Everything that can happen while this event does not end, by causes alone: whatever order MPI
  /// matches in.
  [[nodiscard]] Frontier reachedWithout(EventRef event) const {
    Frontier frontier = nothingDone();
    for (bool moved = true; moved;) {
      moved = false;
      Flags sent = nothingDelivered();
      for (std::uint32_t m = 0; m < sent.size(); ++m) {
        const Message& message = m_execution.messages[m];
        sent[m] = begun(frontier, message.send.rank, message.send.serial);
      }
      for (std::size_t thread = 0; thread < m_threads.size(); ++thread) {
        if (frontier[thread] < m_threads[thread].events.size() &&
            mayFinish(frontier, sent, m_threads[thread].rank,
                      m_threads[thread].events[frontier[thread]]) &&
            EventRef{m_threads[thread].rank, m_threads[thread].events[frontier[thread]]} != event) {
          ++frontier[thread];
          moved = true;
        }
      }
    }
    return frontier;
  }
  [[nodiscard]] bool mayFinish(const Frontier& frontier, const Flags& sent, Rank rank,
                               Serial next) const {
    const RankHistory& history = m_execution.ranks[at(rank)];
    Flags matched = sent;
    for (std::uint32_t m = 0; m < matched.size(); ++m) {
      const Message& message = m_execution.messages[m];
      if (message.post != kNone && message.send.rank == rank) {
        const Chooser& receive = m_receives[at(message.dest)][message.post];
        matched[m] = begun(frontier, receive.rank, receive.begins);
      }
    }
    const std::vector<Chooser>& probes = m_probes[at(rank)];
    return begun(frontier, rank, next) && receivesDone(sent, history, next) &&
           sendsDone(matched, rank, next) && collectivesDone(frontier, rank, next) &&
           std::all_of(probes.begin(), probes.end(), [&](const Chooser& probe) {
             return probe.begins != next || probe.message == kNone || sent[probe.message];
           });
  }

  void addRank(Rank rank, const RankHistory& history) {
    std::vector<Chooser> receives;
    std::vector<Chooser> probes;
    for (const PostedReceive& r : history.receives) {
      const auto index = static_cast<std::uint32_t>(receives.size());
      const std::uint32_t message = r.state == ReceiveState::Complete ? r.message : kNone;
      receives.push_back(
          {rank, false, index, r.post, r.comm, r.wantedSource, r.wantedTag, index, message});
    }
    for (const ProbeHit& p : history.probes) {
      const auto index = static_cast<std::uint32_t>(probes.size());
      probes.push_back({rank, true, index, p.event, p.comm, p.wantedSource, p.wantedTag,
                        p.postsBefore, p.message});
    }
    std::vector<std::uint32_t> sent(history.sends.size(), kNone);
    for (std::uint32_t m = 0; m < m_execution.messages.size(); ++m) {
      const Message& message = m_execution.messages[m];
      if (message.send.rank == rank) {
        sent[message.sendIndex] = m;
      }
    }
    m_receives.push_back(std::move(receives));
    m_probes.push_back(std::move(probes));
    m_sent.push_back(std::move(sent));
  }

  [[nodiscard]] bool isHeld(const Chooser& chooser) const { return m_held == &chooser; }

  /// Was m sent before the message, on its channel?
  [[nodiscard]] bool overtakes(const Message& message, std::uint32_t m) const {
    const Message& other = m_execution.messages[m];
    if (other.send.rank != message.send.rank || !hasThreads(other.send.rank)) {
      return other.send.rank == message.send.rank && other.sendIndex < message.sendIndex;
    }
    return m_sentBefore[m][static_cast<std::size_t>(&message - m_execution.messages.data())];
  }

  /// Has the cancelled receive left the queue?
  [[nodiscard]] bool cancelled(const Frontier& frontier, Rank rank,
                               const PostedReceive& receive) const {
    const RankHistory& history = m_execution.ranks[at(rank)];
    for (Serial serial = receive.post + 1; serial <= history.events.size(); ++serial) {
      const Event& event = history.events[serial - 1];
      if (serial == receive.completion ||
          (event.kind == EventKind::Local && event.call < m_execution.callNames.size() &&
           m_execution.callNames[event.call] == "MPI_Cancel")) {
        return finished(frontier, rank, serial);
      }
    }
    return false;
  }

  [[nodiscard]] bool inQueue(const Frontier& frontier, const Flags& delivered,
                             const Chooser& receive) const {
    const PostedReceive& posted = m_execution.ranks[at(receive.rank)].receives[receive.index];
    if (isHeld(receive)) {
      return true;
    }
    if (posted.state == ReceiveState::Cancelled) {
      return !cancelled(frontier, receive.rank, posted);
    }
    return receive.message != kNone && !delivered[receive.message];
  }

  /// The message is the one that MPI gives (shows) to the chooser, as it did in P.
  [[nodiscard]] bool visibleInP(const Frontier& frontier, const Flags& delivered,
                                const Chooser& chooser, std::uint32_t m) const {
    const Message& message = m_execution.messages[m];
    if (!begun(frontier, message.send.rank, message.send.serial)) {
      return false;
    }
    for (std::uint32_t other = 0; other < delivered.size(); ++other) {
      const Message& earlier = m_execution.messages[other];
      if (overtakes(message, other) && earlier.post != kNone && acceptsEnvelope(chooser, earlier) &&
          !delivered[other]) {
        return false;
      }
    }
    return !earlierReceiveWaits(frontier, delivered, chooser, message);
  }

  [[nodiscard]] static bool receivesDone(const Flags& delivered, const RankHistory& history,
                                         Serial next) {
    return std::all_of(history.receives.begin(), history.receives.end(),
                       [&](const PostedReceive& r) {
                         return r.completion != next || r.state != ReceiveState::Complete ||
                                r.message == kNone || delivered[r.message];
                       });
  }

  [[nodiscard]] bool sendsDone(const Flags& delivered, Rank rank, Serial next) const {
    const RankHistory& history = m_execution.ranks[at(rank)];
    for (std::size_t index = 0; index < history.sends.size(); ++index) {
      if (history.sends[index].syncCompletion != next) {
        continue;
      }
      const std::uint32_t m = m_sent[at(rank)][index];
      if (m_execution.messages[m].post != kNone && !delivered[m]) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool probesDone(const Frontier& frontier, const Flags& delivered, Rank rank,
                                Serial next) const {
    const std::vector<Chooser>& probes = m_probes[at(rank)];
    return std::all_of(probes.begin(), probes.end(), [&](const Chooser& probe) {
      return probe.begins != next ||
             (!isHeld(probe) &&
              (probe.message == kNone || visibleInP(frontier, delivered, probe, probe.message)));
    });
  }

  /// Does data flow from the one part to the other of the same collective?
  [[nodiscard]] bool flows(const CollectivePart& from, Rank fromRank, const CollectivePart& to,
                           Rank toRank) const {
    if (!from.contributes || !to.takes) {
      return false;
    }
    const std::vector<Rank>& group = m_execution.communicators[to.comm].group;
    switch (to.flow) {
      case CollectiveFlow::None:
        return false;
      case CollectiveFlow::AllToAll:
        return true;
      case CollectiveFlow::FromRoot:
        return fromRank == to.root;
      case CollectiveFlow::ToRoot:
        return toRank == to.root;
      case CollectiveFlow::FromLower:
        return std::find(group.begin(), group.end(), fromRank) <
               std::find(group.begin(), group.end(), toRank);
    }
    return false;
  }

  [[nodiscard]] bool collectivesDone(const Frontier& frontier, Rank rank, Serial next) const {
    for (const CollectivePart& mine : m_execution.ranks[at(rank)].collectives) {
      if (mine.completion != next) {
        continue;
      }
      for (std::size_t other = 0; other < m_execution.ranks.size(); ++other) {
        const auto otherRank = static_cast<Rank>(other);
        for (const CollectivePart& part : m_execution.ranks[other].collectives) {
          if (otherRank != rank && part.comm == mine.comm && part.ordinal == mine.ordinal &&
              flows(part, otherRank, mine, rank) && !begun(frontier, otherRank, part.event)) {
            return false;
          }
        }
      }
    }
    return true;
  }

  const Execution& m_execution;
  std::vector<Thread> m_threads;  ///< of all ranks
  std::vector<RankPlaces> m_placeOf;
  std::vector<Flags> m_sentBefore;  ///< [message][message], of ranks with several threads
  std::vector<std::vector<Chooser>> m_receives;
  std::vector<std::vector<Chooser>> m_probes;
  std::vector<std::vector<std::uint32_t>> m_sent;  ///< message of each send
  const Chooser* m_held = nullptr;
};

}  // namespace pf::oracle
