// SPDX-License-Identifier: GPL-3.0-or-later
// The drawing area of SpaceTimeView. Data in: set…(). What is in view is its viewport's, what is
// selected its cursor's: they are told, and they tell, what changes there. The canvas has them
// painted, and turns what mouse and keys do into what is to be seen.
#pragma once

#include <utility>
#include <vector>

#include <QWidget>

#include "views/diagram/canvas/event_cursor.h"
#include "views/diagram/canvas/space_time_viewport.h"
#include "views/diagram/painting/row_names.h"
#include "views/diagram/painting/scene_picture.h"
#include "views/diagram/painting/space_time_painter.h"
#include "views/panes/theme.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

class QHelpEvent;

namespace pf::views {

class SpaceTimeCanvas : public QWidget {
  Q_OBJECT
  Q_PROPERTY(bool upToDate READ isUpToDate)
 public:
  explicit SpaceTimeCanvas(QWidget* parent = nullptr);

  void setTrace(const TraceIndexPtr& trace);
  /// A newer version of the same run: what is selected, shown and remembered stays. `physical`:
  /// needed where the physical axis is shown.
  void renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical);
  void setHeaders(std::vector<RankHeader> headers);
  void setPositions(std::vector<ReplayPosition> positions);
  [[nodiscard]] const std::vector<ReplayPosition>& positions() const { return m_overlay.positions; }
  void setMarks(std::vector<EventMark> marks);
  /// Of the logical axis, whatever is shown.
  void setFound(EventSearchPtr found);
  /// Draws only what is found, and of the rest a shadow; all of it where nothing is.
  void setOnlyFound(bool only);
  /// By the times of the axis that is shown.
  [[nodiscard]] const EventSearchPtr& found() const { return m_overlay.found; }
  void setDifferent(std::vector<Serial> from);
  /// Past and future of the selected event.
  void setCone(bool shown);
  [[nodiscard]] bool cone() const { return m_overlay.cone; }

  [[nodiscard]] SpaceTimeViewport& viewport() { return m_viewport; }
  [[nodiscard]] EventCursor& eventCursor() { return m_cursor; }
  /// Of the viewport: on the axis that is shown.
  [[nodiscard]] const TraceIndexPtr& trace() const { return m_viewport.trace(); }
  [[nodiscard]] SpaceTimeGeometry view() const { return m_viewport.geometry(); }
  [[nodiscard]] const SceneStats& stats() const { return m_scene.stats(); }
  /// What is shown is of the view, not of a former one until the exact picture has come.
  [[nodiscard]] bool isUpToDate() const;

  /// The present view as a picture of its own size, headers and axis included.
  void renderTo(QPaintDevice* device, const QSizeF& size) const;

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 60}; }
  [[nodiscard]] QSize sizeHint() const override { return {900, 420}; }

 Q_SIGNALS:
  void activated(const pf::EventRef& event);
  void regimeChanged();
  void menuRequested(const QPoint& globalPosition);
  void rowMenuRequested(int row, const QPoint& globalPosition);  ///< over the name of a row

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
  enum class Drag { None, Pending, Pan, Band };

  [[nodiscard]] QRectF plotOf(const QSizeF& size) const;
  [[nodiscard]] SceneRequest sceneOf(const SpaceTimeGeometry& view) const;
  [[nodiscard]] EventSearchPtr only() const;
  void arrangeFound();
  void drawSceneAgain();
  void refreshCone();

  void paintEmpty(QPainter& painter) const;
  void paintBand(QPainter& painter, const SpaceTimeGeometry& view) const;
  void paintFocus(QPainter& painter) const;

  [[nodiscard]] EventRef eventBelow(QPointF position) const;
  [[nodiscard]] int alternativeBelow(QPointF position) const;
  [[nodiscard]] bool isOnAxis(QPointF position) const;
  void startPan();
  void pan(double right, double down);
  void hover(QPointF position);
  void click(QPointF position);
  void showToolTip(const QHelpEvent& event);
  void showMenuOfSelection();

  SpaceTimeViewport m_viewport;
  EventCursor m_cursor;
  ScenePicture m_scene;
  RowNames m_names;
  Theme m_theme;
  SpaceTimeOverlay m_overlay;
  EventSearchPtr m_found = m_overlay.found;  ///< on the logical axis
  bool m_onlyFound = false;
  Drag m_drag = Drag::None;
  QPointF m_pressed;
  QPointF m_last;
};

}  // namespace pf::views
