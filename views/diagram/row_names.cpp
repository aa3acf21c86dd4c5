// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/row_names.h"

#include <QPainter>

#include "views/diagram/space_time_painter.h"

namespace pf::views {

void RowNames::setHeaders(std::vector<RankHeader> headers) {
  m_headers = std::move(headers);
  forget();
}

bool RowNames::holds(const SpaceTimeGeometry& view, double ratio) const {
  const SpaceTimeGeometry& mine = m_geometry;
  return !m_picture.isNull() && m_picture.devicePixelRatio() == ratio && mine.plot == view.plot &&
         mine.rowHeight == view.rowHeight && mine.scroll == view.scroll &&
         mine.arranged == view.arranged;
}

void RowNames::draw(const SceneRequest& view) {
  const QRectF& plot = view.geometry.plot;
  const QSizeF size(plot.left(), plot.height());
  m_picture = QPixmap((size * view.ratio).toSize().expandedTo(QSize(1, 1)));
  m_picture.setDevicePixelRatio(view.ratio);
  m_picture.fill(view.theme.panel);
  m_geometry = view.geometry;
  QPainter painter(&m_picture);
  painter.setFont(view.font);
  painter.translate(0, -plot.top());
  SpaceTimePainter(*view.trace, view.geometry, view.theme)
      .paintHeaders(painter, QRectF(QPointF(0, plot.top()), size), m_headers);
}

void RowNames::paint(QPainter& painter, const SceneRequest& view) {
  if (!holds(view.geometry, view.ratio)) {
    draw(view);
  }
  painter.drawPixmap(QPointF(0, view.geometry.plot.top()), m_picture);
}

}  // namespace pf::views
