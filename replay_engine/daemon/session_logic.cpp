// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/daemon/session_logic.h"

#include <algorithm>
#include <csignal>

namespace pf::daemon {

using namespace protocol;  // NOLINT(google-build-using-namespace): every message is handled here

namespace {
constexpr std::int32_t kMaxRanks = 1 << 20;
}

SessionLogic::SessionLogic(LogicOptions options, ScheduleSource& source, TimePoint now)
    : m_options(std::move(options)),
      m_source(source),
      m_planner(m_options.stopTimes),
      m_now(now),
      m_lastPeer(now),
      m_lastClient(now),
      m_expected(source.running()) {}

RankRecord* SessionLogic::find(std::int32_t rank) {
  const auto it = m_ranks.find(rank);
  return it == m_ranks.end() ? nullptr : &it->second;
}

void SessionLogic::toRank(std::int32_t rank, Message message) {
  if (const RankRecord* record = find(rank); record != nullptr && isLive(*record)) {
    m_orders.push_back({record->agent, std::move(message)});
  }
}

SessionState SessionLogic::state() const {
  SessionState out;
  out.mode = m_options.mode;
  out.ranksExpected = m_expected;
  out.agents = static_cast<std::int32_t>(m_agents.size());
  out.allGated = m_allGated;
  out.gateOpen = m_gateOpen;
  out.longestWait = static_cast<std::uint64_t>(m_longestWait.count());
  for (const auto& [number, rank] : m_ranks) {
    out.ranks.push_back(rank.state);
  }
  return out;
}

void SessionLogic::tellState() {
  toClients(state());
}

void SessionLogic::tellVerdict(Verdict verdict) {
  m_verdict = verdict;
  toClients(std::move(verdict));
}

// -- peers

Orders SessionLogic::peerJoined(PeerId peer, PeerRole role, TimePoint now) {
  m_now = now;
  m_lastPeer = now;
  m_anyone = true;
  m_orders.push_back({peer, Welcome{m_options.mode}});
  if (role == PeerRole::Agent) {
    m_agents.emplace(peer, Agent{}).first->second.heard = now;
    m_agentSeen = true;
    m_endTold = false;
    tellState();
    return takeOrders();
  }
  m_clients.push_back(peer);
  m_orders.push_back({peer, state()});
  for (const auto& [number, rank] : m_ranks) {
    m_orders.push_back({peer, rank.hello});
  }
  if (m_verdict) {
    m_orders.push_back({peer, *m_verdict});
  }
  return takeOrders();
}

Orders SessionLogic::peerLost(PeerId peer, TimePoint now) {
  m_now = now;
  m_lastPeer = now;
  if (const auto client = std::find(m_clients.begin(), m_clients.end(), peer);
      client != m_clients.end()) {
    m_clients.erase(client);
    m_lastClient = now;
    return takeOrders();
  }
  const auto it = m_agents.find(peer);
  if (it == m_agents.end()) {
    return takeOrders();
  }
  Agent agent = it->second;
  m_agents.erase(it);
  if (!agent.exited) {
    RankExited lost;
    lost.exitStatus = -1;
    lost.signal = -1;
    lost.text = "ended from outside, together with what started it";
    if (const RankRecord* rank = agent.said ? find(agent.rank) : nullptr) {
      lost.phase = rank->state.phase;
      lost.serial = rank->state.serial;
    }
    onExited(agent, std::move(lost));
  }
  if (RankRecord* rank = agent.said ? find(agent.rank) : nullptr; rank != nullptr) {
    rank->agent = 0;
  }
  tellState();
  return takeOrders();
}

Orders SessionLogic::received(PeerId peer, const Message& message, TimePoint now) {
  m_now = now;
  if (const auto agent = m_agents.find(peer); agent != m_agents.end()) {
    fromAgent(peer, agent->second, message);
  } else {
    fromClient(peer, message);
  }
  return takeOrders();
}

void SessionLogic::refuse(PeerId peer, const std::string& text) {
  m_orders.push_back({peer, Refused{text}});
  m_orders.push_back({peer, std::nullopt});
}

void SessionLogic::fromAgent(PeerId peer, Agent& agent, const Message& message) {
  // What is only passed on, under the rank that we know.
  const auto relay = [&](auto m) {
    m.rank = agent.rank;
    toClients(std::move(m));
  };
  std::visit(Overloaded{
                 [&](const RankLaunched& m) {
                   agent.pid = m.agentPid;
                   if (!agent.said) {
                     agent.rank = m.rank;
                     toClients(m);
                   }
                 },
                 [&](const RankHello& m) { onHello(peer, agent, m); },
                 [&](const RankState& m) { onState(agent, m); },
                 [&](const RankDiverged& m) { onDiverged(agent, m); },
                 [&](const RankExited& m) { onExited(agent, m); },
                 [&](const Pong& m) { onPong(agent, m); },
                 [&](const Notice& m) { relay(m); },
                 [&](const Snapshots& m) { relay(m); },
                 [&](const WentBack& m) { onWentBack(agent, m); },
                 [&](const Output& m) { relay(m); },
                 [&](const GdbState& m) { relay(m); },
                 [&](const MiFromGdb& m) { relay(m); },
                 [&](RankStack m) {
                   if (m.call.empty()) {
                     m.call = callName(m.inCall);
                   }
                   relay(std::move(m));
                 },
                 [&](const auto&) { refuse(peer, "this is not for an agent to say"); },
             },
             message);
}

void SessionLogic::fromClient(PeerId peer, const Message& message) {
  std::visit(Overloaded{
                 [&](const Plan& m) { onPlan(m); },
                 [&](const OpenGate& m) { onOpenGate(m); },
                 [&](const SetStop& m) {
                   if (m.rank >= 0 && m.rank < kMaxRanks) {
                     m_planner.setStop(m.rank, m.serial, m_now);
                     orderStop(m.rank, m.serial);
                   }
                 },
                 [&](const AttachGdb& m) { onAttach(m); },
                 [&](const DetachGdb& m) {
                   for (const std::int32_t rank : m.ranks) {
                     toRank(rank, DetachGdb{{rank}});
                   }
                 },
                 [&](const AskStack& m) { onAskStack(m); },
                 [&](const MiToGdb& m) { toRank(m.rank, m); },
                 [&](const GdbSignal& m) { toRank(m.rank, m); },
                 [&](const Kill&) { onKill(); },
                 [&](const GoBack& m) { onGoBack(m); },
                 [&](const Ping& m) {
                   m_orders.push_back({peer, Pong{m.number}});
                 },
                 [&](const Shutdown&) { m_shutdown = true; },
                 [&](const auto&) { refuse(peer, "this is not for a client to say"); },
             },
             message);
}

// -- agents

/// An error if this process may not be a rank of this session.
Status SessionLogic::admit(PeerId peer, const RankHello& hello) {
  if (hello.rank < 0 || hello.size <= 0 || hello.rank >= hello.size || hello.size > kMaxRanks) {
    return Error{
        ErrorCode::Peer,
        "rank " + std::to_string(hello.rank) + " of " + std::to_string(hello.size) + " cannot be",
        {}};
  }
  Status known = replaying() ? m_source.checkRank(hello) : Status();
  if (known && replaying() && m_source.ranks() != hello.size) {
    return Error{ErrorCode::Usage,
                 "the recording has " + std::to_string(m_source.ranks()) + " ranks, this run has " +
                     std::to_string(hello.size),
                 "replay with as many ranks as were recorded"};
  }
  if (!known) {
    return known;
  }
  if (const RankRecord* same = find(hello.rank); same != nullptr && same->agent != peer) {
    return Error{ErrorCode::Usage,
                 "a second process says that it is rank " + std::to_string(hello.rank),
                 "sessions with MPI_Comm_spawn or several mpirun are not supported"};
  }
  return {};
}

/// Ends a replay that cannot be one, and says why: the first reason only.
void SessionLogic::refuseReplay(std::int32_t rank, const std::string& text) {
  if (!replaying() || m_refused) {
    return;
  }
  m_refused = true;
  tellVerdict({VerdictKind::Refused, rank, 0, text});
  onKill();
}

void SessionLogic::onHello(PeerId peer, Agent& agent, RankHello hello) {
  if (agent.said) {
    refuse(peer, "hello was said twice");
    return;
  }
  if (Status status = admit(peer, hello); !status) {
    refuse(peer, status.error().text());
    refuseReplay(hello.rank, status.error().text());
    return;
  }
  hello.context = {};
  agent.said = true;
  agent.rank = hello.rank;
  m_expected = replaying() ? m_source.running() : hello.size;
  RankRecord& rank = m_ranks[hello.rank];
  rank.agent = peer;
  rank.hello = hello;
  rank.state.rank = hello.rank;
  rank.state.phase = RankPhase::Hello;
  rank.changed = m_now;
  toClients(std::move(hello));
  tellState();
  if (replaying()) {
    configure(peer, agent.rank);
  }
}

void SessionLogic::configure(PeerId peer, std::int32_t rank) {
  Result<std::string> schedule = m_source.schedulePath(rank);
  if (!schedule) {
    refuse(peer, schedule.error().text());
    tellVerdict({VerdictKind::Refused, rank, 0, schedule.error().text()});
    onKill();
    return;
  }
  if (std::string note = m_source.noteOn(rank); !note.empty()) {
    tellNotice(rank, std::move(note));
  }
  const std::uint64_t stopAt = m_planner.stopOf(rank);
  m_ranks[rank].stopAt = stopAt;
  m_orders.push_back(
      {peer, Configure{rank, m_options.mode, m_options.jitterSeed, *schedule, stopAt}});
}

std::string SessionLogic::callName(std::uint32_t inCall) const {
  const std::size_t call = inCall;
  return call > 0 && call <= m_options.callNames.size() ? m_options.callNames[call - 1]
                                                        : std::string();
}

void SessionLogic::namePlace(CodePlace& place) const {
  if (!place.module.empty() && place.text.empty() && m_options.placeText) {
    place.text = m_options.placeText(place);
  }
}

void SessionLogic::onPong(Agent& agent, const Pong& pong) {
  agent.answered = std::min(std::max(agent.answered, pong.number), m_pings);
  agent.heard = m_now;
  if (std::exchange(agent.silenceTold, false)) {
    tellNotice(agent.rank, "the agent of rank " + std::to_string(agent.rank) + " answers again");
  }
}

/// What a rank did before it diverged, a line an event.
std::string SessionLogic::pastText(const RankDiverged& diverged) const {
  std::string text;
  for (const PastEvent& event : diverged.history) {
    text += "\n    " + std::to_string(event.serial) + "  " + eventText(event);
  }
  return text.empty() ? text : "\n  its last events before that:" + text;
}

void SessionLogic::onState(Agent& agent, RankState state) {
  RankRecord* rank = agent.said ? find(agent.rank) : nullptr;
  if (rank == nullptr) {
    return;
  }
  state.rank = agent.rank;
  if (state.call.empty()) {
    state.call = callName(state.inCall);
  }
  const RankState before = std::exchange(rank->state, state);
  if (before.serial != state.serial || before.phase != state.phase || before.held != state.held) {
    endOfWait(true);
    rank->changed = m_now;
  }
  if (state.moved != 0 && before.moved != state.moved) {  // the first look proves nothing, either
    rank->moved = m_now;
  }
  if (before.stopped != state.stopped) {
    rank->stopped = m_now;
  }
  toClients(state);
  if (state.pastEnd && !before.pastEnd) {
    tellVerdict({VerdictKind::PastEnd, agent.rank, state.serial,
                 "the record of rank " + std::to_string(agent.rank) + " ends at its event " +
                     std::to_string(state.serial) + ": from here on it runs freely"});
  }
  if (before.phase != state.phase) {
    updateGate();
    if (state.phase == RankPhase::Stopped) {
      stepPlan();
    }
  }
}

void SessionLogic::onDiverged(const Agent& agent, RankDiverged diverged) {
  RankRecord* rank = agent.said ? find(agent.rank) : nullptr;
  if (rank == nullptr) {
    return;
  }
  diverged.rank = agent.rank;
  namePlace(diverged.place);
  for (PastEvent& event : diverged.history) {
    event.call = callName(event.inCall);
    namePlace(event.place);
  }
  if (diverged.goesOn) {
    toClients(std::move(diverged));
    return;
  }
  rank->state.phase = RankPhase::Diverged;
  rank->state.serial = diverged.serial;
  rank->changed = m_now;
  const std::string text =
      "rank " + std::to_string(agent.rank) + " diverged from its recording at event " +
      std::to_string(diverged.serial) + (diverged.call.empty() ? "" : " (" + diverged.call + ")") +
      "\n  expected: " + diverged.expected + "\n  got: " + diverged.got + at(diverged.place) +
      pastText(diverged);
  const std::uint64_t serial = diverged.serial;
  toClients(std::move(diverged));
  tellVerdict({VerdictKind::Diverged, agent.rank, serial, text});
  m_planner.cancel();
  m_diverged = true;
  for (const auto& [number, other] : m_ranks) {
    if (number != agent.rank) {
      orderStop(number, other.state.serial + 1);
    }
  }
}

void SessionLogic::onExited(Agent& agent, RankExited exited) {
  agent.exited = true;
  exited.rank = agent.rank;
  // A rank that is ended from outside does not go on by that.
  endOfWait(exited.signal != SIGTERM && exited.signal != SIGKILL && exited.signal != SIGINT &&
            exited.signal >= 0);
  if (RankRecord* rank = agent.said ? find(agent.rank) : nullptr) {
    rank->exited = true;
    rank->state.serial = exited.serial;
    rank->changed = m_now;
  }
  if (!agent.said && exited.signal >= 0 && exited.signal != SIGTERM &&
      exited.signal != SIGKILL) {  // which is how the launcher ends the others
    refuseReplay(-1,
                 exited.text +
                     ", which the recorded run did\n  Is it still the program that was recorded? "
                     "If the loader says above that the " +
                     "recorder library cannot be preloaded, build or install photofinish again.");
  }
  const bool endedWell = exited.exitStatus == 0 && exited.signal == 0;
  if (!endedWell && m_firstEnd.empty()) {
    m_firstEnd = exited.text;
    m_firstEndRank = agent.rank;
  }
  toClients(std::move(exited));
  updateGate();
}

// -- clients

void SessionLogic::onPlan(const Plan& plan) {
  if (plan.stops.size() > static_cast<std::size_t>(kMaxRanks)) {
    return;
  }
  m_planner.setPlan(plan, m_now);
  m_verdict.reset();
  for (const auto& [number, rank] : m_ranks) {
    orderStop(number, m_planner.stopOf(number));
  }
  if (plan.openGate) {
    m_openAll = true;
  }
  updateGate();
  stepPlan();  // all may stand there already
}

/// Never moves a stop back to where the rank has been: it then stops at its next event.
void SessionLogic::orderStop(std::int32_t number, std::uint64_t serial) {
  RankRecord* rank = find(number);
  if (rank == nullptr || !isLive(*rank)) {
    return;
  }
  const std::uint64_t next = rank->state.serial + 1;
  if (serial != 0 && isStopped(*rank) && serial <= next) {
    return;  // it is there
  }
  // Sent even if it was ordered before: a GDB that continues a stopped rank cancels its stop.
  rank->stopAt = serial == 0 ? 0 : std::max(serial, next);
  toRank(number, SetStop{number, rank->stopAt});
}

void SessionLogic::onOpenGate(const OpenGate& order) {
  if (order.ranks.empty()) {
    m_openAll = true;
  }
  m_openRanks.insert(m_openRanks.end(), order.ranks.begin(), order.ranks.end());
  updateGate();
}

void SessionLogic::onAttach(const AttachGdb& order) {
  for (const std::int32_t number : order.ranks) {
    if (const RankRecord* rank = find(number); rank != nullptr && isLive(*rank)) {
      toRank(number, AttachGdb{{number}});
    } else {
      toClients(GdbState{number, GdbCondition::Failed, 0,
                         "rank " + std::to_string(number) + " has no process to attach to"});
    }
  }
}

void SessionLogic::onAskStack(const AskStack& question) {
  std::vector<std::int32_t> ranks = question.ranks;
  if (question.ranks.empty() && m_ranks.size() == static_cast<std::size_t>(m_expected)) {
    for (const auto& [rank, record] : m_ranks) {
      ranks.push_back(rank);
    }
  } else if (question.ranks.empty()) {  // some have not come
    for (std::int32_t rank = 0; rank < m_expected; ++rank) {
      ranks.push_back(rank);
    }
  }
  for (const std::int32_t number : ranks) {
    if (const RankRecord* rank = find(number); rank != nullptr && isLive(*rank)) {
      toRank(number, AskStack{{number}, question.question});
    } else {
      toClients(RankStack{number, question.question, 0, {}, {}, "it has no process"});
    }
  }
}

/// Whatever was planned is of the way that it has come.
void SessionLogic::onGoBack(const GoBack& order) {
  const RankRecord* rank = find(order.rank);
  if (rank == nullptr || !isLive(*rank) || !replaying()) {
    toClients(WentBack{order.rank, 0, 0, false,
                       "rank " + std::to_string(order.rank) + " has no process to go back with"});
    return;
  }
  m_planner.setPlan({}, m_now);
  m_verdict.reset();
  toRank(order.rank, order);
}

void SessionLogic::onWentBack(const Agent& agent, WentBack back) {
  back.rank = agent.rank;
  RankRecord* rank = agent.said ? find(agent.rank) : nullptr;
  if (rank == nullptr) {
    return;
  }
  if (back.pid > 0) {
    rank->hello.pid = back.pid;
    rank->state = {};
    rank->state.rank = agent.rank;
    rank->state.phase = RankPhase::Stopped;
    rank->state.serial = std::max<std::uint64_t>(back.serial, 1) - 1;
    rank->stopAt = back.serial;
    rank->changed = m_now;
    m_diverged = false;
    endOfWait(true);
  }
  toClients(std::move(back));
}

void SessionLogic::onKill() {
  for (const auto& [peer, agent] : m_agents) {
    m_orders.push_back({peer, Kill{}});
  }
}

}  // namespace pf::daemon
