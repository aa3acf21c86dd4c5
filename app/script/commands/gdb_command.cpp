// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/commands/gdb_command.h"

#include <utility>

#include <QRegularExpression>

namespace pf::headless {

GdbCommand::GdbCommand(session::DebugSession& session, ScriptCycles& cycles, ScriptMoves& moves,
                       AwaitedAnswers& awaited, ScriptAnswer& answer)
    : m_session(session), m_moves(moves), m_awaited(awaited), m_answer(answer) {
  using S = session::DebugSession;
  connect(&m_session, &S::consoleText, this, [this](int rank, const QString& text) {
    if (const auto asked = m_console.find(rank); asked != m_console.end()) {
      asked->second += text;
    }
  });
  connect(&m_session, &S::consoleRefused, this, [this](int rank) { m_refused.insert(rank); });
  connect(&m_session, &S::rankStopped, this, [this](int rank) { m_framed.erase(rank); });
  connect(&cycles, &ScriptCycles::begun, this, [this] { m_framed.clear(); });
}

void GdbCommand::addTo(CommandTable& table) {
  table["gdb"] = handlerOf(this, &GdbCommand::gdb);
}

void GdbCommand::gdb(const ScriptCommand& command, const QList<int>& ranks) {
  m_console.clear();
  m_said.clear();
  std::set<int> asked;
  for (const int rank : ranks) {
    if (m_session.debugger(rank) == nullptr) {
      m_said.addError(rank, tr("no debugger"));
    } else {
      asked.insert(rank);
    }
  }
  m_awaited.ask(
      asked, [this, &command](int rank) { ask(rank, command.text); }, [this] { tellSaid(); });
}

void GdbCommand::ask(int rank, const std::string& line) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  const bool stopped = gdb->state() == mi::SessionState::Stopped;
  if (!stopped || rank == m_session.currentRank() || !m_framed.insert(rank).second) {
    send(rank, line);
    return;
  }
  const int thread = gdb->stop().thread;
  gdb->inspect().frames(thread, 0, mi::kFramesToUser,
                        m_awaited.inTime([this, rank, line, thread](const auto& frames) {
                          if (m_session.debugger(rank) == nullptr) {
                            take(rank, Error{ErrorCode::Peer, "its debugger is gone", {}});
                            return;
                          }
                          if (frames) {
                            selectFrame(rank, thread, *frames);
                          }
                          send(rank, line);
                        }));
}

void GdbCommand::selectFrame(int rank, int thread, const std::vector<mi::Frame>& frames) {
  const auto user = mi::firstUserFrame(frames);
  const mi::FrameRef frame = user ? mi::refOf(thread, frames[*user]) : mi::FrameRef{thread, 0};
  m_session.debugger(rank)->inspect().selectFrame(frame, [](const Status&) {});
}

void GdbCommand::send(int rank, const std::string& line) {
  m_console[rank];
  m_refused.erase(rank);
  m_session.debugger(rank)->console(
      line, m_awaited.inTime([this, rank](const Status& status) { take(rank, status); }));
}

void GdbCommand::take(int rank, const Status& status) {
  static const QRegularExpression kHistory(QStringLiteral("^\\$[0-9]+ = "));
  const QString said = std::exchange(m_console[rank], {}).trimmed().remove(kHistory);
  if (!status) {
    const QString why = QString::fromStdString(status.error().message);
    m_said.addError(rank, said.isEmpty() ? why : said);
  } else if (m_refused.count(rank) != 0) {
    m_said.addError(rank, said);
  } else {
    m_said.add(rank, said.isEmpty() ? tr("done") : said);
  }
  m_awaited.answered(rank);
}

void GdbCommand::tellSaid() {
  m_console.clear();
  m_said.sayIn(m_answer);
  if (!m_said.some()) {
    m_answer.fail(tr("no GDB did that: %1").arg(m_said.first()));
    return;
  }
  Move how = m_session.goesBackByLines() ? Move::thereTo() : Move::stopOf({});
  how.refusable = false;
  how.onlyChanges = true;
  m_moves.move(how, [] {});
}

}  // namespace pf::headless

#include "moc_gdb_command.cpp"
