// SPDX-License-Identifier: GPL-3.0-or-later
// Back by lines: inside of a rank, between two of its events, by counted re-execution.
//
// Between two events a rank does the same in each replay. So a place there has a number: it is the n-th time since the rank
// stood before event S, the last one that it began, that it comes to this address. GDB counts how often it comes there
// from here to the next event, then in a new cycle how often from event S on; the difference is n. That cycle takes steps, if
// there are not many to the next event: the line before is one of those up to the n-th time. Else the cycle after that stops
// at time n - 1 (or before event S, where n is 1) and takes steps until the n-th: these are all lines in between. The
// last cycle takes one step less. Where the line before is event S itself, the rank stands before that: over calls of MPI
// it goes by events. What is gone back over is stepped over (line_walk.h). Where too many lines lie in between, as of a
// loop, the last of them is taken for a landmark, and the begin of the function that the rank is in, if that is still ahead:
// how often the rank comes there until here is counted, and the steps are taken from its last time on.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <QObject>
#include <QTimer>

#include "app/session/breakpoints.h"
#include "app/session/destinations.h"
#include "app/session/line_trail.h"
#include "app/session/run_control.h"

namespace pf::session {

class LineSearch : public QObject {
  Q_OBJECT
 public:
  struct Parts {
    SessionState& state;
    Breakpoints& breakpoints;
    RunControl& control;
  };
  /// `startCycle`: begins a cycle to a goal.
  LineSearch(const Parts& parts, std::function<void(Goal)> startCycle);

  /// Of the current rank. Where it cannot be done that is said, and the rank stays where it was, or is brought back there.
  void go(LineMove move);
  /// Why it cannot be, as a sentence, as far as that is known at once.
  [[nodiscard]] QString whyNot() const;
  /// Why not in a frame of Python.
  [[nodiscard]] static QString whyNotInPython();

  // -- for the session
  [[nodiscard]] bool isUnderWay() const { return m_search.has_value(); }
  /// The user has asked for something else.
  void cancel();
  /// The rank is at the gate, and not to be sent on from there by anybody else.
  [[nodiscard]] bool holdsAtGate(int rank) const;
  void atGate();
  /// All ranks are at their stops. True: on the way, nobody else hears of it.
  bool cutCame();
  /// GDB has stopped a rank. True: likewise.
  bool takes(int rank, const mi::StopEvent& stop);
  /// Of a stop that takes() has left to others, once: what it is; empty: it is none of the search's.
  [[nodiscard]] QString takeWords();
  /// The breakpoint at which it had stood there before; 0: at none.
  [[nodiscard]] int takeBreakpoint() { return std::exchange(m_breakpoint, 0); }
  /// The cycle has ended. `ranToEnd`: by itself.
  void cycleEnded(bool ranToEnd);
  /// GDB lets the rank go on: what is known of its place holds no longer.
  void goesOn(int rank) { m_trail.goesOn(rank); }
  /// GDB is about to step the current rank, as the user wants it.
  void userSteps(const mi::RunCommand& command) { m_trail.begins(command); }

 Q_SIGNALS:
  void message(const QString& text, bool problem);
  void progress(const QString& task);
  void stays();  ///< the rank has not been moved

 private:
  enum class Phase {
    Look,        ///< GDB is asked where the rank is
    Forward,     ///< on to the next event, counting
    ToCount,     ///< a new cycle, to event S
    CountSteps,  ///< from there to the next event, by steps
    Count,       ///< on to the next event
    ToWalk,      ///< another one, to event S
    WalkHit,     ///< from there to the time before
    Walk,        ///< by steps, to where the search began
    ToSurvey,    ///< a new cycle, to event S
    Survey,      ///< from there to where the search began, counting a landmark
    ToAim,       ///< the last one, to event S
    AimHit,      ///< from there to the time before
    AimSteps,    ///< by as many steps
  };
  struct Search {
    LineMove move = LineMove::Step;
    Phase phase = Phase::Look;
    int rank = 0;
    Serial event = 0;          ///< S
    std::vector<Serial> done;  ///< events, by rank
    bool beforeEvent = false;  ///< the rank stood before event S + 1
    bool bySignal = false;     ///< a signal had stopped it
    QString words;             ///< why it stood there
    int breakpoint = 0;        ///< that had stopped it, the user's
    bool othersMove = false;   ///< ranks that stood between their events, too
    LinePlace present;
    std::optional<CodePlace> code;     ///< of the program's frame
    std::vector<LineMark> marks;       ///< the first is where the rank is
    std::optional<std::size_t> goal;   ///< of these; nothing: event S + 1 is walked to
    std::size_t landmark = 0;          ///< of these, the last
    std::optional<std::size_t> entry;  ///< of these: the begin of the function that the rank is in
    int landmarks = 0;                 ///< that there were
    std::optional<LineAim>
        here;      ///< where the search began; nothing: not known, or before an event
    LineAim base;  ///< where the walk begins
    LineWalk walk;
    std::vector<int> times;  ///< of the goal, at the places of a walk that counts
    LineAim aim;
    std::vector<mi::RunKind> stepsLeft;  ///< the next is the last of these
    bool leavesGate = false;             ///< the next step is out of MPI_Init
    LinePlace wanted;                    ///< at the aim; without a function: whatever it is
    QString failed;                      ///< it is gone back to where it began, and why
  };
  [[nodiscard]] mi::GdbSession* gdb() const;
  void look();
  void lookedAt(const std::vector<mi::Frame>& frames, int depth);
  void lookForStart(std::uint64_t address,
                    const std::function<void(const std::optional<CodePlace>&)>& then);
  void begin();
  [[nodiscard]] bool useKnown();
  [[nodiscard]] Goal beforeEvent() const;
  [[nodiscard]] Goal toNextEvent() const;
  void startCycle(Phase phase);
  void goOnToNextEvent(Phase phase);
  void setMarks(const LineAim& stop);
  void dropMarks();
  void letPass(int spec, int times);
  void quiet();
  [[nodiscard]] int timesOf(const LineMark& mark) const;
  bool atAnchor();
  void endReached();
  void keepTimes();
  [[nodiscard]] bool counts() const;
  void countBySteps();
  void steppedCounting(const mi::StopEvent& stop);
  void countOnly();
  void counted();
  void chooseOfCounted();
  void startWalk(const LineAim& base);
  void startFromTimeBefore();
  void tooManyLines();
  void startSurvey();
  void surveyed();
  bool leave(const LineAim& aim, Phase hit, Phase steps);
  bool hitCame(const mi::StopEvent& stop);
  void step(mi::RunKind kind);
  void walkFromEvent();
  void stepToAim();
  void stepOutOfGate();
  void walked(const mi::StopEvent& stop);
  void withDepth(const mi::StopEvent& stop, const std::function<void(const LinePlace&)>& then);
  void wentOn(const LinePlace& place);
  void choose();
  void chooseAt(int depth);
  void startAim(std::size_t place);
  bool stepped(const mi::StopEvent& stop);
  bool arrive();
  void fail(const QString& why);
  void end();

  SessionState& m_state;
  Breakpoints& m_breakpoints;
  RunControl& m_control;
  std::function<void(Goal)> m_startCycle;
  std::optional<Search> m_search;
  LineTrail m_trail;
  Latest<NoQuestion> m_asked;
  QTimer m_patience;
  QTimer m_stepTime;  ///< of a step while it is counted
  QString m_words;
  int m_breakpoint = 0;
};

}  // namespace pf::session
