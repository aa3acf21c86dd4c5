// SPDX-License-Identifier: GPL-3.0-or-later
// Draws scenes of the space-time diagram on a thread of its own, one after another; of the requests
// that come meanwhile the last one counts.
#pragma once

#include <memory>
#include <optional>

#include <QFont>
#include <QImage>
#include <QObject>
#include <QThreadPool>

#include "views/diagram/painting/space_time_painter.h"
#include "views/panes/theme.h"
#include "views/trace/trace_index.h"

namespace pf::views {

/// What to draw.
struct SceneRequest {
  TraceIndexPtr trace;
  SpaceTimeGeometry geometry;  ///< plot at 0, 0
  Theme theme;
  QFont font;
  double ratio = 1.0;             ///< pixels of the device for one of the geometry
  EventSearchPtr only = nullptr;  ///< what of it; null: all
};

struct Scene {
  SceneRequest request;
  QImage image;
  SceneStats stats;
};

class SceneRenderer : public QObject {
  Q_OBJECT
 public:
  explicit SceneRenderer(QObject* parent = nullptr);
  ~SceneRenderer() override;
  SceneRenderer(const SceneRenderer&) = delete;
  SceneRenderer& operator=(const SceneRenderer&) = delete;

  void request(SceneRequest request);
  /// Nothing of what was asked for is wanted any more.
  void forget();
  /// A scene will come.
  [[nodiscard]] bool isBusy() const { return m_running || m_next.has_value(); }

  /// On the calling thread.
  [[nodiscard]] static Scene draw(SceneRequest request, const DensityLevels* pyramid);

 Q_SIGNALS:
  void finished(const pf::views::Scene& scene);

 private:
  void start(SceneRequest request);
  void deliver(const Scene& scene, int generation);

  std::optional<SceneRequest> m_next;
  bool m_running = false;
  int m_generation = 0;
  QThreadPool m_pool;
};

}  // namespace pf::views
