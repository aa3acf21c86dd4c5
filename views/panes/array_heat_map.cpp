// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/array_heat_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include "views/panes/theme.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

constexpr int kAround = 6;
constexpr int kScaleWidth = 86;  ///< for the colours' numbers on the right
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Dark to light, of one brightness order: readable by everybody, printed too (viridis, van der Walt and Smith 2015).
constexpr std::array<std::array<int, 3>, 6> kColours{
    {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}, {253, 231, 37}}};

}  // namespace

ArrayHeatMap::ArrayHeatMap(QWidget* parent) : QWidget(parent) {
  setMinimumHeight(90);
  setObjectName(u"arrayHeatMap"_s);
  setAccessibleName(tr("Heat map of the array"));
}

void ArrayHeatMap::setPlane(ArraySummaryPtr array, const ArrayPlane& plane) {
  m_array = std::move(array);
  m_plane = plane;
  m_image = QImage();
  m_scaled = false;
  m_scale = {};
  update();
}

bool ArrayHeatMap::isEmpty() const {
  return m_array == nullptr || !m_array->values().hasNumbers();
}

QRectF ArrayHeatMap::area() const {
  return QRectF(rect()).adjusted(kAround, kAround, -kAround - kScaleWidth, -kAround);
}

QColor ArrayHeatMap::colourOf(double share) {
  if (!std::isfinite(share)) {
    return QColor(230, 0, 126);
  }
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(kColours.size() - 1);
  const auto from = std::min(static_cast<std::size_t>(at), kColours.size() - 2);
  const double part = at - static_cast<double>(from);
  const auto mixed = [from, part](std::size_t c) {
    return static_cast<int>(
        std::lround(kColours[from][c] * (1.0 - part) + kColours[from + 1][c] * part));
  };
  return {mixed(0), mixed(1), mixed(2)};
}

/// Of a plane that is the whole array it is known.
void ArrayHeatMap::findScale() {
  m_scaled = true;
  const ArrayValues& values = m_array->values();
  if (values.dims.size() <= 2) {
    m_scale = m_array->statistics().range;
    return;
  }
  const qint64 rows = m_plane.rows(values);
  const qint64 columns = m_plane.columns(values);
  for (qint64 row = 0; row < rows; ++row) {
    for (qint64 column = 0; column < columns; ++column) {
      if (const qint64 index = m_plane.indexAt(values, row, column); index >= 0) {
        m_scale.add(values.at(index));
      }
    }
  }
}

/// NaN where one of them is no finite number; infinite where there is none.
double ArrayHeatMap::extremeIn(qint64 top, qint64 bottom, qint64 left, qint64 right) const {
  const ArrayValues& values = m_array->values();
  const double mean = m_array->statistics().mean;
  double farthest = std::numeric_limits<double>::infinity();
  for (qint64 row = top; row < bottom; ++row) {
    for (qint64 column = left; column < right; ++column) {
      const qint64 index = m_plane.indexAt(values, row, column);
      if (index < 0) {
        continue;
      }
      const double value = values.at(index);
      if (!std::isfinite(value)) {
        return kNan;
      }
      if (std::isinf(farthest) || std::abs(value - mean) > std::abs(farthest - mean)) {
        farthest = value;
      }
    }
  }
  return farthest;
}

/// One pixel a cell, or less.
QImage ArrayHeatMap::drawn(int width, int height) const {
  const ArrayValues& values = m_array->values();
  const qint64 rows = m_plane.rows(values);
  const qint64 columns = m_plane.columns(values);
  const int across = static_cast<int>(std::clamp<qint64>(columns, 1, std::max(1, width)));
  const int down = static_cast<int>(std::clamp<qint64>(rows, 1, std::max(1, height)));
  QImage image(across, down, QImage::Format_ARGB32);
  const double span = m_scale.most > m_scale.least ? m_scale.most - m_scale.least : 1.0;
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const double value = extremeIn(rows * y / down, rows * (y + 1) / down, columns * x / across,
                                     columns * (x + 1) / across);
      image.setPixelColor(
          x, y,
          std::isinf(value) ? QColor(Qt::transparent) : colourOf((value - m_scale.least) / span));
    }
  }
  return image;
}

void ArrayHeatMap::paintScale(QPainter& painter, const QRectF& where) const {
  const QRectF bar(where.right() + kAround, where.top(), 10, where.height());
  for (int y = 0; y < static_cast<int>(bar.height()); ++y) {
    painter.fillRect(QRectF(bar.left(), bar.top() + y, bar.width(), 1.0),
                     colourOf(1.0 - y / std::max(1.0, bar.height() - 1.0)));
  }
  const QRectF text(bar.right() + 4, where.top(), width() - bar.right() - 4, where.height());
  painter.drawText(text, Qt::AlignLeft | Qt::AlignTop, QString::number(m_scale.most, 'g', 5));
  painter.drawText(text, Qt::AlignLeft | Qt::AlignBottom, QString::number(m_scale.least, 'g', 5));
}

void ArrayHeatMap::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = Theme::of(palette());
  painter.fillRect(rect(), theme.base);
  painter.setPen(theme.muted);
  const QRectF where = area();
  if (m_array != nullptr && isEmpty()) {
    painter.drawText(rect(), Qt::AlignCenter, tr("no numbers"));
  }
  if (isEmpty() || where.width() < 1 || where.height() < 1) {
    return;
  }
  if (!m_scaled) {
    findScale();
  }
  const QSize cells(static_cast<int>(where.width() * devicePixelRatioF()),
                    static_cast<int>(where.height() * devicePixelRatioF()));
  if (m_image.isNull() || m_imageFor != cells) {
    m_image = drawn(cells.width(), cells.height());
    m_imageFor = cells;
  }
  painter.drawImage(where, m_image);
  paintScale(painter, where);
}

qint64 ArrayHeatMap::elementAt(QPointF place) const {
  const QRectF where = area();
  if (isEmpty() || !where.contains(place)) {
    return -1;
  }
  const ArrayValues& values = m_array->values();
  const auto cell = [](double share, qint64 count) {
    return std::clamp<qint64>(static_cast<qint64>(share * static_cast<double>(count)), 0,
                              count - 1);
  };
  return m_plane.indexAt(values,
                         cell((place.y() - where.top()) / where.height(), m_plane.rows(values)),
                         cell((place.x() - where.left()) / where.width(), m_plane.columns(values)));
}

bool ArrayHeatMap::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);  // NOLINT(*-static-cast-downcast)
    const qint64 index = elementAt(help->pos());
    QToolTip::showText(help->globalPos(),
                       index < 0 ? QString()
                                 : u"%1 = %2"_s.arg(m_array->values().nameAt(index),
                                                    m_array->values().textAt(index)),
                       this);
    return true;
  }
  return QWidget::event(event);
}

void ArrayHeatMap::mousePressEvent(QMouseEvent* event) {
  if (const qint64 index = elementAt(event->position()); index >= 0) {
    Q_EMIT elementClicked(index);
  }
}

}  // namespace pf::views

#include "moc_array_heat_map.cpp"
