// SPDX-License-Identifier: GPL-3.0-or-later
// The overview, drawn from the cells of the pyramid: of a thousand ranks a picture takes millions
// of cells and pixels, so that its loops are plain ones over rows of floats, without branches, for
// the compiler to make vectors of.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <QImage>

#include "views/diagram/painting/line_density.h"
#include "views/diagram/painting/space_time_painter.h"
#include "views/diagram/painting/wide_loops.h"

namespace pf::views {

namespace {

/// The numbers of the cells of ranks [first, last), spread over the pixel columns that their bins
/// cover.
class CellColumns {
 public:
  enum Number { Events, Cut, Racing, Races, kNumbers };
  using Numbers = std::array<float, kNumbers>;

  CellColumns(const DensityWindow& level, const SpaceTimeGeometry& geometry, Rank first, Rank last);

  [[nodiscard]] std::size_t width() const { return m_width; }
  [[nodiscard]] std::span<const float> row(Number number, Rank rank) const {
    return std::span(s_values[number]).subspan(row(rank) * m_width, m_width);
  }
  /// The largest of a rank's.
  [[nodiscard]] float peak(Number number, Rank rank) const { return m_peaks[row(rank)][number]; }
  /// The largest from rank `first` on, at least 1.
  [[nodiscard]] float peakFrom(Number number, Rank first) const {
    float peak = 1.0F;
    for (const Numbers& peaks : std::span(m_peaks).subspan(row(first))) {
      peak = std::max(peak, peaks[number]);
    }
    return peak;
  }

 private:
  /// What of a bin lies in a column.
  struct Share {
    std::uint32_t bin;
    float part;
  };
  [[nodiscard]] std::size_t row(Rank rank) const {
    return static_cast<std::size_t>(rank - m_first);
  }
  void findShares(const DensityWindow& level, const SpaceTimeGeometry& geometry);
  void addUp(std::span<const DensityCell> cells, std::size_t row);

  Rank m_first;
  std::size_t m_width;
  std::vector<Share> m_shares;        ///< by column
  std::vector<std::size_t> m_starts;  ///< of each column's in m_shares, and their number
  std::vector<Numbers> m_peaks;       ///< by row
  /// By row and column, one object's at a time. Each thread that draws keeps the room for them: of
  /// a thousand ranks they are 50 MB, and a fifth of a picture's time went to the kernel's clearing
  /// of their pages.
  inline static thread_local std::array<std::vector<float>, kNumbers> s_values;
};

CellColumns::CellColumns(const DensityWindow& level, const SpaceTimeGeometry& geometry, Rank first,
                         Rank last)
    : m_first(first),
      m_width(static_cast<std::size_t>(std::ceil(geometry.plot.width()))),
      m_peaks(static_cast<std::size_t>(std::max(last - first, 0))) {
  for (std::vector<float>& values : s_values) {
    values.resize(m_peaks.size() * m_width);
  }
  findShares(level, geometry);
  std::vector<DensityCell> gathered;
  for (std::size_t row = 0; row < m_peaks.size(); ++row) {
    addUp(level.row(first + static_cast<Rank>(row), gathered), row);
  }
}

/// They are the same for all ranks.
void CellColumns::findShares(const DensityWindow& level, const SpaceTimeGeometry& geometry) {
  const double scale = geometry.scale();
  const auto most = static_cast<std::ptrdiff_t>(m_width) - 1;
  m_starts.reserve(m_width + 1);
  const auto startColumns = [&](std::size_t end) {
    m_starts.resize(std::max(m_starts.size(), end), m_shares.size());
  };
  for (std::size_t bin = 0; bin < level.bins; ++bin) {
    const double left =
        (static_cast<double>((level.firstBin + bin) * level.width) - geometry.t0) * scale;
    if (left >= static_cast<double>(m_width)) {
      break;
    }
    const double right = left + level.width * scale;
    const auto last = std::min(static_cast<std::ptrdiff_t>(std::floor(right)), most);
    for (auto column = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(std::floor(left)), 0);
         column <= last; ++column) {
      const double from = std::max(left, static_cast<double>(column));
      const double to = std::min(right, static_cast<double>(column) + 1);
      if (to > from) {
        startColumns(static_cast<std::size_t>(column) + 1);
        m_shares.push_back(
            {static_cast<std::uint32_t>(bin), static_cast<float>((to - from) / (right - left))});
      }
    }
  }
  startColumns(m_width + 1);
}

/// Of one rank.
PF_WIDE_LOOPS void CellColumns::addUp(std::span<const DensityCell> cells, std::size_t row) {
  std::array<float*, kNumbers> values{};
  for (std::size_t n = 0; n < kNumbers; ++n) {
    values[n] = s_values[n].data() + row * m_width;
  }
  Numbers peaks{};
  for (std::size_t column = 0; column < m_width; ++column) {
    Numbers sums{};
    for (std::size_t i = m_starts[column]; i < m_starts[column + 1]; ++i) {
      const DensityCell& cell = cells[m_shares[i].bin];
      const Numbers counts{static_cast<float>(cell.events), static_cast<float>(cell.cut),
                           static_cast<float>(cell.racing), static_cast<float>(cell.races)};
      for (std::size_t n = 0; n < kNumbers; ++n) {
        sums[n] += counts[n] * m_shares[i].part;
      }
    }
    for (std::size_t n = 0; n < kNumbers; ++n) {
      values[n][column] = sums[n];
      peaks[n] = std::max(peaks[n], sums[n]);
    }
  }
  m_peaks[row] = peaks;
}

/// log2(x), x >= 1, to 0.0002: a picture takes a hundred thousand, to a 255th of a colour.
float roughLog2(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const auto exponent = static_cast<float>((bits >> 23) - 127);
  const auto m = std::bit_cast<float>((bits & 0x007FFFFF) | 0x3F800000);
  const float cubed = (0.44717955F - 0.05657085F * m) * m - 1.46995680F;
  return exponent + ((cubed * m + 2.82120260F) * m - 1.74179390F);
}

/// Less than this of a count in a pixel is as good as none.
constexpr float kNone = 0.02F;

/// How strong a colour is for each count, from 0.15 to 1 by their logarithms, in 256ths; 0 where
/// there is as good as none.
PF_WIDE_LOOPS void strengthsOf(std::span<const float> counts, float peak, float strongest,
                               std::vector<std::int32_t>& strengths) {
  const float scale = 0.85F / roughLog2(1.0F + peak);
  const float whole = strongest * 256.0F;
  strengths.resize(counts.size());
  const float* const from = counts.data();
  std::int32_t* const to = strengths.data();
  for (std::size_t x = 0; x < counts.size(); ++x) {
    const float strength = std::min(0.15F + scale * roughLog2(1.0F + from[x]), 1.0F);
    to[x] = static_cast<std::int32_t>(from[x] < kNone ? 0.0F : strength * whole);
  }
}

/// A colour over another, premultiplied both; `strength` in 256ths.
QRgb over(QRgb above, QRgb below, std::uint32_t strength) {
  constexpr QRgb kOdd = 0x00FF00FF;  // two channels at a time
  const std::uint32_t rest = 256 - strength;
  const QRgb odd = (((above & kOdd) * strength + (below & kOdd) * rest) >> 8U) & kOdd;
  const QRgb even = (((above >> 8U) & kOdd) * strength + ((below >> 8U) & kOdd) * rest) & ~kOdd;
  return odd | even;
}

/// Puts a colour over `line`.
PF_WIDE_LOOPS void blendRow(QRgb* line, const std::vector<std::int32_t>& strengths, QRgb color) {
  const std::int32_t* const by = strengths.data();
  for (std::size_t x = 0; x < strengths.size(); ++x) {
    line[x] = over(color, line[x], static_cast<std::uint32_t>(by[x]));
  }
}

/// A colour over another by every strength.
using Strengths = std::array<QRgb, 257>;

Strengths allOver(QRgb above, QRgb below) {
  Strengths colors{};
  for (std::uint32_t strength = 0; strength < colors.size(); ++strength) {
    colors[strength] = over(above, below, strength);
  }
  return colors;
}

/// Rows of an image: [from, to).
struct Rows {
  int from;
  int to;
  [[nodiscard]] bool empty() const { return from >= to; }
};

Rows rowsIn(const QImage& image, double top, double bottom) {
  return {std::max(0, static_cast<int>(std::floor(top))),
          std::min(image.height(), static_cast<int>(std::floor(bottom)))};
}

QRgb* lineOf(QImage& image, int y) {
  return reinterpret_cast<QRgb*>(image.scanLine(y));
}

void fillRows(QImage& image, const std::vector<QRgb>& line, Rows rows) {
  for (int y = rows.from; y < rows.to; ++y) {
    std::copy(line.begin(), line.end(), lineOf(image, y));
  }
}

/// A picture of ranks [first, last); the gap above them reaches into view, too.
class Overview {
 public:
  Overview(const DensityWindow& level, const SpaceTimeGeometry& geometry, const Theme& theme)
      : m_geometry(geometry),
        m_theme(theme),
        m_first(geometry.visibleRows().first),  // which are ranks here
        m_last(geometry.visibleRows().second),
        m_above(std::max(0, m_first - 1)),
        m_cells(level, geometry, m_above, m_last) {}

  [[nodiscard]] QSize size() const {
    return {static_cast<int>(m_cells.width()),
            static_cast<int>(std::ceil(m_geometry.plot.height()))};
  }
  void addCuts(QImage& image) const;
  void addBars(QImage& image) const;

 private:
  [[nodiscard]] double y(Rank rank) const { return m_geometry.y(rank) - m_geometry.plot.top(); }
  [[nodiscard]] QRgb background(Rank rank) const {
    return (rank % 2 == 1 ? m_theme.stripe : m_theme.base).rgb();
  }
  void addEvents(QImage& image, Rank rank, Rows rows, float most, const Strengths& colors) const;

  const SpaceTimeGeometry& m_geometry;
  const Theme& m_theme;
  Rank m_first;
  Rank m_last;
  Rank m_above;
  CellColumns m_cells;
};

/// Messages between each rank and the next, in two halves, over the colours of both rows.
void Overview::addCuts(QImage& image) const {
  image.fill(m_theme.base);
  const double half = m_geometry.rowHeight / 2;
  std::vector<QRgb> line(m_cells.width());
  for (Rank rank = m_above; rank < m_last; ++rank) {
    if (rank % 2 == 1) {
      std::fill(line.begin(), line.end(), background(rank));
      fillRows(image, line, rowsIn(image, y(rank) - half, y(rank) + half));
    }
  }
  const float mostCut = m_cells.peakFrom(CellColumns::Cut, m_above);
  const float mostRacing = m_cells.peakFrom(CellColumns::Racing, m_above);
  const std::array<Strengths, 2> messages{allOver(m_theme.message.rgb(), background(0)),
                                          allOver(m_theme.message.rgb(), background(1))};
  std::vector<std::int32_t> cut;
  std::vector<std::int32_t> racing;
  for (Rank gap = m_above; gap < m_last; ++gap) {
    const std::array<Rows, 2> sides{rowsIn(image, y(gap), y(gap) + half),
                                    rowsIn(image, y(gap) + half, y(gap + 1))};
    if (sides[0].empty() && sides[1].empty()) {
      continue;
    }
    const bool races = m_cells.peak(CellColumns::Racing, gap) > 0;
    strengthsOf(m_cells.row(CellColumns::Cut, gap), mostCut, 0.6F, cut);
    if (races) {
      strengthsOf(m_cells.row(CellColumns::Racing, gap), mostRacing, 0.55F, racing);
    }
    for (const int side : {0, 1}) {
      if (sides[static_cast<std::size_t>(side)].empty()) {
        continue;
      }
      const Strengths& colors = messages[static_cast<std::size_t>((gap + side) % 2)];
      std::ranges::transform(cut, line.begin(), [&](std::int32_t strength) {
        return colors[static_cast<std::size_t>(strength)];
      });
      if (races) {
        blendRow(line.data(), racing, m_theme.race.rgb());
      }
      fillRows(image, line, sides[static_cast<std::size_t>(side)]);
    }
  }
}

/// A rank's bar, as strong as its events are many.
PF_WIDE_LOOPS void Overview::addEvents(QImage& image, Rank rank, Rows rows, float most,
                                       const Strengths& colors) const {
  const auto opacity = static_cast<std::int32_t>(256 * m_geometry.barOpacity());
  const std::span<const float> events = m_cells.row(CellColumns::Events, rank);
  const float* const counts = events.data();
  const float scale = 0.75F * 256.0F / most;
  for (int y = rows.from; y < rows.to; ++y) {
    QRgb* const line = lineOf(image, y);
    for (std::size_t x = 0; x < events.size(); ++x) {
      const auto strength = static_cast<std::int32_t>(64.0F + scale * counts[x]);
      const std::int32_t opaque = opacity * static_cast<std::int32_t>(counts[x] >= kNone);
      line[x] = over(colors[static_cast<std::size_t>(strength)], line[x],
                     static_cast<std::uint32_t>(opaque));
    }
  }
}

/// Each rank's events, and over them its races.
void Overview::addBars(QImage& image) const {
  const double bar = m_geometry.barHeight();
  const double mark = std::max(2.0, m_geometry.rowHeight * 0.5);
  const float mostEvents = m_cells.peakFrom(CellColumns::Events, m_first);
  const float mostRaces = m_cells.peakFrom(CellColumns::Races, m_first);
  const Strengths colors = allOver(m_theme.send.rgb(), m_theme.base.rgb());
  std::vector<std::int32_t> races;
  for (Rank rank = m_first; rank < m_last; ++rank) {
    const double top = std::floor(y(rank) - bar / 2);
    addEvents(image, rank, rowsIn(image, top, top + bar), mostEvents, colors);
    if (m_cells.peak(CellColumns::Races, rank) == 0) {
      continue;
    }
    strengthsOf(m_cells.row(CellColumns::Races, rank), mostRaces, 1.0F, races);
    const Rows rows = rowsIn(image, y(rank) - mark / 2 + 0.5, y(rank) + mark / 2 + 0.5);
    for (int row = rows.from; row < rows.to; ++row) {
      blendRow(lineOf(image, row), races, m_theme.race.rgb());
    }
  }
}

}  // namespace

/// The pyramid's long messages, as lines.
void SpaceTimePainter::paintLongMessages(QPainter& painter) const {
  const QRectF& plot = m_geometry.plot;
  std::vector<QLineF> racing;
  LineDensity plain(static_cast<int>(std::ceil(plot.width())),
                    static_cast<int>(std::ceil(plot.height())));
  bool any = false;
  for (const LongLine& line : m_pyramid->lines()) {
    if (line.sent > m_geometry.t1 || line.arrived < m_geometry.t0) {
      continue;
    }
    const QPointF from(m_geometry.x(line.sent), m_geometry.y(line.from));
    const QPointF to(m_geometry.x(line.arrived), m_geometry.y(line.to));
    if (line.racing) {
      racing.emplace_back(from, to);
    }
    any = true;
    plain.add(from - plot.topLeft(), to - plot.topLeft(), 1.0F);
  }
  if (any) {
    painter.drawImage(plot.topLeft(), plain.image(m_theme.message, 0.6));
  }
  painter.setPen(QPen(m_theme.race, 1.3));
  painter.drawLines(QList<QLineF>(racing.begin(), racing.end()));
}

void SpaceTimePainter::paintOverview(QPainter& painter, const DensityWindow& level) const {
  const Overview overview(level, m_geometry, m_theme);
  // Each thread that draws keeps the room for its picture, too.
  thread_local QImage image;
  if (image.size() != overview.size()) {
    image = QImage(overview.size(), QImage::Format_RGB32);
  }
  image.reinterpretAsFormat(QImage::Format_RGB32);
  overview.addCuts(image);
  if (!m_pyramid->lines().empty()) {  // below the bars, and lines in an SVG
    painter.drawImage(m_geometry.plot.topLeft(), image);
    paintLongMessages(painter);
    image.reinterpretAsFormat(QImage::Format_ARGB32_Premultiplied);
    image.fill(Qt::transparent);
  }
  overview.addBars(image);
  painter.drawImage(m_geometry.plot.topLeft(), image);
}

}  // namespace pf::views
