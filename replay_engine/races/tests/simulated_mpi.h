// SPDX-License-Identifier: GPL-3.0-or-later
// A small MPI for tests: processes that begin events, queues of posted receives and unexpected
// messages, one FIFO network channel per (source, destination, communicator), and the record of
// what happened. Whoever drives it chooses what happens next; it only keeps MPI's rules.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::oracle {

/// A message on its way.
struct Packet {
  Rank source = kUnknownRank;
  std::uint32_t send = kNone;  ///< in the source's RankHistory::sends
  Rank dest = kUnknownRank;
  std::uint32_t comm = kNone;
  Tag tag = 0;
};

enum class Thing : std::uint8_t { Receive, SyncSend, Collective };

/// A request, or what a blocking call waits for: index into receives, sends or collectives.
struct Request {
  Thing thing = Thing::Receive;
  std::uint32_t index = kNone;
};

struct Process {
  std::vector<std::optional<Packet>> got;  ///< per posted receive
  std::vector<std::uint32_t> posted;       ///< queue
  std::vector<Packet> unexpected;          ///< queue
  std::vector<Request> waits;              ///< what the current event waits for
  std::optional<std::uint32_t> probes;     ///< the probe that it waits for
  bool inEvent = false;
};

class SimulatedMpi {
 public:
  using Channel = std::tuple<Rank, Rank, std::uint32_t>;  ///< source, destination, communicator

  SimulatedMpi(std::size_t ranks, std::vector<Communicator> communicators);

  [[nodiscard]] Process& process(Rank rank) { return m_processes[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Process& process(Rank rank) const {
    return m_processes[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] RankHistory& history(Rank rank) {
    return m_execution.ranks[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const RankHistory& history(Rank rank) const {
    return m_execution.ranks[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Execution& execution() { return m_execution; }
  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(m_processes.size()); }
  /// Post that took each send, [rank][send], kNone while none.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& takers() const { return m_takers; }

  // Calls of a rank. First begin(), then what the event does; then finish() once canFinish().
  void begin(Rank rank, EventKind kind, const char* name);
  std::uint32_t send(Rank rank, Rank dest, Tag tag, std::uint32_t comm, bool synchronous);
  std::uint32_t post(Rank rank, Rank source, Tag tag, std::uint32_t comm);
  void probe(Rank rank, Rank source, Tag tag, std::uint32_t comm);
  void enter(Rank rank, CollectivePart part);
  /// Takes an unmatched receive out of the queue. False: it is matched already.
  bool cancel(Rank rank, std::uint32_t post);
  void wait(Rank rank, Request request) { process(rank).waits.push_back(request); }
  [[nodiscard]] bool canFinish(Rank rank) const;
  void finish(Rank rank);

  // The network.
  /// MPI orders unexpected messages per source and communicator only: even after a probe has shown
  /// one, a wildcard receive may take another (MPI 3.1, example 3.19). Puts the one at this place
  /// first, if it may.
  void preferUnexpected(Rank rank, std::size_t place);
  [[nodiscard]] std::vector<Channel> busyChannels() const;
  void arrive(const Channel& channel);
  /// What arrives next on a busy channel, and the posted receive that would take it (kNone:
  /// unexpected).
  [[nodiscard]] const Packet& next(const Channel& channel) const {
    return m_network.at(channel).front();
  }
  [[nodiscard]] std::uint32_t takerOf(const Packet& packet) const;

  [[nodiscard]] bool accepts(const PostedReceive& receive, const Packet& packet) const;
  [[nodiscard]] bool done(Rank rank, const Request& request) const;
  /// Messages for a rank that no receive has taken, in no order that matters.
  [[nodiscard]] std::vector<Packet> comingTo(Rank rank) const;
  [[nodiscard]] const CollectivePart* partOf(Rank rank, std::uint32_t comm,
                                             std::uint32_t ordinal) const;
  /// What the open probe of the rank sees, nullptr if nothing.
  [[nodiscard]] const Packet* probed(Rank rank) const;
  /// Does the rank's count differ from zero in this collective? Part of the program, the same in
  /// every run.
  [[nodiscard]] static bool contributes(Rank rank, std::uint32_t comm, std::uint32_t ordinal);

 private:
  [[nodiscard]] bool collectiveDone(Rank rank, const CollectivePart& mine) const;
  void take(Rank rank, std::uint32_t post, const Packet& packet);

  Execution m_execution;
  std::vector<Process> m_processes;
  std::vector<std::vector<std::uint32_t>> m_takers;
  std::map<Channel, std::deque<Packet>> m_network;
};

}  // namespace pf::oracle
