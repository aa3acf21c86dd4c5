// SPDX-License-Identifier: GPL-3.0-or-later
// The session's breakpoints of both kinds: the GDBs', and the logical ones, which are events of the recording and need no
// GDB. Kept in the trace, but for passing ones (ids below 0); back in every cycle.
#pragma once

#include <map>
#include <vector>

#include <QObject>
#include <QSet>

#include "app/session/state/session_state.h"

namespace pf::session {

class Breakpoints : public QObject {
  Q_OBJECT
 public:
  explicit Breakpoints(SessionState& state) : m_state(state) {}

  [[nodiscard]] const QList<values::Breakpoint>& all() const { return m_all; }
  void toggle(const QString& file, int line);
  void add(values::Breakpoint breakpoint);
  void breakAt(const EventRef& event);  ///< the logical breakpoint `event R:S`
  void change(const values::Breakpoint& breakpoint);
  void remove(const QList<int>& ids);
  /// This session has passing breakpoints only: those in the trace stay there, and do not stop it.
  void setAside();
  /// A breakpoint that is not kept in the trace. Returns its id, below 0.
  int addTransient(values::Breakpoint breakpoint);

  // -- for the session
  /// Those of another trace. `store`: where they are kept; null: there are none, and none is kept.
  void open(db::TraceStore* store);
  /// The same ones, in another file that has them under the same ids.
  void keepIn(db::TraceStore* store);
  [[nodiscard]] values::Breakpoint* find(int id);
  [[nodiscard]] int specOf(int id) const;  ///< of the fleet; 0: none
  [[nodiscard]] int idOf(int spec) const;  ///< 0: none of ours
  /// All, as they are: after a search that had changed them.
  void giveToFleet();
  void followLines();
  /// Cycles run other ranks than before.
  void partChanged() { resolveAll(); }
  /// Ranks that have a breakpoint of their own.
  [[nodiscard]] QSet<int> ownRanks() const;
  [[nodiscard]] std::vector<PendingStop> pendingStops() const;
  /// Ranks stop before the MPI_Abort that ended them in the recording, too, and all others with them.
  void stopAtAborts() { m_stopsAtAborts = true; }
  /// Whether this is such an event.
  [[nodiscard]] bool isAbort(const EventRef& event) const;
  /// The next event of the rank, after `past`, that a logical breakpoint stands for; 0 = none.
  [[nodiscard]] Serial nextStopOf(int rank, Serial past) const;
  /// Logical breakpoints before whose event the rank stands.
  [[nodiscard]] QList<int> before(const EventRef& next) const;
  /// A rank of those that it is for, none of which is among those that cycles run; -1: some are.
  [[nodiscard]] int outsideRank(const values::Breakpoint& breakpoint) const;
  [[nodiscard]] QList<int> onDivergence() const;
  /// "breakpoint 3 (receive 0#2)" where the rank stands before such an event.
  [[nodiscard]] QString standingText(int rank) const;
  void counted(values::Breakpoint& breakpoint, int cycle);
  void onStatus(const mi::BreakpointStatus& status, int cycle);
  /// In the diagram.
  [[nodiscard]] std::vector<values::EventMark> marks() const;

 Q_SIGNALS:
  void changed();
  void marksChanged();
  void planChanged();  ///< other stops than before
  void message(const QString& text, bool problem);

 private:
  [[nodiscard]] EventRef abortOf(int rank) const;
  void keep(const values::Breakpoint& breakpoint);
  void insert(const values::Breakpoint& breakpoint);
  void give(values::Breakpoint& breakpoint);
  void withdraw(int id);
  /// Looks up the events that a logical breakpoint stands for.
  void resolve(values::Breakpoint& breakpoint);
  void resolveAll();
  void followLine(values::Breakpoint& breakpoint, const QStringList& lines);

  SessionState& m_state;
  db::TraceStore* m_store = nullptr;
  QList<values::Breakpoint> m_all;
  std::map<int, int> m_specs;  ///< our id -> fleet's
  bool m_stopsAtAborts = false;
  bool m_resolving = false;  ///< once the events are read
};

}  // namespace pf::session
