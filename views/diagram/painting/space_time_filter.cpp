// SPDX-License-Identifier: GPL-3.0-or-later
// The diagram of what a search has found, and of nothing else: the rest stays as a shadow, so that
// one sees where in the run it is.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <QImage>

#include "views/diagram/painting/space_time_painter.h"

namespace pf::views {

namespace {

constexpr std::size_t kMostBars = 400000;  // more are sampled evenly: they lie over each other
constexpr double kShadow = 0.85;

}  // namespace

/// Hits [first, last).
std::pair<std::size_t, std::size_t> SpaceTimePainter::inView(const EventSearch& found) const {
  const auto begin = found.times.begin();
  const auto from = std::lower_bound(begin, found.times.end(), m_geometry.t0);
  const auto to = std::upper_bound(from, found.times.end(), m_geometry.t1);
  return {static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - begin)};
}

void SpaceTimePainter::paintFound(QPainter& painter) const {
  painter.fillRect(m_geometry.plot, withAlpha(m_theme.base, kShadow));
  const auto [first, last] = inView(*m_found);
  if (last - first <= kMostHitGlyphs && m_trace.hasEvents()) {
    paintFoundGlyphs(painter, first, last);
  } else {
    paintFoundBars(painter, first, last);
  }
}

/// With the messages that leave there or are taken there.
void SpaceTimePainter::paintFoundGlyphs(QPainter& painter, std::size_t first,
                                        std::size_t last) const {
  const ExecutionView& execution = m_trace.execution();
  std::vector<std::uint32_t> messages;
  for (std::size_t i = first; i < last; ++i) {
    const EventRef hit = m_found->hits[i];
    for (const std::uint32_t message : m_trace.links().sentAt(hit)) {
      messages.push_back(message);
    }
    for (const std::uint32_t receive : m_trace.links().completedAt(hit)) {
      messages.push_back(
          execution.ranks[static_cast<std::size_t>(hit.rank)].receives[receive].message);
    }
  }
  std::sort(messages.begin(), messages.end());
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  for (const std::uint32_t message : messages) {
    if (message < m_trace.messages().count()) {
      const bool race = m_trace.races().isTaken(message);
      paintMessage(painter, execution.messages[message],
                   QPen(race ? m_theme.race : m_theme.message, race ? 1.6 : 1.2), m_radius >= 2.6);
    }
  }
  for (std::size_t i = first; i < last; ++i) {
    const EventRef hit = m_found->hits[i];
    const QPointF centre = m_geometry.point(m_trace, hit);
    if (!m_trace.races().at(hit).empty()) {
      drawRaceRing(painter, centre, std::max(m_radius, 2.2), m_theme);
    }
    drawGlyph(painter, glyphOf(m_trace, hit), centre, m_radius, m_theme);
  }
}

void SpaceTimePainter::paintFoundBars(QPainter& painter, std::size_t first,
                                      std::size_t last) const {
  const QRectF& plot = m_geometry.plot;
  QImage image(static_cast<int>(std::ceil(plot.width())),
               static_cast<int>(std::ceil(plot.height())), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const double bar = std::max(1.0, std::floor(m_geometry.rowHeight * 0.5));
  const std::size_t stride = (last - first) / kMostBars + 1;
  for (std::size_t i = first; i < last; i += stride) {
    const int x = static_cast<int>(m_geometry.x(m_found->times[i]) - plot.left());
    const double top = m_geometry.y(m_found->hits[i].rank) - plot.top() - bar / 2;
    const int begin = std::max(0, static_cast<int>(std::floor(top)));
    const int end = std::min(image.height(), static_cast<int>(std::floor(top + bar)));
    for (int y = begin; y < end && x >= 0 && x < image.width(); ++y) {
      reinterpret_cast<QRgb*>(image.scanLine(y))[x] = m_theme.bookmark.rgb();
    }
  }
  painter.drawImage(plot.topLeft(), image);
}

}  // namespace pf::views
