// SPDX-License-Identifier: GPL-3.0-or-later
// Commands that send ranks somewhere.
#include <algorithm>

#include <QRegularExpression>

#include "app/script/script_run.h"

namespace pf::headless {

using session::DebugSession;
using values::RankState;

void ScriptRun::run(const Command&) {
  move(onward(), [this] { m_session.restartCycle(); });
}

void ScriptRun::repeatCycle(const Command&) {
  move(onward(), [this] { m_session.repeatCycle(); });
}

void ScriptRun::endReplay(const Command&) {
  if (!m_session.isReplaying()) {
    done();
    return;
  }
  Move how = thereTo();
  how.refusable = false;
  move(how, [this] { m_session.endReplay(); });
}

void ScriptRun::continueRanks(const Command& command) {
  Move how = onward();
  how.refusable = false;
  move(how, [this, &command] {
    m_session.act(values::RankAction::Continue, m_ranks, QString::fromStdString(command.group));
  });
}

void ScriptRun::pause(const Command& command) {
  QSet<int> running;
  for (const RankState& state : m_session.rankStates()) {
    if (m_ranks.contains(state.rank) && m_session.debugger(state.rank) != nullptr &&
        !rests(state) && !gone(state)) {
      running << state.rank;
    }
  }
  move(stopOf(running), [this, &command] {
    m_session.act(values::RankAction::Pause, m_ranks, QString::fromStdString(command.group));
  });
}

/// Ranks of the command that GDB can step now. None: the command has failed.
QSet<int> ScriptRun::steppable() {
  QSet<int> ranks;
  QString why;
  for (const RankState& state : m_session.rankStates()) {
    if (!m_ranks.contains(state.rank)) {
      continue;
    }
    if (m_session.debugger(state.rank) != nullptr && rests(state)) {
      ranks << state.rank;
    } else {
      why = gone(state) ? tr("rank %1 has ended").arg(state.rank)
            : m_session.debugger(state.rank) == nullptr
                ? tr("rank %1 has no debugger: 'focus %1' gives it one").arg(state.rank)
                : tr("rank %1 runs: 'pause @%1' stops it").arg(state.rank);
    }
  }
  if (ranks.isEmpty()) {
    fail(why);
  }
  return ranks;
}

void ScriptRun::step(const Command& command) {
  const QSet<int> ranks = steppable();
  if (ranks.isEmpty()) {
    return;
  }
  const values::RankAction action = command.verb->name == "next"   ? values::RankAction::Next
                                    : command.verb->name == "step" ? values::RankAction::Step
                                                                   : values::RankAction::Finish;
  move(stopOf(ranks), [this, action, &command] {
    m_session.act(action, m_ranks, QString::fromStdString(command.group));
  });
}

void ScriptRun::until(const Command& command) {
  const QSet<int> ranks = steppable();
  if (ranks.isEmpty()) {
    return;
  }
  move(stopOf(ranks), [this, &command] {
    m_session.control().runToLine(QString::fromStdString(command.file), command.line, m_ranks,
                                  QString::fromStdString(command.group));
  });
}

void ScriptRun::replayTo(const Command& command) {
  const auto& ranks = m_data->execution.ranks;
  const auto rank = static_cast<std::size_t>(command.event.rank);
  if (rank >= ranks.size()) {
    fail(tr("the recording has ranks 0 to %1").arg(ranks.size() - 1));
  } else if (command.event.serial > ranks[rank].events.size()) {
    fail(tr("rank %1 has %2 events in the recording").arg(rank).arg(ranks[rank].events.size()));
  } else {
    move(thereTo(), [this, &command] {
      m_session.setCurrentRank(command.event.rank);
      m_session.replayTo(command.event);
    });
  }
}

void ScriptRun::navigate(const Command& command) {
  using session::Move;
  static const std::map<std::string_view, Move> kMoves{
      {"to-failure", Move::Failure},           {"next-receive", Move::NextReceive},
      {"next-racing-receive", Move::NextRace}, {"next-event", Move::NextEvent},
      {"previous-event", Move::PreviousEvent}, {"previous-receive", Move::PreviousReceive},
  };
  move(thereTo(), [this, &command] {
    if (const auto found = kMoves.find(command.verb->name); found != kMoves.end()) {
      m_session.go(found->second);
    } else if (command.verb->name == "previous-hit") {
      m_session.previousHit();
    } else {
      m_session.go(command.text.empty() ? Move::NextDelivery : Move::NextDeliveryAnywhere);
    }
  });
}

void ScriptRun::lastChange(const Command& command) {
  move(thereTo(), [this, &command] { m_session.lastChange(QString::fromStdString(command.text)); });
}

void ScriptRun::chooseFocus(const Command& command) {
  QString problem;
  const QList<int> ranks = ranksOf(command.text, &problem);
  if (!problem.isEmpty()) {
    fail(problem);
    return;
  }
  if (!m_session.isRunning()) {
    m_session.debuggers().setFocus(ranks);
    say(ranks, tr("will have a GDB"));
    done();
    return;
  }
  QSet<int> fresh;
  for (const int rank : ranks) {
    if (m_session.debugger(rank) == nullptr && !gone(m_session.rankStates()[rank])) {
      fresh << rank;
    }
  }
  move(stopOf(fresh), [this, &ranks] { m_session.debuggers().setFocus(ranks); });
}

/// Each GDB has the program's frame selected before its first command at a stop.
void ScriptRun::gdb(const Command& command) {
  m_console.clear();
  m_missing.clear();
  m_values.clear();
  m_someValue = false;
  for (const int rank : std::as_const(m_ranks)) {
    if (m_session.debugger(rank) == nullptr) {
      m_values[rank] = tr("error: no debugger");
    } else {
      m_missing.insert(rank);
    }
  }
  const std::string line = command.text;
  ++m_question;
  m_then = [this] {
    m_console.clear();
    sayEqualOnes(m_values);
    if (!m_someValue) {
      fail(tr("no GDB did that: %1").arg(m_values.begin()->second));
      return;
    }
    Move how = stopOf({});
    how.onlyChanges = true;
    move(how, [] {});
  };
  const std::set<int> asked = m_missing;
  m_missing.insert(-1);
  for (const int rank : asked) {
    mi::GdbSession* gdb = m_session.debugger(rank);
    const bool stopped = gdb->state() == mi::SessionState::Stopped;
    if (!stopped || rank == m_session.currentRank() || !m_framed.insert(rank).second) {
      gdbOf(rank, line);
      continue;
    }
    gdb->inspect().frames(
        gdb->stop().thread, 0, 63,
        [this, rank, line, thread = gdb->stop().thread,
         number = m_question](const Result<std::vector<mi::Frame>>& frames) {
          mi::GdbSession* here = m_session.debugger(rank);
          if (number == m_question && frames && here != nullptr) {
            const auto user = mi::firstUserFrame(*frames).value_or(0);
            here->inspect().selectFrame({thread, static_cast<int>(user)}, [](const Status&) {});
            gdbOf(rank, line);
          }
        });
  }
  m_missing.erase(-1);
  answered();
}

void ScriptRun::gdbOf(int rank, const std::string& line) {
  m_console[rank];
  m_session.debugger(rank)->console(line, [this, rank, number = m_question](const Status& status) {
    if (number != m_question) {
      return;
    }
    static const QRegularExpression kHistory(QStringLiteral("^\\$[0-9]+ = "));
    QString said = std::exchange(m_console[rank], {}).trimmed().remove(kHistory);
    if (!status) {
      const QString why = QString::fromStdString(status.error().message);
      said = tr("error: %1").arg(said.isEmpty() ? why : said);
    } else if (said.isEmpty()) {
      said = tr("done");
    }
    m_someValue = m_someValue || status.ok();
    m_values[rank] = said;
    m_missing.erase(rank);
    answered();
  });
}

}  // namespace pf::headless
