// SPDX-License-Identifier: GPL-3.0-or-later
// All elements of an array along one line, in the order in which they lie.
//
// Data in:  setArray(summary), setRange(from, to).
// Out:      elementClicked(index).
#pragma once

#include <QWidget>

#include "views/values/array_values.h"

namespace pf::views {

/// Least and most of what lies in each column of pixels. The wheel zooms, a drag chooses a range, a double click
/// shows all again.
class ArrayPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ArrayPlot(QWidget* parent = nullptr);
  void setArray(ArraySummaryPtr array);
  /// Elements [from, to), at least two.
  void setRange(qint64 from, qint64 to);
  [[nodiscard]] qint64 from() const { return m_from; }
  [[nodiscard]] qint64 to() const { return m_to; }

 Q_SIGNALS:
  void elementClicked(qint64 index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] qint64 elementAt(double x) const;
  [[nodiscard]] qint64 count() const;

  ArraySummaryPtr m_array;
  qint64 m_from = 0;
  qint64 m_to = 0;
  double m_pressed = -1.0;
  double m_dragged = -1.0;
};

}  // namespace pf::views
