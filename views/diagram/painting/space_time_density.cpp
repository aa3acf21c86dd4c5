// SPDX-License-Identifier: GPL-3.0-or-later
// The dense regime: how many events and message lines each pixel holds, never blank, races always
// seen.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include <QImage>

#include "views/diagram/painting/line_density.h"
#include "views/diagram/painting/space_time_painter.h"

namespace pf::views {

namespace {

constexpr std::size_t kMaxLines = 400000;  // more are sampled evenly, each counted for its stride

/// From `from` to `to` in even steps.
std::array<QRgb, 256> colorsBetween(const QColor& from, const QColor& to) {
  std::array<QRgb, 256> colors{};
  for (std::size_t i = 0; i < colors.size(); ++i) {
    colors[i] = mixed(from, to, static_cast<double>(i) / 255).rgba();
  }
  return colors;
}

}  // namespace

void SpaceTimePainter::paintMessageDensity(QPainter& painter, const Visible& visible) const {
  const QRectF& plot = m_geometry.plot;
  const int width = static_cast<int>(std::ceil(plot.width()));
  const int height = static_cast<int>(std::ceil(plot.height()));
  if (width <= 0 || height <= 0) {
    return;
  }
  LineDensity plain(width, height);
  LineDensity racing(width, height);
  bool anyRace = false;
  const std::size_t stride = visible.messages.size() / kMaxLines + 1;
  std::size_t turn = 0;
  for (const MessageLine& line : visible.messages) {
    const bool race = m_trace.races().isTaken(line.message);
    if (!race && turn++ % stride != 0) {
      continue;
    }
    if (line.arrives == 0) {
      continue;
    }
    anyRace = anyRace || race;
    (race ? racing : plain)
        .add(QPointF(m_geometry.x(line.departs), m_geometry.y(line.source)) - plot.topLeft(),
             QPointF(m_geometry.x(line.arrives), m_geometry.y(line.dest)) - plot.topLeft(),
             race ? 1.0F : static_cast<float>(stride));
  }
  painter.drawImage(plot.topLeft(), plain.image(m_theme.message, 0.6));
  if (anyRace) {
    painter.drawImage(plot.topLeft(), racing.image(m_theme.race, 0.55));
  }
}

// One bar per pixel column and rank, as strong as its events are many among those in view.
void SpaceTimePainter::paintEventDensity(QPainter& painter) const {
  const QRectF& plot = m_geometry.plot;
  const auto [first, last] = m_geometry.visibleRows();
  const auto width = static_cast<std::size_t>(std::ceil(plot.width()));
  std::vector<std::uint32_t> counts(width * static_cast<std::size_t>(last - first), 0);
  std::uint32_t peak = 1;
  for (const Rank rank : m_geometry.ranksInView()) {
    const auto times = m_trace.times().of(rank);
    const auto [from, to] = m_trace.times().serialsIn(rank, m_geometry.t0, m_geometry.t1);
    std::uint32_t* const row =
        counts.data() + static_cast<std::size_t>(m_geometry.rowOf(rank) - first) * width;
    for (Serial serial = from; serial < to; ++serial) {
      const double x = m_geometry.x(times[serial - 1]) - plot.left();
      const std::size_t column = std::min(static_cast<std::size_t>(std::max(x, 0.0)), width - 1);
      peak = std::max(peak, ++row[column]);
    }
  }
  const double bar = m_geometry.barHeight();
  const auto colors = colorsBetween(m_theme.base, m_theme.send);
  painter.setRenderHint(QPainter::Antialiasing, false);
  QImage strip(static_cast<int>(width), 1, QImage::Format_ARGB32_Premultiplied);
  for (int i = first; i < last; ++i) {
    const std::uint32_t* const row = counts.data() + static_cast<std::size_t>(i - first) * width;
    auto* const pixels = reinterpret_cast<QRgb*>(strip.scanLine(0));
    for (std::size_t x = 0; x < width; ++x) {
      const double strength = 0.25 + 0.75 * static_cast<double>(row[x]) / peak;
      pixels[x] = row[x] == 0 ? 0U : colors[static_cast<std::size_t>(std::lround(strength * 255))];
    }
    painter.setOpacity(m_geometry.barOpacity());
    painter.drawImage(QRectF(plot.left(), std::floor(m_geometry.rowY(i) - bar / 2),
                             static_cast<double>(width), bar),
                      strip);
  }
  painter.setOpacity(1);
}

// Below each rank's bar the share of each pixel's time that it was inside of calls that took their
// time.
void SpaceTimePainter::paintCallDensity(QPainter& painter, const Visible& visible) const {
  const QRectF& plot = m_geometry.plot;
  const auto width = static_cast<std::size_t>(std::ceil(plot.width()));
  const double height = std::max(1.0, std::floor(m_geometry.rowHeight * 0.12));
  const double bar = m_geometry.barHeight();
  const QColor ink = m_theme.muted;
  QImage strip(static_cast<int>(width), 1, QImage::Format_ARGB32_Premultiplied);
  for (std::size_t row = 0; row < visible.ranks.size(); ++row) {
    std::vector<double> inside(width, 0.0);
    const Rank rank = visible.ranks[row];
    // The event before those in view may reach into it, and so may the one after them.
    const Serial last = std::min<Serial>(visible.serials[row].second, m_trace.lastSerial(rank));
    for (Serial s = std::max<Serial>(visible.serials[row].first, 2) - 1; s <= last; ++s) {
      const EventTime at = m_trace.times().clockTime({rank, s}).value_or(EventTime());
      const auto end = static_cast<double>(width);
      const double from =
          std::clamp(m_geometry.x(m_trace.times().timeAt(at.begin)) - plot.left(), 0.0, end);
      const double to =
          std::clamp(m_geometry.x(m_trace.times().timeAt(at.end)) - plot.left(), 0.0, end);
      for (auto column = static_cast<std::size_t>(from); static_cast<double>(column) < to;
           ++column) {
        const auto left = static_cast<double>(column);
        inside[column] += std::min(to, left + 1) - std::max(from, left);
      }
    }
    auto* const pixels = reinterpret_cast<QRgb*>(strip.scanLine(0));
    for (std::size_t x = 0; x < width; ++x) {
      pixels[x] = qPremultiply(qRgba(ink.red(), ink.green(), ink.blue(),
                                     static_cast<int>(150 * std::min(inside[x], 1.0))));
    }
    painter.drawImage(QRectF(plot.left(), std::floor(m_geometry.y(rank) + bar / 2),
                             static_cast<double>(width), height),
                      strip);
  }
}

void SpaceTimePainter::paintDensity(QPainter& painter, const Visible& visible) const {
  paintMessageDensity(painter, visible);
  if (m_trace.axis() == TimeAxis::Physical) {
    paintCallDensity(painter, visible);
  }
  paintEventDensity(painter);
  const auto [first, last] = m_geometry.visibleRows();
  const double bar = std::max(2.0, m_geometry.rowHeight * 0.5);
  std::vector<int> lastColumn(m_trace.rankCount(), -1);
  const std::vector<std::uint32_t>& times = m_trace.racing().times();
  auto at = static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), m_geometry.t0) -
                                     times.begin());
  for (; at < times.size() && static_cast<double>(times[at]) <= m_geometry.t1; ++at) {
    const EventRef ref = m_trace.racing()[at];
    const int row = m_geometry.rowOf(ref.rank);
    if (row < first || row >= last) {
      continue;
    }
    const int column = static_cast<int>(m_geometry.x(times[at]));
    if (std::exchange(lastColumn[static_cast<std::size_t>(ref.rank)], column) != column) {
      painter.fillRect(QRectF(column, m_geometry.y(ref.rank) - bar / 2, 2, bar), m_theme.race);
    }
  }
  painter.setRenderHint(QPainter::Antialiasing);
}

}  // namespace pf::views
