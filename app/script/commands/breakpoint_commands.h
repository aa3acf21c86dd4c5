// SPDX-License-Identifier: GPL-3.0-or-later
// Commands about breakpoints: break, tbreak, log, delete, enable, disable, ignore, stops,
// breakpoints. One that changes a breakpoint is done once the GDBs have made the change.
#pragma once

#include <optional>

#include <QObject>

#include "app/script/language/command_table.h"
#include "app/script/language/script_answer.h"
#include "app/script/ranks/script_breakpoints.h"
#include "app/script/ranks/script_cycles.h"
#include "app/script/ranks/script_ranks.h"

namespace pf::headless {

class BreakpointCommands : public QObject {
  Q_OBJECT
 public:
  BreakpointCommands(session::DebugSession& session, const ScriptRanks& ranks,
                     ScriptBreakpoints& breakpoints, const ScriptCycles& cycles,
                     ScriptAnswer& answer);

  void addTo(CommandTable& table);
  /// To be called again and again. `commandMs`: that the command has taken by now. True: it got on.
  bool look(qint64 commandMs);
  /// Nobody waits for a change any more.
  void drop() { m_changed.reset(); }

 private:
  using Command = ScriptCommand;
  using Ranks = QList<int>;

  void breakAt(const Command& command, const Ranks& ranks);
  void log(const Command& command, const Ranks& ranks);
  void remove(const Command& command, const Ranks& ranks);
  void change(const Command& command, const Ranks& ranks);
  void list(const Command& command, const Ranks& ranks);
  void add(values::Breakpoint breakpoint, const Ranks& ranks);
  [[nodiscard]] const values::Breakpoint* numbered(int number);
  void giveDebuggers(const Ranks& ranks);
  void tellChanged(int id);
  void tell(int id);

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  ScriptBreakpoints& m_breakpoints;
  const ScriptCycles& m_cycles;
  ScriptAnswer& m_answer;
  std::optional<int> m_changed;  ///< id of the breakpoint that GDBs are changing
};

}  // namespace pf::headless
