// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/painting/scene_renderer.h"

#include <utility>

#include <QPainter>

namespace pf::views {

SceneRenderer::SceneRenderer(QObject* parent) : QObject(parent) {
  m_pool.setMaxThreadCount(1);
}

SceneRenderer::~SceneRenderer() {
  m_pool.clear();
  m_pool.waitForDone();
}

void SceneRenderer::request(SceneRequest request) {
  if (m_running) {
    m_next = std::move(request);
  } else {
    start(std::move(request));
  }
}

void SceneRenderer::forget() {
  m_next.reset();
  ++m_generation;
}

Scene SceneRenderer::draw(SceneRequest request, const DensityLevels* pyramid) {
  Scene scene{std::move(request), {}, {}};
  const SceneRequest& asked = scene.request;
  scene.image = QImage((asked.geometry.plot.size() * asked.ratio).toSize().expandedTo({1, 1}),
                       QImage::Format_RGB32);
  scene.image.setDevicePixelRatio(asked.ratio);
  scene.image.fill(asked.theme.base);
  QPainter painter(&scene.image);
  painter.setFont(asked.font);
  SpaceTimePainter scenePainter(*asked.trace, asked.geometry, asked.theme);
  scenePainter.setPyramid(pyramid);
  scenePainter.setFound(asked.only.get());
  scene.stats = scenePainter.paintScene(painter);
  return scene;
}

void SceneRenderer::start(SceneRequest request) {
  m_running = true;
  m_pool.start([this, generation = m_generation, asked = std::move(request)] {
    Scene scene = draw(asked, asked.trace->times().pyramid());
    QMetaObject::invokeMethod(
        this, [this, generation, done = std::move(scene)] { deliver(done, generation); },
        Qt::QueuedConnection);
  });
}

void SceneRenderer::deliver(const Scene& scene, int generation) {
  m_running = false;
  if (m_next) {
    start(*std::exchange(m_next, std::nullopt));
  }
  if (generation == m_generation) {
    Q_EMIT finished(scene);
  }
}

}  // namespace pf::views

#include "moc_scene_renderer.cpp"
