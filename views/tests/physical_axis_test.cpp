// SPDX-License-Identifier: GPL-3.0-or-later
// The physical axis: where events and messages are by their times, against brute force; the pyramid
// of it; and that the switch keeps what is selected where it is.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QTest>

#include "replay_engine/causality/density_pyramid.h"
#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/search_bar.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

using namespace pf;         // NOLINT(google-build-using-namespace)
using namespace pf::views;  // NOLINT(google-build-using-namespace)
using pf::views::test::masterWorker;
using pf::views::test::stencil;

namespace {

DensityPyramid makePyramid(const Execution& execution, const std::vector<Race>& races,
                           const std::vector<std::vector<std::uint32_t>>& times,
                           const std::vector<std::vector<std::uint32_t>>& departures) {
  return densityPyramid(execution, races, times, 4, &departures);
}

/// Gives each event random times that respect the order of messages; `longest`: of a pause, in ns.
TraceIndexPtr timed(const TraceDataPtr& source, unsigned seed, std::uint64_t longest) {
  std::mt19937_64 random(seed);
  auto data = std::make_shared<TraceData>(*source);
  const TraceIndex logical(source);
  std::vector<EventRef> order;
  for (std::size_t r = 0; r < logical.rankCount(); ++r) {
    data->execution.ranks[r].times.resize(data->execution.ranks[r].events.size());
    for (Serial s = 1; s <= logical.lastSerial(static_cast<Rank>(r)); ++s) {
      order.push_back({static_cast<Rank>(r), s});
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](EventRef a, EventRef b) { return logical.time(a) < logical.time(b); });
  const auto timeOf = [&](EventRef ref) -> EventTime& {
    return data->execution.ranks[static_cast<std::size_t>(ref.rank)].times[ref.serial - 1];
  };
  for (const EventRef ref : order) {
    const std::uint64_t before = ref.serial > 1 ? timeOf({ref.rank, ref.serial - 1}).end : 0;
    EventTime& at = timeOf(ref);
    at.begin = before + 1 + (random() % 8 == 0 ? random() % longest : random() % 500);
    at.end = at.begin + (random() % 2 == 0 ? random() % 2000 : 0);
    for (const std::uint32_t r : logical.links().completedAt(ref)) {
      const std::uint32_t m =
          data->execution.ranks[static_cast<std::size_t>(ref.rank)].receives[r].message;
      if (m < data->execution.messages.size()) {
        at.end = std::max(at.end, timeOf(data->execution.messages[m].send).begin + 200);
      }
    }
  }
  data->execution.timeOrigin = TimeOrigin::Recording;
  return makeIndex(data);
}

}  // namespace

class PhysicalAxisTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void placesAreThoseOfBruteForce();
  void pyramidIsBruteForce();
  void longRunsFit();
  void ticksHaveOneUnit();
  void switchKeepsTheSelection();
  void manyEventsAreDrawn();
  void tracesWithoutTimesSaySo();
};

void PhysicalAxisTest::placesAreThoseOfBruteForce() {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const TraceIndexPtr logical =
        timed(seed % 2 == 0 ? masterWorker() : stencil(5, 30), seed, 1000000);
    const TraceIndexPtr index = TraceIndex::onPhysicalAxis(*logical);
    QVERIFY(index != nullptr);
    QVERIFY(index->axis() == TimeAxis::Physical);
    std::uint64_t last = 0;
    for (std::size_t r = 0; r < index->rankCount(); ++r) {
      const RankView& history = index->execution().ranks[r];
      for (std::size_t i = 0; i < history.events.size(); ++i) {
        const EventRef ref{static_cast<Rank>(r), i + 1};
        const EventKind kind = history.events[i].kind;
        const bool sends = kind == EventKind::Send || kind == EventKind::Post ||
                           kind == EventKind::CollectivePost || kind == EventKind::Local ||
                           kind == EventKind::Start;
        const std::uint64_t ns = sends ? history.times[i].begin : history.times[i].end;
        QCOMPARE(std::uint64_t{index->time(ref)}, ns + 1);  // a unit is 1 ns in so short a run
        QCOMPARE(index->times().nanoseconds(index->time(ref)), static_cast<double>(ns));
        QCOMPARE(index->logicalTime(ref), logical->time(ref));
        last = std::max(last, history.times[i].end);
      }
    }
    QCOMPARE(std::uint64_t{index->lastTime()}, last + 1);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 60; ++i) {
      const double from = static_cast<double>(random() % last);
      const double to = from + static_cast<double>(random() % (last / 4 + 1));
      std::set<std::uint32_t> found;
      index->messages().forEachIn(from, to,
                                  [&](const MessageLine& line) { found.insert(line.message); });
      std::set<std::uint32_t> expected;
      for (std::uint32_t m = 0; m < index->messages().count(); ++m) {
        const Message& message = index->execution().messages[m];
        const double sent =
            static_cast<double>(index->execution()
                                    .ranks[static_cast<std::size_t>(message.send.rank)]
                                    .times[message.send.serial - 1]
                                    .begin +
                                1);
        const EventRef end = index->messages().arrival(message);
        const double arrived = end.valid() ? index->time(end) : 0;
        if (sent <= to && std::max(arrived, sent + 1) >= from) {
          expected.insert(m);
        }
      }
      QVERIFY(found == expected);
      const auto rank = static_cast<Rank>(random() % index->rankCount());
      const auto [first, end] = index->times().serialsIn(rank, from, to);
      for (Serial s = 1; s <= index->lastSerial(rank); ++s) {
        const double at = index->time({rank, s});
        QCOMPARE(s >= first && s < end, at >= from && at <= to);
      }
    }
    for (std::size_t i = 1; i < index->racing().size(); ++i) {
      QVERIFY(index->time(index->racing()[i - 1]) <= index->time(index->racing()[i]));
    }
  }
}

void PhysicalAxisTest::pyramidIsBruteForce() {
  const TraceIndexPtr index =
      TraceIndex::onPhysicalAxis(*timed(stencil(6, 60), 3, 50000), makePyramid);
  QVERIFY(index->times().pyramid() != nullptr && index->times().pyramid()->count() > 2);
  for (std::size_t n = 0; n < index->times().pyramid()->count(); ++n) {
    const auto level = index->times().pyramid()->window(n, 0, static_cast<Rank>(index->rankCount()),
                                                        0, index->lastTime());
    std::vector<DensityCell> cells(index->rankCount() * level->bins);
    for (std::size_t r = 0; r < index->rankCount(); ++r) {
      const EventSteps times = index->times().of(static_cast<Rank>(r));
      for (std::size_t i = 0; i < times.size(); ++i) {
        ++cells[r * level->bins + times[i] / level->width].events;
      }
    }
    std::vector<LongLine> lines = index->times().pyramid()->lines();
    for (std::uint32_t m = 0; m < index->messages().count(); ++m) {
      const Message& message = index->execution().messages[m];
      const EventRef end = index->messages().arrival(message);
      const LongLine line{message.send.rank, end.rank, index->times().departure(message),
                          index->time(end), index->races().isTaken(m)};
      if (const auto kept = std::find(lines.begin(), lines.end(), line); kept != lines.end()) {
        lines.erase(kept);
        continue;
      }
      for (Rank gap = 0; end.valid() && gap + 1 < static_cast<Rank>(index->rankCount()); ++gap) {
        if ((line.from <= gap) != (line.to <= gap)) {
          ++cells[static_cast<std::size_t>(gap) * level->bins +
                  static_cast<std::size_t>(DensityPyramid::crossing(line, gap)) / level->width]
                .cut;
        }
      }
    }
    std::vector<DensityCell> gathered;
    for (std::size_t r = 0; r < index->rankCount(); ++r) {
      const std::span<const DensityCell> row = level->row(static_cast<Rank>(r), gathered);
      QCOMPARE(row.size(), level->bins);
      for (std::size_t i = 0; i < row.size(); ++i) {
        QCOMPARE(row[i].events, cells[r * level->bins + i].events);
        QCOMPARE(row[i].cut, cells[r * level->bins + i].cut);
      }
    }
  }
}

/// Hours of nanoseconds do not fit into the diagram's times; then a unit is more than one.
void PhysicalAxisTest::longRunsFit() {
  const TraceIndexPtr index =
      TraceIndex::onPhysicalAxis(*timed(masterWorker(), 2, 3600ULL * 1000000000));
  QVERIFY(index->times().nanoseconds(2) > 1);
  for (std::size_t r = 0; r < index->rankCount(); ++r) {
    const auto rank = static_cast<Rank>(r);
    for (Serial s = 1; s <= index->lastSerial(rank); ++s) {
      const EventTime at = index->times().clockTime({rank, s}).value();
      const double shown = index->times().nanoseconds(index->time({rank, s}));
      QVERIFY(std::min(std::abs(shown - static_cast<double>(at.begin)),
                       std::abs(shown - static_cast<double>(at.end))) <=
              index->times().nanoseconds(2));
    }
  }
}

void PhysicalAxisTest::ticksHaveOneUnit() {
  QCOMPARE(clockTickText(0, 50, 400), QStringLiteral("0 ns"));
  QCOMPARE(clockTickText(100e3, 20e3, 900e3), QStringLiteral("100 µs"));
  QCOMPARE(clockTickText(100e6, 100e6, 800e6), QStringLiteral("100 ms"));
  QCOMPARE(clockTickText(4200.001e6, 1e3, 4200.1e6), QStringLiteral("4200.001 ms"));
  QCOMPARE(clockTickText(20e9, 5e9, 60e9), QStringLiteral("20 s"));
  QCOMPARE(clockTickText(2.5e6, 0.5e6, 4e6), QStringLiteral("2500 µs"));
  QCOMPARE(clockText(50123456), QStringLiteral("50.123 ms"));
  QCOMPARE(clockText(999), QStringLiteral("999 ns"));
  QCOMPARE(clockText(1.5e9), QStringLiteral("1.500 s"));
}

void PhysicalAxisTest::switchKeepsTheSelection() {
  const TraceIndexPtr trace = timed(stencil(4, 40), 4, 200000);
  SpaceTimeView view;
  view.setPyramidMaker(makePyramid);
  view.resize(1200, 500);
  view.show();
  view.setTrace(trace);
  SpaceTimeCanvas& canvas = *view.canvas();
  QVERIFY(view.action(DiagramAction::PhysicalAxis)->isEnabled());
  QVERIFY(!view.action(DiagramAction::PhysicalAxis)->isChecked());
  view.searchBar()->edit()->setText(u"kind:send"_s);
  view.searchBar()->search();
  const auto foundAtTheirTimes = [&] {
    const EventSearch& found = *canvas.found();
    for (std::size_t i = 0; i < found.hits.size(); ++i) {
      QCOMPARE(found.times[i], canvas.trace()->time(found.hits[i]));
    }
    QVERIFY(!found.times.empty() && found.times.size() == found.hits.size());
    QVERIFY(std::is_sorted(found.times.begin(), found.times.end()));
  };
  foundAtTheirTimes();
  view.action(DiagramAction::PhysicalAxis)->trigger();  // all is in view, and stays so
  QVERIFY(view.axis() == TimeAxis::Physical);
  foundAtTheirTimes();
  QVERIFY(canvas.view().t0 <= 1 && canvas.view().t1 >= canvas.trace()->lastTime());
  view.action(DiagramAction::PhysicalAxis)->trigger();
  QVERIFY(view.axis() == TimeAxis::Logical);

  const EventRef chosen{2, trace->lastSerial(2) / 2};
  canvas.eventCursor().select(chosen, true);
  const double at = trace->time(chosen);
  canvas.viewport().setSpan(at - 10, at + 20);
  const double share = (at - canvas.view().t0) / (canvas.view().t1 - canvas.view().t0);
  view.action(DiagramAction::PhysicalAxis)->trigger();
  QVERIFY(view.axis() == TimeAxis::Physical);
  QVERIFY(canvas.eventCursor().selected() == chosen);
  const SpaceTimeGeometry g = canvas.view();
  QVERIFY(std::abs((canvas.trace()->time(chosen) - g.t0) / (g.t1 - g.t0) - share) < 1e-6);
  QVERIFY(g.t1 - g.t0 < canvas.trace()->lastTime() * 0.9);
  QVERIFY(canvas.cone() == false);
  const QImage physical = canvas.grab().toImage();
  canvas.viewport().undo();  // the switch is a step of the history
  QVERIFY(view.axis() == TimeAxis::Logical);
  QVERIFY(!view.action(DiagramAction::PhysicalAxis)->isChecked());
  QVERIFY(canvas.eventCursor().selected() == chosen);
  QVERIFY(std::abs(canvas.view().t0 - (at - 10)) < 1e-6);
  QVERIFY(physical != canvas.grab().toImage());
  canvas.viewport().redo();
  QVERIFY(view.axis() == TimeAxis::Physical);
  // Without a selection what is in the middle stays there.
  canvas.eventCursor().select({}, false);
  const double middle = (canvas.view().t0 + canvas.view().t1) / 2;
  view.action(DiagramAction::PhysicalAxis)->trigger();
  EventRef nearest;
  for (Rank rank = 0; rank < 4; ++rank) {
    const TraceIndexPtr index = TraceIndex::onPhysicalAxis(*trace);
    const EventRef found = index->times().nearest(rank, static_cast<std::uint32_t>(middle));
    if (!nearest.valid() ||
        std::abs(index->time(found) - middle) < std::abs(index->time(nearest) - middle)) {
      nearest = found;
    }
  }
  QVERIFY(trace->time(nearest) >= canvas.view().t0 && trace->time(nearest) <= canvas.view().t1);
}

void PhysicalAxisTest::manyEventsAreDrawn() {
  const TraceIndexPtr trace = timed(stencil(16, 900), 5, 100000);
  QVERIFY(trace->eventCount() > 20000);
  for (const bool overview : {false, true}) {
    SpaceTimeView view;
    if (overview) {
      view.setPyramidMaker(makePyramid);
    }
    view.resize(1000, 420);
    view.show();
    view.setTrace(trace);
    view.setAxis(TimeAxis::Physical);  // worked out beside
    QTRY_VERIFY_WITH_TIMEOUT(view.axis() == TimeAxis::Physical, 20000);
    (void)view.canvas()->grab();
    QTRY_VERIFY_WITH_TIMEOUT(view.canvas()->isUpToDate(), 20000);
    QVERIFY(!view.canvas()->stats().exact);
    QCOMPARE(view.canvas()->stats().overview, overview);
    const QImage image = view.canvas()->grab().toImage();
    if (const QString pictures = qEnvironmentVariable("PF_PICTURES"); !pictures.isEmpty()) {
      QVERIFY(view.grab().save(
          pictures + (overview ? QStringLiteral("/overview.png") : QStringLiteral("/dense.png"))));
    }
    std::set<QRgb> colors;
    for (int x = image.width() / 4; x < image.width(); x += 3) {
      for (int y = image.height() / 4; y < image.height(); y += 3) {
        colors.insert(image.pixel(x, y));
      }
    }
    QVERIFY(colors.size() > 20);
  }
}

void PhysicalAxisTest::tracesWithoutTimesSaySo() {
  SpaceTimeView view;
  view.setAxis(TimeAxis::Physical);  // wanted, as soon as a trace has it
  view.setTrace(makeIndex(masterWorker()));
  QVERIFY(!view.action(DiagramAction::PhysicalAxis)->isEnabled());
  QVERIFY(!view.action(DiagramAction::PhysicalAxis)->isChecked());
  QVERIFY(
      view.action(DiagramAction::PhysicalAxis)->toolTip().contains(QLatin1String("--mode all")));
  QVERIFY(view.axis() == TimeAxis::Logical);
  view.setTrace(timed(masterWorker(), 1, 1000));
  QVERIFY(view.axis() == TimeAxis::Physical);
  QVERIFY(view.action(DiagramAction::PhysicalAxis)->isChecked());
  QVERIFY(view.action(DiagramAction::PhysicalAxis)
              ->toolTip()
              .contains(QLatin1String("times of the recording")));
  QVERIFY(eventDetails(*view.canvas()->trace(), {0, 1})
              .contains(QLatin1String("times of the recording")));
}

QTEST_MAIN(PhysicalAxisTest)
#include "physical_axis_test.moc"
