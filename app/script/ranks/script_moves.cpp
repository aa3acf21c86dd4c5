// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/script_moves.h"

namespace pf::headless {

ScriptMoves::ScriptMoves(session::DebugSession& session, const ScriptRanks& ranks,
                         ScriptBreakpoints& breakpoints, ScriptCycles& cycles, RankTeller& teller,
                         ScriptAnswer& answer)
    : m_session(session),
      m_ranks(ranks),
      m_breakpoints(breakpoints),
      m_cycles(cycles),
      m_teller(teller),
      m_answer(answer) {
  m_clock.start();
  connectSession();
}

void ScriptMoves::connectSession() {
  using S = session::DebugSession;
  connect(&m_session, &S::settled, this, [this] {
    if (m_session.isRunning()) {
      m_wait.settled();
    }
  });
  connect(&m_session, &S::rankStopped, this, [this](int rank) { m_wait.stopped(rank); });
  connect(&m_session, &S::progress, this,
          [this](const QString& task) { m_heard.progress = m_heard.progress || !task.isEmpty(); });
  connect(&m_cycles, &ScriptCycles::begun, this, [this] { m_wait.newCycle(); });
}

bool ScriptMoves::hear(const QString& text, bool problem) {
  if (!m_underWay) {
    return false;
  }
  if (problem) {
    m_heard.problems << text;
  } else if (!text.startsWith(QLatin1String("Stopped: "))) {
    m_heard.words << text;
  }
  return true;
}

void ScriptMoves::move(const Move& how, const std::function<void()>& act) {
  m_underWay = true;
  m_wait.begin(how);
  m_heard = {};
  act();
  m_wanted = m_session.currentRank();
  const bool begun = m_heard.progress || (m_session.isReplaying() && !m_session.isRunning());
  if (how.refusable && !begun) {
    const QStringList& why = m_heard.problems.isEmpty() ? m_heard.words : m_heard.problems;
    m_answer.fail(why.isEmpty() ? tr("there is nothing to go to from here")
                                : why.join(QLatin1Char('\n')));
  }
}

bool ScriptMoves::arrived(qint64 commandMs) {
  return m_wait.arrived(m_ranks.whereabouts(), {m_clock.elapsed(), commandMs});
}

bool ScriptMoves::look(qint64 commandMs) {
  if (!m_underWay) {
    return false;
  }
  const bool over = !m_session.isReplaying();
  if (!m_heard.problems.isEmpty() && (over || m_session.isRunning())) {
    m_answer.fail(m_heard.problems.join(QLatin1Char('\n')));
    return true;
  }
  if (over || (m_session.isRunning() && arrived(commandMs))) {
    finish();
    return true;
  }
  return false;
}

QString ScriptMoves::missing() const {
  if (!m_session.isRunning()) {
    return tr("the ranks are still being started");
  }
  const QString moving = m_ranks.stillMoving();
  return moving.isEmpty() ? tr("the replay has not said that it is there") : moving;
}

/// The session takes the rank that has stopped last, which differs from run to run.
void ScriptMoves::finish() {
  m_underWay = false;
  const int first = m_wait.firstToLookAt(m_ranks.whereabouts(), m_wanted);
  m_session.setCurrentRank(first >= 0 ? first : m_wanted);
  m_teller.locate([this, onlyChanges = m_wait.move().onlyChanges] {
    tell(onlyChanges);
    warn();
    m_answer.done();
  });
}

void ScriptMoves::tell(bool onlyChanges) {
  for (const QString& text : std::as_const(m_heard.words)) {
    m_answer.sayForAll(m_breakpoints.sayable(text));
  }
  const int current = m_session.currentRank();
  if (!m_teller.tell(m_ranks.all(), true) && !onlyChanges) {
    m_teller.tell({current}, false);
  }
  const auto status = m_cycles.exitStatus();
  m_cycles.summarize(status ? tr("ended, exit status %1").arg(*status)
                            : tr("rank %1: %2").arg(current).arg(m_teller.told(current)));
  if (status) {
    m_answer.sayForAll(tr("the replay has ended, exit status %1").arg(*status));
  }
}

void ScriptMoves::warn() {
  for (const QString& warning : m_breakpoints.newWarnings(m_cycles.number())) {
    m_answer.besides().told(warning);
  }
}

}  // namespace pf::headless

#include "moc_script_moves.cpp"
