// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/steering/send_gates.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "replay_engine/causality/event_graph.h"
#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kNobody = kNone;

std::uint64_t begunAt(Serial serial) {
  return 2 * serial - 1;
}

/// The order of send_gates.h, worked out step by step.
class LazyOrder {
 public:
  explicit LazyOrder(const Execution& execution)
      : m_execution(execution),
        m_graph(execution),
        m_wanted(execution.messages.size(), kNever),
        m_believed(execution.messages.size(), false),
        m_ranks(execution.ranks.size()),
        m_gates(execution.ranks.size()) {
    for (const CollectiveInstance& instance : m_graph.instances()) {
      m_missing.push_back(instance.contributors);
    }
    findWanted();
  }

  std::vector<std::vector<Gate>> run() {
    while (true) {
      bool moved = false;
      for (std::uint32_t rank = 0; rank < m_ranks.size(); ++rank) {
        moved = advance(rank) || moved;
      }
      if (!moved && !resolveStall()) {
        return std::move(m_gates);
      }
    }
  }

 private:
  struct RankNow {
    std::uint32_t entered = 0;
    std::uint32_t left = 0;
    bool released = false;                  ///< its next event enters whatever it sends
    bool ended = false;                     ///< its record ends inside of an event
    std::vector<std::uint32_t> unreceived;  ///< non-blocking sends, for a wait
    std::uint32_t waitsFor = kNobody;       ///< where it cannot go on
    std::uint32_t message = kNone;          ///< entered, and thought to block
    bool meets = false;                     ///< so does its collective
    std::uint32_t believed = 0;             ///< event whose collective does not
  };

  [[nodiscard]] std::uint64_t progress(std::uint32_t rank) const {
    const RankNow& now = m_ranks[rank];
    return now.entered > now.left ? begunAt(now.entered) : 2 * std::uint64_t{now.left};
  }

  [[nodiscard]] bool isFinished(std::uint32_t rank) const {
    return m_ranks[rank].ended || m_ranks[rank].left == m_graph.eventCount(rank);
  }

  [[nodiscard]] const Event& eventAt(Place place) const {
    return m_execution.ranks[place.rank].events[place.serial - 1];
  }

  [[nodiscard]] bool isCall(Place place, const char* a, const char* b) const {
    const std::uint16_t call = eventAt(place).call;
    if (call >= m_execution.callNames.size()) {
      return false;
    }
    std::string_view name = m_execution.callNames[call];
    if (name.ends_with("_c")) {  // large counts (MPI 4.0, 2.5.8)
      name.remove_suffix(2);
    }
    return name == a || name == b;
  }

  /// From when on a message does not lie about at its destination.
  void findWanted() {
    for (const RankHistory& history : m_execution.ranks) {
      for (const PostedReceive& receive : history.receives) {
        if (receive.message >= m_wanted.size() || !isEvent(history, receive.post)) {
          continue;
        }
        const EventKind kind = history.events[receive.post - 1].kind;
        const bool blocking = kind == EventKind::Receive || kind == EventKind::SendReceive;
        want(receive.message, blocking ? begunAt(receive.post) : 2 * receive.post);
      }
      for (const ProbeHit& probe : history.probes) {
        if (probe.message < m_wanted.size() && isEvent(history, probe.event)) {
          want(probe.message, begunAt(probe.event));
        }
      }
    }
  }

  void want(std::uint32_t message, std::uint64_t from) {
    m_wanted[message] = std::min(m_wanted[message], from);
  }

  [[nodiscard]] bool isWanted(std::uint32_t message) const {
    const Rank dest = m_execution.messages[message].dest;
    return !isRank(m_execution, dest) ||
           progress(static_cast<std::uint32_t>(dest)) >= m_wanted[message];
  }

  bool advance(std::uint32_t rank) {
    RankNow& now = m_ranks[rank];
    now.waitsFor = kNobody;
    now.message = kNone;
    now.meets = false;
    bool moved = false;
    while (!isFinished(rank)) {
      const Place place{rank, now.left + 1};
      if (now.entered == now.left) {
        if (!mayEnter(place)) {
          return moved;
        }
        enter(place);
        moved = true;
      }
      if (!mayLeave(place)) {
        return moved;
      }
      now.left = place.serial;
      moved = true;
    }
    return moved;
  }

  bool mayEnter(Place place) {
    RankNow& now = m_ranks[place.rank];
    for (const Link link : m_graph.outgoing(place)) {
      if (link.kind != LinkKind::Message || now.released || isWanted(link.index)) {
        continue;
      }
      const auto dest = static_cast<std::uint32_t>(m_execution.messages[link.index].dest);
      if (dest != place.rank) {
        now.waitsFor = dest;
        return false;
      }
    }
    return true;
  }

  void enter(Place place) {
    RankNow& now = m_ranks[place.rank];
    now.entered = place.serial;
    now.released = false;
    for (const Link link : m_graph.outgoing(place)) {
      if (link.kind == LinkKind::Collective) {
        --m_missing[m_graph.members()[link.index].instance];
      } else if (link.kind == LinkKind::Message) {
        send(place, link.index);
      }
    }
  }

  void send(Place place, std::uint32_t message) {
    const Rank dest = m_execution.messages[message].dest;
    if (!isRank(m_execution, dest) || dest == static_cast<Rank>(place.rank)) {
      return;
    }
    const std::uint64_t from =
        std::min(progress(static_cast<std::uint32_t>(dest)), m_wanted[message]);
    if (from > 0) {
      m_gates[place.rank].push_back({place.serial, from, dest, 0});
    }
    if (eventAt(place).kind == EventKind::Start || isCall(place, "MPI_Isend", "MPI_Start")) {
      m_ranks[place.rank].unreceived.push_back(message);
    }
  }

  bool mayLeave(Place place) {
    RankNow& now = m_ranks[place.rank];
    for (const Link link : m_graph.incoming(place)) {
      if (const std::uint32_t whom = missingFor(link); whom != kNobody) {
        now.waitsFor = whom;
        return false;
      }
    }
    if (const std::uint32_t whom = meetsNot(place); whom != kNobody) {
      now.waitsFor = whom;
      now.meets = true;
      return false;
    }
    const EventKind kind = eventAt(place).kind;
    if (kind == EventKind::SendReceive || isCall(place, "MPI_Send", "MPI_Rsend")) {
      for (const Link link : m_graph.outgoing(place)) {
        if (link.kind == LinkKind::Message && blocks(place, link.index)) {
          return false;
        }
      }
    } else if (isCall(place, "MPI_Wait", "MPI_Waitall")) {
      std::erase_if(now.unreceived, [this](std::uint32_t message) { return isWanted(message); });
      return std::none_of(now.unreceived.begin(), now.unreceived.end(),
                          [&](std::uint32_t message) { return blocks(place, message); });
    }
    return true;
  }

  /// A rank that a blocking collective, or MPI_Finalize, is thought to wait for; kNobody: none.
  [[nodiscard]] std::uint32_t meetsNot(Place place) const {
    if (m_ranks[place.rank].believed == place.serial) {
      return kNobody;
    }
    if (isCall(place, "MPI_Finalize", "MPI_Finalize")) {
      for (std::uint32_t rank = 0; rank < m_ranks.size(); ++rank) {
        if (!isFinished(rank) && m_ranks[rank].entered < m_graph.eventCount(rank)) {
          return rank;
        }
      }
      return kNobody;
    }
    if (eventAt(place).kind != EventKind::Collective) {
      return kNobody;
    }
    for (const auto links : {m_graph.outgoing(place), m_graph.incoming(place)}) {
      for (const Link link : links) {
        if (link.kind != LinkKind::Collective) {
          continue;
        }
        const CollectiveInstance& instance =
            m_graph.instances()[m_graph.members()[link.index].instance];
        for (std::uint32_t i = instance.begin; i < instance.end; ++i) {
          const Place entry = m_graph.members()[i].entry;
          if (m_ranks[entry.rank].entered < entry.serial) {
            return entry.rank;
          }
        }
      }
    }
    return kNobody;
  }

  /// Whether the end of a send, or of a wait for it, is thought to need the receive.
  bool blocks(Place place, std::uint32_t message) {
    if (m_believed[message] || isWanted(message)) {
      return false;
    }
    RankNow& now = m_ranks[place.rank];
    now.waitsFor = static_cast<std::uint32_t>(m_execution.messages[message].dest);
    now.message = message;
    return true;
  }

  /// A rank that what the link stands for is still to come from; kNobody: it is there.
  [[nodiscard]] std::uint32_t missingFor(Link link) const {
    if (link.kind != LinkKind::Collective) {
      const Place origin = m_graph.origin(link);
      return m_ranks[origin.rank].entered >= origin.serial ? kNobody : origin.rank;
    }
    const std::uint32_t instance = m_graph.members()[link.index].instance;
    if (m_missing[instance] == 0) {
      return kNobody;
    }
    for (std::uint32_t i = m_graph.instances()[instance].begin; i < m_graph.sourcesEnd(link.index);
         ++i) {
      const CollectiveMember& member = m_graph.members()[i];
      if (member.contributes && m_ranks[member.entry.rank].entered < member.entry.serial) {
        return member.entry.rank;
      }
    }
    return kNobody;
  }

  /// Nobody can go on: each unfinished rank waits for one. False: all are finished.
  bool resolveStall() {
    std::uint32_t rank = 0;
    while (rank < m_ranks.size() && isFinished(rank)) {
      ++rank;
    }
    if (rank == m_ranks.size()) {
      return false;
    }
    std::vector<bool> seen(m_ranks.size(), false);
    while (!seen[rank]) {
      seen[rank] = true;
      const std::uint32_t next = m_ranks[rank].waitsFor;
      if (next == kNobody || isFinished(next)) {
        goOn({rank});
        return true;
      }
      rank = next;
    }
    std::vector<std::uint32_t> cycle{rank};
    for (std::uint32_t next = m_ranks[rank].waitsFor; next != rank; next = m_ranks[next].waitsFor) {
      cycle.push_back(next);
    }
    goOn(cycle);
    return true;
  }

  /// One of these ranks has to: it sends early, or its send did not block, or its record ends here.
  void goOn(const std::vector<std::uint32_t>& ranks) {
    std::uint32_t smallest = kNone;
    std::uint32_t meeting = kNobody;
    for (const std::uint32_t rank : ranks) {
      RankNow& now = m_ranks[rank];
      if (now.entered == now.left) {
        now.released = true;
        return;
      }
      if (now.message != kNone && (smallest == kNone || bytesOf(now.message) < bytesOf(smallest))) {
        smallest = now.message;
      }
      meeting = now.meets ? rank : meeting;
    }
    if (meeting != kNobody) {
      m_ranks[meeting].believed = m_ranks[meeting].entered;
    } else if (smallest != kNone) {
      m_believed[smallest] = true;
    } else {
      m_ranks[ranks.front()].ended = true;
    }
  }

  [[nodiscard]] std::uint64_t bytesOf(std::uint32_t message) const {
    const EventRef send = m_execution.messages[message].send;
    return eventAt({static_cast<std::uint32_t>(send.rank), static_cast<std::uint32_t>(send.serial)})
        .bytes;
  }

  const Execution& m_execution;
  const EventGraph m_graph;
  std::vector<std::uint64_t> m_wanted;   ///< by message: progress of its destination
  std::vector<bool> m_believed;          ///< by message: its send did not block
  std::vector<std::uint32_t> m_missing;  ///< by collective: contributors that have not entered
  std::vector<RankNow> m_ranks;
  std::vector<std::vector<Gate>> m_gates;
};

}  // namespace

std::vector<std::vector<Gate>> sendGates(const Execution& execution) {
  return LazyOrder(execution).run();
}

}  // namespace pf
