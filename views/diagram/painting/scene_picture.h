// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of the scene that the canvas shows: somewhat wider than the view, so that panning
// only moves it. Who paints shows what there is, moved and stretched, and asks for what there is
// not: views of few events are drawn at once, others by a SceneRenderer.
//
// A view is a SceneRequest whose plot is where the widget has it.
#pragma once

#include <optional>

#include <QImage>
#include <QObject>

#include "views/diagram/painting/scene_renderer.h"

class QPainter;

namespace pf::views {

class ScenePicture : public QObject {
  Q_OBJECT
 public:
  ScenePicture();

  /// There is none of what is to be shown.
  void forget();
  /// What is shown has changed; the present picture stays until there is the new one.
  void drawAgain();
  /// The trace has been renewed: see sameTime().
  void renewTimes(const TraceIndex& before, const TraceIndex& now);

  /// The exact one of the view is there; `ratio` as in SceneRequest.
  [[nodiscard]] bool holds(const SpaceTimeGeometry& view, double ratio) const;
  void paint(QPainter& painter, const SceneRequest& view);
  [[nodiscard]] const SceneStats& stats() const { return m_stats; }

 Q_SIGNALS:
  void changed();
  void regimeChanged();  ///< stats() say something else; comes later than the picture

 private:
  enum class State { None, Former, Present };

  void renew(const SceneRequest& view);
  void keep(const Scene& scene);
  [[nodiscard]] QRectF target(const SpaceTimeGeometry& view) const;

  State m_state = State::None;
  QImage m_image;
  SpaceTimeGeometry m_geometry;  ///< plot in the picture's coordinates
  SceneStats m_stats;
  std::optional<SpaceTimeGeometry> m_asked;  ///< of the renderer, last
  SceneRenderer m_renderer;
};

}  // namespace pf::views
