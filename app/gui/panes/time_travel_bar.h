// SPDX-License-Identifier: GPL-3.0-or-later
// One bar for the way of the current rank through the run: back, on, to the failure; where it is in words, and what a step
// back will cost.
#pragma once

#include <optional>

#include <QTimer>
#include <QToolBar>

#include "app/session/debug_session.h"
#include "views/values/debug_values.h"

class QLabel;

namespace pf::gui {

/// "rank 0 · after event 11 · cycle 2 · tally.c:53". `run`: the number of the cycle, 0 if there was none; `replays`: one is there.
[[nodiscard]] QString positionText(const values::RankState& rank, session::Source source,
                                   bool replays, int run);
/// "back: about 0.3 s, from a snapshot"; empty: not known. `nextRun`: the number of the cycle that it would start.
[[nodiscard]] QString backCostText(const std::optional<session::DebugSession::BackCost>& cost,
                                   int nextRun);

class TimeTravelBar : public QToolBar {
  Q_OBJECT
 public:
  /// What it is made of: each is in a menu as well.
  struct Ways {
    QList<QAction*> back;
    QList<QAction*> on;
    QAction* failing;
  };
  TimeTravelBar(const Ways& ways, session::DebugSession& session);

  [[nodiscard]] QString position() const;
  [[nodiscard]] QString cost() const;

 private:
  void add(const QList<QAction*>& actions);
  void refresh();
  void showCost(const QString& text);

  session::DebugSession& m_session;
  QLabel* m_position;
  QLabel* m_cost;
  QTimer m_soon;  ///< ranks tell of each event
};

}  // namespace pf::gui
