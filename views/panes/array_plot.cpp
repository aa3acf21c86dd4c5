// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/array_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>

#include "views/panes/theme.h"

namespace pf::views {
namespace {

constexpr int kMargin = 6;
constexpr int kAxis = 64;  ///< for the numbers on the left

}  // namespace

ArrayPlot::ArrayPlot(QWidget* parent) : QWidget(parent) {
  setMinimumHeight(90);
  setAccessibleName(tr("Plot of the array"));
}

void ArrayPlot::setArray(ArraySummaryPtr array) {
  m_array = std::move(array);
  m_from = 0;
  m_to = count();
  update();
}

/// What is no number is not drawn.
qint64 ArrayPlot::count() const {
  return m_array == nullptr || !m_array->values().hasNumbers() ? 0 : m_array->values().count();
}

void ArrayPlot::setRange(qint64 from, qint64 to) {
  const qint64 all = count();
  m_from = std::clamp<qint64>(from, 0, std::max<qint64>(0, all - 2));
  m_to = std::clamp<qint64>(to, std::min(m_from + 2, all), all);
  update();
}

QRectF ArrayPlot::area() const {
  return QRectF(rect()).adjusted(kAxis, kMargin, -kMargin, -kMargin - fontMetrics().height());
}

qint64 ArrayPlot::elementAt(double x) const {
  const QRectF where = area();
  const double part = std::clamp((x - where.left()) / std::max(1.0, where.width()), 0.0, 1.0);
  return std::min(m_to - 1,
                  m_from + static_cast<qint64>(part * static_cast<double>(m_to - m_from)));
}

void ArrayPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = Theme::of(palette());
  const QRectF where = area();
  painter.fillRect(rect(), theme.base);
  const int width = static_cast<int>(where.width());
  if (m_array == nullptr || m_to <= m_from || width < 2) {
    return;
  }
  const std::vector<LeastMost> columns = m_array->columns(m_from, m_to, width);
  LeastMost all;
  for (const LeastMost& column : columns) {
    all.add(column);
  }
  if (!all.any || !std::isfinite(all.least) || !std::isfinite(all.most)) {
    painter.setPen(theme.muted);
    painter.drawText(rect(), Qt::AlignCenter, tr("no finite numbers"));
    return;
  }
  const double span = all.most > all.least ? all.most - all.least : 1.0;
  const auto y = [&](double value) {
    return where.bottom() - (value - all.least) / span * where.height();
  };
  painter.setPen(theme.grid);
  if (all.least < 0.0 && all.most > 0.0) {
    painter.drawLine(QPointF(where.left(), y(0.0)), QPointF(where.right(), y(0.0)));
  }
  painter.drawRect(where);
  painter.setPen(theme.receive);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double last = kNone;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].any) {
      last = kNone;
      continue;
    }
    const double x = where.left() + static_cast<double>(i) + 0.5;
    double low = y(columns[i].least);
    double high = y(columns[i].most);
    if (!std::isnan(last)) {  // no gaps between one column and the next
      low = std::max(low, last);
      high = std::min(high, last);
    }
    painter.drawLine(QPointF(x, low), QPointF(x, std::min(high, low - 0.5)));
    last = y((columns[i].least + columns[i].most) / 2.0);
  }
  painter.setPen(theme.muted);
  const QRectF left(0, where.top(), kAxis - 6, where.height());
  painter.drawText(left, Qt::AlignRight | Qt::AlignTop, QString::number(all.most, 'g', 5));
  painter.drawText(left, Qt::AlignRight | Qt::AlignBottom, QString::number(all.least, 'g', 5));
  const QRectF below(where.left(), where.bottom(), where.width(), height() - where.bottom());
  painter.drawText(below, Qt::AlignLeft | Qt::AlignVCenter, m_array->values().nameAt(m_from));
  painter.drawText(below, Qt::AlignRight | Qt::AlignVCenter, m_array->values().nameAt(m_to - 1));
  if (m_pressed >= 0.0 && std::abs(m_dragged - m_pressed) > 2.0) {
    painter.fillRect(QRectF(QPointF(m_pressed, where.top()), QPointF(m_dragged, where.bottom())),
                     withAlpha(theme.selection, 0.3));
  }
}

void ArrayPlot::wheelEvent(QWheelEvent* event) {
  if (m_to <= m_from) {
    return;
  }
  const qint64 at = elementAt(event->position().x());
  const double factor = event->angleDelta().y() > 0 ? 0.5 : 2.0;
  const auto scaled = [&](qint64 distance) {
    return static_cast<qint64>(static_cast<double>(distance) * factor);
  };
  setRange(at - scaled(at - m_from), at + std::max<qint64>(2, scaled(m_to - at)));
  event->accept();
}

void ArrayPlot::mousePressEvent(QMouseEvent* event) {
  m_pressed = m_dragged = event->position().x();
}

void ArrayPlot::mouseMoveEvent(QMouseEvent* event) {
  m_dragged = event->position().x();
  update();
}

void ArrayPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (m_pressed >= 0.0 && m_to > m_from) {
    const qint64 one = elementAt(m_pressed);
    const qint64 other = elementAt(event->position().x());
    if (std::abs(event->position().x() - m_pressed) > 2.0) {
      setRange(std::min(one, other), std::max(one, other) + 1);
    } else {
      Q_EMIT elementClicked(other);
    }
  }
  m_pressed = -1.0;
  update();
}

void ArrayPlot::mouseDoubleClickEvent(QMouseEvent* /*event*/) {
  m_pressed = -1.0;
  if (m_array != nullptr) {
    setRange(0, count());
  }
}

}  // namespace pf::views

#include "moc_array_plot.cpp"
