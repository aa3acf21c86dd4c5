// SPDX-License-Identifier: GPL-3.0-or-later
// The pyramid counts what is there: every cell of every level against brute force, on random
// traffic; the overview and the dense picture of one view agree.
#include "replay_engine/causality/density_pyramid.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <QSignalSpy>
#include <QtTest>

#include "views/diagram/painting/scene_renderer.h"
#include "views/diagram/painting/space_time_painter.h"
#include "views/panes/theme.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_causality.h"

using namespace pf;         // NOLINT(google-build-using-namespace)
using namespace pf::views;  // NOLINT(google-build-using-namespace)
using pf::views::test::masterWorker;
using pf::views::test::stencil;

namespace {

/// Ranks that send to random ranks, some messages under way for long; a tenth of them taken in a
/// race.
TraceIndexPtr randomTraffic(unsigned seed, int ranks, int messages) {
  std::mt19937 random(seed);
  auto data = std::make_shared<TraceData>();
  data->execution.callNames = {"MPI_Send", "MPI_Recv"};
  data->execution.ranks.resize(static_cast<std::size_t>(ranks));
  data->logicalTimes.resize(static_cast<std::size_t>(ranks));
  struct Made {
    std::uint32_t time = 0;
    int message = -1;
    bool send = false;
  };
  std::vector<std::vector<Made>> made(static_cast<std::size_t>(ranks));
  for (int m = 0; m < messages; ++m) {
    const auto from = random() % static_cast<unsigned>(ranks);
    const auto to = random() % static_cast<unsigned>(ranks);
    const auto sent = static_cast<std::uint32_t>(1 + random() % 5000);
    const auto late =
        static_cast<std::uint32_t>(1 + (random() % 10 == 0 ? random() % 900 : random() % 6));
    made[from].push_back({sent, m, true});
    made[to].push_back({sent + late, m, false});
    Message message;
    message.send.rank = static_cast<Rank>(from);
    message.dest = static_cast<Rank>(to);
    data->execution.messages.push_back(message);
  }
  for (std::size_t rank = 0; rank < made.size(); ++rank) {
    std::stable_sort(made[rank].begin(), made[rank].end(),
                     [](const Made& a, const Made& b) { return a.time < b.time; });
    RankHistory& history = data->execution.ranks[rank];
    for (const Made& each : made[rank]) {
      Event event;
      event.kind = each.send ? EventKind::Send : EventKind::Receive;
      history.events.push_back(event);
      data->logicalTimes[rank].push_back(each.time);
      Message& message = data->execution.messages[static_cast<std::size_t>(each.message)];
      const Serial serial = history.events.size();
      if (each.send) {
        message.send.serial = serial;
        message.sendIndex = static_cast<std::uint32_t>(history.sends.size());
        history.sends.push_back({serial, 0, message.dest, 0, false, 0});
      } else {
        message.post = static_cast<std::uint32_t>(history.receives.size());
        message.completion = serial;
        PostedReceive receive;
        receive.post = receive.completion = serial;
        receive.message = static_cast<std::uint32_t>(each.message);
        history.receives.push_back(receive);
        if (each.message % 10 == 0) {
          Race race;
          race.rank = static_cast<Rank>(rank);
          race.index = message.post;
          race.taken = receive.message;
          data->races.push_back(race);
        }
      }
    }
  }
  return makeIndex(data);
}

DensityPyramid pyramidOf(const TraceIndex& trace, std::size_t eventsInCell = 0) {
  return densityPyramid(trace.data().execution, trace.data().races.list(),
                        trace.data().logicalTimes, eventsInCell);
}

LongLine lineOf(const TraceIndex& trace, std::uint32_t m) {
  const Message& message = trace.execution().messages[m];
  const EventRef end = trace.messages().arrival(message);
  return {message.send.rank, end.rank, trace.time(message.send), trace.time(end),
          trace.races().isTaken(m)};
}

/// What a cell must hold.
std::vector<DensityCell> bruteForce(const TraceIndex& trace, const DensityPyramid& pyramid,
                                    const DensityLevel& level) {
  std::vector<DensityCell> cells(trace.rankCount() * level.bins);
  const auto cell = [&](Rank rank, double time) -> DensityCell& {
    return cells[static_cast<std::size_t>(rank) * level.bins +
                 static_cast<std::size_t>(time) / level.width];
  };
  for (std::size_t r = 0; r < trace.rankCount(); ++r) {
    for (Serial s = 1; s <= trace.lastSerial(static_cast<Rank>(r)); ++s) {
      const EventRef ref{static_cast<Rank>(r), s};
      ++cell(ref.rank, trace.time(ref)).events;
      cell(ref.rank, trace.time(ref)).races += trace.races().at(ref).empty() ? 0U : 1U;
    }
  }
  std::vector<LongLine> lines = pyramid.lines;
  for (std::uint32_t m = 0; m < trace.messages().count(); ++m) {
    const LongLine line = lineOf(trace, m);
    if (const auto kept = std::find(lines.begin(), lines.end(), line); kept != lines.end()) {
      lines.erase(kept);
      continue;
    }
    for (Rank gap = 0; gap + 1 < static_cast<Rank>(trace.rankCount()); ++gap) {
      if ((line.from <= gap) != (line.to <= gap)) {
        DensityCell& crossed = cell(gap, DensityPyramid::crossing(line, gap));
        ++crossed.cut;
        crossed.racing += line.racing ? 1U : 0U;
      }
    }
  }
  return cells;
}

}  // namespace

class DensityPyramidTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void everyLevelIsBruteForce();
  void noMessageIsLost();
  void levelsFitTheView();
  void overviewAgreesWithTheDensePicture();
  void rendererGivesTheLastRequest();
  void rendererLetsGoOfATrace();
  void outlineIsDrawnAsTheOverview();
  void coneIsBruteForce();
  void pastAndFutureAgree();
};

void DensityPyramidTest::everyLevelIsBruteForce() {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const TraceIndexPtr trace =
        randomTraffic(seed, seed == 6 ? 40 : 2 + static_cast<int>(seed), 3000);
    const DensityPyramid pyramid = pyramidOf(*trace, seed % 2 == 0 ? 16 : 3);
    QVERIFY(pyramid.levels.size() > 3);
    QCOMPARE(pyramid.levels.back().bins, std::size_t{1});
    for (const DensityLevel& level : pyramid.levels) {
      const auto expected = bruteForce(*trace, pyramid, level);
      QCOMPARE(level.cells.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        QCOMPARE(level.cells[i].events, expected[i].events);
        QCOMPARE(level.cells[i].races, expected[i].races);
        QCOMPARE(level.cells[i].cut, expected[i].cut);
        QCOMPARE(level.cells[i].racing, expected[i].racing);
      }
    }
  }
}

void DensityPyramidTest::noMessageIsLost() {
  const TraceIndexPtr trace = randomTraffic(9, 12, 60000);
  const DensityPyramid pyramid = pyramidOf(*trace, 16);
  QCOMPARE(pyramid.lines.size(), DensityPyramid::kMostLines);  // and more than these are long
  std::uint64_t crossings = 0;
  for (std::uint32_t m = 0; m < trace->messages().count(); ++m) {
    const Message& message = trace->execution().messages[m];
    crossings += static_cast<std::uint64_t>(std::abs(message.send.rank - message.dest));
  }
  for (const LongLine& line : pyramid.lines) {
    crossings -= static_cast<std::uint64_t>(std::abs(line.from - line.to));
  }
  std::uint64_t counted = 0;
  for (const DensityCell& cell : pyramid.levels.back().cells) {
    counted += cell.cut;
  }
  QCOMPARE(counted, crossings);
}

void DensityPyramidTest::levelsFitTheView() {
  const TraceIndexPtr trace = randomTraffic(3, 4, 3000);
  const KeptCutLevels pyramid(pyramidOf(*trace, 16));
  const std::uint32_t base = pyramid.width(0);
  QCOMPARE(pyramid.levelFor(base * 0.9), pyramid.count());
  QCOMPARE(pyramid.width(pyramid.levelFor(base)), base);
  QCOMPARE(pyramid.width(pyramid.levelFor(base * 3.9)), base * 2);
  const TraceData nothing;
  QVERIFY(pyramidOf(TraceIndex(std::make_shared<const TraceData>(nothing)))
              .levels.front()
              .cells.empty());
  TraceData untimed = trace->data();
  untimed.logicalTimes.clear();
  QVERIFY(pyramidOf(TraceIndex(std::make_shared<const TraceData>(untimed))).levels.empty());
}

/// How dark each column of a band of rows is, against an empty one.
static std::vector<double> columns(const QImage& image, int top, int bottom) {
  std::vector<double> sums(static_cast<std::size_t>(image.width()), 0.0);
  for (int x = 0; x < image.width(); ++x) {
    for (int y = top; y < bottom; ++y) {
      const QColor c = image.pixelColor(x, y);
      sums[static_cast<std::size_t>(x)] += 255 * 3 - c.red() - c.green() - c.blue();
    }
  }
  return sums;
}

/// Bursts of traffic with silence between them: each picture must have them in the same columns.
void DensityPyramidTest::overviewAgreesWithTheDensePicture() {
  auto data = std::make_shared<TraceData>(randomTraffic(4, 8, 60000)->data());
  for (auto& times : data->logicalTimes) {
    for (std::uint32_t& time : times) {
      time = time / 500 * 4000 + time % 500;  // eleven bursts
    }
  }
  const TraceIndexPtr trace = makeIndex(data);
  SceneRequest request;
  request.trace = trace;
  request.theme = Theme::of(QPalette(QColor(240, 240, 240)));
  request.geometry.plot = QRectF(0, 0, 900, 400);
  request.geometry.t0 = 0;
  request.geometry.t1 = trace->lastTime() + 1;
  request.geometry.rowHeight = 50;
  request.geometry.rows = 8;
  const KeptCutLevels pyramid(pyramidOf(*trace, 4));
  const Scene dense = SceneRenderer::draw(request, nullptr);
  const Scene overview = SceneRenderer::draw(request, &pyramid);
  QVERIFY(!dense.stats.exact && !dense.stats.overview);
  QVERIFY(overview.stats.overview);
  QCOMPARE(overview.stats.events, dense.stats.events);
  const int slack = 1 + static_cast<int>(std::ceil(pyramid.width(0) * request.geometry.scale()));
  for (const auto& [top, bottom] : {std::pair{20, 30}, std::pair{45, 55}, std::pair{170, 180}}) {
    const std::vector<double> a = columns(dense.image, top, bottom);
    const std::vector<double> b = columns(overview.image, top, bottom);
    const double emptyA = *std::min_element(a.begin(), a.end());
    const double emptyB = *std::min_element(b.begin(), b.end());
    const auto marked = [&](const std::vector<double>& all, double empty, int x) {
      bool any = false;
      for (int i = std::max(0, x - slack); i <= std::min(899, x + slack); ++i) {
        any = any || all[static_cast<std::size_t>(i)] > empty + 60;
      }
      return any;
    };
    for (int x = 0; x < 900; ++x) {  // what one shows the other shows within a pixel or two
      if (a[static_cast<std::size_t>(x)] > emptyA + 400) {
        QVERIFY2(marked(b, emptyB, x), qPrintable(QStringLiteral("%1 at row %2").arg(x).arg(top)));
      }
      if (b[static_cast<std::size_t>(x)] > emptyB + 400) {
        QVERIFY2(marked(a, emptyA, x), qPrintable(QStringLiteral("%1 at row %2").arg(x).arg(top)));
      }
    }
  }
}

void DensityPyramidTest::rendererGivesTheLastRequest() {
  SceneRenderer renderer;
  int scenes = 0;
  double last = 0;
  connect(&renderer, &SceneRenderer::finished, this, [&](const Scene& scene) {
    ++scenes;
    last = scene.request.geometry.t1;
  });
  SceneRequest request;
  request.trace = randomTraffic(5, 6, 4000);
  request.theme = Theme::of(QPalette());
  request.geometry.plot = QRectF(0, 0, 300, 120);
  request.geometry.rowHeight = 20;
  request.geometry.rows = 6;
  for (int i = 1; i <= 20; ++i) {
    request.geometry.t1 = 100.0 * i;
    renderer.request(request);
  }
  QTRY_VERIFY(!renderer.isBusy());
  QCOMPARE(last, 2000.0);
  QCOMPARE(scenes, 2);
  renderer.request(request);
  renderer.forget();
  QTRY_VERIFY(!renderer.isBusy());
  QCOMPARE(scenes, 2);
}

void DensityPyramidTest::rendererLetsGoOfATrace() {
  SceneRenderer renderer;
  QSignalSpy scenes(&renderer, &SceneRenderer::finished);
  SceneRequest request;
  request.trace = randomTraffic(6, 6, 4000);
  request.theme = Theme::of(QPalette());
  request.geometry.plot = QRectF(0, 0, 300, 120);
  request.geometry.rowHeight = 20;
  request.geometry.rows = 6;
  request.geometry.t1 = 5000;
  const std::weak_ptr<const TraceIndex> trace = request.trace;
  renderer.request(request);
  QTRY_VERIFY(!renderer.isBusy());
  QCOMPARE(scenes.size(), 1);
  renderer.request(request);
  request.trace.reset();
  renderer.forget();
  QTRY_VERIFY(!renderer.isBusy());
  QCOMPARE(scenes.size(), 1);
  scenes.clear();  // they hold the trace, too
  QTRY_VERIFY(trace.expired());
}

/// What is drawn before the events are there is the overview that is drawn afterwards.
void DensityPyramidTest::outlineIsDrawnAsTheOverview() {
  auto whole = std::make_shared<TraceData>(randomTraffic(4, 8, 60000)->data());
  whole->pyramid = std::make_shared<const KeptCutLevels>(
      densityPyramid(whole->execution, whole->races.list(), whole->logicalTimes, 4));
  const TraceIndexPtr trace = makeIndex(whole);
  auto outline = std::make_shared<TraceData>();
  outline->execution.ranks.resize(8);
  outline->pyramid = whole->pyramid;
  outline->outline = TraceOutline{trace->eventCount(), trace->lastTime()};
  const TraceIndexPtr early = makeIndex(outline);
  QVERIFY(!early->hasEvents());
  QCOMPARE(early->eventCount(), trace->eventCount());
  QCOMPARE(early->lastTime(), trace->lastTime());
  SceneRequest request;
  request.theme = Theme::of(QPalette(QColor(240, 240, 240)));
  request.geometry.plot = QRectF(0, 0, 900, 400);
  request.geometry.t1 = trace->lastTime() + 1;
  request.geometry.rowHeight = 50;
  request.geometry.rows = 8;
  request.trace = trace;
  const Scene later = SceneRenderer::draw(request, whole->pyramid.get());
  request.trace = early;
  const Scene now = SceneRenderer::draw(request, whole->pyramid.get());
  QVERIFY(now.stats.overview && later.stats.overview);
  QCOMPARE(now.stats.events, later.stats.events);
  QCOMPARE(now.image, later.image);
  request.geometry.t0 = 100;
  request.geometry.t1 = 130;  // narrower than its bins: as fine as it is known
  const Scene close = SceneRenderer::draw(request, whole->pyramid.get());
  QVERIFY(close.stats.overview && close.stats.events > 0);
}

/// By vector clocks of all events, which are computed in the order of their times: messages go
/// forward in them.
void DensityPyramidTest::coneIsBruteForce() {
  const TraceIndexPtr trace = randomTraffic(8, 5, 400);
  const auto index = [](Rank rank) { return static_cast<std::size_t>(rank); };
  std::vector<EventRef> events;
  std::vector<std::vector<std::vector<Serial>>> clocks(5);
  for (Rank rank = 0; rank < 5; ++rank) {
    for (Serial serial = 1; serial <= trace->lastSerial(rank); ++serial) {
      events.push_back({rank, serial});
    }
    clocks[index(rank)].resize(trace->lastSerial(rank) + 1, std::vector<Serial>(5));
  }
  std::stable_sort(events.begin(), events.end(),
                   [&](EventRef a, EventRef b) { return trace->time(a) < trace->time(b); });
  for (const EventRef event : events) {
    std::vector<Serial>& clock = clocks[index(event.rank)][event.serial];
    clock = clocks[index(event.rank)][event.serial - 1];
    for (const Message& message : trace->execution().messages) {
      if (message.dest == event.rank && message.completion == event.serial) {
        const auto& sent = clocks[index(message.send.rank)][message.send.serial];
        std::transform(clock.begin(), clock.end(), sent.begin(), clock.begin(),
                       [](Serial a, Serial b) { return std::max(a, b); });
      }
    }
    clock[index(event.rank)] = event.serial;
  }
  for (const EventRef event : events) {
    QCOMPARE(pastOf(*trace, event), clocks[index(event.rank)][event.serial]);
    std::vector<Serial> after(5, 0);
    for (Rank rank = 0; rank < 5; ++rank) {
      for (Serial s = trace->lastSerial(rank); s >= 1; --s) {
        after[index(rank)] =
            clocks[index(rank)][s][index(event.rank)] >= event.serial ? s : after[index(rank)];
      }
    }
    QCOMPARE(futureOf(*trace, event), after);
  }
}

/// With collectives: b is in the past of a if and only if a is in the future of b.
void DensityPyramidTest::pastAndFutureAgree() {
  for (const TraceIndexPtr& trace : {makeIndex(stencil(5, 12)), makeIndex(masterWorker())}) {
    const auto ranks = static_cast<Rank>(trace->rankCount());
    std::vector<std::vector<std::vector<Serial>>> futures(trace->rankCount());
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (Serial s = 1; s <= trace->lastSerial(rank); ++s) {
        futures[static_cast<std::size_t>(rank)].push_back(futureOf(*trace, {rank, s}));
      }
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (Serial s = 1; s <= trace->lastSerial(rank); ++s) {
        const std::vector<Serial> past = pastOf(*trace, {rank, s});
        for (Rank other = 0; other < ranks; ++other) {
          const auto o = static_cast<std::size_t>(other);
          for (Serial t = 1; t <= trace->lastSerial(other); ++t) {
            const Serial from = futures[o][t - 1][static_cast<std::size_t>(rank)];
            QCOMPARE(t <= past[o], from != 0 && from <= s);
          }
        }
      }
    }
  }
}

QTEST_MAIN(DensityPyramidTest)
#include "density_pyramid_test.moc"
