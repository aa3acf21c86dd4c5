// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of SessionLogic that watch: the gate, nudges, stalls, and the end.
#include <algorithm>

#include "replay_engine/base/process_state.h"
#include "replay_engine/daemon/session_logic.h"

namespace pf::daemon {

using namespace protocol;  // NOLINT(google-build-using-namespace): see session_logic.cpp

namespace {
/// Agents of one job come one after another: none for this long means that all have been.
constexpr std::chrono::milliseconds kAllHaveCome(300);
/// A replay may be so much slower than its recording.
constexpr int kSlower = 3;
/// While data move, a stall is told after so many times the time.
constexpr int kMovingFor = 12;
/// One who is stopped by a signal and does not answer is spoken of; one who runs, later.
/// Of processor time, in a wait: whoever polls has seen by then what there is. Who does not poll
/// uses none: then time alone has to do.
constexpr std::int64_t kLooksTake = 2;
constexpr std::chrono::milliseconds kLookedFor(20000);
constexpr std::chrono::milliseconds kAnswersWithin(2000);
constexpr std::chrono::milliseconds kBusyFor(15000);
constexpr std::chrono::milliseconds kStoppedFor(1500);
}  // namespace

void SessionLogic::updateGate() {
  if (!m_allGated && m_expected > 0 && m_ranks.size() == static_cast<std::size_t>(m_expected)) {
    const bool gated = std::all_of(m_ranks.begin(), m_ranks.end(), [](const auto& entry) {
      // A stop before the first event, MPI_Init, holds a rank just as well.
      const RankRecord& rank = entry.second;
      return isLive(rank) && (rank.state.phase == RankPhase::Gated || isStopped(rank));
    });
    if (gated) {
      m_allGated = true;
      tellState();
    }
  }
  if (m_allGated && (m_openAll || !m_openRanks.empty())) {
    openGates();
  }
}

void SessionLogic::openGates() {
  bool opened = false;
  for (auto& [number, rank] : m_ranks) {
    const bool named =
        std::find(m_openRanks.begin(), m_openRanks.end(), number) != m_openRanks.end();
    if (!rank.gateOpen && (m_openAll || named)) {
      rank.gateOpen = true;
      rank.changed = m_now;
      toRank(number, OpenGate{{number}});
      opened = true;
    }
  }
  m_openRanks.clear();
  if (opened) {
    m_gateOpen = std::all_of(m_ranks.begin(), m_ranks.end(),
                             [](const auto& entry) { return entry.second.gateOpen; });
    tellState();
  }
}

void SessionLogic::nudge(std::int32_t number) {
  RankRecord* rank = find(number);
  if (rank == nullptr) {
    return;
  }
  const std::uint64_t stopAt = rank->state.serial + 2;
  if (rank->stopAt != stopAt) {
    rank->stopAt = stopAt;
    toRank(number, SetStop{number, stopAt});
    toClients(Nudged{number, stopAt});
  }
}

/// With each tick, and at once when a rank has come to where it was sent: a user waits for it.
void SessionLogic::stepPlan() {
  if (m_ranks.size() < static_cast<std::size_t>(m_expected)) {
    return;  // one that has not come yet is not where it was sent
  }
  StopPlanner::Step step = m_planner.step(m_ranks, m_now);
  for (const std::int32_t rank : step.nudge) {
    nudge(rank);
  }
  if (step.verdict) {
    tellVerdict(std::move(*step.verdict));
  }
}

Orders SessionLogic::tick(TimePoint now) {
  m_now = now;
  stepPlan();
  watchAgents();
  watchStopped();
  watchStall();
  watchEnd();
  watchOrphan();
  return takeOrders();
}

void SessionLogic::watchStall() {
  if (m_diverged || m_ranks.size() != static_cast<std::size_t>(m_expected)) {
    return;
  }
  noteWaits();
  const std::chrono::milliseconds limit = m_options.stallLimit;
  if (m_waited >= patience() / 2) {
    noteTimes();
  }
  if (m_waited < (limit.count() > 0 ? std::min(patience(), limit) : patience())) {
    m_stallPing.reset();
    return;
  }
  if (!m_stallPing) {
    // What is known of the ranks may be old: an agent may be stopped, or the machine be busy.
    ping();
    m_stallPing = m_pings;
  }
  if (!allHaveAnswered()) {
    return;
  }
  m_stallPing = m_pings + 1;  // looked at again when all have answered once more
  for (auto& [number, rank] : m_ranks) {
    namePlace(rank.state.place);
  }
  if (std::optional<Verdict> verdict = explainStall(m_ranks)) {
    tellStall(std::move(*verdict), m_waited);
  }
}

/// For how long every rank has waited by now.
void SessionLogic::noteWaits() {
  const TimePoint progress = lastProgress(m_ranks, TimePoint{});
  if (!everyRankWaits(m_ranks)) {
    m_waited = std::chrono::milliseconds(0);
    return;
  }
  m_waitSince = progress;
  m_waited = std::chrono::duration_cast<std::chrono::milliseconds>(m_now - progress);
}

/// Somebody does something, `wentOn`: by himself.
void SessionLogic::endOfWait(bool wentOn) {
  if (wentOn) {
    m_longestWait = std::max(m_longestWait, m_waited);
  }
  m_waited = std::chrono::milliseconds(0);
  m_stallPing.reset();
}

/// Ranks may wait in an operation that computes, or for much data, and all is well: then they have
/// mostly done so before.
std::chrono::milliseconds SessionLogic::patience() const {
  if (m_options.stallAfterGiven) {
    return m_options.stallAfter;
  }
  return std::max(m_options.stallAfter + kSlower * m_options.recordedWait, 2 * m_longestWait);
}

bool SessionLogic::allHaveAnswered() const {
  return std::all_of(m_agents.begin(), m_agents.end(), [this](const auto& entry) {
    return entry.second.exited || entry.second.answered >= m_stallPing;
  });
}

void SessionLogic::noteTimes() {
  if (!m_options.processTime || m_timeBeforeOf == m_waitSince) {
    return;
  }
  m_timeBeforeOf = m_waitSince;
  m_timeBefore.clear();
  for (const auto& [number, rank] : m_ranks) {
    m_timeBefore[number] = m_options.processTime(rank.hello);
  }
}

bool SessionLogic::allHaveLooked(std::chrono::milliseconds quiet) const {
  if (!m_options.processTime || quiet >= kLookedFor) {
    return true;
  }
  return m_timeBeforeOf == m_waitSince &&
         std::all_of(m_ranks.begin(), m_ranks.end(), [&](const auto& entry) {
           const RankRecord& rank = entry.second;
           // In MPI_Finalize a rank may sleep, and gets no message any more.
           const bool polls = isWaiting(rank) && rank.state.phase == RankPhase::Running;
           const std::int64_t now = polls ? m_options.processTime(rank.hello) : -1;
           const auto before = m_timeBefore.find(entry.first);
           return now < 0 || (before != m_timeBefore.end() && now - before->second >= kLooksTake);
         });
}

/// Once for each stall, and again when more is known of it.
void SessionLogic::tellStall(Verdict verdict, std::chrono::milliseconds quiet) {
  // Data on their way end what looks like a knot, and may take a while.
  const TimePoint moved = lastMove(m_ranks, TimePoint{});
  const bool moving = m_now - moved < m_options.stallAfter;
  if (verdict.proven && (moving || !allHaveLooked(quiet))) {
    verdict = {VerdictKind::Stalled, -1, 0, "every rank waits:\n" + describeAll(m_ranks)};
  }
  verdict.overLimit = m_options.stallLimit.count() > 0 && quiet >= m_options.stallLimit;
  const bool known = m_stallTold && m_stallTold->progress == m_waitSince;
  const bool news = !known || (verdict.proven && !m_stallTold->proven) ||
                    (verdict.overLimit && !m_stallTold->overLimit);
  if (!news || (moving && !verdict.overLimit && quiet < kMovingFor * patience())) {
    return;
  }
  m_stallTold = ToldStall{m_waitSince, verdict.proven, verdict.overLimit};
  if (replaying() && (m_options.mode & kBranch) == 0) {
    explainReplay(verdict);
  }
  tellVerdict(std::move(verdict));
}

void SessionLogic::tellNotice(std::int32_t rank, std::string text) {
  toClients(Notice{rank, std::move(text)});
}

char SessionLogic::stateOf(std::int32_t pid) const {
  return m_options.processState && pid > 0 ? m_options.processState(pid) : 'R';
}

void SessionLogic::ping() {
  ++m_pings;
  m_pinged = m_now;
  for (auto& [peer, agent] : m_agents) {
    if (agent.answered + 1 == m_pings) {
      agent.heard = m_now;  // it has answered all: its time begins now
    }
    m_orders.push_back({peer, Ping{m_pings}});
  }
}

/// An agent that does not answer is named: a rank may seem to do nothing because of it.
void SessionLogic::watchAgents() {
  if (m_now - m_pinged >= m_options.pingEvery && !m_agents.empty()) {
    ping();
  }
  for (auto& [peer, agent] : m_agents) {
    const auto silent = m_now - agent.heard;
    if (agent.silenceTold || agent.exited || agent.answered == m_pings || silent < kAnswersWithin) {
      continue;
    }
    const char state = stateOf(agent.pid);
    if (state != 'T' && silent < kBusyFor) {
      continue;
    }
    agent.silenceTold = true;
    const std::string who = agent.rank < 0 ? "an agent whose rank has not started yet"
                                           : "the agent of rank " + std::to_string(agent.rank);
    tellNotice(agent.rank, who + " (process " + std::to_string(agent.pid) +
                               ") does not answer: " + whyNoAnswer(agent.pid, state));
  }
}

/// Nor does a rank get on that a signal has stopped.
void SessionLogic::watchStopped() {
  for (auto& [number, rank] : m_ranks) {
    const std::string name = "rank " + std::to_string(number);
    const bool stopped = isLive(rank) && rank.state.stopped;
    if (stopped && !rank.stopTold && m_now - rank.stopped >= kStoppedFor) {
      rank.stopTold = true;
      const std::string pid = std::to_string(rank.hello.pid);
      tellNotice(number, name + " (process " + pid +
                             ") is stopped by a signal (SIGSTOP or the like): kill -CONT " + pid +
                             " lets it go on");
    } else if (!stopped && rank.stopTold) {
      rank.stopTold = false;
      if (isLive(rank)) {
        tellNotice(number, name + " goes on");
      }
    }
  }
}

/// Every rank that waits does so in the last event of its record, or beyond.
bool SessionLogic::stalledAsRecorded() const {
  return std::all_of(m_ranks.begin(), m_ranks.end(), [this](const auto& entry) {
    const RankRecord& rank = entry.second;
    return !isWaiting(rank) || rank.state.pastEnd ||
           rank.state.serial >= m_source.lastEvent(entry.first);
  });
}

/// A replay may stall where the recorded program did, or where it did not: then somebody has gone
/// past what another waits for, and that is no deadlock of the program.
void SessionLogic::explainReplay(Verdict& verdict) const {
  verdict.asRecorded = stalledAsRecorded();
  if (verdict.asRecorded) {
    return;
  }
  std::string behind;
  for (const auto& [number, rank] : m_ranks) {
    const std::uint64_t last = m_source.lastEvent(number);
    if (!isWaiting(rank) || rank.state.serial >= last) {
      continue;
    }
    const RankRecord* peer = nullptr;
    if (const auto found = m_ranks.find(rank.state.waitPeer); found != m_ranks.end()) {
      peer = &found->second;
    }
    behind += "\nin the recording, rank " + std::to_string(number) +
              " went on from there (to event " + std::to_string(last) + ")";
    if (peer != nullptr && isWaiting(*peer)) {
      behind += ": rank " + std::to_string(rank.state.waitPeer) +
                " has gone past what it sent then, or sends another message";
    }
  }
  constexpr std::string_view kDeadlock = "deadlock: ";
  if (verdict.kind == VerdictKind::Deadlock && verdict.text.rfind(kDeadlock, 0) == 0) {
    verdict.kind = VerdictKind::Stalled;
    verdict.text = "no deadlock of the recorded program: " + verdict.text.substr(kDeadlock.size());
  }
  verdict.text += behind;
}

void SessionLogic::watchEnd() {
  if (m_endTold || !m_agentSeen || !m_agents.empty() || m_now - m_lastPeer < kAllHaveCome) {
    return;
  }
  m_endTold = true;
  std::uint64_t serial = 0;
  if (const RankRecord* rank = find(m_firstEndRank)) {
    serial = rank->state.serial;
  }
  tellVerdict({VerdictKind::Ended, m_firstEndRank, serial,
               m_firstEnd.empty() ? "all programs have ended" : m_firstEnd});
}

/// A replay that nobody can steer any more would stay at its gate or its stops for ever.
void SessionLogic::watchOrphan() {
  if (!replaying() || !m_clients.empty() || m_agents.empty()) {
    m_orphanKilled = false;
    return;
  }
  if (!m_orphanKilled && m_now - std::max(m_lastClient, m_lastPeer) >= m_options.orphanAfter) {
    m_orphanKilled = true;
    onKill();
  }
}

bool SessionLogic::finished(TimePoint now) const {
  if (m_shutdown) {
    return true;
  }
  if (!m_agents.empty() || !m_clients.empty()) {
    return false;
  }
  return now - m_lastPeer >= (m_anyone ? m_options.lingerAfter : m_options.startWithin);
}

}  // namespace pf::daemon
