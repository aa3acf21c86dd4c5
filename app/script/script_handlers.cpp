// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/script_handlers.h"

#include <algorithm>

#include "app/script/commands/answer_commands.h"

namespace pf::headless {

ScriptHandlers::ScriptHandlers(session::DebugSession& session, ScriptAnswer& answer)
    : m_session(session),
      m_answer(answer),
      m_breakpoints(session.breakpoints()),
      m_cycles(session, m_breakpoints),
      m_ranks(session, m_breakpoints),
      m_teller(session, m_ranks, m_breakpoints, m_cycles, m_awaited, answer),
      m_moves(session, m_ranks, m_breakpoints, m_cycles, m_teller, answer),
      m_moveCommands(session, m_ranks, m_moves, answer),
      m_breakpointCommands(session, m_ranks, m_breakpoints, m_cycles, answer),
      m_stackCommands(session, m_ranks, m_awaited, answer),
      m_lookCommands(session, m_ranks, m_cycles, m_teller, m_awaited, answer),
      m_gdbCommand(session, m_cycles, m_moves, m_awaited, answer),
      m_orderCommands(session, answer) {
  addAnswerCommands(m_table, answer);
  m_moveCommands.addTo(m_table);
  m_breakpointCommands.addTo(m_table);
  m_stackCommands.addTo(m_table);
  m_lookCommands.addTo(m_table);
  m_gdbCommand.addTo(m_table);
  m_orderCommands.addTo(m_table);
}

QList<int> ScriptHandlers::ranksOf(const ScriptCommand& command, QString* problem) const {
  if (command.group.empty() && command.verb->group != ScriptGroup::All) {
    return {m_session.currentRank()};
  }
  return m_ranks.of(command.group.empty() ? "all" : command.group, problem);
}

int ScriptHandlers::outside(const ScriptCommand& command, const QList<int>& ranks) const {
  const bool acts = command.verb->replay && command.verb->group != ScriptGroup::None;
  const auto found =
      std::find_if(ranks.begin(), ranks.end(), [this](int rank) { return !m_session.runs(rank); });
  return acts && found != ranks.end() ? *found : -1;
}

void ScriptHandlers::carryOut(const ScriptCommand& command) {
  if (command.verb->replay && !m_session.isRunning()) {
    m_answer.fail(
        QObject::tr("no replay runs: 'run', 'to-failure' and 'replay-to RANK:SERIAL' begin one"));
    return;
  }
  QString problem;
  const QList<int> ranks = ranksOf(command, &problem);
  if (!problem.isEmpty()) {
    m_answer.fail(problem);
    return;
  }
  if (const int rank = outside(command, ranks); rank >= 0) {
    m_answer.fail(m_session.notInReplay(rank));
    return;
  }
  m_answer.replaceLast();
  m_table.at(command.verb->name)(command, ranks);
}

bool ScriptHandlers::look(qint64 commandMs) {
  return m_breakpointCommands.look(commandMs) || m_moves.look(commandMs);
}

QString ScriptHandlers::lateText(double seconds) const {
  if (m_moves.isUnderWay()) {
    return QObject::tr("not done within %1 s: %2").arg(seconds).arg(m_moves.missing());
  }
  const QList<int> silent = m_awaited.silent();
  return QObject::tr("no answer within %1 s%2")
      .arg(seconds)
      .arg(silent.isEmpty()
               ? QString()
               : QObject::tr(" from the GDB of rank %1").arg(values::rankSetText(silent)));
}

void ScriptHandlers::drop() {
  m_moves.drop();
  m_breakpointCommands.drop();
  m_awaited.drop();
  m_orderCommands.drop();
}

void ScriptHandlers::hear(const QString& text, bool problem) {
  if (!m_moves.hear(text, problem)) {
    m_answer.besides().told(sayable(text));
  }
}

}  // namespace pf::headless
