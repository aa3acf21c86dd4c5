// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the space-time diagram: the scene (cached by the canvas) and what lies over it (selection,
// ghosts, replay position). Knows no widget, so that screen, PNG and SVG are the same picture.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <QFont>
#include <QPainter>

#include "views/diagram/painting/space_time_geometry.h"
#include "views/panes/space_time_glyphs.h"
#include "views/trace/analyses/event_search.h"
#include "views/values/space_time_types.h"

namespace pf::views {

struct SceneStats {
  bool exact = true;
  bool overview = false;  ///< drawn from a pyramid; `messages` is not known, then
  std::size_t events = 0;
  std::size_t messages = 0;
  double eventsAPixel = 0;  ///< on average, where there are rows and time
};

struct SpaceTimeOverlay {
  EventRef hovered;
  bool cone = false;
  std::vector<Serial> past;  ///< of the selected event, when cone
  std::vector<Serial> future;
  std::vector<ReplayPosition> positions;
  std::vector<EventMark> marks;
  EventSearchPtr found = std::make_shared<const EventSearch>();  ///< never null
  std::vector<Serial>
      different;  ///< by rank: what comes before is veiled (0: all of it); empty: no veil
};

class SpaceTimePainter {
 public:
  SpaceTimePainter(const TraceIndex& trace, const SpaceTimeGeometry& geometry, const Theme& theme);

  /// Of the trace; views that hold too many events to look at each are drawn from it. Null: there
  /// is none.
  void setPyramid(const DensityLevels* pyramid) { m_pyramid = pyramid; }
  /// Draws only these, and of the rest a shadow. Null: all.
  void setFound(const EventSearch* found) { m_found = found; }
  /// Events of the visible ranks that are in view.
  [[nodiscard]] std::size_t eventsInView() const;
  /// Background and rails, which need no look at events.
  void paintRows(QPainter& painter) const;
  /// Everything that depends on the trace and the view only.
  SceneStats paintScene(QPainter& painter) const;
  /// `alternative`: of the selected race, counted from 1; 0: none is chosen.
  void paintOverlay(QPainter& painter, const SpaceTimeOverlay& overlay, EventRef selected,
                    int alternative) const;
  /// A veil over the rows whose names are dimmed. By rank; before the overlay.
  void paintDimmed(QPainter& painter, const std::vector<RankHeader>& headers) const;
  void paintAxis(QPainter& painter, const QRectF& area) const;
  void paintHeaders(QPainter& painter, const QRectF& area,
                    const std::vector<RankHeader>& headers) const;

  /// Events and messages beyond which single signs give way to densities.
  static constexpr std::size_t kExactLimit = 20000;
  /// Events beyond which bins of the pyramid are drawn though they are wider than a pixel, up to
  /// kWidestBin pixels.
  static constexpr std::size_t kDenseLimit = 1000000;
  static constexpr double kWidestBin = 8;

  /// Hits of a search beyond which single signs of a filter give way to bars.
  static constexpr std::size_t kMostHitGlyphs = 4000;

 private:
  struct Visible {
    std::vector<Rank> ranks;                         ///< from top to bottom
    std::vector<std::pair<Serial, Serial>> serials;  ///< of each of them
    std::vector<MessageLine> messages;
    std::size_t events = 0;
  };
  [[nodiscard]] Visible collect() const;
  [[nodiscard]] std::shared_ptr<const DensityWindow> overviewCells(std::size_t events) const;
  [[nodiscard]] std::size_t eventsOf(const DensityWindow& cells) const;
  [[nodiscard]] double eventsAPixel(std::size_t events) const;
  void paintOverview(QPainter& painter, const DensityWindow& level) const;
  void paintLongMessages(QPainter& painter) const;
  [[nodiscard]] QPolygonF partsInOrder(const CollectiveGroup& group) const;
  void paintCollectives(QPainter& painter, const SceneStats& stats) const;
  void paintCollectiveLine(QPainter& painter, const CollectiveGroup& group, double x) const;
  void paintExact(QPainter& painter, const Visible& visible) const;
  void paintMessages(QPainter& painter, const Visible& visible) const;
  void paintCalls(QPainter& painter, const Visible& visible) const;
  void paintWaits(QPainter& painter, const Visible& visible) const;
  void paintBrackets(QPainter& painter, const Visible& visible) const;
  void paintLabels(QPainter& painter, const Visible& visible) const;
  void paintDensity(QPainter& painter, const Visible& visible) const;
  void paintMessageDensity(QPainter& painter, const Visible& visible) const;
  void paintCallDensity(QPainter& painter, const Visible& visible) const;
  void paintEventDensity(QPainter& painter) const;
  void paintMessage(QPainter& painter, const Message& message, const QPen& pen, bool head) const;
  void paintFailure(QPainter& painter, bool withText) const;
  void paintCone(QPainter& painter, const SpaceTimeOverlay& overlay) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> inView(const EventSearch& found) const;
  void paintFound(QPainter& painter) const;
  void paintFoundGlyphs(QPainter& painter, std::size_t first, std::size_t last) const;
  void paintFoundBars(QPainter& painter, std::size_t first, std::size_t last) const;
  void paintHits(QPainter& painter, const EventSearch& found) const;
  void paintHitTicks(QPainter& painter, const EventSearch& found, std::size_t first,
                     std::size_t last) const;
  void paintVeil(QPainter& painter, const std::vector<Serial>& different) const;
  void paintGhosts(QPainter& painter, EventRef selected, int chosen) const;
  void paintSelection(QPainter& painter, EventRef selected, int alternative) const;
  void paintReplay(QPainter& painter, const std::vector<ReplayPosition>& positions) const;
  void paintMarks(QPainter& painter, const std::vector<EventMark>& marks) const;
  [[nodiscard]] QString rowName(int row) const;
  void paintHeaderSign(QPainter& painter, QPointF at, const RankHeader& header) const;
  [[nodiscard]] RankHeader headerOf(int row, const std::vector<RankHeader>& headers) const;
  [[nodiscard]] double boundary(Rank rank, Serial next) const;
  [[nodiscard]] bool inView(QPointF point) const;

  const TraceIndex& m_trace;
  const SpaceTimeGeometry& m_geometry;
  const Theme& m_theme;
  double m_radius;
  const DensityLevels* m_pyramid = nullptr;
  const EventSearch* m_found = nullptr;
};

}  // namespace pf::views
