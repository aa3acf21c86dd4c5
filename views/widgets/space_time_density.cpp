// The dense regime and the overview: how many events and message lines each pixel holds, never
// blank, races always seen. The dense one looks at each event in view, the overview at the cells of
// the pyramid.
#include "space_time_painter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <QImage>

namespace pf::views {

namespace {

constexpr std::size_t kMaxLines = 400000;  // more are sampled evenly, each counted for its stride

/// Lines per pixel by differences: each pixel column gets +1 where a line enters it and -1 below
/// where it leaves.
class LineDensity {
 public:
  LineDensity(int width, int height)
      : m_width(width),
        m_height(height),
        m_cells(static_cast<std::size_t>(width) * static_cast<std::size_t>(height + 1), 0.0F) {}

  void add(QPointF from, QPointF to, float weight) {
    if (from.x() > to.x()) {
      std::swap(from, to);
    }
    const double dx = std::max(to.x() - from.x(), 1e-6);
    const int first = static_cast<int>(std::floor(std::max(from.x(), 0.0)));
    const int last = static_cast<int>(std::floor(std::min(to.x(), m_width - 1.0)));
    for (int column = first; column <= last; ++column) {
      const double a = std::clamp((column - from.x()) / dx, 0.0, 1.0);
      const double b = std::clamp((column + 1 - from.x()) / dx, 0.0, 1.0);
      double top = from.y() + (to.y() - from.y()) * a;
      double bottom = from.y() + (to.y() - from.y()) * b;
      if (top > bottom) {
        std::swap(top, bottom);
      }
      const int y1 =
          static_cast<int>(std::floor(std::clamp(top, 0.0, static_cast<double>(m_height))));
      const int y2 = static_cast<int>(std::floor(std::clamp(bottom, -1.0, m_height - 1.0))) + 1;
      if (y2 > y1) {
        cell(column, y1) += weight;
        cell(column, y2) -= weight;
      }
    }
  }

  [[nodiscard]] QImage image(const QColor& color, double strongest) {
    float peak = 1.0F;
    for (int x = 0; x < m_width; ++x) {
      float sum = 0.0F;
      for (int y = 0; y < m_height; ++y) {
        sum += cell(x, y);
        cell(x, y) = sum;
        peak = std::max(peak, sum);
      }
    }
    const std::vector<QRgb> colors = colorsTo(peak, color, strongest);
    const auto most = static_cast<float>(colors.size() - 1);
    QImage out(m_width, m_height, QImage::Format_ARGB32_Premultiplied);
    for (int left = 0; left < m_width;
         left += kColumnsAtOnce) {  // the cells of a column lie together
      const int right = std::min(left + kColumnsAtOnce, m_width);
      for (int y = 0; y < m_height; ++y) {
        auto* const line = reinterpret_cast<QRgb*>(out.scanLine(y));
        for (int x = left; x < right; ++x) {
          line[x] = colors[static_cast<std::size_t>(std::clamp(cell(x, y) + 0.5F, 0.0F, most))];
        }
      }
    }
    return out;
  }

 private:
  static constexpr int kColumnsAtOnce = 16;

  /// As strong as the logarithm, for 0 … peak lines.
  static std::vector<QRgb> colorsTo(float peak, const QColor& color, double strongest) {
    constexpr float kMostColors = 65536.0F;
    std::vector<QRgb> colors(static_cast<std::size_t>(std::min(peak, kMostColors)) + 2);
    const double scale = 1.0 / std::log1p(static_cast<double>(peak));
    for (std::size_t n = 1; n < colors.size(); ++n) {
      const double alpha =
          std::min(1.0, 0.15 + 0.85 * std::log1p(static_cast<double>(n)) * scale) * strongest;
      colors[n] = qPremultiply(
          qRgba(color.red(), color.green(), color.blue(), static_cast<int>(alpha * 255)));
    }
    return colors;
  }
  float& cell(int x, int y) {
    return m_cells[static_cast<std::size_t>(x) * static_cast<std::size_t>(m_height + 1) +
                   static_cast<std::size_t>(y)];
  }
  int m_width;
  int m_height;
  std::vector<float> m_cells;
};

}  // namespace

/// The numbers of the cells of ranks [first, last), spread over the pixel columns that their bins
/// cover.
class CellColumns {
 public:
  enum Number { Events, Cut, Racing, Races, kNumbers };

  CellColumns(const CutWindow& level, const SpaceTimeGeometry& geometry, Rank first, Rank last)
      : m_first(first), m_width(static_cast<std::size_t>(std::ceil(geometry.plot.width()))) {
    for (std::vector<float>& values : m_values) {
      values.resize(static_cast<std::size_t>(std::max(last - first, 0)) * m_width);
    }
    const std::vector<Share> shares = sharesOf(level, geometry);
    std::vector<std::array<float, kNumbers>> sums(m_width);
    for (Rank rank = first; rank < last; ++rank) {
      addUp(level.row(rank), shares, sums);
      for (std::size_t n = 0; n < kNumbers; ++n) {
        float* const values = m_values[n].data() + begin(rank);
        for (std::size_t column = 0; column < m_width; ++column) {
          values[column] = sums[column][n];
        }
      }
    }
  }
  [[nodiscard]] std::size_t width() const { return m_width; }
  [[nodiscard]] std::span<const float> row(Number number, Rank rank) const {
    return std::span(m_values[number]).subspan(begin(rank), m_width);
  }
  /// The largest of a number from rank `first` on, at least 1.
  [[nodiscard]] float peak(Number number, Rank first) const {
    const auto all = std::span(m_values[number]).subspan(begin(first));
    return all.empty() ? 1.0F : std::max(1.0F, *std::ranges::max_element(all));
  }

 private:
  [[nodiscard]] std::size_t begin(Rank rank) const {
    return static_cast<std::size_t>(rank - m_first) * m_width;
  }
  /// What of a bin lies in a column.
  struct Share {
    std::uint32_t bin;
    std::uint32_t column;
    float part;
  };
  [[nodiscard]] std::vector<Share> sharesOf(const CutWindow& level,
                                            const SpaceTimeGeometry& geometry) const;
  static void addUp(std::span<const CutCell> cells, std::span<const Share> shares,
                    std::vector<std::array<float, kNumbers>>& sums);

  Rank m_first;
  std::size_t m_width;
  std::array<std::vector<float>, kNumbers> m_values;
};

/// The same for all ranks.
std::vector<CellColumns::Share> CellColumns::sharesOf(const CutWindow& level,
                                                      const SpaceTimeGeometry& geometry) const {
  std::vector<Share> shares;
  const double scale = geometry.scale();
  const auto most = static_cast<std::ptrdiff_t>(m_width) - 1;
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
        shares.push_back({static_cast<std::uint32_t>(bin), static_cast<std::uint32_t>(column),
                          static_cast<float>((to - from) / (right - left))});
      }
    }
  }
  return shares;
}

/// Of one rank.
void CellColumns::addUp(std::span<const CutCell> cells, std::span<const Share> shares,
                        std::vector<std::array<float, kNumbers>>& sums) {
  std::ranges::fill(sums, std::array<float, kNumbers>{});
  for (const Share& share : shares) {
    const CutCell& cell = cells[share.bin];
    const std::array<float, kNumbers> counts{
        static_cast<float>(cell.events), static_cast<float>(cell.cut),
        static_cast<float>(cell.racing), static_cast<float>(cell.races)};
    for (std::size_t n = 0; n < kNumbers; ++n) {
      sums[share.column][n] += counts[n] * share.part;
    }
  }
}

namespace {

/// log2(x), x >= 1, to 0.0002: a picture takes a hundred thousand, to a 255th of a colour.
float roughLog2(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto exponent = static_cast<float>(static_cast<int>(bits >> 23U) - 127);
  const auto m = std::bit_cast<float>((bits & 0x007FFFFFU) | 0x3F800000U);
  const float cubed = (0.44717955F - 0.05657085F * m) * m - 1.46995680F;
  return exponent + ((cubed * m + 2.82120260F) * m - 1.74179390F);
}

/// How strong a colour is for each count, from 0.15 to 1 by their logarithms; 0 where there is as
/// good as none.
void strengthsOf(std::span<const float> counts, float peak, std::vector<float>& strengths) {
  const float scale = 0.85F / roughLog2(1.0F + peak);
  strengths.resize(counts.size());
  for (std::size_t x = 0; x < counts.size(); ++x) {
    const float strength = 0.15F + scale * roughLog2(1.0F + counts[x]);
    strengths[x] = counts[x] < 0.02F ? 0.0F : std::min(strength, 1.0F);
  }
}

/// Puts a colour over `line`.
void blendRow(QRgb* line, const std::vector<float>& strengths, const QColor& color,
              float strongest) {
  const QRgb over = color.rgb();
  for (std::size_t x = 0; x < strengths.size(); ++x) {
    const int alpha = static_cast<int>(strengths[x] * strongest * 256.0F);
    if (alpha == 0) {
      continue;
    }
    const QRgb below = line[x];
    const auto mix = [alpha](int above, int under) {
      return (above * alpha + under * (256 - alpha)) / 256;
    };
    line[x] = qRgba(mix(qRed(over), qRed(below)), mix(qGreen(over), qGreen(below)),
                    mix(qBlue(over), qBlue(below)), mix(255, qAlpha(below)));
  }
}

/// From `from` to `to` in even steps.
std::array<QRgb, 256> colorsBetween(const QColor& from, const QColor& to) {
  std::array<QRgb, 256> colors{};
  for (std::size_t i = 0; i < colors.size(); ++i) {
    colors[i] = mixed(from, to, static_cast<double>(i) / 255).rgba();
  }
  return colors;
}

/// Of the events' bars: where rows are lower than these, the messages below are seen through them.
double barStrength(double rowHeight) {
  return std::clamp(rowHeight / 4, 0.25, 1.0);
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

void fillRows(QImage& image, const std::vector<QRgb>& line, Rows rows) {
  for (int y = rows.from; y < rows.to; ++y) {
    std::copy(line.begin(), line.end(), reinterpret_cast<QRgb*>(image.scanLine(y)));
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
  for (const CutLine& line : m_pyramid->lines()) {
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

/// Messages between each rank and the next, in two halves, over the colours of both rows.
void SpaceTimePainter::paintCuts(QPainter& painter, const CellColumns& cells, Rank above,
                                 Rank last) const {
  const QRectF& plot = m_geometry.plot;
  QImage image(static_cast<int>(cells.width()), static_cast<int>(std::ceil(plot.height())),
               QImage::Format_RGB32);
  image.fill(m_theme.base);
  const double half = m_geometry.rowHeight / 2;
  const auto y = [&](Rank rank) { return m_geometry.y(rank) - plot.top(); };
  std::vector<QRgb> line(cells.width());
  for (Rank rank = above; rank < last; ++rank) {
    if (rank % 2 == 1) {
      std::fill(line.begin(), line.end(), m_theme.stripe.rgb());
      fillRows(image, line, rowsIn(image, y(rank) - half, y(rank) + half));
    }
  }
  const float mostCut = cells.peak(CellColumns::Cut, above);
  const float mostRacing = cells.peak(CellColumns::Racing, above);
  std::vector<float> cut;
  std::vector<float> racing;
  for (Rank gap = above; gap < last; ++gap) {
    const std::array<Rows, 2> sides{rowsIn(image, y(gap), y(gap) + half),
                                    rowsIn(image, y(gap) + half, y(gap + 1))};
    if (sides[0].empty() && sides[1].empty()) {
      continue;
    }
    strengthsOf(cells.row(CellColumns::Cut, gap), mostCut, cut);
    strengthsOf(cells.row(CellColumns::Racing, gap), mostRacing, racing);
    for (const int side : {0, 1}) {
      if (sides[static_cast<std::size_t>(side)].empty()) {
        continue;
      }
      const QColor below = (gap + side) % 2 == 1 ? m_theme.stripe : m_theme.base;
      std::fill(line.begin(), line.end(), below.rgb());
      blendRow(line.data(), cut, m_theme.message, 0.6F);
      blendRow(line.data(), racing, m_theme.race, 0.55F);
      fillRows(image, line, sides[static_cast<std::size_t>(side)]);
    }
  }
  painter.drawImage(plot.topLeft(), image);
}

void SpaceTimePainter::paintOverview(QPainter& painter, const CutWindow& level) const {
  const QRectF& plot = m_geometry.plot;
  const auto [first, last] = m_geometry.visibleRows();  // which are ranks here
  const Rank above = std::max(0, first - 1);            // its gap reaches into view
  const CellColumns cells(level, m_geometry, above, last);
  paintCuts(painter, cells, above, last);
  if (!m_pyramid->lines().empty()) {
    paintLongMessages(painter);
  }
  const double bar = std::max(1.0, std::floor(m_geometry.rowHeight * 0.32));
  const double mark = std::max(2.0, m_geometry.rowHeight * 0.5);
  const auto width = static_cast<double>(cells.width());
  const float mostEvents = cells.peak(CellColumns::Events, first);
  const float mostRaces = cells.peak(CellColumns::Races, first);
  const auto colors = colorsBetween(m_theme.base, m_theme.send);
  QImage strip(static_cast<int>(cells.width()), 1, QImage::Format_ARGB32_Premultiplied);
  std::vector<float> races;
  for (Rank rank = first; rank < last; ++rank) {
    const auto events = cells.row(CellColumns::Events, rank);
    auto* const pixels = reinterpret_cast<QRgb*>(strip.scanLine(0));
    for (std::size_t x = 0; x < events.size(); ++x) {
      const float strength = 0.25F + 0.75F * events[x] / mostEvents;
      pixels[x] =
          events[x] < 0.02F ? 0U : colors[static_cast<std::size_t>(strength * 255.0F + 0.5F)];
    }
    painter.setOpacity(barStrength(m_geometry.rowHeight));
    painter.drawImage(QRectF(plot.left(), std::floor(m_geometry.y(rank) - bar / 2), width, bar),
                      strip);
    painter.setOpacity(1);
    const auto racesHere = cells.row(CellColumns::Races, rank);
    if (std::ranges::none_of(racesHere, [](float count) { return count > 0; })) {
      continue;
    }
    strip.fill(Qt::transparent);
    strengthsOf(racesHere, mostRaces, races);
    blendRow(reinterpret_cast<QRgb*>(strip.scanLine(0)), races, m_theme.race, 1.0F);
    painter.drawImage(QRectF(plot.left(), m_geometry.y(rank) - mark / 2, width, mark), strip);
  }
}

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
    const bool race = m_trace.takenInRace(line.message);
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
    const auto times = m_trace.times(rank);
    const auto [from, to] = m_trace.serialsIn(rank, m_geometry.t0, m_geometry.t1);
    std::uint32_t* const row =
        counts.data() + static_cast<std::size_t>(m_geometry.rowOf(rank) - first) * width;
    for (Serial serial = from; serial < to; ++serial) {
      const double x = m_geometry.x(times[serial - 1]) - plot.left();
      const std::size_t column = std::min(static_cast<std::size_t>(std::max(x, 0.0)), width - 1);
      peak = std::max(peak, ++row[column]);
    }
  }
  const double bar = std::max(1.0, std::floor(m_geometry.rowHeight * 0.32));
  painter.setRenderHint(QPainter::Antialiasing, false);
  QImage strip(static_cast<int>(width), 1, QImage::Format_ARGB32_Premultiplied);
  for (int i = first; i < last; ++i) {
    const std::uint32_t* const row = counts.data() + static_cast<std::size_t>(i - first) * width;
    auto* const pixels = reinterpret_cast<QRgb*>(strip.scanLine(0));
    for (std::size_t x = 0; x < width; ++x) {
      const double strength = 0.25 + 0.75 * static_cast<double>(row[x]) / peak;
      pixels[x] = row[x] == 0 ? 0U : mixed(m_theme.base, m_theme.send, strength).rgba();
    }
    painter.setOpacity(barStrength(m_geometry.rowHeight));
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
  const double bar = std::max(1.0, std::floor(m_geometry.rowHeight * 0.32));
  const QColor ink = m_theme.muted;
  QImage strip(static_cast<int>(width), 1, QImage::Format_ARGB32_Premultiplied);
  for (std::size_t row = 0; row < visible.ranks.size(); ++row) {
    std::vector<double> inside(width, 0.0);
    const Rank rank = visible.ranks[row];
    // The event before those in view may reach into it, and so may the one after them.
    const Serial last = std::min<Serial>(visible.serials[row].second, m_trace.lastSerial(rank));
    for (Serial s = std::max<Serial>(visible.serials[row].first, 2) - 1; s <= last; ++s) {
      const EventTime at = m_trace.clockTime({rank, s}).value_or(EventTime());
      const auto end = static_cast<double>(width);
      const double from =
          std::clamp(m_geometry.x(m_trace.timeAt(at.begin)) - plot.left(), 0.0, end);
      const double to = std::clamp(m_geometry.x(m_trace.timeAt(at.end)) - plot.left(), 0.0, end);
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
  const std::vector<std::uint32_t>& times = m_trace.racingTimes();
  auto at = static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), m_geometry.t0) -
                                     times.begin());
  for (; at < times.size() && static_cast<double>(times[at]) <= m_geometry.t1; ++at) {
    const EventRef ref = m_trace.racingEvents()[at];
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
