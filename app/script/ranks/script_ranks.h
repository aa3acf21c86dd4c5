// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a session as a script sees them: which there are, and whether each rests, runs, or is
// no more. Reads the session, and changes nothing.
#pragma once

#include <string>

#include <QList>
#include <QString>

#include "app/script/ranks/move_wait.h"
#include "app/script/ranks/script_breakpoints.h"
#include "app/session/debug_session.h"

namespace pf::headless {

class ScriptRanks {
 public:
  ScriptRanks(session::DebugSession& session, const ScriptBreakpoints& breakpoints)
      : m_session(session), m_breakpoints(breakpoints) {}

  [[nodiscard]] int count() const { return static_cast<int>(m_session.rankStates().size()); }
  /// That run.
  [[nodiscard]] QList<int> all() const;
  /// "0,2-4", "workers+0", "stopped".
  [[nodiscard]] QList<int> of(const std::string& group, QString* problem) const;

  /// It is stopped, where it has a GDB by that.
  [[nodiscard]] bool rests(const values::RankState& state) const;
  /// Its process is no more.
  [[nodiscard]] bool gone(const values::RankState& state) const;
  /// Its GDB can be asked.
  [[nodiscard]] bool canBeAsked(const values::RankState& state) const;
  [[nodiscard]] bool hasDebugger(int rank) const { return m_session.debugger(rank) != nullptr; }
  [[nodiscard]] QList<RankWhereabouts> whereabouts() const;
  /// No GDB has anything to do.
  [[nodiscard]] bool gdbsAreIdle() const;
  /// "rank 2 runs in its own code (event 7)", of all that are on their way.
  [[nodiscard]] QString stillMoving() const;

 private:
  [[nodiscard]] RankWhereabouts whereaboutsOf(const values::RankState& state) const;

  session::DebugSession& m_session;
  const ScriptBreakpoints& m_breakpoints;
};

}  // namespace pf::headless
