// SPDX-License-Identifier: GPL-3.0-or-later
// A plane of an array as colours: one element a cell, or where there are more elements than pixels, the one that is farthest
// from the mean of all. What is no finite number has a colour of its own.
//
// Data in:  setPlane(summary, plane).
// Out:      elementClicked(index).
#pragma once

#include <QImage>
#include <QWidget>

#include "views/values/array_plane.h"

namespace pf::views {

class ArrayHeatMap : public QWidget {
  Q_OBJECT
 public:
  explicit ArrayHeatMap(QWidget* parent = nullptr);
  void setPlane(ArraySummaryPtr array, const ArrayPlane& plane);
  /// Of the colours: those of the plane that is shown.
  [[nodiscard]] const LeastMost& scale() const { return m_scale; }
  /// The element at a place of the widget; -1: none.
  [[nodiscard]] qint64 elementAt(QPointF place) const;
  /// Of a share of the scale, from 0 to 1; NaN: of what is no finite number.
  [[nodiscard]] static QColor colourOf(double share);

 Q_SIGNALS:
  void elementClicked(qint64 index);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] bool isEmpty() const;
  void findScale();
  [[nodiscard]] QImage drawn(int width, int height) const;
  [[nodiscard]] double extremeIn(qint64 top, qint64 bottom, qint64 left, qint64 right) const;
  void paintScale(QPainter& painter, const QRectF& where) const;

  ArraySummaryPtr m_array;
  ArrayPlane m_plane;
  LeastMost m_scale;
  bool m_scaled = false;  ///< m_scale is known
  QImage m_image;         ///< of this plane, where it is not null
  QSize m_imageFor;       ///< pixels that it was drawn for
};

}  // namespace pf::views
