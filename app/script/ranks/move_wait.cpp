// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/move_wait.h"

#include <algorithm>

namespace pf::headless {

using values::RankActivity;
using values::RankState;

namespace {

constexpr int kWaitsMs = 400;  ///< a rank that does nothing in a call for so long waits there …
constexpr int kWaitsMsEachRank = 15;  ///< … and so much longer for each rank that wants a core
constexpr int kToldMs = 150;          ///< that news of a rank may take
constexpr int kAllWaitMs = 12000;     ///< as settling as the session's own word
constexpr int kOthersMs = 10000;      ///< that ranks may go on computing once one has stopped
constexpr int kLauncherMs = 8000;     ///< that the launcher may outlive the last rank

bool sameState(const RankWhereabouts& rank, const RankState& seen) {
  return rank.state.activity == seen.activity && rank.state.serial == seen.serial &&
         rank.state.detail == seen.detail;
}

/// It does so for good if nothing changes.
bool waitsInCall(const RankState& state) {
  return state.activity == RankActivity::InCall || state.activity == RankActivity::Finished;
}

/// Ranks with a GDB that stop when one has come to this breakpoint.
QSet<int> stoppedBy(const values::Breakpoint& breakpoint, const QList<RankWhereabouts>& ranks) {
  QSet<int> stopped;
  bool ok = true;
  const QList<int> group = values::parseRankSet(breakpoint.group, ok);
  for (const RankWhereabouts& rank : ranks) {
    const bool named = breakpoint.stops == values::StopsWho::All || group.contains(rank.state.rank);
    if (rank.state.debugger && named) {
      stopped << rank.state.rank;
    }
  }
  return stopped;
}

}  // namespace

void MoveWait::begin(const Move& move) {
  m_move = move;
  newCycle();
  m_someStopped.reset();
}

void MoveWait::newCycle() {
  m_settled = false;
  m_stopped.clear();
}

/// Since the move began.
bool MoveWait::stoppedNow(const RankWhereabouts& rank) const {
  return rank.rests && m_stopped.contains(rank.state.rank);
}

QSet<int> MoveWait::stopTogether(const QList<RankWhereabouts>& ranks) const {
  QSet<int> together;
  for (const RankWhereabouts& rank : ranks) {
    if (stoppedNow(rank) && rank.at != nullptr && rank.at->stops != values::StopsWho::Alone) {
      together |= stoppedBy(*rank.at, ranks);
    }
  }
  return together;
}

MoveWait::Doing MoveWait::look(const QList<RankWhereabouts>& ranks) const {
  const QSet<int> together = stopTogether(ranks);
  Doing doing;
  for (const RankWhereabouts& rank : ranks) {
    if (rank.gone) {
      continue;
    }
    doing.allGone = false;
    const int number = rank.state.rank;
    const bool waits = !together.contains(number) && waitsInCall(rank.state);
    doing.awaited = doing.awaited || (m_move.ranks.contains(number) && !stoppedNow(rank));
    doing.waiting = doing.waiting || (!rank.rests && waits);
    doing.computing = doing.computing || (!rank.rests && !waits);
  }
  return doing;
}

qint64 MoveWait::quiet(const QList<RankWhereabouts>& ranks, qint64 now) {
  if (!std::equal(ranks.begin(), ranks.end(), m_seen.begin(), m_seen.end(), sameState)) {
    m_seen.clear();
    for (const RankWhereabouts& rank : ranks) {
      m_seen << rank.state;
    }
    m_seenFirst = now;
  }
  return now - m_seenFirst;
}

bool MoveWait::arrived(const QList<RankWhereabouts>& ranks, const MoveTimes& times) {
  const qint64 quietMs = quiet(ranks, times.now);
  const Doing doing = look(ranks);
  if (doing.awaited) {
    return false;
  }
  if (doing.allGone) {  // the session says when the launcher has ended, too
    return quietMs > kLauncherMs;
  }
  const bool allWait = m_move.mayWait && !doing.computing && quietMs > kAllWaitMs;
  if (m_move.settles && !m_settled && !allWait) {
    return false;
  }
  m_someStopped = m_someStopped.value_or(times.now);
  if (doing.computing) {
    return times.now - *m_someStopped > kOthersMs;
  }
  return !doing.waiting ||
         (quietMs > kWaitsMs + kWaitsMsEachRank * ranks.size() && times.sinceCommand > kToldMs);
}

int MoveWait::urgency(const RankWhereabouts& rank) const {
  if (!rank.rests) {
    return 0;
  }
  if (!rank.reason || !stoppedNow(rank)) {
    return 1;
  }
  switch (*rank.reason) {
    case mi::StopReason::Signal:
      return 4;
    case mi::StopReason::Breakpoint:
    case mi::StopReason::Watchpoint:
    case mi::StopReason::WatchpointScope:
    case mi::StopReason::Other:
      return 3;
    case mi::StopReason::Event:
      return rank.beforeBreakpoint ? 3 : 2;
    case mi::StopReason::Attached:
      return 1;
    case mi::StopReason::Step:
    case mi::StopReason::Finished:
    case mi::StopReason::Location:
    case mi::StopReason::Paused:
    case mi::StopReason::Exited:
    case mi::StopReason::ExitedBySignal:
      break;
  }
  return 2;
}

int MoveWait::firstToLookAt(const QList<RankWhereabouts>& ranks, int wanted) const {
  int best = -1;
  int most = 0;
  for (const RankWhereabouts& rank : ranks) {
    const int now = urgency(rank);
    if (now > most || (now == most && now > 0 && rank.state.rank == wanted)) {
      most = now;
      best = rank.state.rank;
    }
  }
  return best;
}

}  // namespace pf::headless
