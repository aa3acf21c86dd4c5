// SPDX-License-Identifier: GPL-3.0-or-later
// Everything the daemon decides, without sockets or clocks: events in, orders out.
//
// The transport (daemon.h) authenticates peers, then reports their coming, their messages and their
// going, and ticks at least every 50 ms; tests do the same with made-up time. Agents are authentic
// but not trusted: what they say is filed under the rank that the daemon gave them, and a message
// that is not theirs to send closes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/daemon/rank_table.h"
#include "replay_engine/daemon/schedule_source.h"
#include "replay_engine/daemon/stop_planner.h"
#include "replay_engine/protocol/messages.h"

namespace pf::daemon {

struct LogicOptions {
  std::uint32_t mode = 0;  ///< RankMode bits of the session
  std::uint64_t jitterSeed = 0;
  StopTimes stopTimes;
  /// How long every rank waits until that is told. Nothing given by the user: longer where the
  /// recorded run, or this one, has waited for longer and then gone on.
  std::chrono::milliseconds stallAfter{5000};
  bool stallAfterGiven = false;
  /// The longest that every rank of the recorded run waited and then went on.
  std::chrono::milliseconds recordedWait{0};
  /// Every rank waits for so long: told as Verdict::overLimit, whatever is known of why. 0 = never.
  std::chrono::milliseconds stallLimit{0};
  /// How often agents are asked whether they are there. Every one is, before a stall is told.
  std::chrono::milliseconds pingEvery{1000};
  /// A replay whose last client is gone is killed after this time.
  std::chrono::milliseconds orphanAfter{5000};
  /// The daemon ends this long after its last peer has gone …
  std::chrono::milliseconds lingerAfter{1000};
  /// … or after this time if none ever came.
  std::chrono::milliseconds startWithin{60000};
  /// Names of MPI calls, by RankPage::inCall - 1; may be empty.
  std::vector<std::string> callNames;
  /// A place as people name it, "main.c:57 (work)"; may be empty.
  std::function<std::string(const protocol::CodePlace&)> placeText;
  /// As processState() of replay_engine/base/process_state.h, of this host; may be empty.
  std::function<char(std::int32_t pid)> processState;
  /// Processor time that a rank has used, in ticks; -1: not known, as on another host. May be empty.
  std::function<std::int64_t(const protocol::RankHello& rank)> processTime;
};

/// Send `message` to `peer` (0 = every client); no message: close `peer`.
struct Order {
  PeerId peer = 0;
  std::optional<protocol::Message> message;
};
using Orders = std::vector<Order>;

class SessionLogic {
 public:
  SessionLogic(LogicOptions options, ScheduleSource& source, TimePoint now);

  [[nodiscard]] Orders peerJoined(PeerId peer, protocol::PeerRole role, TimePoint now);
  [[nodiscard]] Orders received(PeerId peer, const protocol::Message& message, TimePoint now);
  [[nodiscard]] Orders peerLost(PeerId peer, TimePoint now);
  [[nodiscard]] Orders tick(TimePoint now);

  /// The daemon has nothing more to do.
  [[nodiscard]] bool finished(TimePoint now) const;
  [[nodiscard]] const RankTable& ranks() const { return m_ranks; }
  /// The whole session as a client sees it.
  [[nodiscard]] protocol::SessionState state() const;

 private:
  struct Agent {
    std::int32_t rank = -1;      ///< the launcher's word until RankHello
    bool said = false;           ///< RankHello
    bool exited = false;         ///< said RankExited
    std::int32_t pid = 0;        ///< of the agent
    std::uint64_t answered = 0;  ///< number of the last Ping that it has answered
    TimePoint heard;             ///< when it did, or came
    bool silenceTold = false;
  };

  void fromAgent(PeerId peer, Agent& agent, const protocol::Message& message);
  void fromClient(PeerId peer, const protocol::Message& message);
  void onHello(PeerId peer, Agent& agent, protocol::RankHello hello);
  void onState(Agent& agent, protocol::RankState state);
  void onPong(Agent& agent, const protocol::Pong& pong);
  void onDiverged(const Agent& agent, protocol::RankDiverged diverged);
  void refuseReplay(std::int32_t rank, const std::string& text);
  void onExited(Agent& agent, protocol::RankExited exited);
  void onPlan(const protocol::Plan& plan);
  void onOpenGate(const protocol::OpenGate& order);
  void onAttach(const protocol::AttachGdb& order);
  void onAskStack(const protocol::AskStack& question);
  void onGoBack(const protocol::GoBack& order);
  void onWentBack(const Agent& agent, protocol::WentBack back);
  void onKill();

  [[nodiscard]] Status admit(PeerId peer, const protocol::RankHello& hello);
  void refuse(PeerId peer, const std::string& text);
  void configure(PeerId peer, std::int32_t rank);
  void orderStop(std::int32_t rank, std::uint64_t serial);
  void updateGate();
  void openGates();
  void nudge(std::int32_t rank);
  void stepPlan();
  void watchStall();
  void noteWaits();
  void endOfWait(bool wentOn);
  [[nodiscard]] std::chrono::milliseconds patience() const;
  [[nodiscard]] bool allHaveAnswered() const;
  /// What is on its way may lie there because nobody has had a processor to look.
  void noteTimes();
  [[nodiscard]] bool allHaveLooked(std::chrono::milliseconds quiet) const;
  void tellStall(protocol::Verdict verdict, std::chrono::milliseconds quiet);
  void ping();
  void watchAgents();
  void watchStopped();
  void tellNotice(std::int32_t rank, std::string text);
  [[nodiscard]] char stateOf(std::int32_t pid) const;
  void namePlace(protocol::CodePlace& place) const;
  [[nodiscard]] std::string callName(std::uint32_t inCall) const;
  [[nodiscard]] std::string pastText(const protocol::RankDiverged& diverged) const;
  [[nodiscard]] bool stalledAsRecorded() const;
  void explainReplay(protocol::Verdict& verdict) const;
  void watchEnd();
  void watchOrphan();
  void tellVerdict(protocol::Verdict verdict);
  void tellState();
  void toRank(std::int32_t rank, protocol::Message message);
  void toClients(protocol::Message message) { m_orders.push_back({0, std::move(message)}); }
  [[nodiscard]] bool replaying() const { return (m_options.mode & kReplay) != 0; }
  [[nodiscard]] RankRecord* find(std::int32_t rank);
  Orders takeOrders() { return std::exchange(m_orders, {}); }

  LogicOptions m_options;
  ScheduleSource& m_source;
  StopPlanner m_planner;
  RankTable m_ranks;
  std::map<PeerId, Agent> m_agents;  ///< connected
  std::vector<PeerId> m_clients;     ///< connected
  Orders m_orders;
  TimePoint m_now;
  TimePoint m_lastPeer;    ///< a peer came or went
  TimePoint m_lastClient;  ///< a client went, or the session began
  std::int32_t m_expected = 0;
  bool m_anyone = false;
  bool m_agentSeen = false;
  bool m_allGated = false;
  bool m_gateOpen = false;
  bool m_openAll = false;                 ///< client's order, perhaps before all are gated
  std::vector<std::int32_t> m_openRanks;  ///< same, for some
  bool m_diverged = false;
  bool m_refused = false;
  bool m_endTold = false;
  bool m_orphanKilled = false;
  bool m_shutdown = false;
  /// What has been told of a stall, by the progress before it.
  struct ToldStall {
    TimePoint progress;
    bool proven = false;
    bool overLimit = false;
  };
  std::optional<ToldStall> m_stallTold;
  std::map<std::int32_t, std::int64_t> m_timeBefore;  ///< of ranks, by processTime()
  std::optional<TimePoint> m_timeBeforeOf;            ///< the wait in which it was taken
  TimePoint m_waitSince;                              ///< progress since which every rank waits
  std::chrono::milliseconds m_waited{0};              ///< and for how long
  std::chrono::milliseconds m_longestWait{0};         ///< of those that are over
  std::uint64_t m_pings = 0;                          ///< number of the last one
  TimePoint m_pinged;
  std::optional<std::uint64_t> m_stallPing;  ///< all have to answer this one before a stall is told
  std::string m_firstEnd;                    ///< of the first program that did not end well
  std::int32_t m_firstEndRank = -1;
  std::optional<protocol::Verdict> m_verdict;  ///< the last one, for clients that come later
};

}  // namespace pf::daemon
