// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tests/random_execution.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "replay_engine/races/tests/simulated_mpi.h"

namespace pf::oracle {
namespace {

/// What a rank of the random program still has in hand.
struct Plan {
  std::vector<Request> requests;  ///< not yet waited for
  std::vector<Packet> seen;       ///< by probes, to be received
  int budget = 0;
};

struct CollectivePlan {
  CollectiveFlow flow = CollectiveFlow::None;
  Rank root = kUnknownRank;
  bool blocking = true;
};

/// Random numbers, the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : m_random(seed) {}
  int below(int n) { return static_cast<int>(m_random() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& any(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t n = list.size(); n > 1; --n) {
      std::swap(list[n - 1], list[static_cast<std::size_t>(below(static_cast<int>(n)))]);
    }
  }

 private:
  std::mt19937_64 m_random;
};

std::vector<Communicator> randomCommunicators(Dice& dice, int ranks) {
  std::vector<Rank> world(static_cast<std::size_t>(ranks));
  std::iota(world.begin(), world.end(), 0);
  std::vector<Communicator> communicators{{0, "MPI_COMM_WORLD", world, {}}};
  if (dice.chance(40)) {
    dice.shuffle(world);
    world.resize(static_cast<std::size_t>(dice.below(ranks - 1)) + 2);
    communicators.push_back({1, "sub", world, {}});
  }
  return communicators;
}

/// A program that every rank makes up while it runs.
class RandomProgram {
 public:
  RandomProgram(Dice& dice, int ranks, int eventsAtMost)
      : m_dice(dice),
        m_mpi(static_cast<std::size_t>(ranks), randomCommunicators(dice, ranks)),
        m_plans(static_cast<std::size_t>(ranks)),
        m_collectives(2) {
    const int each = 2 + dice.below(std::max(1, eventsAtMost / ranks - 2));
    for (Plan& plan : m_plans) {
      plan.budget = each;
    }
    m_tags = 1 + dice.below(3);
    m_wildPercent = 40 + dice.below(60);
    m_hubPercent = dice.chance(50) ? 0 : 80;
    for (int& weight : m_weights) {
      weight *= dice.any(std::vector<int>{0, 1, 1, 1, 3});
    }
    m_weights[0] = std::max(m_weights[0], 20);
    if (dice.chance(40)) {
      m_weights = {40, 5, 40, 3, 3, 3, 0, 15, 2};  // many receives posted ahead
    }
  }

  RandomExecution run() {
    while (step()) {
    }
    RandomExecution result;
    result.takers = m_mpi.takers();
    for (Rank rank = 0; rank < m_mpi.ranks(); ++rank) {
      RankHistory& history = m_mpi.history(rank);
      for (PostedReceive& r : history.receives) {
        if (r.completion == 0) {
          r.state = ReceiveState::Pending;  // a cancellation that nobody has seen
          result.whole =
              result.whole && m_mpi.process(rank).inEvent && r.post == history.events.size();
        }
      }
    }
    result.execution = std::move(m_mpi.execution());
    return result;
  }

 private:
  Plan& plan(Rank rank) { return m_plans[static_cast<std::size_t>(rank)]; }
  const std::vector<Rank>& group(std::uint32_t comm) {
    return m_mpi.execution().communicators[comm].group;
  }

  // One random thing that can happen: a message arrives, a waiting call returns, a free rank calls.
  bool step() {
    const auto channels = m_mpi.busyChannels();
    std::vector<std::pair<int, int>> choices;
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      choices.emplace_back(0, static_cast<int>(channel));
    }
    for (Rank rank = 0; rank < m_mpi.ranks(); ++rank) {
      const bool inside = m_mpi.process(rank).inEvent;
      if (inside ? m_mpi.canFinish(rank) : mayCall(rank)) {
        choices.emplace_back(inside ? 1 : 2, rank);
      }
    }
    if (choices.empty()) {
      return false;
    }
    const auto [what, which] = m_dice.any(choices);
    if (what == 0) {
      m_mpi.arrive(channels[static_cast<std::size_t>(which)]);
    } else if (what == 1) {
      finish(which);
    } else {
      call(which);
    }
    return true;
  }

  void finish(Rank rank) {
    if (m_mpi.process(rank).probes && m_dice.chance(85)) {
      plan(rank).seen.push_back(*m_mpi.probed(rank));
    }
    m_mpi.finish(rank);
  }

  void begin(Rank rank, EventKind kind, const char* name) {
    m_mpi.preferUnexpected(rank, static_cast<std::size_t>(m_dice.below(8)));
    m_mpi.begin(rank, kind, name);
    --plan(rank).budget;
  }

  /// A rank that has used up its budget still joins collectives, receives and waits for a while.
  bool mayCall(Rank rank) {
    const int budget = plan(rank).budget;
    return budget > 0 || (budget > -10 && (mustJoin(rank) || !m_mpi.comingTo(rank).empty() ||
                                           !plan(rank).requests.empty()));
  }

  bool mustJoin(Rank rank) {
    return m_open && m_mpi.partOf(rank, m_open->first, m_open->second) == nullptr &&
           inGroup(rank, m_open->first);
  }

  bool inGroup(Rank rank, std::uint32_t comm) {
    return std::find(group(comm).begin(), group(comm).end(), rank) != group(comm).end();
  }

  void call(Rank rank) {
    if (mustJoin(rank) && m_dice.chance(60)) {
      collective(rank);
    } else if (!plan(rank).seen.empty() && m_dice.chance(70)) {
      const Packet packet = plan(rank).seen.back();
      plan(rank).seen.pop_back();
      begin(rank, EventKind::Receive, "MPI_Recv");
      const Rank source = m_dice.chance(85) ? packet.source : kAnySource;
      m_mpi.wait(rank, {Thing::Receive, m_mpi.post(rank, source, packet.tag, packet.comm)});
    } else if (plan(rank).budget > 0) {
      callAnything(rank);
    } else if (!m_mpi.comingTo(rank).empty() && m_dice.chance(60)) {
      receiveCall(rank);
    } else if (!plan(rank).requests.empty()) {
      waitCall(rank);
    } else {
      begin(rank, EventKind::Local, "MPI_Get_count");
    }
  }

  /// A kind of call, each as often as this program's weights say.
  int anyKind() {
    int left = m_dice.below(std::accumulate(m_weights.begin(), m_weights.end(), 0));
    int kind = 0;
    while (left >= m_weights[static_cast<std::size_t>(kind)]) {
      left -= m_weights[static_cast<std::size_t>(kind++)];
    }
    return kind;
  }

  void callAnything(Rank rank) {
    switch (anyKind()) {
      case 0:
        return sendCall(rank);
      case 1:
        return receiveCall(rank);
      case 2:
        begin(rank, EventKind::Post, "MPI_Irecv");
        return plan(rank).requests.push_back({Thing::Receive, postSomething(rank)});
      case 3:
        return probeCall(rank);
      case 4:
        begin(rank, EventKind::SendReceive, "MPI_Sendrecv");
        send(rank, false);
        return m_mpi.wait(rank, {Thing::Receive, postSomething(rank)});
      case 5:
        return startAll(rank);
      case 6:
        return begin(rank, EventKind::Local, "MPI_Get_count");
      case 7:
        return waitCall(rank);
      default:
        return !m_open || mustJoin(rank) ? collective(rank) : sendCall(rank);
    }
  }

  std::uint32_t someComm(Rank rank) {
    return m_mpi.execution().communicators.size() > 1 && inGroup(rank, 1) && m_dice.chance(40) ? 1
                                                                                               : 0;
  }

  std::uint32_t send(Rank rank, bool synchronous, bool blocking = false) {
    const std::uint32_t comm = someComm(rank);
    Rank dest = m_dice.any(group(comm));
    if (dest == rank && (blocking || m_dice.chance(70))) {
      dest = m_dice.any(group(comm));
    }
    if (inGroup(0, comm) && (rank != 0 || !blocking) && m_dice.chance(m_hubPercent)) {
      dest = 0;
    }
    return m_mpi.send(rank, dest, m_dice.below(m_tags), comm, synchronous);
  }

  void sendCall(Rank rank) {
    const int kind = m_dice.below(10);
    if (kind < 7) {
      begin(rank, EventKind::Send, kind < 4 ? "MPI_Send" : "MPI_Isend");
      send(rank, false);
    } else if (kind < 8) {
      begin(rank, EventKind::Send, "MPI_Ssend");
      m_mpi.wait(rank, {Thing::SyncSend, send(rank, true, true)});
    } else {
      begin(rank, EventKind::Send, "MPI_Issend");
      plan(rank).requests.push_back({Thing::SyncSend, send(rank, true)});
    }
  }

  /// An envelope to ask for; mostly one that some message on its way fits.
  Packet wish(Rank rank) {
    const std::vector<Packet> coming = m_mpi.comingTo(rank);
    Packet packet;
    if (!coming.empty() && m_dice.chance(90)) {
      packet = m_dice.any(coming);
    } else {
      packet.comm = someComm(rank);
      packet.source = m_dice.any(group(packet.comm));
      packet.tag = m_dice.below(m_tags);
    }
    packet.source = m_dice.chance(m_wildPercent) ? kAnySource : packet.source;
    packet.tag = m_dice.chance(50) ? kAnyTag : packet.tag;
    return packet;
  }

  std::uint32_t postSomething(Rank rank) {
    const Packet packet = wish(rank);
    return m_mpi.post(rank, packet.source, packet.tag, packet.comm);
  }

  void receiveCall(Rank rank) {
    if (m_mpi.comingTo(rank).empty() && (plan(rank).budget <= 0 || m_dice.chance(80))) {
      return plan(rank).budget > 0 ? sendCall(rank)
                                   : begin(rank, EventKind::Local, "MPI_Get_count");
    }
    begin(rank, EventKind::Receive, "MPI_Recv");
    m_mpi.wait(rank, {Thing::Receive, postSomething(rank)});
  }

  void probeCall(Rank rank) {
    if (m_mpi.comingTo(rank).empty() && m_dice.chance(90)) {
      return sendCall(rank);
    }
    begin(rank, EventKind::Probe, "MPI_Probe");
    const Packet packet = wish(rank);
    m_mpi.probe(rank, packet.source, packet.tag, packet.comm);
  }

  void startAll(Rank rank) {
    begin(rank, EventKind::Start, "MPI_Startall");
    plan(rank).requests.push_back({Thing::Receive, postSomething(rank)});
    if (m_dice.chance(50)) {
      plan(rank).requests.push_back({Thing::SyncSend, send(rank, true)});
    }
    plan(rank).requests.push_back({Thing::Receive, postSomething(rank)});
  }

  /// Waits for one, some or all requests; or cancels one.
  void waitCall(Rank rank) {
    std::vector<Request>& requests = plan(rank).requests;
    if (requests.empty()) {
      return receiveCall(rank);
    }
    m_dice.shuffle(requests);
    if (requests.front().thing == Thing::Receive && !m_mpi.done(rank, requests.front()) &&
        m_dice.chance(plan(rank).budget > 0 ? 15 : 60)) {
      begin(rank, EventKind::Local, "MPI_Cancel");
      m_mpi.cancel(rank, requests.front().index);
      return;
    }
    const bool all = m_dice.chance(20);
    const bool gamble = m_dice.chance(10);
    std::vector<Request> waits;
    std::vector<Request> rest;
    for (const Request& request : requests) {
      const bool chosen = waits.empty() || all || m_dice.chance(30);
      (chosen && (gamble || mayGetDone(rank, request)) ? waits : rest).push_back(request);
    }
    if (waits.empty()) {
      return receiveCall(rank);
    }
    requests = rest;
    begin(rank, EventKind::Completion, waits.size() > 1 ? "MPI_Waitall" : "MPI_Wait");
    for (const Request& request : waits) {
      m_mpi.wait(rank, request);
    }
  }

  bool mayGetDone(Rank rank, const Request& request) {
    const std::vector<Packet> coming = m_mpi.comingTo(rank);
    return m_mpi.done(rank, request) || request.thing != Thing::Receive ||
           std::any_of(coming.begin(), coming.end(), [&](const Packet& packet) {
             return m_mpi.accepts(m_mpi.history(rank).receives[request.index], packet);
           });
  }

  // One collective is open at a time, till all of its group have entered, so that they never lock
  // up.
  void collective(Rank rank) {
    if (!m_open) {
      const std::uint32_t comm = someComm(rank);
      m_open = {comm, static_cast<std::uint32_t>(m_collectives[comm].size())};
      const auto flow = static_cast<CollectiveFlow>(m_dice.chance(10) ? 0 : 1 + m_dice.below(4));
      m_collectives[comm].push_back({flow, m_dice.any(group(comm)), m_dice.chance(65)});
    }
    const auto [comm, ordinal] = *m_open;
    const CollectivePlan& made = m_collectives[comm][ordinal];
    const bool rooted =
        made.flow == CollectiveFlow::FromRoot || made.flow == CollectiveFlow::ToRoot;
    begin(rank, made.blocking ? EventKind::Collective : EventKind::CollectivePost,
          made.blocking ? "collective" : "non-blocking collective");
    CollectivePart part;
    part.comm = comm;
    part.ordinal = ordinal;
    part.flow = made.flow;
    part.root = rooted ? made.root : kUnknownRank;
    part.contributes = SimulatedMpi::contributes(rank, comm, ordinal);
    part.takes = SimulatedMpi::contributes(rank + 3, comm, ordinal);
    m_mpi.enter(rank, part);
    const Request request{Thing::Collective,
                          static_cast<std::uint32_t>(m_mpi.history(rank).collectives.size() - 1)};
    if (made.blocking) {
      m_mpi.wait(rank, request);
    } else {
      plan(rank).requests.push_back(request);
    }
    const bool everybody = std::all_of(group(comm).begin(), group(comm).end(), [&](Rank other) {
      return m_mpi.partOf(other, m_open->first, m_open->second) != nullptr;
    });
    if (everybody) {
      m_open.reset();
    }
  }

  Dice& m_dice;
  SimulatedMpi m_mpi;
  std::vector<Plan> m_plans;
  std::vector<std::vector<CollectivePlan>> m_collectives;         ///< [comm][ordinal]
  std::optional<std::pair<std::uint32_t, std::uint32_t>> m_open;  ///< comm, ordinal
  int m_tags = 1;
  int m_wildPercent = 50;
  int m_hubPercent = 0;  ///< of the sends go to rank 0
  std::array<int, 9> m_weights{40, 13, 22, 6, 5,
                               6,  2,  12, 6};  ///< of what callAnything() chooses from
};

/// The record of a rank ends after `length` events.
void cutRecord(RankHistory& history, Serial length) {
  const auto dropLater = [&](auto& list, auto serialOf) {
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const auto& x) { return serialOf(x) > length; }),
               list.end());
  };
  history.events.resize(length);
  dropLater(history.receives, [](const PostedReceive& r) { return r.post; });
  dropLater(history.probes, [](const ProbeHit& p) { return p.event; });
  dropLater(history.sends, [](const SentMessage& s) { return s.event; });
  dropLater(history.collectives, [](const CollectivePart& c) { return c.event; });
  for (PostedReceive& r : history.receives) {
    if (r.completion > length) {
      r.completion = 0;
      r.state = ReceiveState::Pending;
      r.source = kUnknownRank;
      r.tag = kAnyTag;
    }
  }
  for (SentMessage& s : history.sends) {
    s.syncCompletion = s.syncCompletion > length ? 0 : s.syncCompletion;
  }
  for (CollectivePart& c : history.collectives) {
    c.completion = c.completion > length ? 0 : c.completion;
  }
}

/// A probe that a rank was blocked in at the end hit nothing.
void dropOpenProbes(RankHistory& history) {
  history.probes.erase(std::remove_if(history.probes.begin(), history.probes.end(),
                                      [](const ProbeHit& p) { return p.source == kUnknownRank; }),
                       history.probes.end());
}

}  // namespace

RandomExecution randomExecution(std::uint64_t seed, const RandomOptions& options) {
  Dice dice(seed);
  const int ranks = dice.chance(25) ? 2 : dice.chance(50) ? 3 : dice.chance(60) ? 4 : 5;
  RandomExecution result = RandomProgram(dice, ranks, options.eventsAtMost).run();
  for (RankHistory& history : result.execution.ranks) {
    dropOpenProbes(history);
    if (options.cut && dice.chance(50)) {
      cutRecord(history,
                static_cast<Serial>(dice.below(static_cast<int>(history.events.size()) + 1)));
      result.whole = false;
    }
  }
  return result;
}

std::uint64_t runs(std::uint64_t normal) {
  const char* text = std::getenv("PF_ORACLE_RUNS");
  return text == nullptr ? normal : std::strtoull(text, nullptr, 10);
}

}  // namespace pf::oracle
