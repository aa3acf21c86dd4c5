// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/script_cycles.h"

namespace pf::headless {

ScriptCycles::ScriptCycles(session::DebugSession& session, const ScriptBreakpoints& breakpoints)
    : m_session(session), m_breakpoints(breakpoints) {
  connect(&m_session.cycles(), &session::Cycles::changed, this, &ScriptCycles::follow);
  connect(&m_session, &session::DebugSession::ended, this,
          [this](int status) { m_exitStatus = status; });
}

void ScriptCycles::countFromHere() {
  m_number = m_session.cycles().lastNumber();
  m_first = m_number + 1;
}

void ScriptCycles::follow() {
  if (m_session.cycles().none() || m_session.cycles().last().number == m_number) {
    return;
  }
  m_number = m_session.cycles().last().number;
  m_exitStatus.reset();
  Q_EMIT begun();
}

QStringList ScriptCycles::lines() const {
  QStringList lines;
  for (const values::Cycle& cycle : m_session.cycles().all()) {
    if (cycle.number >= m_first) {
      lines << line(cycle);
    }
  }
  return lines;
}

QString ScriptCycles::line(const values::Cycle& cycle) const {
  const QString match = cycle.match == values::CycleMatch::Matches    ? tr("; as recorded")
                        : cycle.match == values::CycleMatch::Diverged ? tr("; diverged")
                                                                      : QString();
  const QString inputs =
      cycle.inputs.isEmpty() ? QString() : tr("; ") + m_breakpoints.sayable(cycle.inputs);
  const auto known = m_summaries.find(cycle.number);
  const QString summary =
      known == m_summaries.end() ? m_breakpoints.sayable(cycle.summary) : known->second;
  return tr("cycle %1: %2%3%4").arg(cycle.number - m_first + 1).arg(summary, match, inputs);
}

}  // namespace pf::headless

#include "moc_script_cycles.cpp"
