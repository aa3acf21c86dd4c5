// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas: what it shows, and how that is painted.
#include "views/diagram/canvas/space_time_canvas.h"

#include <algorithm>

#include <QPainter>
#include <QResizeEvent>

#include "views/trace/analyses/event_search.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/values/text.h"

namespace pf::views {

SpaceTimeCanvas::SpaceTimeCanvas(QWidget* parent)
    : QWidget(parent),
      m_viewport([this] { return plotOf(size()); }),
      m_cursor(m_viewport),
      m_theme(Theme::of(palette())) {
  setObjectName(u"spaceTimeCanvas"_s);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Space-time diagram"));
  const auto repaint = qOverload<>(&QWidget::update);
  connect(&m_viewport, &SpaceTimeViewport::changed, this, repaint);
  connect(&m_viewport, &SpaceTimeViewport::axisChanged, this, [this] {
    m_scene.forget();
    arrangeFound();
  });
  connect(&m_cursor, &EventCursor::selectionChanged, this, &SpaceTimeCanvas::refreshCone);
  connect(&m_cursor, &EventCursor::alternativeChanged, this, repaint);
  connect(&m_scene, &ScenePicture::changed, this, repaint);
  connect(&m_scene, &ScenePicture::regimeChanged, this, &SpaceTimeCanvas::regimeChanged);
}

QRectF SpaceTimeCanvas::plotOf(const QSizeF& size) const {
  const double names = fontMetrics().horizontalAdvance(u"Rank 0000 mm"_s) + 34.0;
  const double axis = fontMetrics().height() + 9.0;
  return {names, axis, std::max(10.0, size.width() - names), std::max(10.0, size.height() - axis)};
}

void SpaceTimeCanvas::setTrace(const TraceIndexPtr& trace) {
  m_names.forget();
  if (m_viewport.setTrace(trace)) {
    drawSceneAgain();
    return;
  }
  m_overlay = SpaceTimeOverlay{};
  m_found = m_overlay.found;
  m_cursor.forget();
  m_names.setHeaders({});
  m_scene.forget();
}

void SpaceTimeCanvas::renewTrace(const TraceIndexPtr& trace, const TraceIndexPtr& physical) {
  if (!physical) {
    m_viewport.setAxis(TimeAxis::Logical, m_cursor.selected());
  }
  const TraceIndexPtr before = this->trace();
  const TraceIndexPtr& now = m_viewport.axis() == TimeAxis::Physical ? physical : trace;
  m_cursor.renewTrace(*now);
  m_scene.renewTimes(*before, *now);
  m_names.forget();
  m_viewport.renewTrace(trace, physical);
  drawSceneAgain();
  arrangeFound();
  refreshCone();
}

void SpaceTimeCanvas::setHeaders(std::vector<RankHeader> headers) {
  m_names.setHeaders(std::move(headers));
  update();
}

void SpaceTimeCanvas::setPositions(std::vector<ReplayPosition> positions) {
  m_overlay.positions = std::move(positions);
  update();
}

void SpaceTimeCanvas::setMarks(std::vector<EventMark> marks) {
  m_overlay.marks = std::move(marks);
  update();
}

void SpaceTimeCanvas::setFound(EventSearchPtr found) {
  const bool other = m_onlyFound && m_found != found;
  m_found = std::move(found);
  arrangeFound();
  other ? drawSceneAgain() : update();
}

void SpaceTimeCanvas::setOnlyFound(bool only) {
  if (m_onlyFound != only) {
    m_onlyFound = only;
    drawSceneAgain();
  }
}

void SpaceTimeCanvas::arrangeFound() {
  const bool other = trace() && m_viewport.axis() == TimeAxis::Physical && !m_found->hits.empty();
  m_overlay.found = other ? onAxisOf(*trace(), *m_found) : m_found;
}

EventSearchPtr SpaceTimeCanvas::only() const {
  return m_onlyFound && !found()->hits.empty() ? found() : nullptr;
}

void SpaceTimeCanvas::drawSceneAgain() {
  m_scene.drawAgain();
  update();
}

void SpaceTimeCanvas::setDifferent(std::vector<Serial> from) {
  m_overlay.different = std::move(from);
  update();
}

void SpaceTimeCanvas::setCone(bool shown) {
  m_overlay.cone = shown;
  refreshCone();
}

void SpaceTimeCanvas::refreshCone() {
  if (m_overlay.cone && trace() && trace()->contains(m_cursor.selected())) {
    m_overlay.past = pastOf(*trace(), m_cursor.selected());
    m_overlay.future = futureOf(*trace(), m_cursor.selected());
  }
  update();
}

SceneRequest SpaceTimeCanvas::sceneOf(const SpaceTimeGeometry& view) const {
  return {trace(), view, m_theme, font(), devicePixelRatioF(), only()};
}

bool SpaceTimeCanvas::isUpToDate() const {
  return !trace() || trace()->eventCount() == 0 || m_scene.holds(view(), devicePixelRatioF());
}

void SpaceTimeCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setFont(font());
  if (!trace() || trace()->eventCount() == 0) {
    paintEmpty(painter);
    return;
  }
  const SceneRequest scene = sceneOf(view());
  const SpaceTimeGeometry& g = scene.geometry;
  m_scene.paint(painter, scene);
  const SpaceTimePainter over(*trace(), g, m_theme);
  over.paintDimmed(painter, m_names.headers());
  over.paintOverlay(painter, m_overlay, m_cursor.selected(), m_cursor.alternative());
  m_names.paint(painter, scene);
  over.paintAxis(painter, QRectF(0, 0, width(), g.plot.top()));
  paintBand(painter, g);
  paintFocus(painter);
}

void SpaceTimeCanvas::paintEmpty(QPainter& painter) const {
  painter.fillRect(rect(), m_theme.base);
  painter.setPen(m_theme.muted);
  painter.drawText(rect(), Qt::AlignCenter,
                   trace() ? tr("This trace has no events.") : tr("No trace is open."));
}

void SpaceTimeCanvas::paintBand(QPainter& painter, const SpaceTimeGeometry& g) const {
  if (m_drag == Drag::Band) {
    const QRectF band(QPointF(m_pressed.x(), g.plot.top()), QPointF(m_last.x(), g.plot.bottom()));
    painter.fillRect(band.normalized(), withAlpha(m_theme.selection, 0.18));
    painter.setPen(QPen(m_theme.selection, 1));
    painter.drawRect(band.normalized());
  }
}

void SpaceTimeCanvas::paintFocus(QPainter& painter) const {
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(withAlpha(m_theme.selection, 0.8), 1));
    painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
  }
}

void SpaceTimeCanvas::renderTo(QPaintDevice* device, const QSizeF& size) const {
  QPainter painter(device);
  painter.setFont(font());
  painter.fillRect(QRectF(QPointF(), size), m_theme.base);
  if (!trace() || trace()->eventCount() == 0) {
    return;
  }
  const SpaceTimeGeometry g = m_viewport.geometryIn(plotOf(size));
  const EventSearchPtr shown = only();
  SpaceTimePainter all(*trace(), g, m_theme);
  all.setFound(shown.get());
  all.paintScene(painter);
  all.paintDimmed(painter, m_names.headers());
  all.paintOverlay(painter, m_overlay, m_cursor.selected(), m_cursor.alternative());
  all.paintHeaders(painter, QRectF(0, g.plot.top(), g.plot.left(), g.plot.height()),
                   m_names.headers());
  all.paintAxis(painter, QRectF(0, 0, size.width(), g.plot.top()));
}

void SpaceTimeCanvas::resizeEvent(QResizeEvent* event) {
  const QSize before = event->oldSize();
  m_viewport.plotResized(before.width() > 10 ? plotOf(before).width() : 0);
}

void SpaceTimeCanvas::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    m_theme = Theme::of(palette());
    m_names.forget();
    m_scene.forget();
    update();
  }
  QWidget::changeEvent(event);
}

}  // namespace pf::views

#include "moc_space_time_canvas.cpp"
