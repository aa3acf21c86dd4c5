// SPDX-License-Identifier: GPL-3.0-or-later
// The space-time diagram driven by keyboard and mouse, and looked at pixel by pixel where that
// matters.
#include <cmath>

#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/diagram_export.h"
#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/minimap.h"
#include "views/diagram/tools/search_bar.h"
#include "views/tests/picture.h"
#include "views/tests/sample_trace.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

class SpaceTimeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void init();
  void cleanup();
  void theKeyOfMenus();
  void clickSelects();
  void aLowOneIsAStrip();
  void doubleClickReplays();
  void arrowsMove();
  void raceKeysWalk();
  void partnerKeyJumps();
  void enterReplaysAndLettersRequest();
  void ghostsAppearForTheSelectedRace();
  void raceIsAnnounced();
  void wheelKeepsTheEventUnderThePointer();
  void shiftDragZoomsAndHistoryGoesBack();
  void dragPansWithoutDrawingAgain();
  void fitShowsEverything();
  void waitsAreDrawn();
  void replayPositionIsDrawn();
  void coneVeilsTheRest();
  void densityIsNeverBlank();
  void aStretchedPictureLeavesNoHole();
  void dimmedRanksAreVeiled();
  void manyRanksScroll();
  void minimapMovesTheWindow();
  void exportsPngAndSvg();
  void emptyAndNullTraces();
  void eventsComeAfterTheOverview();
  void paintIsFastEnough();
  void poisonedTextStaysPlain();

 private:
  [[nodiscard]] SpaceTimeCanvas& canvas() const { return *m_view->canvas(); }
  [[nodiscard]] QPoint place(EventRef event) const {
    return canvas().view().point(*m_trace, event).toPoint();
  }
  [[nodiscard]] QImage picture() const { return pictureOf(canvas()); }
  void wheel(QPointF at, int delta, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const;
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) const {
    QTest::keyClick(&canvas(), key, modifiers);
  }

  TraceIndexPtr m_trace;
  std::unique_ptr<SpaceTimeView> m_view;
};

void SpaceTimeTest::initTestCase() {
  QApplication::setStyle(QStringLiteral("Fusion"));
}

void SpaceTimeTest::init() {
  m_trace = makeIndex(masterWorker());
  m_view = std::make_unique<SpaceTimeView>();
  m_view->resize(1200, 560);
  m_view->setTrace(m_trace);
  m_view->show();
  m_view->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_view.get()));
  canvas().setFocus();
}

void SpaceTimeTest::cleanup() {
  m_view.reset();
}

void SpaceTimeTest::wheel(QPointF at, int delta, Qt::KeyboardModifiers modifiers) const {
  QWheelEvent event(at, canvas().mapToGlobal(at), {}, {0, delta}, Qt::NoButton, modifiers,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&canvas(), &event);
}

void SpaceTimeTest::aLowOneIsAStrip() {
  const auto isThere = [this](const char* name) {
    return m_view->findChild<QWidget*>(QString::fromLatin1(name))->isVisible();
  };
  QVERIFY(isThere("minimap") && m_view->searchBar()->isVisible());
  m_view->resize(1200, 130);
  QVERIFY(!isThere("minimap") && !m_view->searchBar()->isVisible());
  QTRY_VERIFY2(canvas().height() > 100, "the rows have all of it");
  QVERIFY(m_view->minimumSizeHint().height() <= 130);
  press(Qt::Key_Slash);
  QVERIFY2(m_view->searchBar()->isVisible() && m_view->searchBar()->edit()->hasFocus(),
           "asked for");
  QTest::keyClick(m_view->searchBar()->edit(), Qt::Key_Escape);
  QVERIFY(!m_view->searchBar()->isVisible() && canvas().hasFocus());
  press(Qt::Key_O);
  QVERIFY(isThere("minimap"));
  m_view->resize(1200, 560);
  QVERIFY(isThere("minimap") && m_view->searchBar()->isVisible());
}

/// With other keys F10 is not that of menus.
void SpaceTimeTest::theKeyOfMenus() {
  QSignalSpy asked(&canvas(), &SpaceTimeCanvas::menuRequested);
  canvas().disconnect(m_view.get());
  press(Qt::Key_F10, Qt::ControlModifier | Qt::ShiftModifier);
  press(Qt::Key_F10);
  QCOMPARE(asked.size(), 0);
  press(Qt::Key_F10, Qt::ShiftModifier);
  press(Qt::Key_Menu);
  QCOMPARE(asked.size(), 2);
}

void SpaceTimeTest::clickSelects() {
  QSignalSpy selected(m_view.get(), &SpaceTimeView::eventSelected);
  QTest::mouseClick(&canvas(), Qt::LeftButton, {}, place({2, 4}));
  QCOMPARE(selected.size(), 1);
  QCOMPARE(selected.first().first().value<EventRef>(), (EventRef{2, 4}));
  QTest::mouseClick(&canvas(), Qt::LeftButton, {},
                    place({2, 4}) + QPoint(20, 30));  // nothing there
  QCOMPARE(m_view->selectedEvent(), (EventRef{2, 4}));
  QVERIFY(m_view->action(DiagramAction::ReplayHere)->isEnabled());
  press(Qt::Key_Escape);
  QVERIFY(!m_view->selectedEvent().valid());
  QVERIFY(!m_view->action(DiagramAction::ReplayHere)->isEnabled());
}

void SpaceTimeTest::doubleClickReplays() {
  QSignalSpy replay(m_view.get(), &SpaceTimeView::replayToRequested);
  QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, place({0, 8}));
  QCOMPARE(replay.size(), 1);
  QCOMPARE(replay.first().first().value<EventRef>(), (EventRef{0, 8}));
}

void SpaceTimeTest::arrowsMove() {
  m_view->selectEvent({0, 6});
  press(Qt::Key_Right);
  QCOMPARE(m_view->selectedEvent(), (EventRef{0, 7}));
  press(Qt::Key_Left);
  press(Qt::Key_Left);
  QCOMPARE(m_view->selectedEvent(), (EventRef{0, 5}));
  press(Qt::Key_Down);
  QCOMPARE(m_view->selectedEvent().rank, 1);
  QVERIFY(std::abs(static_cast<int>(m_trace->time(m_view->selectedEvent())) -
                   static_cast<int>(m_trace->time({0, 5}))) <= 1);
  press(Qt::Key_Up);
  press(Qt::Key_Up);  // stays on the first rank
  QCOMPARE(m_view->selectedEvent().rank, 0);
  press(Qt::Key_End);
  QCOMPARE(m_view->selectedEvent(), (EventRef{0, m_trace->lastSerial(0)}));
  press(Qt::Key_Right);
  QCOMPARE(m_view->selectedEvent(), (EventRef{0, m_trace->lastSerial(0)}));
  press(Qt::Key_Home);
  QCOMPARE(m_view->selectedEvent(), (EventRef{0, 1}));
}

void SpaceTimeTest::raceKeysWalk() {
  std::vector<EventRef> seen;
  for (std::size_t i = 0; i < m_trace->racing().size(); ++i) {
    press(Qt::Key_R);
    seen.push_back(m_view->selectedEvent());
  }
  const RacingEvents& racing = m_trace->racing();
  QCOMPARE(seen, std::vector<EventRef>(racing.begin(), racing.end()));
  press(Qt::Key_R, Qt::ShiftModifier);
  QCOMPARE(m_view->selectedEvent(), seen[seen.size() - 2]);
}

void SpaceTimeTest::partnerKeyJumps() {
  m_view->selectEvent({0, 6});
  press(Qt::Key_P);
  QCOMPARE(m_view->selectedEvent(), (EventRef{2, 4}));
  press(Qt::Key_P);
  QCOMPARE(m_view->selectedEvent(), (EventRef{0, 6}));
}

void SpaceTimeTest::enterReplaysAndLettersRequest() {
  QSignalSpy replay(m_view.get(), &SpaceTimeView::replayToRequested);
  QSignalSpy stop(m_view.get(), &SpaceTimeView::breakHereRequested);
  QSignalSpy mark(m_view.get(), &SpaceTimeView::bookmarkRequested);
  press(Qt::Key_Return);  // nothing selected: nothing asked
  QCOMPARE(replay.size(), 0);
  m_view->selectEvent({0, 8});
  press(Qt::Key_Return);
  press(Qt::Key_B);
  press(Qt::Key_M);
  QCOMPARE(replay.size(), 1);
  QCOMPARE(stop.size(), 1);
  QCOMPARE(mark.size(), 1);
  QCOMPARE(stop.first().first().value<EventRef>(), (EventRef{0, 8}));
}

void SpaceTimeTest::ghostsAppearForTheSelectedRace() {
  const Race& race = m_trace->data().races[2];
  const QColor orange = Theme::of(canvas().palette()).race;
  const EventRef other = m_trace->execution().messages[race.alternatives.front()].send;
  const QRect around(place(other) - QPoint(16, 16), QSize(32, 32));
  const int before = countColor(picture(), around, orange);
  m_view->selectRace(2);
  QCOMPARE(m_view->selectedEvent(), m_trace->races().eventOf(2));
  const int after = countColor(picture(), around, orange);
  QVERIFY2(after > before + 20, qPrintable(QString::number(after)));
  m_view->selectEvent({});
  QCOMPARE(countColor(picture(), around, orange), before);
}

void SpaceTimeTest::raceIsAnnounced() {
  QSignalSpy race(m_view.get(), &SpaceTimeView::raceSelected);
  m_view->selectEvent({0, 6});
  QCOMPARE(race.first().first().toInt(), static_cast<int>(m_trace->races().at({0, 6}).front()));
  m_view->selectEvent({0, 7});
  QCOMPARE(race.size(), 1);
}

void SpaceTimeTest::wheelKeepsTheEventUnderThePointer() {
  for (const EventRef event : {EventRef{0, 6}, EventRef{3, 4}, EventRef{1, 1}}) {
    const QPointF before = canvas().view().point(*m_trace, event);
    for (int turn = 0; turn < 4; ++turn) {
      wheel(before, 120);
    }
    QVERIFY(std::abs(canvas().view().point(*m_trace, event).x() - before.x()) < 1.0);
    for (int turn = 0; turn < 8; ++turn) {
      wheel(before, -120);
    }
    QVERIFY(std::abs(canvas().view().point(*m_trace, event).x() - before.x()) < 1.0);
    press(Qt::Key_F);
  }
  const double rows = canvas().view().rowHeight;
  wheel(QPointF(400, 100), -240, Qt::ControlModifier);
  QVERIFY(canvas().view().rowHeight < rows);
}

void SpaceTimeTest::shiftDragZoomsAndHistoryGoesBack() {
  const SpaceTimeGeometry whole = canvas().view();
  const QPoint from(static_cast<int>(whole.x(6)), 200);
  const QPoint to(static_cast<int>(whole.x(14)), 220);
  QTest::mousePress(&canvas(), Qt::LeftButton, Qt::ShiftModifier, from);
  QTest::mouseMove(&canvas(), to);
  QTest::mouseRelease(&canvas(), Qt::LeftButton, Qt::ShiftModifier, to);
  const SpaceTimeGeometry zoomed = canvas().view();
  QVERIFY(std::abs(zoomed.t0 - 6) < 0.1);
  QVERIFY(std::abs(zoomed.t1 - 14) < 0.1);
  press(Qt::Key_Left, Qt::AltModifier);
  QVERIFY(std::abs(canvas().view().t0 - whole.t0) < 1e-9);
  QVERIFY(std::abs(canvas().view().t1 - whole.t1) < 1e-9);
  press(Qt::Key_Right, Qt::AltModifier);
  QVERIFY(std::abs(canvas().view().t0 - zoomed.t0) < 1e-9);
  press(Qt::Key_Minus);
  QVERIFY(canvas().view().t1 - canvas().view().t0 > zoomed.t1 - zoomed.t0);
}

void SpaceTimeTest::dragPansWithoutDrawingAgain() {
  canvas().viewport().zoomTo(5, 12);
  const QImage before = picture();
  const SpaceTimeGeometry g = canvas().view();
  QTest::mousePress(&canvas(), Qt::LeftButton, {}, QPoint(700, 330));
  QTest::mouseMove(&canvas(), QPoint(660, 330));
  QTest::mouseMove(&canvas(), QPoint(600, 330));
  QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, QPoint(600, 330));
  const SpaceTimeGeometry moved = canvas().view();
  QVERIFY(std::abs((moved.t0 - g.t0) * g.scale() - 100) < 1.5);
  QVERIFY(!m_view->selectedEvent().valid());  // a drag is no click
  // What was under x is now under x - 100: the panned picture is the old one shifted.
  const QImage after = picture();
  const int top = static_cast<int>(g.plot.top()) + 4;
  const QRect old(500, top, 300, 200);
  int different = 0;
  const QImage a = before.copy(old);
  const QImage b = after.copy(old.translated(-100, 0));
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      different += a.pixel(x, y) != b.pixel(x, y) ? 1 : 0;
    }
  }
  QVERIFY2(different < 300 * 200 / 10, qPrintable(QString::number(different)));
}

void SpaceTimeTest::fitShowsEverything() {
  canvas().viewport().zoomTo(3, 4);
  press(Qt::Key_F);
  const SpaceTimeGeometry g = canvas().view();
  for (Rank r = 0; r < 4; ++r) {
    for (Serial s = 1; s <= m_trace->lastSerial(r); ++s) {
      QVERIFY(g.plot.contains(g.point(*m_trace, {r, s})));
    }
  }
}

// On the line of a rank, between two events, where the second one had to wait for others; elsewhere
// not.
void SpaceTimeTest::waitsAreDrawn() {
  const QImage image = picture();
  const SpaceTimeGeometry g = canvas().view();
  const Theme theme = Theme::of(canvas().palette());
  int waits = 0;
  int others = 0;
  for (Rank rank = 0; rank < 4; ++rank) {
    for (Serial s = 2; s <= m_trace->lastSerial(rank); ++s) {
      const double before = m_trace->time({rank, s - 1});
      const double time = m_trace->time({rank, s});
      const bool waited = time > before + 1;
      const QColor there = image.pixelColor(
          QPointF(g.x(waited ? before + 1.4 : before + 0.5), g.y(rank) - 2).toPoint());
      const auto far = [&](const QColor& from) {
        return std::abs(there.red() - from.red()) + std::abs(there.green() - from.green()) +
               std::abs(there.blue() - from.blue());
      };
      const bool tinted = far(theme.base) > 60 && far(theme.stripe) > 60;
      waits += waited && tinted ? 1 : 0;
      others += !waited && tinted ? 1 : 0;
    }
  }
  QVERIFY2(waits > 3, qPrintable(QString::number(waits)));
  QVERIFY2(others <= 2, qPrintable(QString::number(others)));  // where an arrow crosses
}

void SpaceTimeTest::replayPositionIsDrawn() {
  const QColor cut = Theme::of(canvas().palette()).cut;
  const SpaceTimeGeometry g = canvas().view();
  // Rank 1 is to do event 3: the line crosses its row between events 2 and 3, below the marker.
  const double x = g.x(
      std::max(m_trace->time({1, 3}) - 0.5, 0.5 * (m_trace->time({1, 2}) + m_trace->time({1, 3}))));
  const QRect crossing(static_cast<int>(x) - 3, static_cast<int>(g.y(1)) + 6, 6, 10);
  QCOMPARE(countColor(picture(), crossing, cut, 60), 0);
  m_view->setReplayPositions(
      {{0, 6, true}, {1, 3, true}, {2, 5, true}, {3, 2, false}, {99, 1, true}});
  QVERIFY(countColor(picture(), crossing, cut, 60) >= 10);
  m_view->setReplayPositions({});
  QCOMPARE(countColor(picture(), crossing, cut, 60), 0);
}

void SpaceTimeTest::coneVeilsTheRest() {
  m_view->selectEvent({0, 6});
  const QImage clear = picture();
  m_view->action(DiagramAction::Cone)->setChecked(true);
  const QImage veiled = picture();
  const QColor blue = Theme::of(canvas().palette()).send;
  const QRect later(place({1, 6}) - QPoint(6, 6),
                    QSize(12, 12));  // concurrent with the selected event or after it
  const QRect concurrent(place({3, 4}) - QPoint(6, 6), QSize(12, 12));
  QVERIFY(countColor(clear, concurrent, blue) > 20);
  QVERIFY(countColor(veiled, concurrent, blue) < 5);
  (void)later;
  const QRect past(place({2, 4}) - QPoint(6, 6), QSize(12, 12));
  QVERIFY(countColor(veiled, past, blue) > 20);
}

void SpaceTimeTest::densityIsNeverBlank() {
  m_trace = makeIndex(stencil(64, 200));
  m_view->setTrace(m_trace);
  QVERIFY(m_trace->eventCount() > SpaceTimePainter::kExactLimit);
  const QImage image = picture();
  QVERIFY(!canvas().stats().exact);
  const SpaceTimeGeometry g = canvas().view();
  const Theme theme = Theme::of(canvas().palette());
  int lineGaps = 0;
  int strips = 0;
  for (int x = static_cast<int>(g.plot.left()) + 4; x + 30 < g.plot.right(); x += 30) {
    int events = 0;  // in every strip of every tenth row
    const int row = static_cast<int>(g.y(10 + strips % 5 * 10) - 0.5);  // in its bar
    for (int i = 0; i < 30; ++i) {
      const QColor c = image.pixelColor(x + i, row);
      events += c.blue() - c.red() > 40 ? 1 : 0;
    }
    QVERIFY2(events > 3, qPrintable(QString::number(x)));
    const QRect gap(x, row + static_cast<int>(g.rowHeight / 2) - 1, 30, 2);
    lineGaps +=
        countColor(image, gap, theme.base, 20) + countColor(image, gap, theme.stripe, 20) < 100 ? 1
                                                                                                : 0;
    ++strips;
  }
  QVERIFY2(lineGaps > strips / 3,
           qPrintable(QString::number(lineGaps)));               // message lines between the rows
  QVERIFY(countColor(image, g.plot.toRect(), theme.race) > 20);  // races are never lost
  const double columns = g.x(m_trace->lastTime() + 1) - g.x(0);  // all is in view
  const double each = static_cast<double>(m_trace->eventCount()) / (64 * columns);
  QVERIFY(std::abs(canvas().stats().eventsAPixel / each - 1) < 0.05);
  QTRY_VERIFY(m_view->findChild<QLabel*>(u"regime"_s)
                  ->text()
                  .endsWith(u", %1 a pixel"_s.arg(canvas().stats().eventsAPixel, 0, 'f', 1)));
  canvas().viewport().zoomTo(10, 30);
  (void)picture();
  QVERIFY(canvas().stats().exact);
}

/// Before there is a picture of the new view: wherever one looks something is on the rows, in the
/// old picture, beside it, and where they meet.
void SpaceTimeTest::aStretchedPictureLeavesNoHole() {
  m_trace = makeIndex(stencil(16, 400));
  m_view->setTrace(m_trace);
  const double end = m_trace->lastTime();
  for (const double share : {0.31, 0.123}) {
    canvas().viewport().setSpan(end * 0.4, end * (0.4 + share / 2));
    QVERIFY(!picture().isNull());
    canvas().viewport().setSpan(0, end);
    const QImage image = canvas().grab().toImage();
    QVERIFY(!canvas().isUpToDate());  // else there is nothing to see here
    const SpaceTimeGeometry g = canvas().view();
    const Theme theme = Theme::of(canvas().palette());
    const QRect old(g.plot.topLeft().toPoint(), QSize(static_cast<int>(g.plot.width() / 10),
                                                      static_cast<int>(g.rowHeight * 16)));
    for (const QColor& mark : {theme.send, theme.receive, theme.collective}) {
      QCOMPARE(countColor(image, old, mark, 20), 0);
    }
    int bare = 0;  // columns of pixels on end; between the events of the old picture are some
    for (int x = static_cast<int>(g.plot.left()) + 2; x + 2 < g.plot.right(); ++x) {
      const QRect onRow(x, static_cast<int>(g.y(3)) - 1, 1, 3);
      const QColor beside = image.pixelColor(x, onRow.top() - 5);
      const bool isBare = countColor(image, onRow, beside, 4) == 3;
      bare = isBare ? bare + 1 : 0;
      QVERIFY2(bare < 6, qPrintable(QString::number(x)));
    }
  }
}

void SpaceTimeTest::dimmedRanksAreVeiled() {
  m_trace = makeIndex(stencil(4, 6));
  m_view->setTrace(m_trace);
  const auto glyph = [&](Rank rank) { return picture().pixelColor(place({rank, 2})); };
  const QColor before = glyph(1);
  std::vector<RankHeader> headers(4);
  headers[1] = {u"not in this replay"_s, Tone::Muted, true};
  m_view->setRankHeaders(headers);
  QVERIFY(glyph(1) != before);
  QVERIFY(glyph(2) != glyph(1));
  m_view->setRankHeaders(std::vector<RankHeader>(4));
  QCOMPARE(glyph(1), before);
}

void SpaceTimeTest::manyRanksScroll() {
  m_trace = makeIndex(stencil(200, 3));
  m_view->setTrace(m_trace);
  QVERIFY(
      canvas().view().plot.contains(canvas().view().point(*m_trace, {199, 1})));  // all are in view
  canvas().viewport().setRowHeight(8);
  QVERIFY(!canvas().view().plot.contains(canvas().view().point(*m_trace, {199, 1})));
  m_view->selectEvent({199, 1});
  QVERIFY(canvas().view().plot.contains(canvas().view().point(*m_trace, {199, 1})));
  QTest::mouseClick(&canvas(), Qt::LeftButton, {}, place({199, 2}));
  QCOMPARE(m_view->selectedEvent(), (EventRef{199, 2}));
}

void SpaceTimeTest::minimapMovesTheWindow() {
  m_trace = makeIndex(stencil(8, 100));
  m_view->setTrace(m_trace);
  canvas().viewport().zoomTo(10, 30);
  auto* minimap = m_view->findChild<Minimap*>();
  QVERIFY(minimap != nullptr);
  QTest::mouseClick(minimap, Qt::LeftButton, {},
                    QPoint(minimap->width() - 60, minimap->height() / 2));
  const SpaceTimeGeometry g = canvas().view();
  QVERIFY(g.t0 > 100);
  QVERIFY(std::abs((g.t1 - g.t0) - 20) < 0.5);
}

void SpaceTimeTest::exportsPngAndSvg() {
  QTemporaryDir dir;
  QString error;
  QVERIFY(exportDiagram(*m_view, dir.filePath(QStringLiteral("a.png")), {800, 400}, &error));
  const QImage image(dir.filePath(QStringLiteral("a.png")));
  QCOMPARE(image.size(), QSize(1600, 800));
  QVERIFY(exportDiagram(*m_view, dir.filePath(QStringLiteral("a.svg")), {800, 400}, &error));
  QFile svg(dir.filePath(QStringLiteral("a.svg")));
  QVERIFY(svg.open(QIODevice::ReadOnly));
  const QByteArray text = svg.readAll();
  QVERIFY(text.contains("<svg") && text.contains("Rank 0"));
  QVERIFY(
      !exportDiagram(*m_view, dir.filePath(QStringLiteral("no/such/a.png")), {800, 400}, &error));
  QVERIFY(error.contains(QStringLiteral("a.png")));
}

void SpaceTimeTest::emptyAndNullTraces() {
  m_view->setTrace(nullptr);
  press(Qt::Key_R);
  press(Qt::Key_Right);
  press(Qt::Key_F);
  wheel({300, 100}, 120);
  (void)picture();
  m_view->setTrace(makeIndex(std::make_shared<const TraceData>()));
  press(Qt::Key_End);
  press(Qt::Key_Plus);
  (void)picture();
  QVERIFY(!m_view->selectedEvent().valid());
  m_view->setTrace(m_trace);
  QVERIFY(canvas().view().t1 > 10);
}

/// What is shown before the events are there can be zoomed, and stays as it is when they come.
void SpaceTimeTest::eventsComeAfterTheOverview() {
  const TraceDataPtr whole = stencil(64, 800);
  auto early = std::make_shared<TraceData>();
  early->title = whole->title;
  early->execution.ranks.resize(64);
  early->pyramid = whole->pyramid;
  m_trace = makeIndex(whole);
  early->outline = TraceOutline{m_trace->eventCount(), m_trace->lastTime()};
  early->profile = {3, 1, 2};
  m_view->setTrace(makeIndex(early));
  (void)picture();
  QVERIFY(canvas().stats().overview);
  QVERIFY(canvas().stats().events > 100000);
  auto* search = m_view->searchBar()->findChild<QLineEdit*>();
  QVERIFY(!search->isEnabled());
  canvas().viewport().zoomTo(100, 400);
  (void)picture();
  press(Qt::Key_Right);
  press(Qt::Key_R);
  press(Qt::Key_P);
  QTest::mouseClick(&canvas(), Qt::LeftButton, {}, canvas().rect().center());
  QVERIFY(!m_view->selectedEvent().valid());
  QVERIFY(!m_view->action(DiagramAction::ReplayHere)->isEnabled() &&
          !m_view->action(DiagramAction::NextRace)->isEnabled());
  const auto before = canvas().view();
  m_view->setTrace(m_trace);
  QCOMPARE(canvas().view().t0, before.t0);
  QCOMPARE(canvas().view().t1, before.t1);
  QVERIFY(canvas().viewport().history().canUndo());
  QVERIFY(!canvas().isUpToDate());  // the picture was of the outline
  (void)picture();
  QVERIFY(search->isEnabled());
  press(Qt::Key_R);
  QVERIFY(m_view->selectedEvent().valid());
  m_view->setTrace(makeIndex(masterWorker()));  // another trace is shown from its start
  QVERIFY(canvas().view().t0 < 1);
}

void SpaceTimeTest::paintIsFastEnough() {
  m_trace = makeIndex(stencil(64, 800));  // about 2e5 events
  m_view->setTrace(m_trace);
  (void)picture();
  QElapsedTimer timer;
  timer.start();
  canvas().viewport().zoomTo(1, 1500);
  (void)picture();
  QVERIFY2(timer.elapsed() < 2000,
           qPrintable(QString::number(timer.elapsed())));  // loose: shared machines
}

void SpaceTimeTest::poisonedTextStaysPlain() {
  TraceData data = *masterWorker();
  data.execution.callNames[0] = "<b>MPI</b>\x1b[31m";
  data.execution.sites[0].file = "<img src='file:///etc/passwd'>";
  m_trace = makeIndex(std::make_shared<const TraceData>(data));
  m_view->setTrace(m_trace);
  m_view->selectEvent({0, 1});
  for (const QLabel* label : m_view->findChildren<QLabel*>()) {
    QCOMPARE(label->textFormat(), Qt::PlainText);
    QVERIFY(!label->text().contains(QChar(0x1b)));
    QVERIFY(!label->toolTip().contains(QStringLiteral("<img")));
  }
}

QTEST_MAIN(SpaceTimeTest)
#include "space_time_test.moc"
