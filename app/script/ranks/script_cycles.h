// SPDX-License-Identifier: GPL-3.0-or-later
// The cycles of a script, counted from its first: where the last move of each has led.
#pragma once

#include <map>
#include <optional>

#include <QObject>

#include "app/script/ranks/script_breakpoints.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class ScriptCycles : public QObject {
  Q_OBJECT
 public:
  ScriptCycles(session::DebugSession& session, const ScriptBreakpoints& breakpoints);

  /// Those that the session has by now are none of this script.
  void countFromHere();
  /// The session's number of the last one.
  [[nodiscard]] int number() const { return m_number; }
  /// Of the launcher of the last cycle, once it has ended by itself.
  [[nodiscard]] std::optional<int> exitStatus() const { return m_exitStatus; }
  /// Where the last move of the last cycle has led.
  void summarize(const QString& summary) { m_summaries[m_number] = summary; }
  /// "cycle 1: rank 0: before event 3; as recorded", of each.
  [[nodiscard]] QStringList lines() const;

 Q_SIGNALS:
  void begun();  ///< another one: its ranks are other processes

 private:
  void follow();
  [[nodiscard]] QString line(const values::Cycle& cycle) const;

  session::DebugSession& m_session;
  const ScriptBreakpoints& m_breakpoints;
  int m_number = 0;
  int m_first = 0;
  std::optional<int> m_exitStatus;
  std::map<int, QString> m_summaries;  ///< by the session's numbers
};

}  // namespace pf::headless
