// SPDX-License-Identifier: GPL-3.0-or-later
// The breakpoints of a script: numbered from 1 as they are made, and not kept in the trace. The
// session has ids of its own for them, below 0.
#pragma once

#include <set>
#include <utility>

#include <QList>
#include <QStringList>

#include "app/session/breakpoints.h"

namespace pf::headless {

class ScriptBreakpoints {
 public:
  explicit ScriptBreakpoints(session::Breakpoints& breakpoints) : m_breakpoints(breakpoints) {}

  /// Returns its id.
  int add(values::Breakpoint breakpoint);
  /// The one that was added last: as if it had never been.
  void takeBack();
  void remove(int number);

  /// Null: there is none, or none any more.
  [[nodiscard]] const values::Breakpoint* find(int id) const;
  [[nodiscard]] const values::Breakpoint* numbered(int number) const;
  [[nodiscard]] int numberOf(int id) const { return static_cast<int>(m_ids.indexOf(id)) + 1; }
  /// By number; 0 in the place of one that was deleted.
  [[nodiscard]] const QList<int>& ids() const { return m_ids; }
  /// Id of the first that stops ranks before this event; 0: none does.
  [[nodiscard]] int before(const EventRef& event) const;

  /// "breakpoint 1: sum.c:18 if i > 2; 3 hits", in this cycle.
  [[nodiscard]] QString line(const values::Breakpoint& breakpoint, int cycle) const;
  /// The session's words, with the script's numbers.
  [[nodiscard]] QString sayable(const QString& text) const;
  /// Those that cannot stop a rank, as a name is wrong: each once a cycle.
  [[nodiscard]] QStringList newWarnings(int cycle);
  /// Those of newWarnings() that have had no place in any cycle until now, and are enabled: a script has asked for a stop
  /// that never can have come.
  [[nodiscard]] QStringList neverSet() const;

 private:
  session::Breakpoints& m_breakpoints;
  QList<int> m_ids;                        ///< by their numbers - 1; 0: deleted
  std::set<std::pair<int, int>> m_warned;  ///< cycle, id
  std::set<int> m_hadPlace;                ///< ids that were set at some time
};

}  // namespace pf::headless
