// SPDX-License-Identifier: GPL-3.0-or-later
// The drawing area of SpaceTimeView: view state (zoom, pan, selection), input, and the cached
// picture. Data in: set…(). Out: selectionChanged, activated, viewChanged, regimeChanged,
// menuRequested.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <QElapsedTimer>
#include <QImage>
#include <QPixmap>
#include <QWidget>

#include "views/diagram/scene_renderer.h"
#include "views/diagram/space_time_painter.h"
#include "views/panes/theme.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

namespace pf::views {

class SpaceTimeCanvas : public QWidget {
  Q_OBJECT
  Q_PROPERTY(bool upToDate READ isUpToDate)
 public:
  explicit SpaceTimeCanvas(QWidget* parent = nullptr);

  void setTrace(TraceIndexPtr trace);
  /// A newer version of the same run: what is selected, shown and remembered stays. A view that ended with the trace
  /// goes on with it; one that showed all shows all. `physical`: needed where the physical axis is shown.
  void renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical);
  /// Of the same trace, for setAxis(): TraceIndex::onPhysicalAxis(). Null: there is only the
  /// logical axis.
  void setPhysical(TraceIndexPtr physical);
  [[nodiscard]] bool hasPhysical() const { return m_physical != nullptr; }
  /// A step of the zoom history. The selected event, else what is in the middle, stays where it is.
  void setAxis(TimeAxis axis);
  [[nodiscard]] TimeAxis axis() const { return m_span.axis; }
  void setHeaders(std::vector<RankHeader> headers);
  void setPositions(std::vector<ReplayPosition> positions);
  void setMarks(std::vector<EventMark> marks);
  /// Of the logical axis, whatever is shown.
  void setFound(EventSearchPtr found);
  /// Draws only what is found, and of the rest a shadow; all of it where nothing is.
  void setOnlyFound(bool only);
  /// By the times of the axis that is shown.
  [[nodiscard]] const EventSearchPtr& found() const { return m_overlay.found; }
  [[nodiscard]] const std::vector<EventRef>& hits() const { return m_overlay.found->hits; }
  void setDifferent(std::vector<Serial> from);
  void setCone(bool shown);

  /// On the axis that is shown.
  [[nodiscard]] const TraceIndexPtr& trace() const { return m_trace; }
  /// On the logical axis.
  [[nodiscard]] const TraceIndexPtr& logicalTrace() const { return m_logical; }
  [[nodiscard]] EventRef selected() const { return m_overlay.selected; }
  [[nodiscard]] bool cone() const { return m_overlay.cone; }
  [[nodiscard]] SpaceTimeGeometry view() const;
  [[nodiscard]] EventRef eventAt(QPointF position) const;
  [[nodiscard]] const SceneStats& stats() const { return m_stats; }
  /// What is shown is of the view, not of a former one until the exact picture has come.
  [[nodiscard]] bool isUpToDate() const;

  void select(EventRef event, bool reveal);
  void moveAlongRank(int step);
  void moveAcrossRanks(int step);
  void selectEnd(bool last);
  void selectRace(int direction);
  void selectPartner();
  /// Chooses the next (`step` > 0) or previous message that the selected racing receive could have
  /// taken instead.
  void stepAlternative(int step);
  void chooseAlternative(int number);  ///< from 1; 0: none. No selection of an event
  /// Of the selected racing receive, counted from 1; 0: none is chosen.
  [[nodiscard]] int alternative() const { return m_overlay.alternative; }
  /// The one whose dashed line or number is at `position`; 0: none.
  [[nodiscard]] int alternativeAt(QPointF position) const;
  void reveal(EventRef event);

  void fit();
  void zoomBy(double factor, double aroundX);
  void zoomTo(double t0, double t1);
  void setSpan(double t0, double t1);  ///< as zoomTo, but no step of the zoom history
  void setRowHeight(double height);    ///< 0 = fit
  /// Which ranks are shown, and how: a step of the zoom history.
  void arrange(const RankArrangement& arrangement);
  [[nodiscard]] const RankArrangement& arrangement() const { return m_span.ranks; }
  void setScroll(double pixels);
  void panBy(double share);  ///< of the width in view
  /// To the selected event with the other ends of its messages, and what it could have taken.
  void zoomToSelection();
  void undoZoom();
  void redoZoom();
  [[nodiscard]] bool canUndoZoom() const { return !m_back.empty(); }
  [[nodiscard]] bool canRedoZoom() const { return !m_forward.empty(); }

  /// The present view as a picture of its own size, headers and axis included.
  void renderTo(QPaintDevice* device, const QSizeF& size) const;

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 160}; }
  [[nodiscard]] QSize sizeHint() const override { return {900, 420}; }

 Q_SIGNALS:
  void selectionChanged(const pf::EventRef& event);
  void activated(const pf::EventRef& event);
  void alternativeChanged(int number);
  void viewChanged();
  void regimeChanged();
  void menuRequested(const QPoint& globalPosition);
  void rowMenuRequested(int row, const QPoint& globalPosition);  ///< over the name of a row
  void arrangementChanged();
  void axisChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Span {
    double t0 = 0.0;
    double t1 = 1.0;
    double rowHeight = 0.0;
    RankArrangement ranks;
    TimeAxis axis = TimeAxis::Logical;
  };
  enum class Drag { None, Pending, Pan, Band };

  [[nodiscard]] bool moveView(const QKeyEvent& event);
  void showMenuOfSelection();

  [[nodiscard]] SpaceTimeGeometry geometryFor(const QSizeF& size) const;
  [[nodiscard]] double headerWidth() const;
  [[nodiscard]] double axisHeight() const;
  void remember();
  [[nodiscard]] int sameAlternative(const TraceIndex& newer) const;
  void useRows();
  void useAxis(TimeAxis axis);
  void arrangeFound();
  [[nodiscard]] EventSearchPtr only() const;
  void drawSceneAgain();
  [[nodiscard]] EventRef anchor() const;
  [[nodiscard]] std::pair<double, double> spanOf(const TraceIndex& other) const;
  [[nodiscard]] double margin() const;
  [[nodiscard]] double narrowest() const;
  void show(Span span);
  void limitScroll();
  void refreshCone();
  void renewCache(const SpaceTimeGeometry& geometry);
  [[nodiscard]] bool cacheHolds(const SpaceTimeGeometry& geometry) const;
  [[nodiscard]] SceneRequest sceneFor(const SpaceTimeGeometry& geometry) const;
  void keepScene(const Scene& scene);
  void paintCache(QPainter& painter, const SpaceTimeGeometry& geometry) const;
  void paintAround(QPainter& painter, const SpaceTimeGeometry& geometry,
                   const QRectF& target) const;
  void paintNames(QPainter& painter, const SpaceTimeGeometry& geometry);
  void paintEmpty(QPainter& painter) const;

  TraceIndexPtr m_trace;     ///< on the axis that is shown
  TraceIndexPtr m_logical;   ///< on the logical one
  TraceIndexPtr m_physical;  ///< null until it is there
  Theme m_theme;
  SpaceTimeOverlay m_overlay;
  EventSearchPtr m_found = m_overlay.found;  ///< on the logical axis
  bool m_onlyFound = false;
  std::vector<RankHeader> m_headers;
  Span m_span;
  double m_scroll = 0.0;
  RankRowsPtr m_rows;  ///< of m_span.ranks
  std::vector<Span> m_back;
  std::vector<Span> m_forward;
  QElapsedTimer m_sinceZoom;
  std::size_t m_partner = 0;

  QImage m_cache;
  SpaceTimeGeometry m_cacheGeometry;  ///< plot in the picture's coordinates
  bool m_cacheValid = false;
  QPixmap m_names;  ///< of the rows; null: they are to be drawn again
  SpaceTimeGeometry m_namesGeometry;
  bool m_cacheOld = false;  ///< of the outline: shown until there is one of the events
  SceneStats m_stats;
  SceneRenderer m_renderer;
  SpaceTimeGeometry m_asked;  ///< of the renderer, last
  bool m_askedValid = false;

  Drag m_drag = Drag::None;
  QPointF m_pressed;
  QPointF m_last;
};

}  // namespace pf::views
