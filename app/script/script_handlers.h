// SPDX-License-Identifier: GPL-3.0-or-later
// What carries out a script's commands on a session: the commands by their trades, put together with
// what these share. Start at addTo() of a trade for what a command does.
#pragma once

#include "app/script/commands/breakpoint_commands.h"
#include "app/script/commands/gdb_command.h"
#include "app/script/commands/look_commands.h"
#include "app/script/commands/move_commands.h"
#include "app/script/commands/order_commands.h"
#include "app/script/commands/stack_commands.h"
#include "app/script/language/command_table.h"
#include "app/script/ranks/awaited_answers.h"
#include "app/script/ranks/rank_teller.h"
#include "app/script/ranks/script_breakpoints.h"
#include "app/script/ranks/script_cycles.h"
#include "app/script/ranks/script_moves.h"
#include "app/script/ranks/script_ranks.h"

namespace pf::headless {

class ScriptHandlers {
 public:
  /// Before the session has opened its trace, of which it may have something to say.
  ScriptHandlers(session::DebugSession& session, ScriptAnswer& answer);
  /// The trace is open.
  void begin() { m_cycles.countFromHere(); }

  void add(std::string_view verb, CommandHandler handler) { m_table[verb] = std::move(handler); }
  /// Whether there is code for this command.
  [[nodiscard]] bool contains(std::string_view verb) const { return m_table.contains(verb); }
  /// The answer ends, now or later.
  void carryOut(const ScriptCommand& command);

  // -- while the present command goes on
  /// To be called again and again. `commandMs`: that it has taken by now. True: it got on.
  bool look(qint64 commandMs);
  /// Why it has not ended, after so many seconds.
  [[nodiscard]] QString lateText(double seconds) const;
  /// It has ended: nothing is waited for any more.
  void drop();

  /// Breakpoints that have never been set, in words, at the end of the script.
  [[nodiscard]] QStringList neverSet() const { return m_breakpoints.neverSet(); }
  /// What the session says goes with the present move, or to standard error.
  void hear(const QString& text, bool problem);
  /// The session's words, with the script's numbers of breakpoints.
  [[nodiscard]] QString sayable(const QString& text) const { return m_breakpoints.sayable(text); }

 private:
  /// Of a command that moves or asks ranks: the first that does not run; -1: all do.
  [[nodiscard]] int outside(const ScriptCommand& command, const QList<int>& ranks) const;
  [[nodiscard]] QList<int> ranksOf(const ScriptCommand& command, QString* problem) const;

  session::DebugSession& m_session;
  ScriptAnswer& m_answer;
  AwaitedAnswers m_awaited;
  ScriptBreakpoints m_breakpoints;
  ScriptCycles m_cycles;
  ScriptRanks m_ranks;
  RankTeller m_teller;
  ScriptMoves m_moves;

  MoveCommands m_moveCommands;
  BreakpointCommands m_breakpointCommands;
  StackCommands m_stackCommands;
  LookCommands m_lookCommands;
  GdbCommand m_gdbCommand;
  OrderCommands m_orderCommands;
  CommandTable m_table;
};

}  // namespace pf::headless
