// SPDX-License-Identifier: GPL-3.0-or-later
// Tells where ranks are and why they have stopped, and remembers what it has told of each: after a
// move only what has become different is told.
#pragma once

#include <functional>
#include <map>

#include <QObject>

#include "app/script/language/script_answer.h"
#include "app/script/ranks/rank_places.h"
#include "app/script/ranks/script_breakpoints.h"
#include "app/script/ranks/script_cycles.h"
#include "app/script/ranks/script_ranks.h"

namespace pf::headless {

class RankTeller : public QObject {
  Q_OBJECT
 public:
  RankTeller(session::DebugSession& session, const ScriptRanks& ranks,
             const ScriptBreakpoints& breakpoints, ScriptCycles& cycles, AwaitedAnswers& awaited,
             ScriptAnswer& answer);

  /// Asks the GDBs where their ranks are, then calls `then`, from where it can be told.
  void locate(std::function<void()> then) { m_places.ask(std::move(then)); }
  /// As part of the answer. False: there was nothing to be told.
  bool tell(const QList<int>& ranks, bool changedOnly);
  /// What was last told of the rank in this cycle.
  [[nodiscard]] QString told(int rank) const;

 private:
  [[nodiscard]] QString rankText(const values::RankState& state) const;
  /// "breakpoint 1 (sum.c:18), after event 3: main() at sum.c:18"
  [[nodiscard]] QString stopText(const values::RankState& state, mi::GdbSession& gdb) const;
  [[nodiscard]] QString eventStopText(const EventRef& next) const;

  session::DebugSession& m_session;
  const ScriptRanks& m_ranks;
  const ScriptBreakpoints& m_breakpoints;
  ScriptAnswer& m_answer;
  RankPlaces m_places;
  std::map<int, QString> m_told;
};

}  // namespace pf::headless
