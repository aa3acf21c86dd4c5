// SPDX-License-Identifier: GPL-3.0-or-later
// What of a trace the space-time diagram shows, and how large: times across, rows down, the axis;
// with the history of that. Knows no widget but the place of its plot.
#pragma once

#include <functional>

#include <QObject>
#include <QRectF>

#include "views/diagram/canvas/zoom_history.h"
#include "views/diagram/painting/space_time_geometry.h"
#include "views/diagram/painting/time_span.h"
#include "views/trace/analyses/rank_arrangement.h"
#include "views/trace/trace_index.h"

namespace pf::views {

/// A trace on each axis it is on.
struct AxisTraces {
  TraceIndexPtr logical;
  TraceIndexPtr physical;  ///< null: it is not there, or not yet

  [[nodiscard]] const TraceIndexPtr& on(TimeAxis axis) const {
    return axis == TimeAxis::Physical ? physical : logical;
  }
};

class SpaceTimeViewport : public QObject {
  Q_OBJECT
 public:
  /// `plot` is asked whenever it counts: a widget that is not shown changes its size unannounced.
  explicit SpaceTimeViewport(std::function<QRectF()> plot);

  /// Shows all of it. True: it is the trace of the outline that was shown, and the view stays.
  bool setTrace(const TraceIndexPtr& trace);
  /// A newer version of the same run. A view that ended with the trace goes on with it; one that
  /// showed all shows all. `physical`: needed where the physical axis is shown.
  void renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical);
  /// Of the same trace, for setAxis(): TraceIndex::onPhysicalAxis().
  void setPhysical(TraceIndexPtr physical) { m_traces.physical = std::move(physical); }
  [[nodiscard]] const AxisTraces& traces() const { return m_traces; }
  /// On the axis that is shown.
  [[nodiscard]] const TraceIndexPtr& trace() const { return m_traces.on(m_shown.axis); }

  [[nodiscard]] SpaceTimeGeometry geometry() const { return geometryIn(m_plot()); }
  /// The same view in a plot of another size.
  [[nodiscard]] SpaceTimeGeometry geometryIn(const QRectF& plot) const;
  /// After the plot, which was `before` pixels wide; 0: it was not there.
  void plotResized(double before);

  /// A step of the history. `event` stays where it is if it is in view, else what is in the middle.
  void setAxis(TimeAxis axis, EventRef event);
  [[nodiscard]] TimeAxis axis() const { return m_shown.axis; }
  /// Which ranks are shown, and how: a step of the history.
  void arrange(const RankArrangement& arrangement);
  [[nodiscard]] const RankArrangement& arrangement() const { return m_shown.ranks; }

  void fit();
  void zoomBy(double factor, double aroundX);
  void zoomTo(double t0, double t1);
  void setSpan(double t0, double t1);              ///< as zoomTo, but no step of the history
  void setRowHeight(double height);                ///< 0: all rows are in view
  void zoomRowsBy(double factor, double aroundY);  ///< the row there stays
  void setScroll(double pixels);
  /// Moves the view there, if it is not; a hidden rank is shown.
  void reveal(EventRef event);

  void undo();
  void redo();
  [[nodiscard]] const ZoomHistory& history() const { return m_history; }

 Q_SIGNALS:
  void changed();
  void arrangementChanged();
  void axisChanged();

 private:
  void fitAtFirst();
  void step();
  void show(ViewStep step);
  void limitScroll();
  void scrollTo(const SpaceTimeGeometry& view, double y);
  [[nodiscard]] double width() const { return m_plot().width(); }

  std::function<QRectF()> m_plot;
  AxisTraces m_traces;
  ViewStep m_shown;
  double m_scroll = 0.0;
  RankRowsPtr m_rows;  ///< of m_shown.ranks
  ZoomHistory m_history;
};

}  // namespace pf::views
