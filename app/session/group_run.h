// SPDX-License-Identifier: GPL-3.0-or-later
// How far an action that was asked of several ranks has come. Nothing waits for ranks that do not stop.
#pragma once

#include <QObject>

#include "app/session/state/latest.h"
#include "app/session/state/session_state.h"
#include "views/values/rank_groups.h"

namespace pf::session {

class GroupRun : public QObject {
  Q_OBJECT
 public:
  explicit GroupRun(const SessionState& state) : m_state(state) {}

  /// `who`: the name of the group that `ranks` are. `debugless`: cannot take part.
  void begin(const QString& action, const QString& who, const QList<int>& ranks,
             const QList<int>& debugless);
  void end();
  /// The rank has stopped, or will not move any more.
  void arrived(int rank);
  /// The rank goes on: what is told of it may have changed.
  void moved(int rank);
  [[nodiscard]] bool takesPart(int rank) const { return m_run->ranks.contains(rank); }

 Q_SIGNALS:
  void changed(const QString& text);  ///< empty: of no interest any more

 private:
  void tell();

  const SessionState& m_state;
  Latest<values::GroupRun> m_run;
  QString m_told;
};

}  // namespace pf::session
