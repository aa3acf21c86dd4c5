// SPDX-License-Identifier: GPL-3.0-or-later
// When ranks that were sent on have come to rest, and which of them a person would look at first.
// Decides on what it is given: it asks no GDB, and reads no clock.
//
// - No rank is on its way any more: each is stopped, has ended, or waits in a call and has done so
//   for a while.
// - Once one has stopped, ranks that go on computing are waited for some seconds only.
#pragma once

#include <optional>
#include <set>

#include <QList>
#include <QSet>

#include "mi_bridge/records.h"
#include "views/values/debug_values.h"

namespace pf::headless {

/// What a move waits for, beside that no rank is on its way.
struct Move {
  bool settles = false;      ///< the session has to say that the ranks have come to where they go
  bool mayWait = false;      ///< … or all wait for a while, which is a result
  bool refusable = false;    ///< the session may refuse it with a message
  bool onlyChanges = false;  ///< tell nothing where no rank has moved
  QSet<int> ranks = {};      ///< each has to stop

  /// To whatever stops the ranks.
  static Move onward() { return {.settles = true, .mayWait = true, .refusable = true}; }
  static Move thereTo() { return {.settles = true, .refusable = true}; }
  static Move stopOf(const QSet<int>& ranks) { return {.ranks = ranks}; }
};

/// Where a rank is, by its agent and its GDB.
struct RankWhereabouts {
  values::RankState state;
  bool rests = false;                         ///< it is stopped
  bool gone = false;                          ///< its process is no more
  std::optional<mi::StopReason> reason = {};  ///< of its GDB's last stop; nothing: it has no GDB
  const values::Breakpoint* at = nullptr;     ///< that has stopped it
  bool beforeBreakpoint = false;              ///< … or that is on its next event
};

/// In milliseconds.
struct MoveTimes {
  qint64 now = 0;           ///< of a clock that does not go back
  qint64 sinceCommand = 0;  ///< that the command has taken by now
};

class MoveWait {
 public:
  void begin(const Move& move);
  [[nodiscard]] const Move& move() const { return m_move; }

  // -- what the session says
  void settled() { m_settled = true; }
  void stopped(int rank) { m_stopped.insert(rank); }
  /// Other processes: what was said of those before is not true of them.
  void newCycle();

  /// Whether nobody is on the way any more. To be asked again and again, while a replay runs.
  [[nodiscard]] bool arrived(const QList<RankWhereabouts>& ranks, const MoveTimes& times);
  /// A signal, a breakpoint, anything that has stopped; of equals `wanted`, else the first. -1: none
  /// rests.
  [[nodiscard]] int firstToLookAt(const QList<RankWhereabouts>& ranks, int wanted) const;

 private:
  /// What ranks that have not ended do.
  struct Doing {
    bool allGone = true;
    bool computing = false;
    bool waiting = false;  ///< in a call
    bool awaited = false;  ///< one that has to stop has not
  };
  [[nodiscard]] Doing look(const QList<RankWhereabouts>& ranks) const;
  [[nodiscard]] QSet<int> stopTogether(const QList<RankWhereabouts>& ranks) const;
  [[nodiscard]] bool stoppedNow(const RankWhereabouts& rank) const;
  [[nodiscard]] int urgency(const RankWhereabouts& rank) const;
  /// How long the states have been what they are.
  qint64 quiet(const QList<RankWhereabouts>& ranks, qint64 now);

  Move m_move;
  bool m_settled = false;   ///< since the move began, in its last cycle
  std::set<int> m_stopped;  ///< ranks, since then
  QList<values::RankState> m_seen;
  qint64 m_seenFirst = 0;
  std::optional<qint64> m_someStopped;  ///< when the move had come to its end, but for who computes
};

}  // namespace pf::headless
