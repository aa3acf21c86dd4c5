// SPDX-License-Identifier: GPL-3.0-or-later
// Ways back that GDB has to count, by re-execution: to the hit before, and to the last change of an expression.
//
// A hit of a GDB breakpoint has no number of its own in the recording, but in a replay the n-th is the n-th again. The last
// change: a first cycle counts a watchpoint's hits up to where the rank is (GDB ignores, and counts, all), a second one
// ignores all but the last. Not a bisection over events: a value may have changed and changed back.
// What only a frame knows (a local variable, what a pointer leads to) is watched by its address, if it lies there in the cycle
// that counts, too.
#pragma once

#include <functional>
#include <optional>

#include <QObject>

#include "app/session/breakpoints.h"
#include "app/session/cycles.h"
#include "app/session/destinations.h"
#include "app/session/inspection/expression_place.h"
#include "app/session/state/latest.h"

namespace pf::session {

class HitSearch : public QObject {
  Q_OBJECT
 public:
  /// `startCycle`: begins a cycle to a goal.
  HitSearch(SessionState& state, Breakpoints& breakpoints, Cycles& cycles,
            std::function<void(Goal)> startCycle)
      : m_state(state),
        m_breakpoints(breakpoints),
        m_cycles(cycles),
        m_startCycle(std::move(startCycle)) {}

  /// Of the current rank in this cycle: the same place again.
  void toPreviousHit();
  /// What it would look for the change of; empty: it would go to a hit that is none of a watch.
  [[nodiscard]] QString previousWatch() const;
  /// Why it would not go anywhere, as a sentence; empty: it would.
  [[nodiscard]] QString whyNoPreviousHit() const;
  /// Where the expression was changed last before the current rank's next event. `place`: where it lies there; nothing: not known.
  void toLastChange(const QString& expression, const std::optional<ExpressionPlace>& place);

  // -- for the session
  /// Changes are counted up to the hit that GDB has stopped the rank at.
  [[nodiscard]] bool isAsFar(int rank, const mi::StopEvent& stop) const;
  /// The cycle has come to where it was sent. True: it was the one that counts, and the other one begins.
  bool counted();
  /// It is what was looked for that GDB has stopped the rank at. `change`: what to say of it besides.
  [[nodiscard]] bool isFound(int rank, const mi::StopEvent& stop, QString* change) const;
  /// The cycle has ended without it. `ranToEnd`: by itself; where the rank stood is gone to again.
  void notFound(bool ranToEnd);
  /// All breakpoints are as before again.
  void end();

 Q_SIGNALS:
  void message(const QString& text, bool problem);
  void gaveUp(const QString& why);  ///< the cycle that counted stands where the search began

 private:
  /// A hit that can be come to again.
  struct Here {
    int spec = 0;
    int passes = 0;  ///< hits before
  };
  struct Search {
    int rank = 0;
    int spec = 0;       ///< of the fleet: what is looked for
    Serial from = 0;    ///< the event that the rank stood before, or was in
    bool own = false;   ///< made for this search
    bool last = false;  ///< the cycle that stops there; else the one that counts
    int passes = 0;     ///< hits to pass over
    QString expression;
    QString text;
    std::optional<Here> here;              ///< changes are counted up to there; else up to an event
    std::optional<ExpressionPlace> place;  ///< watched by its address
    Serial notAfter =
        0;  ///< asked for in the middle of this event's interval, and not looked there
  };
  [[nodiscard]] std::optional<Here> hitHere(int rank) const;
  [[nodiscard]] QString reservation() const;
  [[nodiscard]] QString movedTo() const;
  void checkPlace(int looks);
  void tellUnchanged();
  void runLast();
  void begin(Search search);
  void runCycle(Goal goal);
  void goBackTo(const Goal& goal);
  [[nodiscard]] QList<values::BreakpointHit> trail() const;
  [[nodiscard]] QList<values::BreakpointHit> hitsBefore() const;

  SessionState& m_state;
  Breakpoints& m_breakpoints;
  Cycles& m_cycles;
  std::function<void(Goal)> m_startCycle;
  Latest<NoQuestion> m_check;            ///< whether it lies where it lay
  std::optional<Search> m_search;        ///< under way: no other breakpoint stops
  QList<values::BreakpointHit> m_trail;  ///< hits before the one that toPreviousHit() went to
  int m_trailCycle = 0;
  int m_trailRank = -1;
};

}  // namespace pf::session
