// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of random deterministic programs, for comparisons of two runs of one program. Every call of
// a rank follows from its state, which is a hash of all that it received, contents included; MPI's
// choices follow from the schedule. No run deadlocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "replay_engine/comparison/difference.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/simulated_mpi.h"

namespace pf::oracle {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
  return hash * 0xBF58476D1CE4E5B9ULL ^ hash >> 31U;
}

/// What one rank saw of one event.
struct Seen {
  std::string request;
  std::string outcome = "?";  ///< not finished
  std::uint64_t state = 0;    ///< after it
};

/// One run of a program.
struct Run {
  Execution execution;
  std::vector<std::vector<std::uint32_t>> takers;
  std::vector<std::vector<Seen>> seen;
  std::vector<RankFacts> facts;
};

class Program {
 public:
  Program(std::uint64_t program, std::uint64_t schedule, int ranks)
      : m_mpi(static_cast<std::size_t>(ranks), {world(ranks)}),
        m_random(schedule),
        m_each(1 + static_cast<int>(program / 5 % 3)),
        m_phases(1 + static_cast<int>(program / 16 % 3)) {
    for (int rank = 0; rank < ranks; ++rank) {
      Rankwise& each = m_ranks.emplace_back();
      each.state = mix(program, static_cast<std::uint64_t>(rank));
      startPhase(each, rank);
    }
    m_seen.resize(m_ranks.size());
  }

  Run run() {
    while (step()) {
    }
    Run result;
    for (Rank rank = 0; rank < m_mpi.ranks(); ++rank) {
      RankFacts facts;
      facts.end = m_mpi.process(rank).inEvent ? RecordEnd::Cut : RecordEnd::Finished;
      result.facts.push_back(facts);
      if (m_mpi.process(rank).probes) {  // no log has a probe that saw nothing
        m_mpi.history(rank).probes.pop_back();
      }
    }
    result.takers = m_mpi.takers();
    result.execution = std::move(m_mpi.execution());
    result.seen = std::move(m_seen);
    matchMessages(result.execution);
    return result;
  }

 private:
  static Communicator world(int ranks) {
    Communicator comm{0, "MPI_COMM_WORLD", {}, {}};
    for (Rank rank = 0; rank < ranks; ++rank) {
      comm.group.push_back(rank);
    }
    return comm;
  }

  template <typename T>
  auto& of(std::vector<T>& list, Rank rank) {
    return list[static_cast<std::size_t>(rank)];
  }

  bool step() {
    const auto channels = m_mpi.busyChannels();
    std::vector<std::pair<int, int>> choices;
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      choices.emplace_back(0, static_cast<int>(channel));
    }
    for (Rank rank = 0; rank < m_mpi.ranks(); ++rank) {
      if (m_mpi.process(rank).inEvent ? canFinish(rank) : of(m_ranks, rank).phase < m_phases) {
        choices.emplace_back(1, rank);
      }
    }
    if (choices.empty()) {
      return false;
    }
    const auto [what, which] = choices[m_random() % choices.size()];
    if (what == 0) {
      m_mpi.arrive(channels[static_cast<std::size_t>(which)]);
    } else if (m_mpi.process(which).inEvent) {
      finish(which);
    } else {
      begin(which);
    }
    return true;
  }

  /// What a rank does in a phase: so many sends to each other rank, as many receives.
  struct Rankwise {
    std::uint64_t state = 0;
    int phase = 0;
    std::vector<int> toSend;  ///< by destination
    int sent = 0;
    int asked = 0;  ///< receives posted
    int got = 0;    ///< observed
    std::vector<std::uint32_t> requests;
    std::vector<std::uint32_t> synchronous;
    std::optional<Packet> probed;
    std::uint32_t collectives = 0;
    bool waitsForAny = false;
  };

  void startPhase(Rankwise& each, Rank rank) const {
    each.toSend.assign(static_cast<std::size_t>(m_mpi.ranks()), m_each);
    each.toSend[static_cast<std::size_t>(rank)] = 0;
    each.sent = each.asked = each.got = 0;
  }

  /// The call follows from the state alone. A rank waits for a message only while it has sent more
  /// than it has got, and so never all do.
  void begin(Rank rank) {
    Rankwise& my = of(m_ranks, rank);
    my.state = mix(my.state, 1);
    of(m_seen, rank).emplace_back();
    const int all = m_each * (m_mpi.ranks() - 1);
    if (my.probed) {
      const Packet packet = *std::exchange(my.probed, std::nullopt);
      return receive(rank, packet.source, packet.tag);
    }
    std::string calls;
    if (my.sent < all) {
      calls += my.asked < all && my.asked <= my.sent ? "sssix" : "sssi";
    }
    if (my.asked < all) {
      calls += my.asked < my.sent ? "rrrpi" : "i";
    }
    if (!my.requests.empty() && my.got < my.sent) {
      calls += "www";
    }
    call(rank, calls.empty() ? 'e' : calls[my.state / 8 % calls.size()]);
  }

  void call(Rank rank, char what) {
    Rankwise& my = of(m_ranks, rank);
    switch (what) {
      case 's':
        return sendCall(rank, EventKind::Send, "send", my.state / 4096 % 8 == 0);
      case 'x':
        sendCall(rank, EventKind::SendReceive, "sendrecv", false);
        ++my.asked;
        return m_mpi.wait(rank, {Thing::Receive, m_mpi.post(rank, kAnySource, kAnyTag, 0)});
      case 'i':
        if (my.asked == m_each * (m_mpi.ranks() - 1)) {
          return note(rank, EventKind::Local, "local", 0, 0);
        }
        note(rank, EventKind::Post, "irecv", 0, 0);
        ++my.asked;
        return my.requests.push_back(m_mpi.post(rank, kAnySource, kAnyTag, 0));
      case 'r':
        return receive(rank, kAnySource, kAnyTag);
      case 'p':
        note(rank, EventKind::Probe, "probe", 0, 0);
        return m_mpi.probe(rank, kAnySource, kAnyTag, 0);
      case 'w':
        note(rank, EventKind::Completion, "waitany", 0, 0);
        my.waitsForAny = true;
        return;
      default:
        return endPhase(rank);
    }
  }

  void receive(Rank rank, Rank source, Tag tag) {
    note(rank, EventKind::Receive, "recv", source, tag);
    ++of(m_ranks, rank).asked;
    m_mpi.wait(rank, {Thing::Receive, m_mpi.post(rank, source, tag, 0)});
  }

  void sendCall(Rank rank, EventKind kind, const char* name, bool synchronous) {
    Rankwise& my = of(m_ranks, rank);
    std::vector<Rank> left;
    for (Rank other = 0; other < m_mpi.ranks(); ++other) {
      left.insert(left.end(), static_cast<std::size_t>(of(my.toSend, other)), other);
    }
    const Rank dest = left[my.state / 64 % left.size()];
    const auto tag = static_cast<Tag>(my.state / 65536 % 2);
    --of(my.toSend, dest);
    ++my.sent;
    note(rank, kind, synchronous ? "issend" : name, dest, tag);
    const std::uint32_t sent = m_mpi.send(rank, dest, tag, 0, synchronous);
    m_contents[{rank, sent}] = {my.state, m_channels[{rank, dest, tag}]++};
    if (synchronous) {
      my.synchronous.push_back(sent);
    }
  }

  void endPhase(Rank rank) {
    Rankwise& my = of(m_ranks, rank);
    if (!my.synchronous.empty()) {
      note(rank, EventKind::Completion, "waitall", 0, 0);
      for (const std::uint32_t sent : std::exchange(my.synchronous, {})) {
        m_mpi.wait(rank, {Thing::SyncSend, sent});
      }
      return;
    }
    const CollectiveFlow flows[] = {CollectiveFlow::AllToAll, CollectiveFlow::FromRoot,
                                    CollectiveFlow::AllToAll};
    collective(rank, flows[my.phase++]);
    startPhase(my, rank);
  }

  void note(Rank rank, EventKind kind, const char* name, int peer, int tag) {
    m_mpi.begin(rank, kind, name);
    of(m_seen, rank).back().request =
        std::string(name) + " " + std::to_string(peer) + " " + std::to_string(tag);
  }

  void collective(Rank rank, CollectiveFlow flow) {
    note(rank, EventKind::Collective, "collective", static_cast<int>(flow), 0);
    CollectivePart part;
    part.comm = 0;
    part.ordinal = of(m_ranks, rank).collectives++;
    part.flow = flow;
    part.root = flow == CollectiveFlow::FromRoot ? 0 : kUnknownRank;
    part.contributes = SimulatedMpi::contributes(rank, 0, part.ordinal);
    m_contributions[{rank, part.ordinal}] = of(m_ranks, rank).state;
    m_mpi.enter(rank, part);
    m_mpi.wait(rank, {Thing::Collective,
                      static_cast<std::uint32_t>(m_mpi.history(rank).collectives.size() - 1)});
  }

  [[nodiscard]] bool canFinish(Rank rank) {
    if (of(m_ranks, rank).waitsForAny) {
      const auto& requests = of(m_ranks, rank).requests;
      return std::any_of(requests.begin(), requests.end(), [&](std::uint32_t post) {
        return m_mpi.done(rank, {Thing::Receive, post});
      });
    }
    return m_mpi.canFinish(rank);
  }

  void finish(Rank rank) {
    std::string outcome;
    Rankwise& my = of(m_ranks, rank);
    if (std::exchange(my.waitsForAny, false)) {
      auto& requests = my.requests;
      std::size_t chosen = 0;
      do {
        chosen = m_random() % requests.size();
      } while (!m_mpi.done(rank, {Thing::Receive, requests[chosen]}));
      outcome = "index " + std::to_string(chosen) + " ";
      m_mpi.wait(rank, {Thing::Receive, requests[chosen]});
      requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    std::uint64_t& state = my.state;
    for (const Request& request : m_mpi.process(rank).waits) {
      if (request.thing == Thing::Receive) {
        outcome += take(*m_mpi.process(rank).got[request.index], &state);
        ++my.got;
      } else if (request.thing == Thing::Collective) {
        takeCollective(rank, m_mpi.history(rank).collectives[request.index], state);
      }
    }
    if (m_mpi.process(rank).probes) {
      my.probed = *m_mpi.probed(rank);
      outcome += take(*my.probed, nullptr);
    }
    for (const char letter : outcome) {
      state = mix(state, static_cast<std::uint64_t>(letter));
    }
    m_mpi.finish(rank);
    of(m_seen, rank).back().outcome = outcome;
    of(m_seen, rank).back().state = state;
  }

  std::string take(const Packet& packet, std::uint64_t* state) {
    const auto [content, ordinal] = m_contents[{packet.source, packet.send}];
    if (state != nullptr) {
      *state = mix(*state, content);
    }
    return "from " + std::to_string(packet.source) + " tag " + std::to_string(packet.tag) +
           " number " + std::to_string(ordinal);
  }

  void takeCollective(Rank rank, const CollectivePart& part, std::uint64_t& state) {
    for (Rank other = 0; other < m_mpi.ranks(); ++other) {
      if (other != rank && (part.flow == CollectiveFlow::AllToAll || other == part.root) &&
          SimulatedMpi::contributes(other, 0, part.ordinal)) {
        state = mix(state, m_contributions[{other, part.ordinal}]);
      }
    }
  }

  SimulatedMpi m_mpi;
  std::mt19937_64 m_random;
  int m_each;  ///< messages from each rank to each other, in a phase
  int m_phases;
  std::vector<Rankwise> m_ranks;
  std::vector<std::vector<Seen>> m_seen;
  std::map<std::pair<Rank, std::uint32_t>, std::pair<std::uint64_t, int>> m_contents;
  std::map<std::pair<Rank, std::uint32_t>, std::uint64_t> m_contributions;
  std::map<std::tuple<Rank, Rank, Tag>, int> m_channels;
};

}  // namespace pf::oracle
