// SPDX-License-Identifier: GPL-3.0-or-later
// Moves the ranks of the present cycle: plans where each stops, has them run, step and pause, and knows when all have
// come to where they were sent. A rank stops before an event by the daemon's plan, elsewhere by its GDB; that may know
// of a stop some milliseconds later than the daemon.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <QObject>
#include <QSet>

#include "app/session/breakpoints.h"
#include "app/session/cycles.h"
#include "app/session/destinations.h"
#include "app/session/group_run.h"
#include "app/session/inspection/inspector.h"
#include "app/session/state/latest.h"

namespace pf::session {

class RunControl : public QObject {
  Q_OBJECT
 public:
  /// What moves with it.
  struct Parts {
    SessionState& state;
    Breakpoints& breakpoints;
    Cycles& cycles;
    Inspector& inspector;
    GroupRun& groupRun;
  };
  using Order = std::function<void(const protocol::Message&)>;
  RunControl(const Parts& parts, Order order)
      : m_state(parts.state),
        m_breakpoints(parts.breakpoints),
        m_cycles(parts.cycles),
        m_inspector(parts.inspector),
        m_groupRun(parts.groupRun),
        m_order(std::move(order)) {}

  /// Whether the other threads of a rank wait while one is stepped; they go on otherwise.
  void stepOneThread(bool one) { m_stepsOneThread = one; }

  /// Where the present cycle was sent, or will be.
  [[nodiscard]] const Goal& goal() const { return m_goal; }
  void setGoal(Goal goal) { m_goal = std::move(goal); }
  /// A new cycle, none of whose ranks is there yet.
  void begin();
  /// Nothing is planned in it: ranks that were not started by us.
  void forgetPlan();
  /// Its ranks are gone, and their GDBs.
  void end() { m_stepping.clear(); }
  /// The ranks are where the cycle can go on to `goal` without a new one.
  [[nodiscard]] bool canReach(const Goal& goal) const;
  /// Sends the ranks to the goal.
  void plan();
  /// The same, of ranks that have been stopped before.
  void goOnTo(Goal goal);
  /// Breakpoints have changed: ranks on their way stop elsewhere.
  void replan();

  /// Ranks that can be moved by a GDB, and those that only stop before events.
  struct Movable {
    std::vector<mi::Rank> withGdb;
    QList<int> debugless;
  };
  [[nodiscard]] Movable movable(const QList<int>& ranks) const;
  /// GroupRun tells how far it has come; nothing waits for ranks that do not stop. `who`: the name of the group.
  void act(values::RankAction action, const QList<int>& ranks, const QString& who);
  /// No ranks: the current one.
  void runToLine(const QString& file, int line, const QList<int>& ranks = {},
                 const QString& who = {});
  /// Others stop with a rank that GDB has stopped at a breakpoint: at once, or at their next event.
  void stopOthers(const values::Breakpoint& breakpoint, int rank);
  /// Until letGo() no step sends the rank past the stop before this event, whatever breakpoints there are.
  void hold(int rank, Serial before) { m_holds[rank] = before; }
  void letGo() {
    m_holds.clear();
    m_waitsFor.reset();
  }
  /// Until letGo() nobody has come to where they were sent before this rank's GDB knows of its stop, however late.
  void waitFor(int rank) { m_waitsFor = rank; }
  /// GDB moves the rank alone, as far as hold() lets it; the others follow as it needs them.
  void walk(int rank, const mi::RunCommand& command);
  /// Ranks that GDB has stopped, and that have a debugger, go on by it.
  void continueStopped(const std::vector<mi::Rank>& ranks);

  // -- what ranks and GDBs say
  /// The daemon: `wasStopped` before the event where it stands now, too.
  void rankMoved(const protocol::RankState& state, bool wasStopped);
  /// A GDB has taken its single step that lets the rank pass its event.
  void nudged(int rank);
  /// GDB lets the rank go on from its stop at an event.
  void sendOn(int rank);
  /// Whether its stop at an event is behind it by what was last planned.
  [[nodiscard]] bool mayGoOn(int rank) const;
  [[nodiscard]] bool isStepping(int rank) const { return m_stepping.contains(rank); }
  /// GDB has stopped it, and it is not sent on. True: because another one has stopped.
  bool noLongerMoves(int rank, const mi::StopEvent& stop);
  /// All has been done about a stop by GDB: it may be the last that was waited for.
  void stopNoted(int rank);
  /// The daemon: all ranks are at their stops.
  void cutReached();
  [[nodiscard]] bool awaitsCut() const { return m_awaitsCut; }

 Q_SIGNALS:
  void message(const QString& text, bool problem);
  void progress(const QString& task);
  /// GDB is about to step the current rank.
  void steps(const mi::RunCommand& command);
  /// The ranks have come to where they were sent, and their GDBs know it.
  void arrived(const QString& why);

 private:
  struct Settling {
    QSet<int> ranks;  ///< have stopped by what the daemon says, but not yet by their GDB
    QString why;
    std::function<void()> then = {};  ///< what was asked for meanwhile: the last of it
  };

  [[nodiscard]] StopPlan planFor(const Goal& goal) const;
  [[nodiscard]] std::vector<std::uint64_t> recordedEnds() const;
  /// The next logical breakpoint of a rank, 0 = none.
  [[nodiscard]] Serial nextStopOf(int rank) const;
  void releaseGdbs();
  void letOthersFollow(int rank, Serial serial);
  void pauseRanks(const Movable& ranks, const QString& who);
  void continueRanks(const Movable& ranks, const QString& who);
  void stepRanks(values::RankAction action, const Movable& ranks, const QString& who);
  void prepareStep(int rank);
  void settleOnceStopped(const QString& why);
  void endSettling();

  SessionState& m_state;
  Breakpoints& m_breakpoints;
  Cycles& m_cycles;
  Inspector& m_inspector;
  GroupRun& m_groupRun;
  Order m_order;
  Goal m_goal;
  std::vector<std::uint64_t> m_stops;  ///< as last planned
  QSet<int> m_stepping;                ///< ranks that GDB steps: others follow as far as these need
  std::map<int, Serial> m_holds;       ///< by rank
  std::optional<int> m_waitsFor;
  QSet<int> m_pausing;  ///< ranks that are paused because another one has stopped
  Latest<Settling> m_settling;
  bool m_awaitsCut = false;  ///< ranks are on their way to a cut
  bool m_stepsOneThread = false;
};

}  // namespace pf::session
