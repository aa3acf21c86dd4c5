// SPDX-License-Identifier: GPL-3.0-or-later
#include <random>

#include "replay_engine/races/tests/random_execution.h"
#include "replay_engine/races/tests/simulated_mpi.h"

namespace pf::oracle {
namespace {

class Rerun {
 public:
  Rerun(const Execution& execution, std::uint64_t seed, std::optional<PostRef> towards)
      : m_record(execution),
        m_mpi(execution.ranks.size(), execution.communicators),
        m_random(seed),
        m_towards(towards) {}

  std::optional<Deviation> run() {
    // Ranks and channels of very different speed, to get far from the recorded schedule.
    while (!m_over && step()) {
    }
    return m_found;
  }

 private:
  double speed(const std::tuple<int, int, std::uint32_t>& actor) {
    const auto [at, isNew] = m_speeds.try_emplace(actor, 0.0);
    if (isNew || m_random() % 64 == 0) {
      const double exponents[] = {1e-6, 1e-4, 1e-2, 1.0};
      at->second =
          exponents[m_random() % 4] * (1.0 + static_cast<double>(m_random() % 1000) / 1000.0);
    }
    return at->second;
  }

  /// Makes arrivals that leave the record rare before the receive that is to do so.
  double favour(const SimulatedMpi::Channel& channel) const {
    if (!m_towards) {
      return 1;
    }
    const Packet& packet = m_mpi.next(channel);
    const std::uint32_t post = m_mpi.takerOf(packet);
    if (post == kNone) {
      return 0.05;
    }
    return post == m_record.messages[messageOf(packet)].post ||
                   PostRef{packet.dest, post} == *m_towards
               ? 1
               : 0;
  }

  bool step() {
    struct Choice {
      double weight;
      Rank rank;
      SimulatedMpi::Channel channel;
    };
    std::vector<Choice> choices;
    double sum = 0;
    for (const auto& channel : m_mpi.busyChannels()) {
      choices.push_back({speed(channel) * favour(channel), kUnknownRank, channel});
      sum += choices.back().weight;
    }
    for (Rank rank = 0; rank < m_mpi.ranks(); ++rank) {
      const auto& events = m_record.ranks[static_cast<std::size_t>(rank)].events;
      const bool inside = m_mpi.process(rank).inEvent;
      if (inside ? m_mpi.canFinish(rank) : m_mpi.history(rank).events.size() < events.size()) {
        choices.push_back({speed({-1, rank, 0}), rank, {}});
        sum += choices.back().weight;
      }
    }
    if (sum <= 0) {
      return false;
    }
    double left = sum * static_cast<double>(m_random() % 1000000) / 1e6;
    std::size_t chosen = 0;
    while (chosen + 1 < choices.size() &&
           (left >= choices[chosen].weight || choices[chosen].weight <= 0)) {
      left -= choices[chosen++].weight;
    }
    act(choices[chosen].rank, choices[chosen].channel);
    return true;
  }

  void act(Rank rank, const SimulatedMpi::Channel& channel) {
    if (rank == kUnknownRank) {
      m_mpi.arrive(channel);
      compareReceives(std::get<1>(channel));
    } else if (m_mpi.process(rank).inEvent) {
      compareProbe(rank);
      m_mpi.finish(rank);
    } else {
      m_mpi.preferUnexpected(rank, m_random() % 8);
      begin(rank);
      compareReceives(rank);
    }
  }

  void begin(Rank rank) {
    const RankHistory& record = m_record.ranks[static_cast<std::size_t>(rank)];
    const Serial serial = m_mpi.history(rank).events.size() + 1;
    m_mpi.begin(rank, record.events[serial - 1].kind, "again");
    for (std::uint32_t i = 0; i < record.sends.size(); ++i) {
      const SentMessage& sent = record.sends[i];
      if (sent.event == serial) {
        m_mpi.send(rank, sent.dest, sent.tag, sent.comm, sent.synchronous);
      }
      waitIf(sent.syncCompletion == serial, rank, {Thing::SyncSend, i});
    }
    for (std::uint32_t i = 0; i < record.receives.size(); ++i) {
      const PostedReceive& receive = record.receives[i];
      if (receive.post == serial) {
        m_mpi.post(rank, receive.wantedSource, receive.wantedTag, receive.comm);
      }
      if (receive.completion == serial && receive.state == ReceiveState::Cancelled) {
        m_mpi.cancel(rank, i);
      }
      waitIf(receive.completion == serial || (receive.post == serial && blocks(record, receive)),
             rank, {Thing::Receive, i});
    }
    for (const ProbeHit& probe : record.probes) {
      if (probe.event == serial) {
        m_mpi.probe(rank, probe.wantedSource, probe.wantedTag, probe.comm);
      }
    }
    for (std::uint32_t i = 0; i < record.collectives.size(); ++i) {
      if (record.collectives[i].event == serial) {
        m_mpi.enter(rank, record.collectives[i]);
      }
      waitIf(record.collectives[i].completion == serial, rank, {Thing::Collective, i});
    }
  }

  static bool blocks(const RankHistory& record, const PostedReceive& receive) {
    const EventKind kind = record.events[receive.post - 1].kind;
    return kind == EventKind::Receive || kind == EventKind::SendReceive;
  }

  void waitIf(bool waits, Rank rank, Request request) {
    if (waits) {
      m_mpi.wait(rank, request);
    }
  }

  std::uint32_t messageOf(const Packet& packet) const {
    for (std::uint32_t m = 0; m < m_record.messages.size(); ++m) {
      if (m_record.messages[m].send.rank == packet.source &&
          m_record.messages[m].sendIndex == packet.send) {
        return m;
      }
    }
    return kNone;
  }

  /// A Startall can deliver to several receives, in posting order: only the first may be compared.
  void compareReceives(Rank rank) {
    const auto& got = m_mpi.process(rank).got;
    const RankHistory& record = m_record.ranks[static_cast<std::size_t>(rank)];
    for (std::uint32_t i = 0; i < got.size(); ++i) {
      if (got[i] && messageOf(*got[i]) != record.receives[i].message) {
        m_over = true;
        if (record.receives[i].state == ReceiveState::Complete) {
          m_found = Deviation{rank, false, i, messageOf(*got[i])};
        }
        return;
      }
    }
  }

  void compareProbe(Rank rank) {
    const auto& probe = m_mpi.process(rank).probes;
    if (!probe) {
      return;
    }
    const std::uint32_t seen = messageOf(*m_mpi.probed(rank));
    if (*probe < m_record.ranks[static_cast<std::size_t>(rank)].probes.size() &&
        seen != m_record.ranks[static_cast<std::size_t>(rank)].probes[*probe].message) {
      m_over = true;
      m_found = Deviation{rank, true, *probe, seen};
    }
  }

  const Execution& m_record;
  SimulatedMpi m_mpi;
  std::mt19937_64 m_random;
  std::map<std::tuple<int, int, std::uint32_t>, double> m_speeds;
  std::optional<PostRef> m_towards;
  bool m_over = false;
  std::optional<Deviation> m_found;
};

}  // namespace

std::optional<Deviation> rerun(const Execution& execution, std::uint64_t seed,
                               std::optional<PostRef> towards) {
  return Rerun(execution, seed, towards).run();
}

}  // namespace pf::oracle
