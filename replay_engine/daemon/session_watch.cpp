// The parts of SessionLogic that watch: the gate, nudges, stalls, and the end.
#include <algorithm>

#include "daemon/session_logic.h"

namespace pf::daemon {

using namespace protocol;  // NOLINT(google-build-using-namespace): see session_logic.cpp

namespace {
/// Agents of one job come one after another: none for this long means that all have been.
constexpr std::chrono::milliseconds kAllHaveCome(300);
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

Orders SessionLogic::tick(TimePoint now) {
  m_now = now;
  StopPlanner::Step step = m_planner.step(m_ranks, now);
  for (const std::int32_t rank : step.nudge) {
    nudge(rank);
  }
  if (step.verdict) {
    tellVerdict(std::move(*step.verdict));
  }
  watchStall();
  watchEnd();
  watchOrphan();
  return takeOrders();
}

void SessionLogic::watchStall() {
  if (m_diverged || m_ranks.size() != static_cast<std::size_t>(m_expected)) {
    return;
  }
  const TimePoint progress = lastProgress(m_ranks, TimePoint{});
  if (m_now - progress < m_options.stallAfter || m_stallTold == progress) {
    return;
  }
  for (auto& [number, rank] : m_ranks) {
    namePlace(rank.state.place);
  }
  if (std::optional<Verdict> verdict = explainStall(m_ranks)) {
    m_stallTold = progress;
    if (replaying()) {
      explainReplay(*verdict);
    }
    tellVerdict(std::move(*verdict));
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
    behind += "\nin the recording, rank " + std::to_string(number) + " went on from there (to event " +
              std::to_string(last) + ")";
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
