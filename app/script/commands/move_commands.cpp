// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/move_commands.h"

#include "app/script/ranks/rank_text.h"
#include "app/session/line_search.h"

namespace pf::headless {

using values::RankState;

void MoveCommands::addTo(CommandTable& table) {
  using M = MoveCommands;
  table["run"] = handlerOf(this, &M::run);
  table["repeat-cycle"] = handlerOf(this, &M::repeatCycle);
  table["end-replay"] = handlerOf(this, &M::endReplay);
  table["continue"] = handlerOf(this, &M::continueRanks);
  table["pause"] = handlerOf(this, &M::pause);
  table["until"] = handlerOf(this, &M::until);
  table["replay-to"] = handlerOf(this, &M::replayTo);
  table["last-change"] = handlerOf(this, &M::lastChange);
  table["focus"] = handlerOf(this, &M::focus);
  for (const auto* verb : {"next", "step", "finish"}) {
    table[verb] = handlerOf(this, &M::step);
  }
  for (const auto* verb : {"reverse-step", "reverse-next", "reverse-finish"}) {
    table[verb] = handlerOf(this, &M::lineBack);
  }
  for (const auto* verb : {"to-failure", "next-receive", "next-racing-receive", "next-event",
                           "deliver-next", "previous-event", "previous-receive", "previous-hit"}) {
    table[verb] = handlerOf(this, &M::navigate);
  }
}

void MoveCommands::run(const Command&, const Ranks&) {
  m_moves.move(Move::onward(), [this] { m_session.restartCycle(); });
}

void MoveCommands::repeatCycle(const Command&, const Ranks&) {
  m_moves.move(Move::onward(), [this] { m_session.repeatCycle(); });
}

void MoveCommands::endReplay(const Command&, const Ranks&) {
  if (!m_session.isReplaying()) {
    m_answer.done();
    return;
  }
  Move how = Move::thereTo();
  how.refusable = false;
  m_moves.move(how, [this] { m_session.endReplay(); });
}

void MoveCommands::continueRanks(const Command& command, const Ranks& ranks) {
  Move how = Move::onward();
  how.refusable = false;
  m_moves.move(how, [this, &command, &ranks] {
    m_session.act(values::RankAction::Continue, ranks, QString::fromStdString(command.group));
  });
}

void MoveCommands::pause(const Command& command, const Ranks& ranks) {
  QSet<int> running;
  for (const RankState& state : m_session.rankStates()) {
    if (ranks.contains(state.rank) && m_ranks.hasDebugger(state.rank) && !m_ranks.rests(state) &&
        !m_ranks.gone(state)) {
      running << state.rank;
    }
  }
  m_moves.move(Move::stopOf(running), [this, &command, &ranks] {
    m_session.act(values::RankAction::Pause, ranks, QString::fromStdString(command.group));
  });
}

QString MoveCommands::whyNotSteppable(const RankState& state) const {
  if (m_ranks.gone(state)) {
    return QObject::tr("rank %1 has ended").arg(state.rank);
  }
  if (!m_ranks.hasDebugger(state.rank)) {
    return QObject::tr("rank %1 has no debugger: 'focus %1' gives it one").arg(state.rank);
  }
  return QObject::tr("rank %1 runs: 'pause @%1' stops it").arg(state.rank);
}

/// Of `ranks` those that GDB can step now. None: the command has failed.
QSet<int> MoveCommands::steppable(const Ranks& ranks) {
  QSet<int> steppable;
  QString why;
  for (const RankState& state : m_session.rankStates()) {
    if (!ranks.contains(state.rank)) {
      continue;
    }
    if (m_ranks.canBeAsked(state)) {
      steppable << state.rank;
    } else {
      why = whyNotSteppable(state);
    }
  }
  if (steppable.isEmpty()) {
    m_answer.fail(why);
  }
  return steppable;
}

void MoveCommands::step(const Command& command, const Ranks& ranks) {
  const QSet<int> stepped = steppable(ranks);
  if (stepped.isEmpty()) {
    return;
  }
  const values::RankAction action = command.verb->name == "next"   ? values::RankAction::Next
                                    : command.verb->name == "step" ? values::RankAction::Step
                                                                   : values::RankAction::Finish;
  m_moves.move(Move::stopOf(stepped), [this, action, &command, &ranks] {
    m_session.act(action, ranks, QString::fromStdString(command.group));
  });
}

void MoveCommands::lineBack(const Command& command, const Ranks&) {
  using session::LineMove;
  const LineMove move = command.verb->name == "reverse-step"   ? LineMove::Step
                        : command.verb->name == "reverse-next" ? LineMove::Next
                                                               : LineMove::Finish;
  m_moves.move(Move::thereTo(), [this, move] { m_session.lineBack(move); });
}

void MoveCommands::until(const Command& command, const Ranks& ranks) {
  const QSet<int> stepped = steppable(ranks);
  if (stepped.isEmpty()) {
    return;
  }
  m_moves.move(Move::stopOf(stepped), [this, &command, &ranks] {
    m_session.control().runToLine(QString::fromStdString(command.file), command.line, ranks,
                                  QString::fromStdString(command.group));
  });
}

void MoveCommands::replayTo(const Command& command, const Ranks&) {
  if (const QString problem = eventProblem(m_session.trace()->execution, command.event);
      !problem.isEmpty()) {
    m_answer.fail(problem);
  } else {
    m_moves.move(Move::thereTo(), [this, &command] {
      m_session.setCurrentRank(command.event.rank);
      m_session.replayTo(command.event);
    });
  }
}

void MoveCommands::navigate(const Command& command, const Ranks&) {
  using To = session::Move;
  static const std::map<std::string_view, To> kMoves{
      {"to-failure", To::Failure},           {"next-receive", To::NextReceive},
      {"next-racing-receive", To::NextRace}, {"next-event", To::NextEvent},
      {"previous-event", To::PreviousEvent}, {"previous-receive", To::PreviousReceive},
  };
  m_moves.move(Move::thereTo(), [this, &command] {
    if (const auto found = kMoves.find(command.verb->name); found != kMoves.end()) {
      m_session.go(found->second);
    } else if (command.verb->name == "previous-hit") {
      m_session.previousHit();
    } else {
      m_session.go(command.text.empty() ? To::NextDelivery : To::NextDeliveryAnywhere);
    }
  });
}

void MoveCommands::lastChange(const Command& command, const Ranks&) {
  m_moves.move(Move::thereTo(),
               [this, &command] { m_session.lastChange(QString::fromStdString(command.text)); });
}

void MoveCommands::focus(const Command& command, const Ranks&) {
  QString problem;
  const QList<int> ranks = m_ranks.of(command.text, &problem);
  if (!problem.isEmpty()) {
    m_answer.fail(problem);
    return;
  }
  for (const int rank : ranks) {
    if (!m_session.runs(rank)) {
      m_answer.fail(m_session.notInReplay(rank));
      return;
    }
  }
  if (!m_session.isRunning()) {
    m_session.debuggers().setFocus(ranks);
    m_answer.say(ranks, QObject::tr("will have a GDB"));
    m_answer.done();
    return;
  }
  QSet<int> fresh;
  for (const int rank : ranks) {
    if (!m_ranks.hasDebugger(rank) && !m_ranks.gone(m_session.rankStates()[rank])) {
      fresh << rank;
    }
  }
  m_moves.move(Move::stopOf(fresh), [this, &ranks] { m_session.debuggers().setFocus(ranks); });
}

}  // namespace pf::headless
