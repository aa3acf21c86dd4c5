// SPDX-License-Identifier: GPL-3.0-or-later
// What of a trace is in view, without a widget: limits, fit, history, rows, axes, and what stays
// when the trace is renewed.
#include <cmath>

#include <QSignalSpy>
#include <QTest>

#include "views/diagram/canvas/space_time_viewport.h"
#include "views/tests/sample_trace.h"

using namespace pf;         // NOLINT(google-build-using-namespace)
using namespace pf::views;  // NOLINT(google-build-using-namespace)
using pf::views::test::masterWorker;
using pf::views::test::stencil;

namespace {

/// A step of logical time takes `step` nanoseconds.
TraceIndexPtr timed(const TraceDataPtr& source, std::uint64_t step) {
  auto data = std::make_shared<TraceData>(*source);
  const TraceIndex logical(source);
  for (std::size_t r = 0; r < logical.rankCount(); ++r) {
    RankHistory& history = data->execution.ranks[r];
    for (Serial s = 1; s <= history.events.size(); ++s) {
      const std::uint64_t at = step * logical.time({static_cast<Rank>(r), s});
      history.times.push_back({at, at});
    }
  }
  data->execution.timeOrigin = TimeOrigin::Recording;
  return makeIndex(data);
}

TraceDataPtr outlineOf(const TraceIndexPtr& trace) {
  auto data = std::make_shared<TraceData>();
  data->title = trace->data().title;
  data->execution.ranks.resize(trace->rankCount());
  data->outline = TraceOutline{trace->eventCount(), trace->lastTime()};
  return data;
}

bool isNear(double a, double b) {
  return std::abs(a - b) < 1e-6;
}

}  // namespace

class ViewportTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init();
  void allOfATraceIsInView();
  void stepsOfAShortTraceAreNotTooWide();
  void spansHaveLimits();
  void zoomKeepsWhatIsAtThePointer();
  void historyGoesBackAndForth();
  void quickChangesAreOneStep();
  void rowsScrollWithinTheirHeight();
  void aRowStaysWhereItIsZoomed();
  void revealedEventsAreInView();
  void hiddenRanksAreRevealed();
  void sizeChanges();
  void axesKeepTheEvent();
  void allOfARenewedTraceIsInView();
  void theEndOfARenewedTraceIsFollowed();
  void physicalTimesAreRenewed();
  void eventsOfAnOutlineLeaveTheView();
  void noTrace();

 private:
  [[nodiscard]] TimeSpan span() const {
    return {m_viewport->geometry().t0, m_viewport->geometry().t1};
  }
  void show(const TraceIndexPtr& trace) { (void)m_viewport->setTrace(trace); }

  QRectF m_plot;
  std::unique_ptr<SpaceTimeViewport> m_viewport;
  TraceIndexPtr m_long = makeIndex(stencil(16, 100));
};

void ViewportTest::init() {
  m_plot = QRectF(100, 20, 960, 400);
  m_viewport = std::make_unique<SpaceTimeViewport>([this] { return m_plot; });
  show(m_long);
}

void ViewportTest::allOfATraceIsInView() {
  const SpaceTimeGeometry g = m_viewport->geometry();
  QCOMPARE(g.plot, m_plot);
  QVERIFY(isNear(g.t0, 0.1) && isNear(g.t1, m_long->lastTime() + 0.9));
  QVERIFY(g.rows == 16 && g.rows * g.rowHeight <= m_plot.height());
  QVERIFY(!m_viewport->history().canUndo());
  m_viewport->zoomTo(5, 9);
  m_viewport->setRowHeight(60);
  m_viewport->fit();
  QVERIFY(span() == (TimeSpan{g.t0, g.t1}));
  QCOMPARE(m_viewport->geometry().rowHeight, g.rowHeight);
}

void ViewportTest::stepsOfAShortTraceAreNotTooWide() {
  const TraceIndexPtr trace = makeIndex(masterWorker());
  m_plot.setWidth(96 * (trace->lastTime() + 2.0));
  show(trace);
  QVERIFY(isNear(m_viewport->geometry().scale(), 96));
  QVERIFY(isNear(span().t0, 0.1));
}

void ViewportTest::spansHaveLimits() {
  m_viewport->setSpan(50, 50.001);
  QVERIFY(isNear(m_viewport->geometry().scale(), 260));  // the widest step
  QVERIFY(isNear((span().t0 + span().t1) / 2, 50.0005));
  m_viewport->setSpan(-1e6, 1e6);
  QVERIFY(isNear(span().width(), m_long->lastTime() + 2 * 0.9 + 1));
  for (const double far : {-1e6, 1e6}) {  // half of the view at least is of the trace
    m_viewport->setSpan(far, far + 20);
    QVERIFY(isNear(span().width(), 20));
    QVERIFY(span().t0 >= -10 && span().t1 <= m_long->lastTime() + 1.8 + 10 + 1e-6);
  }
}

void ViewportTest::zoomKeepsWhatIsAtThePointer() {
  for (const double x : {150.0, 400.0, 1000.0}) {
    m_viewport->fit();
    const double time = m_viewport->geometry().time(x);
    m_viewport->zoomBy(4, x);
    QVERIFY(isNear(m_viewport->geometry().time(x), time));
    QVERIFY(isNear(span().width(), (m_long->lastTime() + 0.8) / 4));
  }
  m_viewport->zoomBy(1e9, 400);
  QVERIFY(isNear(m_viewport->geometry().scale(), 260));
}

void ViewportTest::historyGoesBackAndForth() {
  const TimeSpan whole = span();
  m_viewport->zoomTo(20, 10);  // either way round
  const TimeSpan zoomed = span();
  QVERIFY(isNear(zoomed.t0, 10) && isNear(zoomed.t1, 20));
  RankArrangement order;
  order.hide({3});
  QSignalSpy arranged(m_viewport.get(), &SpaceTimeViewport::arrangementChanged);
  m_viewport->arrange(order);
  m_viewport->arrange(order);  // nothing new
  QCOMPARE(arranged.size(), 1);
  QCOMPARE(m_viewport->geometry().rows, 15);
  m_viewport->undo();
  QVERIFY(span() == zoomed && m_viewport->geometry().rows == 16);
  m_viewport->undo();
  QVERIFY(span() == whole && !m_viewport->history().canUndo());
  m_viewport->undo();  // no more
  m_viewport->redo();
  m_viewport->redo();
  QVERIFY(span() == zoomed && m_viewport->arrangement() == order);
  QVERIFY(!m_viewport->history().canRedo());
  m_viewport->undo();
  m_viewport->setSpan(30, 40);  // no step
  QVERIFY(m_viewport->history().canRedo());
  m_viewport->zoomTo(50, 60);
  QVERIFY(!m_viewport->history().canRedo());
}

void ViewportTest::quickChangesAreOneStep() {
  const TimeSpan whole = span();
  for (int turn = 0; turn < 5; ++turn) {
    m_viewport->zoomBy(1.25, 400);
  }
  m_viewport->undo();
  QVERIFY(span() == whole && !m_viewport->history().canUndo());
}

void ViewportTest::rowsScrollWithinTheirHeight() {
  m_viewport->setRowHeight(50);
  m_viewport->setScroll(1e6);
  QCOMPARE(m_viewport->geometry().scroll, 16 * 50.0 - m_plot.height());
  m_viewport->setScroll(-5);
  QCOMPARE(m_viewport->geometry().scroll, 0.0);
  m_viewport->setScroll(300);
  m_viewport->setRowHeight(30);  // less of it is out of view
  QCOMPARE(m_viewport->geometry().scroll, 16 * 30.0 - m_plot.height());
  m_viewport->setRowHeight(1e4);
  QCOMPARE(m_viewport->geometry().rowHeight, 138.0);
  m_viewport->setRowHeight(1e-4);
  QCOMPARE(m_viewport->geometry().rowHeight, 0.4);
  m_viewport->setRowHeight(0);
  QVERIFY(m_viewport->geometry().rowHeight * 16 <= m_plot.height());
}

void ViewportTest::aRowStaysWhereItIsZoomed() {
  m_viewport->setRowHeight(50);
  m_viewport->setScroll(120);
  const double y = m_viewport->geometry().y(5);
  for (const double factor : {1.2, 1.2, 1.0 / 1.2, 1.2}) {
    m_viewport->zoomRowsBy(factor, y);
    QVERIFY(isNear(m_viewport->geometry().y(5), y));
  }
  QVERIFY(isNear(m_viewport->geometry().rowHeight, 72));
  m_viewport->zoomRowsBy(1e-6, y);
  QCOMPARE(m_viewport->geometry().scroll, 0.0);
}

void ViewportTest::revealedEventsAreInView() {
  m_viewport->setRowHeight(80);
  m_viewport->zoomTo(10, 20);
  for (const EventRef event :
       {EventRef{15, 1}, EventRef{0, m_long->lastSerial(0)}, EventRef{7, 40}}) {
    m_viewport->reveal(event);
    const SpaceTimeGeometry g = m_viewport->geometry();
    QVERIFY(g.plot.contains(g.point(*m_long, event)));
    QVERIFY(isNear(g.t1 - g.t0, 10));
    QVERIFY(g.t0 >= 0.1 - 1e-6 && g.t1 <= m_long->lastTime() + 0.9 + 1e-6);
    const TimeSpan there = span();
    m_viewport->reveal(event);
    QVERIFY(span() == there);
  }
}

void ViewportTest::hiddenRanksAreRevealed() {
  RankArrangement order;
  order.hide({3, 4});
  m_viewport->arrange(order);
  m_viewport->reveal({3, 1});
  QCOMPARE(m_viewport->arrangement().hidden, (QList<int>{4}));
}

void ViewportTest::sizeChanges() {
  m_viewport->zoomTo(10, 40);
  const TimeSpan before = span();
  const double width = m_plot.width();
  m_plot.setWidth(width * 2);
  m_viewport->plotResized(width);
  QVERIFY(span() == before);
  m_viewport->zoomTo(10, 10 + m_plot.width() / 200);  // steps of 200 pixels keep their width
  m_plot.setWidth(width);
  m_viewport->plotResized(width * 2);
  QVERIFY(isNear(m_viewport->geometry().scale(), 200));
  m_viewport->fit();  // what shows everything goes on doing so
  for (const double other : {width * 0.6, width * 1.5}) {
    const double former = m_plot.width();
    m_plot.setWidth(other);
    m_viewport->plotResized(former);
    QVERIFY(isNear(span().t1, m_long->lastTime() + 0.9));
  }
  m_plot.setWidth(width);
  m_viewport->plotResized(0);  // shown for the first time
  QVERIFY(isNear(span().t1, m_long->lastTime() + 0.9) && !m_viewport->history().canUndo());
}

void ViewportTest::axesKeepTheEvent() {
  const TraceIndexPtr logical = timed(m_long->dataPtr(), 70);
  show(logical);
  const EventRef event{5, 60};
  QSignalSpy axis(m_viewport.get(), &SpaceTimeViewport::axisChanged);
  m_viewport->setAxis(TimeAxis::Physical, event);  // there is none yet
  QCOMPARE(axis.size(), 0);
  m_viewport->setPhysical(TraceIndex::onPhysicalAxis(*logical));
  m_viewport->setSpan(logical->time(event) - 10.0, logical->time(event) + 20.0);
  const TimeSpan before = span();
  const double x = m_viewport->geometry().x(logical->time(event));
  m_viewport->setAxis(TimeAxis::Physical, event);
  QCOMPARE(axis.size(), 1);
  QVERIFY(m_viewport->trace()->axis() == TimeAxis::Physical);
  QVERIFY(std::abs(m_viewport->geometry().x(m_viewport->trace()->time(event)) - x) < 1e-3);
  m_viewport->undo();
  QVERIFY(m_viewport->trace() == logical && span() == before);
  QCOMPARE(axis.size(), 2);
  m_viewport->fit();
  m_viewport->setAxis(TimeAxis::Physical, {});
  QVERIFY(span().t0 <= 1 && span().t1 >= m_viewport->trace()->lastTime());
}

void ViewportTest::allOfARenewedTraceIsInView() {
  const TraceIndexPtr longer = makeIndex(stencil(16, 200));
  m_viewport->renewTrace(longer, nullptr);
  QVERIFY(m_viewport->trace() == longer);
  QVERIFY(isNear(span().t0, 0.1) && isNear(span().t1, longer->lastTime() + 0.9));
}

void ViewportTest::theEndOfARenewedTraceIsFollowed() {
  const TraceIndexPtr longer = makeIndex(stencil(16, 200));
  const double grown = longer->lastTime() - m_long->lastTime();
  m_viewport->setSpan(10, 20);
  m_viewport->renewTrace(longer, nullptr);
  QVERIFY(isNear(span().t0, 10) && isNear(span().t1, 20));
  show(m_long);
  m_viewport->setSpan(m_long->lastTime() - 20.0, m_long->lastTime() + 0.5);
  const TimeSpan before = span();
  m_viewport->renewTrace(longer, nullptr);
  QVERIFY(isNear(span().t0, before.t0 + grown) && isNear(span().t1, before.t1 + grown));
}

/// A longer run counts in longer units.
void ViewportTest::physicalTimesAreRenewed() {
  const TraceIndexPtr first = timed(m_long->dataPtr(), 1000);
  const TraceIndexPtr longer = timed(stencil(16, 200), 1000);
  const TraceIndexPtr then = TraceIndex::onPhysicalAxis(*first);
  const TraceIndexPtr now = TraceIndex::onPhysicalAxis(*longer);
  show(first);
  m_viewport->setPhysical(then);
  m_viewport->setAxis(TimeAxis::Physical, {});
  m_viewport->zoomTo(20000, 30000);
  m_viewport->zoomTo(21000, 22000);
  const double from = then->times().nanoseconds(span().t0);
  m_viewport->renewTrace(longer, now);
  QVERIFY(m_viewport->trace() == now && isNear(now->times().nanoseconds(span().t0), from));
  m_viewport->undo();
  QVERIFY(isNear(now->times().nanoseconds(span().t0), then->times().nanoseconds(20000)));
  m_viewport->setAxis(TimeAxis::Logical, {});
  m_viewport->renewTrace(longer, nullptr);  // steps of an axis that is not there any more go
  while (m_viewport->history().canUndo()) {
    m_viewport->undo();
    QVERIFY(m_viewport->axis() == TimeAxis::Logical);
  }
}

void ViewportTest::eventsOfAnOutlineLeaveTheView() {
  show(makeIndex(outlineOf(m_long)));
  m_viewport->zoomTo(10, 20);
  const TimeSpan before = span();
  QVERIFY(m_viewport->setTrace(m_long));
  QVERIFY(span() == before && m_viewport->trace() == m_long && m_viewport->history().canUndo());
  QVERIFY(!m_viewport->setTrace(m_long));
  QVERIFY(span().t0 < 1);
}

void ViewportTest::noTrace() {
  show(nullptr);
  QSignalSpy changed(m_viewport.get(), &SpaceTimeViewport::changed);
  m_viewport->fit();
  m_viewport->setSpan(3, 4);
  m_viewport->zoomBy(2, 300);
  m_viewport->reveal({0, 1});
  m_viewport->arrange({});
  m_viewport->setAxis(TimeAxis::Physical, {});
  QCOMPARE(changed.size(), 0);
  QCOMPARE(m_viewport->geometry().rows, 0);
}

QTEST_GUILESS_MAIN(ViewportTest)
#include "viewport_test.moc"
