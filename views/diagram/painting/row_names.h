// SPDX-License-Identifier: GPL-3.0-or-later
// The names of the diagram's rows, with the text below each of them, as a picture that is kept:
// their texts take longer to draw than all else.
#pragma once

#include <utility>
#include <vector>

#include <QPixmap>

#include "views/diagram/painting/scene_renderer.h"
#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

class QPainter;

namespace pf::views {

/// How each rank ended; none without a trace.
[[nodiscard]] std::vector<RankHeader> headersOf(const TraceIndexPtr& trace);

class RowNames {
 public:
  /// By rank.
  void setHeaders(std::vector<RankHeader> headers);
  [[nodiscard]] const std::vector<RankHeader>& headers() const { return m_headers; }
  /// They are to be drawn again, though they are of the same view.
  void forget() { m_picture = QPixmap(); }
  /// Left of the view's plot.
  void paint(QPainter& painter, const SceneRequest& view);

 private:
  [[nodiscard]] bool holds(const SpaceTimeGeometry& view, double ratio) const;
  void draw(const SceneRequest& view);

  std::vector<RankHeader> m_headers;
  QPixmap m_picture;  ///< null: there is none
  SpaceTimeGeometry m_geometry;
};

}  // namespace pf::views
