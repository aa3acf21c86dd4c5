// SPDX-License-Identifier: GPL-3.0-or-later
// The overview's picture, cell by cell: each of a cell's numbers is seen where it is, in its colour
// and nowhere else; long messages are lines; lines go through the pixels that they meet.
#include <algorithm>
#include <cmath>
#include <random>

#include <QtTest>

#include "replay_engine/causality/density_pyramid.h"
#include "views/diagram/painting/line_density.h"
#include "views/diagram/painting/scene_renderer.h"
#include "views/panes/theme.h"

using namespace pf;         // NOLINT(google-build-using-namespace)
using namespace pf::views;  // NOLINT(google-build-using-namespace)

namespace {

constexpr Rank kRanks = 4;
constexpr std::uint32_t kBins = 10;
constexpr std::uint32_t kWidth = 100;          // of a bin
constexpr std::size_t kPlace = 1 * kBins + 3;  // of the cell of rank 1 in bin 3

const Theme& theme() {
  static const Theme theme = Theme::of(QPalette(QColor(240, 240, 240)));
  return theme;
}

DensityPyramid empty() {
  DensityPyramid pyramid;
  DensityLevel& level = pyramid.levels.emplace_back();
  level.width = kWidth;
  level.bins = kBins;
  level.cells.resize(kBins * kRanks);
  return pyramid;
}

SceneRequest request(double rowHeight) {
  auto outline = std::make_shared<TraceData>();
  outline->execution.ranks.resize(kRanks);
  outline->outline = TraceOutline{100000, kWidth * kBins};
  SceneRequest request;
  request.trace = makeIndex(outline);
  request.theme = theme();
  request.geometry.plot = QRectF(0, 0, 905, std::ceil(rowHeight * kRanks));
  request.geometry.t1 = kWidth * kBins;
  request.geometry.rowHeight = rowHeight;
  request.geometry.rows = kRanks;
  return request;
}

QImage draw(const SceneRequest& request, DensityPyramid pyramid) {
  const KeptCutLevels levels(std::move(pyramid));
  const Scene scene = SceneRenderer::draw(request, &levels);
  return scene.stats.overview ? scene.image : QImage();
}

/// Where two pictures of a size differ.
QRect difference(const QImage& a, const QImage& b) {
  QRect found;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      if (a.pixel(x, y) != b.pixel(x, y)) {
        found |= QRect(x, y, 1, 1);
      }
    }
  }
  return found;
}

bool alike(QRgb a, const QColor& b) {
  const QColor color(a);
  return std::abs(color.red() - b.red()) <= 3 && std::abs(color.green() - b.green()) <= 3 &&
         std::abs(color.blue() - b.blue()) <= 3;
}

}  // namespace

class OverviewTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void eachNumberIsSeenInItsPlace_data();
  void eachNumberIsSeenInItsPlace();
  void messagesOfTheRankAboveReachIn();
  void fewAreWeakerThanMany();
  void longMessagesAreLinesBelowTheBars();
  void linesAreInThePixelsThatTheyMeet();
};

void OverviewTest::eachNumberIsSeenInItsPlace_data() {
  QTest::addColumn<double>("row");
  for (const double row : {14.5, 60.0, 7.3, 4.0, 2.0}) {  // pictures grow and shrink
    QTest::addRow("%g", row) << row;
  }
}

void OverviewTest::eachNumberIsSeenInItsPlace() {
  QFETCH(double, row);
  const SceneRequest asked = request(row);
  const QImage nothing = draw(asked, empty());
  QVERIFY(!nothing.isNull());
  const double middle = 1.5 * row;
  const double bar = std::max(1.0, std::floor(row * 0.32));
  const double mark = std::max(2.0, row / 2);
  struct Case {
    std::uint32_t DensityCell::*number;
    QColor color;
    double opacity;
    double top;
    double bottom;
  };
  const std::array<Case, 4> cases{
      Case{&DensityCell::events, theme().send, std::min(1.0, row / 4), std::floor(middle - bar / 2),
           std::floor(middle - bar / 2) + bar},
      Case{&DensityCell::races, theme().race, 1.0, std::round(middle - mark / 2),
           std::round(middle + mark / 2)},
      Case{&DensityCell::cut, theme().message, 0.6, std::floor(middle), std::floor(middle + row)},
      Case{&DensityCell::racing, theme().race, 0.55, std::floor(middle), std::floor(middle + row)}};
  for (const Case& each : cases) {
    DensityPyramid pyramid = empty();
    pyramid.levels[0].cells[kPlace].*each.number = 7000;  // many in a pixel
    const QImage picture = draw(asked, std::move(pyramid));
    const QRect seen = difference(picture, nothing);
    // Bin 3 of 10, over 905 pixels: from 271.5 to 362.
    QCOMPARE(seen, QRect(QPoint(271, static_cast<int>(each.top)),
                         QPoint(361, static_cast<int>(each.bottom) - 1)));
    for (const int y : {seen.top(), seen.bottom()}) {
      const QRgb paper = nothing.pixel(300, y);
      QVERIFY(alike(picture.pixel(300, y), mixed(QColor(paper), each.color, each.opacity)));
    }
  }
}

/// Those of the rank above what is scrolled to.
void OverviewTest::messagesOfTheRankAboveReachIn() {
  SceneRequest asked = request(60);
  asked.geometry.scroll = 2.2 * 60;
  const QImage nothing = draw(asked, empty());
  DensityPyramid pyramid = empty();
  pyramid.levels[0].cells[kPlace].cut = 7000;
  const QImage picture = draw(asked, std::move(pyramid));
  QCOMPARE(difference(picture, nothing), QRect(QPoint(271, 0), QPoint(361, 17)));
  QVERIFY(
      alike(picture.pixel(300, 10), mixed(QColor(nothing.pixel(300, 10)), theme().message, 0.6)));
}

/// By the logarithm, and events by their share of the most.
void OverviewTest::fewAreWeakerThanMany() {
  const SceneRequest asked = request(20);
  const QImage nothing = draw(asked, empty());
  DensityPyramid pyramid = empty();
  std::vector<DensityCell>& cells = pyramid.levels[0].cells;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    cells[kBins + bin].events = 1000U << bin;
    cells[2 * kBins + bin].cut = 1000U << bin;
  }
  const QImage picture = draw(asked, std::move(pyramid));
  const auto strength = [&](std::size_t bin, int y) {
    const int x = static_cast<int>((static_cast<double>(bin) + 0.5) * 90.5);
    const QColor here(picture.pixel(x, y));
    const QColor paper(nothing.pixel(x, y));
    return std::abs(here.red() - paper.red()) + std::abs(here.green() - paper.green()) +
           std::abs(here.blue() - paper.blue());
  };
  for (std::size_t bin = 1; bin < kBins; ++bin) {
    QVERIFY(strength(bin, 29) >= strength(bin - 1, 29));
    QVERIFY(strength(bin, 58) >= strength(bin - 1, 58));
  }
  QVERIFY(strength(0, 29) > 10);
  QVERIFY(strength(9, 29) > 3 * strength(0, 29));
  QVERIFY(strength(0, 58) > 10);
  QVERIFY(strength(9, 58) > 2 * strength(0, 58));
}

void OverviewTest::longMessagesAreLinesBelowTheBars() {
  const SceneRequest asked = request(40);
  const QImage nothing = draw(asked, empty());
  DensityPyramid pyramid = empty();
  pyramid.lines = {{0, 3, 100, 900, false}, {3, 0, 100, 900, true}};
  const QImage lines = draw(asked, pyramid);
  const auto y = [](double share) { return 20 + static_cast<int>(120 * share); };
  const auto x = [](double share) { return static_cast<int>(90.5 + 724 * share); };
  const double single = 0.6 * (0.15 + 0.85 * std::log(2) / std::log(3));  // two cross
  for (const double share : {0.1, 0.25, 0.6, 0.9}) {
    const int column = x(share);
    const QRect down = difference(lines.copy(column, y(share) - 4, 1, 9),
                                  nothing.copy(column, y(share) - 4, 1, 9));
    const QRect up = difference(lines.copy(column, y(1 - share) - 4, 1, 9),
                                nothing.copy(column, y(1 - share) - 4, 1, 9));
    QVERIFY(down.height() >= 1 && down.height() <= 3);
    QVERIFY(up.height() >= 1 && up.height() <= 3);
    const int row = y(share) - 4 + down.top();
    QVERIFY(alike(lines.pixel(column, row),
                  mixed(QColor(nothing.pixel(column, row)), theme().message, single)));
  }
  QCOMPARE(lines.copy(0, 0, 80, 160), nothing.copy(0, 0, 80, 160));
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    pyramid.levels[0].cells[kBins + bin].events = 3000;
  }
  const QImage both = draw(asked, pyramid);
  for (int column = 0; column < both.width(); ++column) {
    QVERIFY(alike(both.pixel(column, 60), theme().send));
  }
  QCOMPARE(both.copy(0, 0, 905, 50), lines.copy(0, 0, 905, 50));
}

/// Of random lines, some of them out of the picture: by what of each column's part of the line is
/// in the rows.
void OverviewTest::linesAreInThePixelsThatTheyMeet() {
  constexpr int kSide = 43;  // columns are added up by eights, and the rest of them
  std::mt19937 random(11);
  std::uniform_real_distribution<double> anywhere(-15, kSide + 15);
  for (int turn = 0; turn < 500; ++turn) {
    const QPointF from(anywhere(random), anywhere(random));
    const QPointF to(turn % 20 == 0 ? from.x() : anywhere(random), anywhere(random));
    LineDensity density(kSide, kSide);
    density.add(from, to, 1.0F);
    const QImage image = density.image(Qt::black, 1.0);
    const double left = std::min(from.x(), to.x());
    const double right = std::max(from.x(), to.x());
    const auto at = [&](double x) {
      return right == left ? to.y()
                           : from.y() + (to.y() - from.y()) * (x - from.x()) / (to.x() - from.x());
    };
    for (int x = 0; x < kSide; ++x) {
      double a = at(std::max<double>(x, left));
      double b = at(std::min<double>(x + 1, right));
      if (right == left) {
        a = from.y();
        b = to.y();
      }
      const bool meets = x + 1 > left && x <= right;
      for (int y = 0; y < kSide; ++y) {
        const bool there = meets && std::max(a, b) >= y && std::min(a, b) < y + 1;
        QCOMPARE(qAlpha(image.pixel(x, y)) > 0, there);
      }
    }
  }
}

QTEST_MAIN(OverviewTest)
#include "overview_test.moc"
