// SPDX-License-Identifier: GPL-3.0-or-later
// The cycles of a session: re-executions of the trace, one after another. Of each: how it went, where its ranks stopped,
// which breakpoints they hit, and the values of the watches there. Kept in the trace (records/cycle_keeper.h).
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <QObject>

#include "app/session/breakpoints.h"
#include "app/session/records/cycle_keeper.h"
#include "app/session/state/session_state.h"
#include "db/store/trace_store.h"

namespace pf::session {

class Cycles : public QObject {
  Q_OBJECT
 public:
  Cycles(SessionState& state, Breakpoints& breakpoints)
      : m_state(state), m_breakpoints(breakpoints) {}

  [[nodiscard]] const QList<values::Cycle>& all() const { return m_all; }
  [[nodiscard]] bool none() const { return m_all.isEmpty(); }
  /// The present one, or the last that there was. There is one.
  [[nodiscard]] values::Cycle& last() { return m_all.last(); }
  [[nodiscard]] const values::Cycle& last() const { return m_all.last(); }
  [[nodiscard]] int lastNumber() const { return none() ? 0 : last().number; }
  /// Cycles and hits are in the trace's file as they are here.
  [[nodiscard]] bool isKept() const { return m_keeper == nullptr || m_keeper->isIdle(); }

  /// Those of another trace, with hits counted at their breakpoints. Null: there are none. `writable`: new ones are kept.
  void open(db::TraceStore* store, bool writable);
  /// The same ones, in another file that has them under the same ids. Nothing is being written (isKept()).
  void keepIn(db::TraceStore& store);
  /// A new one begins.
  void begin(const QString& summary);
  /// This one begins where the former one was before event `before` of the rank: what that hit until there, it has, too.
  void carry(int rank, Serial before);
  /// It has ended, if it had not.
  void end(const QString& why, bool ranToEnd);
  /// Its ranks are where they were sent.
  void settled(const QString& why);
  /// The hits that its ranks stand at, or before: the first. Empty: they stand at none.
  [[nodiscard]] QString standingText() const;
  /// A rank has come to a stop of its own, which `why` says.
  void standsBecause(const QString& why);
  /// Reads where its ranks are, and keeps it.
  void save();

  // -- hits
  /// The breakpoint by which GDB has stopped the rank; 0: by none of ours.
  [[nodiscard]] int hitBy(int rank, const mi::StopEvent& stop) const;
  void addHit(int breakpoint, int rank, Serial serial);
  /// Asks the rank's GDB, once it has stopped, what hits lack: the exact event, and values of `watches`.
  void completeHits(int rank, const QStringList& watches);
  /// Hits since the ranks were last sent on.
  [[nodiscard]] const QList<values::BreakpointHit>& standing() const { return m_standing; }
  void sentOn();

 Q_SIGNALS:
  void changed();
  /// The last cycle of a trace that was opened has not ended, because its front end has gone. `event`: where a rank of
  /// it stood, or what it did next; invalid if it was sent to the end.
  void takenUp(int number, const pf::EventRef& event);

 private:
  struct HitKey {
    int cycle = 0;
    int index = 0;                                    ///< in the cycle's list
    auto operator<=>(const HitKey&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  void read(db::TraceStore& store);
  void readHits(const std::vector<db::BreakpointHit>& hits, std::int64_t row, values::Cycle& cycle);
  [[nodiscard]] EventRef placeOf(const values::Cycle& cycle) const;
  [[nodiscard]] bool wasHit(int breakpoint, int rank, Serial serial) const;
  [[nodiscard]] int caughtBy(int rank) const;
  [[nodiscard]] values::BreakpointHit* hitAt(HitKey key);
  void keep(HitKey key);
  void complete(mi::GdbSession& gdb, HitKey key, const QStringList& watches);

  SessionState& m_state;
  Breakpoints& m_breakpoints;
  std::unique_ptr<CycleKeeper> m_keeper;  ///< null where nothing can be written
  QList<values::Cycle> m_all;
  std::map<int, std::int64_t> m_ids;  ///< number -> row
  std::map<HitKey, std::int64_t> m_hitIds;
  std::vector<HitKey> m_openHits;           ///< still to be asked for
  QList<values::BreakpointHit> m_standing;  ///< since the ranks were last sent on
};

}  // namespace pf::session
