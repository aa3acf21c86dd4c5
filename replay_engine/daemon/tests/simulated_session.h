// SPDX-License-Identifier: GPL-3.0-or-later
// A session without processes: made-up time, agents and clients that say what a test tells them.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "replay_engine/daemon/session_logic.h"

namespace pf::daemon {

class FakeSource final : public ScheduleSource {
 public:
  explicit FakeSource(int ranks) : m_ranks(ranks) {}
  [[nodiscard]] int ranks() const override { return m_ranks; }
  [[nodiscard]] Result<std::string> schedulePath(std::int32_t rank) override {
    return "/s/" + std::to_string(rank);
  }
  [[nodiscard]] Status checkRank(const protocol::RankHello& hello) override {
    return hello.buildId == "other" ? Status(Error{ErrorCode::Damaged, "another build", {}})
                                    : Status();
  }

  [[nodiscard]] std::uint64_t lastEvent(std::int32_t /*rank*/) const override { return last; }

  std::uint64_t last = 0;

 private:
  int m_ranks;
};

/// Peers: agent of rank r is 100 + r, clients are 1, 2, …
class SimulatedSession {
 public:
  explicit SimulatedSession(int ranks, std::uint32_t mode = kReplay | kGate)
      : SimulatedSession(ranks, options(mode)) {}
  SimulatedSession(int ranks, const LogicOptions& given)
      : source((given.mode & kReplay) != 0 ? ranks : 0), logic(given, source, now), size(ranks) {}

  static LogicOptions options(std::uint32_t mode) {
    LogicOptions out;
    out.mode = mode;
    out.callNames = {"MPI_Recv",  "MPI_Send",    "MPI_Allreduce", "MPI_Ssend",
                     "MPI_Bcast", "MPI_Waitall", "MPI_Barrier"};
    out.placeText = [](const protocol::CodePlace& place) {
      return place.module + ":" + std::to_string(place.offset);
    };
    return out;
  }

  void keep(Orders orders) {
    for (Order& order : orders) {
      if (order.message && std::holds_alternative<protocol::Ping>(*order.message)) {
        asked.emplace_back(order.peer, std::get<protocol::Ping>(*order.message).number);
      }
      all.push_back(order);
    }
  }
  /// Agents answer, but the one of `mute`.
  void answer() {
    for (const auto& [peer, number] : std::exchange(asked, {})) {
      if (peer != mute) {
        keep(logic.received(peer, protocol::Pong{number}, now));
      }
    }
  }
  void client(PeerId id = 1) { keep(logic.peerJoined(id, protocol::PeerRole::Client, now)); }
  void agent(std::int32_t rank) {
    keep(logic.peerJoined(agentOf(rank), protocol::PeerRole::Agent, now));
    keep(logic.received(agentOf(rank), hello(rank), now));
  }
  [[nodiscard]] protocol::RankHello hello(std::int32_t rank) const {
    protocol::RankHello out;
    out.rank = rank;
    out.size = size;
    out.pid = 1000 + rank;
    return out;
  }
  void order(const protocol::Message& message) { keep(logic.received(1, message, now)); }
  void says(std::int32_t rank, const protocol::Message& message) {
    keep(logic.received(agentOf(rank), message, now));
  }
  /// Rank `rank` is at `serial`; `inCall` 1 = MPI_Recv, 2 = MPI_Send.
  void at(std::int32_t rank, RankPhase phase, std::uint64_t serial, std::uint32_t inCall = 0,
          std::int32_t peer = -2) {
    protocol::RankState state;
    state.rank = 77;  // not the agent's to say
    state.phase = phase;
    state.serial = serial;
    state.inCall = inCall;
    state.waitPeer = peer;
    says(rank, state);
  }
  void pass(int milliseconds) {
    for (int t = 0; t < milliseconds; t += 10) {
      now += std::chrono::milliseconds(10);
      keep(logic.tick(now));
      answer();
    }
  }
  /// All ranks come, pass the gate and run.
  void start() {
    client();
    for (std::int32_t rank = 0; rank < size; ++rank) {
      agent(rank);
      at(rank, RankPhase::Gated, 1);
    }
    order(protocol::OpenGate{});
    for (std::int32_t rank = 0; rank < size; ++rank) {
      at(rank, RankPhase::Running, 1);
    }
    all.clear();
  }

  /// Messages of one kind to `peer` (0 = clients), taken out of what was kept.
  template <typename M>
  [[nodiscard]] std::vector<M> sent(PeerId peer = 0) const {
    std::vector<M> out;
    for (const Order& order : all) {
      if (order.peer == peer && order.message && std::holds_alternative<M>(*order.message)) {
        out.push_back(std::get<M>(*order.message));
      }
    }
    return out;
  }
  [[nodiscard]] std::vector<std::string> notices() const {
    std::vector<std::string> out;
    for (const protocol::Notice& notice : sent<protocol::Notice>()) {
      out.push_back(notice.text);
    }
    return out;
  }
  [[nodiscard]] std::vector<protocol::Verdict> verdicts() const {
    return sent<protocol::Verdict>();
  }
  [[nodiscard]] std::vector<std::uint64_t> stops(std::int32_t rank) const {
    std::vector<std::uint64_t> out;
    for (const protocol::SetStop& stop : sent<protocol::SetStop>(agentOf(rank))) {
      out.push_back(stop.serial);
    }
    return out;
  }
  [[nodiscard]] bool closed(PeerId peer) const {
    for (const Order& order : all) {
      if (order.peer == peer && !order.message) {
        return true;
      }
    }
    return false;
  }
  static PeerId agentOf(std::int32_t rank) { return 100 + static_cast<PeerId>(rank); }

  TimePoint now{std::chrono::hours(1)};
  FakeSource source;
  SessionLogic logic;
  Orders all;
  std::vector<std::pair<PeerId, std::uint64_t>> asked;  ///< pings that are not answered yet
  PeerId mute = 0;
  std::int32_t size;
};

}  // namespace pf::daemon
