// SPDX-License-Identifier: GPL-3.0-or-later
// Which axis the user wants the space-time diagram to have. The physical one is worked out when it
// is wanted; until it is there the logical one is shown.
#pragma once

#include <utility>

#include <QObject>

#include "views/trace/chunks/background.h"
#include "views/trace/trace_index.h"

class QAction;

namespace pf::views {

class SpaceTimeCanvas;

class AxisChoice : public QObject {
  Q_OBJECT
 public:
  /// Lives as long as `action`, which is checked where the physical axis is wanted.
  AxisChoice(SpaceTimeCanvas& canvas, QAction& action);

  /// What makes the pyramid of the physical axis; without it views of many events look at each of
  /// them.
  void setPyramidMaker(PyramidMaker maker) { m_pyramidMaker = std::move(maker); }
  /// Shows this axis as soon as it is there, and of later traces that have it.
  void choose(TimeAxis axis);
  [[nodiscard]] TimeAxis wanted() const { return m_wanted; }
  [[nodiscard]] bool isBusy() const { return m_work.isBusy(); }
  /// The trace is another: what is worked out is not wanted any more.
  void forget() { m_work.forget(); }
  void refresh();

 Q_SIGNALS:
  void changed();  ///< of what is shown, or of what can be

 private:
  void workOut();
  void show(TimeAxis axis);

  SpaceTimeCanvas& m_canvas;
  QAction& m_action;
  TimeAxis m_wanted = TimeAxis::Logical;
  PyramidMaker m_pyramidMaker;
  Background<TraceIndexPtr> m_work;  ///< makes what the physical axis is drawn from
};

}  // namespace pf::views
