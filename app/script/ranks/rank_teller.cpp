// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/rank_teller.h"

#include "app/script/ranks/rank_text.h"

namespace pf::headless {

using values::RankState;

namespace {

bool standsBeforeEvent(const RankState& state, const mi::StopEvent& stop) {
  return stop.reason == mi::StopReason::Event ||
         (stop.reason == mi::StopReason::Attached &&
          state.detail.startsWith(QLatin1String("before event")));
}

}  // namespace

RankTeller::RankTeller(session::DebugSession& session, const ScriptRanks& ranks,
                       const ScriptBreakpoints& breakpoints, ScriptCycles& cycles,
                       AwaitedAnswers& awaited, ScriptAnswer& answer)
    : m_session(session),
      m_ranks(ranks),
      m_breakpoints(breakpoints),
      m_answer(answer),
      m_places(session, ranks, awaited) {
  connect(&cycles, &ScriptCycles::begun, this, [this] { m_told.clear(); });
}

bool RankTeller::tell(const QList<int>& ranks, bool changedOnly) {
  std::map<int, QString> texts;
  for (const RankState& state : m_session.rankStates()) {
    if (!ranks.contains(state.rank)) {
      continue;
    }
    const QString text = rankText(state);
    if (m_told[state.rank] != text || !changedOnly) {
      texts[state.rank] = text;
    }
    m_told[state.rank] = text;
  }
  m_answer.sayEqualOnes(texts);
  return !texts.empty();
}

QString RankTeller::told(int rank) const {
  const auto told = m_told.find(rank);
  return told == m_told.end() ? QString() : told->second;
}

QString RankTeller::eventStopText(const EventRef& next) const {
  const int id = m_breakpoints.before(next);
  const QString why =
      id == 0 ? QString()
              : breakpointStopText(m_breakpoints.numberOf(id), *m_breakpoints.find(id), {}) +
                    QLatin1String(", ");
  return why + beforeEventText(m_session.trace()->execution, next);
}

QString RankTeller::stopText(const RankState& state, mi::GdbSession& gdb) const {
  const Serial serial = m_places.serialOf(state);
  if (standsBeforeEvent(state, gdb.stop())) {
    return eventStopText({state.rank, serial + 1});
  }
  const int id = m_session.breakpointAt(state.rank);
  const values::Breakpoint* breakpoint = id == 0 ? nullptr : m_breakpoints.find(id);
  const QString why =
      breakpoint == nullptr
          ? stopReasonText(gdb.stop(), m_session.stopWords(state.rank))
          : breakpointStopText(m_breakpoints.numberOf(id), *breakpoint, state.detail);
  return tr("%1, after event %2: %3").arg(why).arg(serial).arg(m_places.placeOf(state.rank));
}

QString RankTeller::rankText(const RankState& state) const {
  mi::GdbSession* gdb = m_session.debugger(state.rank);
  return m_session.isRunning() && gdb != nullptr && gdb->state() == mi::SessionState::Stopped
             ? stopText(state, *gdb)
             : rankStateText(state, m_ranks.gone(state), m_session.trace()->execution);
}

}  // namespace pf::headless

#include "moc_rank_teller.cpp"
