// SPDX-License-Identifier: GPL-3.0-or-later
// The whole run in a strip: activity, races and failure; the visible window can be dragged, or
// moved by Left, Right, Page Up, Page Down, Home and End. Data in: setTrace(), setWindow(). Out:
// windowMoved(t0, t1).
#pragma once

#include <QPixmap>
#include <QWidget>

#include "views/panes/theme.h"
#include "views/trace/analyses/event_search.h"
#include "views/trace/trace_index.h"

namespace pf::views {

class Minimap : public QWidget {
  Q_OBJECT
 public:
  explicit Minimap(QWidget* parent = nullptr);
  void setTrace(TraceIndexPtr trace);
  /// The same trace on an axis.
  void showOn(TraceIndexPtr trace);
  void setWindow(double t0, double t1);
  void setFound(EventSearchPtr found);
  /// Left edge of the strip, so that it stands below the plot.
  void setIndent(int left);
  [[nodiscard]] QSize sizeHint() const override { return {400, 44}; }

 Q_SIGNALS:
  void windowMoved(double t0, double t1);
  void left();  ///< Enter or Escape: back to the diagram

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF strip() const;
  [[nodiscard]] double x(double time) const;
  void moveTo(double xPos);
  [[nodiscard]] QPixmap blank() const;
  void render();
  void renderTicks();
  void drawAgain();

  TraceIndexPtr m_trace;
  Theme m_theme;
  EventSearchPtr m_found;  ///< may be null
  QPixmap m_picture;       ///< what is under the window; null: to be drawn
  QPixmap m_ticks;         ///< what was found, over it
  double m_t0 = 0;
  double m_t1 = 1;
  int m_indent = 0;
};

/// A row that explains the signs of the diagram.
class LegendStrip : public QWidget {
  Q_OBJECT
 public:
  explicit LegendStrip(QWidget* parent = nullptr);
  void setAxis(TimeAxis axis, TimeOrigin origin);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] int arrange(int width, QPainter* painter) const;

  TimeAxis m_axis = TimeAxis::Logical;
  TimeOrigin m_origin = TimeOrigin::None;
};

}  // namespace pf::views
