// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/script_ranks.h"

namespace pf::headless {

using values::RankActivity;
using values::RankState;

QList<int> ScriptRanks::all() const {
  QList<int> ranks;
  for (int rank = 0; rank < count(); ++rank) {
    if (m_session.runs(rank)) {
      ranks << rank;
    }
  }
  return ranks;
}

QList<int> ScriptRanks::of(const std::string& group, QString* problem) const {
  if (group == "all") {
    return all();
  }
  const QList<values::RankGroup> known = m_session.groups().all() +
                                         m_session.groups().communicators() +
                                         values::groupsByState(m_session.rankStates());
  return values::ranksOfExpression(QString::fromStdString(group), known, count(), problem);
}

bool ScriptRanks::rests(const RankState& state) const {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (gdb == nullptr) {
    return state.activity == RankActivity::Stopped;
  }
  return gdb->state() == mi::SessionState::Stopped && !gdb->isAboutToRun() &&
         state.activity != RankActivity::Gated;
}

bool ScriptRanks::gone(const RankState& state) const {
  if (mi::GdbSession* gdb = m_session.debugger(state.rank); gdb != nullptr) {
    return gdb->state() == mi::SessionState::Exited;
  }
  const bool last =
      state.activity == RankActivity::Finished || state.activity == RankActivity::Failed;
  return last && !state.detail.isEmpty();  // else it is in MPI_Finalize
}

bool ScriptRanks::canBeAsked(const RankState& state) const {
  return hasDebugger(state.rank) && rests(state);
}

RankWhereabouts ScriptRanks::whereaboutsOf(const RankState& state) const {
  RankWhereabouts found{.state = state, .rests = rests(state), .gone = gone(state)};
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  if (gdb == nullptr || !found.rests) {
    return found;
  }
  found.reason = gdb->stop().reason;
  if (const int id = m_session.breakpointAt(state.rank); id != 0) {
    found.at = m_breakpoints.find(id);
  }
  found.beforeBreakpoint = m_breakpoints.before({state.rank, state.serial + 1}) != 0;
  return found;
}

QList<RankWhereabouts> ScriptRanks::whereabouts() const {
  QList<RankWhereabouts> all;
  for (const RankState& state : m_session.rankStates()) {
    if (m_session.runs(state.rank)) {
      all << whereaboutsOf(state);
    }
  }
  return all;
}

bool ScriptRanks::gdbsAreIdle() const {
  for (const RankState& state : m_session.rankStates()) {
    mi::GdbSession* gdb = m_session.debugger(state.rank);
    if (gdb != nullptr && gdb->queue().waiting() + gdb->queue().inFlight() > 0) {
      return false;
    }
  }
  return true;
}

QString ScriptRanks::stillMoving() const {
  QStringList parts;
  for (const RankState& state : m_session.rankStates()) {
    if (m_session.runs(state.rank) && !gone(state) && !rests(state)) {
      parts << QObject::tr("rank %1 runs %2 (event %3)")
                   .arg(state.rank)
                   .arg(state.activity == RankActivity::InCall ? state.detail
                                                               : QObject::tr("in its own code"))
                   .arg(state.serial);
    }
  }
  return parts.join(QLatin1String("; "));
}

}  // namespace pf::headless
