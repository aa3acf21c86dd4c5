// SPDX-License-Identifier: GPL-3.0-or-later
// Views to go back and forward to. Changes in quick succession, as by one turn of the wheel, are
// one step.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <QElapsedTimer>

#include "views/diagram/painting/time_span.h"
#include "views/trace/analyses/rank_arrangement.h"

namespace pf::views {

/// What a step of the history brings back.
struct ViewStep {
  TimeSpan time;
  double rowHeight = 0.0;  ///< 0: all rows are in view
  RankArrangement ranks;
  TimeAxis axis = TimeAxis::Logical;
};

class ZoomHistory {
 public:
  /// The next change begins a step of its own.
  void beginStep() { m_sinceChange.invalidate(); }
  /// Before a change.
  void remember(const ViewStep& present);
  /// Nothing: there is none.
  [[nodiscard]] std::optional<ViewStep> undo(const ViewStep& present);
  [[nodiscard]] std::optional<ViewStep> redo(const ViewStep& present);
  [[nodiscard]] bool canUndo() const { return !m_back.empty(); }
  [[nodiscard]] bool canRedo() const { return !m_forward.empty(); }

  void clear();
  void remove(TimeAxis axis);
  void renewTimes(TimeAxis axis, const std::function<double(double)>& renewed);

 private:
  [[nodiscard]] std::optional<ViewStep> take(std::vector<ViewStep>& from, std::vector<ViewStep>& to,
                                             const ViewStep& present);

  std::vector<ViewStep> m_back;
  std::vector<ViewStep> m_forward;
  QElapsedTimer m_sinceChange;
};

}  // namespace pf::views
