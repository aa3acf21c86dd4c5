// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks have a GDB, the focus set, and how they get one and lose it. In a replay all of the set get theirs at the
// gate, before the cycle begins; of core files and running jobs when they are ticked, which stops them.
#pragma once

#include <functional>
#include <utility>

#include <QObject>
#include <QPointer>
#include <QSet>

#include "app/session/cycles.h"
#include "app/session/inspection/inspector.h"
#include "app/session/state/session_state.h"
#include "app/session/targets/target.h"

namespace pf::session {

class Debuggers : public QObject {
  Q_OBJECT
 public:
  Debuggers(SessionState& state, Inspector& inspector, const Cycles& cycles)
      : m_state(state), m_inspector(inspector), m_cycles(cycles) {}

  [[nodiscard]] QList<int> focus() const { return m_focus.values(); }
  void setFocus(const QList<int>& ranks);
  /// Saves what passes between the bridge and each GDB that attaches from now on, as
  /// DIRECTORY/TRACE-cycle-N-rank-R.transcript (mi_bridge/transcript.h). Empty: no more.
  void setTranscripts(const QString& directory) { m_transcripts = directory; }
  [[nodiscard]] const QString& transcripts() const { return m_transcripts; }
  void mapSource(const QString& from, const QString& to);

  // -- for the session
  /// Of what is opened now: these ranks only, from its first cycle on.
  void begin(const QSet<int>& focus) { m_focus = focus; }
  /// From the next cycle on these have one, too.
  void join(const QSet<int>& ranks);
  /// Cycles run other ranks than before: those get a GDB, up to so many.
  void partChanged(std::size_t most);
  /// The target of the cycle, which the GDBs are spoken to through.
  void use(Target* target) { m_target = target; }
  /// Each rank of the set that is there gets its GDB; attached() follows.
  void attachAll();
  /// The rank is another process now, which its GDB, if it has one, attaches to; attached() follows.
  void reattach(int rank, pid_t pid);
  void onState(const protocol::GdbState& state);
  void feed(const protocol::MiFromGdb& text);
  /// All go, with their ranks.
  void removeAll();
  /// Those of ranks that were not started by us: they are let go.
  void forgetAll();

 Q_SIGNALS:
  void message(const QString& text, bool problem);
  void progress(const QString& task);
  void focusChanged(const QList<int>& ranks);
  void ranksChanged();
  void attached();  ///< all that will be in this cycle
  void settled();   ///< a rank that was ticked has stopped, or cannot be

 private:
  [[nodiscard]] QSet<int> running(const QSet<int>& wanted);
  void setReplayFocus(const QSet<int>& wanted);
  void setUnrecordedFocus(const QSet<int>& wanted);
  void onAttached(int rank, const Status& status);
  void unrecordedAttached(int rank, bool ok);
  void noLongerAttaching(int rank);
  void onDetached(const protocol::GdbState& state);
  void tellFocusLater();
  void endLater(int rank);
  void forget(int rank);
  void keepTranscript(int rank, mi::GdbSession& gdb);
  void order(const protocol::Message& message);

  SessionState& m_state;
  Inspector& m_inspector;
  const Cycles& m_cycles;
  QPointer<Target> m_target;
  QSet<int> m_focus;
  QSet<int> m_attaching;
  QString m_transcripts;
};

}  // namespace pf::session
