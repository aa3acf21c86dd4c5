// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/painting/row_names.h"

#include <QPainter>

#include "views/diagram/painting/space_time_painter.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

RankHeader headerOf(const RankEnd& end) {
  const auto header = [&end](const QString& word, Tone tone) {
    QString text = end.text.isEmpty() ? word : end.text;
    if (text.contains(u" inside "_s)) {  // ended, stuck, waiting: there is little room
      text = u"in "_s + text.section(u" inside "_s, 1).section(u" ("_s, 0, 0);
    }
    return RankHeader{text, tone};
  };
  switch (end.kind) {
    case RankEndKind::Unknown:
      return {};
    case RankEndKind::Finished:
      return header(u"finished"_s, Tone::Muted);
    case RankEndKind::Crashed:
      return header(u"crashed"_s, Tone::Bad);
    case RankEndKind::Aborted:
      return header(u"aborted"_s, Tone::Bad);
    case RankEndKind::Hung:
      return header(u"hung"_s, Tone::Bad);
    case RankEndKind::Killed:
      return header(u"killed"_s, Tone::Active);
    case RankEndKind::Cut:
      return header(u"record cut"_s, Tone::Active);
  }
  return {};
}

}  // namespace

std::vector<RankHeader> headersOf(const TraceIndexPtr& trace) {
  std::vector<RankHeader> headers;
  if (trace) {
    for (const RankEnd& end : trace->data().ends) {
      headers.push_back(headerOf(end));
    }
  }
  return headers;
}

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
