// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/painting/scene_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QPainter>

#include "views/diagram/painting/space_time_painter.h"
#include "views/diagram/painting/time_span.h"

namespace pf::views {

namespace {

constexpr double kOverscan = 0.5;            // of the width, on each side
constexpr double kLowRow = 4;                // pixels
constexpr std::size_t kPaintedAtOnce = 500;  // events, on the GUI thread

/// Whether a picture of `c` can be shown for `g` by moving it.
bool covers(const SpaceTimeGeometry& c, const SpaceTimeGeometry& g) {
  return c.rowHeight == g.rowHeight && c.scroll == g.scroll && c.plot.height() == g.plot.height() &&
         c.arranged == g.arranged && std::abs(c.scale() - g.scale()) < 1e-9 * g.scale() &&
         g.t0 >= c.t0 && g.t1 <= c.t1;
}

SceneRequest widened(SceneRequest view) {
  SpaceTimeGeometry& g = view.geometry;
  const double extra = (g.t1 - g.t0) * kOverscan;
  g.t0 -= extra;
  g.t1 += extra;
  g.plot = QRectF(0, 0, g.plot.width() * (1 + 2 * kOverscan), g.plot.height());
  return view;
}

bool isDrawnAtOnce(const SceneRequest& scene) {
  return scene.trace->hasEvents() && scene.trace->pages() == nullptr &&
         SpaceTimePainter(*scene.trace, scene.geometry, scene.theme).eventsInView() <=
             kPaintedAtOnce;
}

/// The plot's background where the picture, which is at `target`, is not.
void paintAround(QPainter& painter, const SceneRequest& view, const QRectF& target) {
  const SpaceTimeGeometry& g = view.geometry;
  const QRect covered(
      QPoint(static_cast<int>(std::ceil(target.left())), static_cast<int>(std::ceil(target.top()))),
      QPoint(static_cast<int>(std::floor(target.right())) - 1,
             static_cast<int>(std::floor(target.bottom())) - 1));
  const QRegion bare = QRegion(g.plot.toAlignedRect()).subtracted(covered);
  if (bare.isEmpty()) {
    return;
  }
  painter.save();
  painter.setClipRegion(bare, Qt::IntersectClip);
  painter.fillRect(g.plot, view.theme.base);
  if (g.rowHeight >= kLowRow) {  // of a thousand low ones a picture takes longer than it helps
    SpaceTimePainter(*view.trace, g, view.theme).paintRows(painter);
  }
  painter.restore();
}

}  // namespace

ScenePicture::ScenePicture() {
  connect(&m_renderer, &SceneRenderer::finished, this, &ScenePicture::keep);
}

void ScenePicture::forget() {
  drawAgain();
  m_state = State::None;
}

void ScenePicture::drawAgain() {
  m_state = m_state == State::None ? State::None : State::Former;
  m_asked.reset();
  m_renderer.forget();
}

void ScenePicture::renewTimes(const TraceIndex& before, const TraceIndex& now) {
  m_geometry.t0 = sameTime(m_geometry.t0, before, now);
  m_geometry.t1 = sameTime(m_geometry.t1, before, now);
}

bool ScenePicture::holds(const SpaceTimeGeometry& view, double ratio) const {
  return m_state == State::Present && m_image.devicePixelRatio() == ratio &&
         covers(m_geometry, view);
}

void ScenePicture::keep(const Scene& scene) {
  m_image = scene.image;
  m_geometry = scene.request.geometry;
  m_state = State::Present;
  const SceneStats before = std::exchange(m_stats, scene.stats);
  if (before.exact != m_stats.exact || before.overview != m_stats.overview ||
      before.events != m_stats.events || before.eventsAPixel != m_stats.eventsAPixel) {
    QMetaObject::invokeMethod(this, &ScenePicture::regimeChanged, Qt::QueuedConnection);
  }
  Q_EMIT changed();
}

void ScenePicture::renew(const SceneRequest& view) {
  if (holds(view.geometry, view.ratio)) {
    return;
  }
  SceneRequest scene = widened(view);
  if (isDrawnAtOnce(scene)) {
    m_renderer.forget();
    m_asked.reset();
    keep(SceneRenderer::draw(std::move(scene), nullptr));
  } else if (!m_asked || !m_renderer.isBusy() || !covers(*m_asked, view.geometry)) {
    m_asked = scene.geometry;
    m_renderer.request(std::move(scene));
  }
}

/// Where the picture belongs in the view.
QRectF ScenePicture::target(const SpaceTimeGeometry& g) const {
  if (m_state == State::None) {
    return {};
  }
  const SpaceTimeGeometry& c = m_geometry;
  const double rows = g.rowHeight / c.rowHeight;
  return {g.x(c.t0), g.plot.top() + c.scroll * rows - g.scroll, (c.t1 - c.t0) * g.scale(),
          c.plot.height() * rows};
}

void ScenePicture::paint(QPainter& painter, const SceneRequest& view) {
  renew(view);
  painter.save();
  painter.setClipRect(view.geometry.plot);
  const QRectF place = target(view.geometry);
  if (holds(view.geometry, view.ratio)) {
    painter.drawImage(place.topLeft(), m_image);
  } else {
    paintAround(painter, view, place);
    if (m_state != State::None) {
      painter.drawImage(place, m_image, QRectF(QPointF(), m_image.size()));
    }
  }
  painter.restore();
}

}  // namespace pf::views

#include "moc_scene_picture.cpp"
