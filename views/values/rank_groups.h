// SPDX-License-Identifier: GPL-3.0-or-later
// Named sets of ranks, and how far an action for a set has come. QtCore only.
#pragma once

#include <QList>
#include <QSet>
#include <QString>

#include "views/values/debug_values.h"
#include "views/values/namespaces.h"

namespace pf::values {

struct RankGroup {
  QString name;
  QList<int> ranks;
  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

/// One group for each state that ranks are in now: "stopped", "in MPI_Recv", "running" …
[[nodiscard]] QList<RankGroup> groupsByState(const QList<RankState>& states);

/// Ranks of an expression of groups: `workers + 0`, `all - (left & 2-5)`, `'in MPI_Recv' - 3`. Names with other
/// letters than A-Z a-z 0-9 _ are quoted; + unites, - takes away, & (first) keeps what both have. `problem` says
/// what is wrong with it; then the answer is empty.
[[nodiscard]] QList<int> ranksOfExpression(const QString& text, const QList<RankGroup>& groups,
                                           int rankCount, QString* problem);

/// "continue", "step", "next" …
[[nodiscard]] QString actionWord(RankAction action);

/// An action that ranks were asked for.
struct GroupRun {
  QString action;        ///< "next", "run to line"
  QString who;           ///< name of the group; may be empty
  QList<int> ranks;      ///< that were asked
  QSet<int> underWay;    ///< of these, have not stopped again
  QList<int> debugless;  ///< in the group, but cannot do it without a debugger
};

/// "next (workers): 3 of 4 ranks; rank 2 still runs in MPI_Recv, waiting for rank 0".
[[nodiscard]] QString groupRunText(const GroupRun& run, const QList<RankState>& states);

}  // namespace pf::values
