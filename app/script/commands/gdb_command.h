// SPDX-License-Identifier: GPL-3.0-or-later
// The command 'gdb': a line for the GDBs of ranks, and what each says to it.
//
// - Each GDB has the program's frame selected before its first command at a stop.
// - What the line has moved is told like a move.
#pragma once

#include <map>
#include <set>
#include <string>

#include <QObject>

#include "app/script/language/command_table.h"
#include "app/script/ranks/awaited_answers.h"
#include "app/script/ranks/rank_values.h"
#include "app/script/ranks/script_moves.h"

namespace pf::headless {

class GdbCommand : public QObject {
  Q_OBJECT
 public:
  GdbCommand(session::DebugSession& session, ScriptCycles& cycles, ScriptMoves& moves,
             AwaitedAnswers& awaited, ScriptAnswer& answer);

  void addTo(CommandTable& table);

 private:
  void gdb(const ScriptCommand& command, const QList<int>& ranks);
  void ask(int rank, const std::string& line);
  void selectFrame(int rank, int thread, const std::vector<mi::Frame>& frames);
  void send(int rank, const std::string& line);
  void take(int rank, const Status& status);
  void tellSaid();

  session::DebugSession& m_session;
  ScriptMoves& m_moves;
  AwaitedAnswers& m_awaited;
  ScriptAnswer& m_answer;
  std::map<int, QString> m_console;  ///< what GDBs say to the line, by rank
  std::set<int> m_refused;           ///< what the console was asked for cannot be done
  std::set<int> m_framed;  ///< ranks whose GDB has the program's frame selected since they stopped
  RankValues m_said;
};

}  // namespace pf::headless
