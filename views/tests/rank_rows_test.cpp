// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks the diagram shows, in which order, and which share a row.
#include <QAction>
#include <QComboBox>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>

#include "views/diagram/canvas/space_time_canvas.h"
#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/rank_rows_menu.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/rank_arrangement.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

class RankRowsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void hiddenAndOrdered();
  void sharedRows();
  void textAndBack();
  void clicksFindTheRow();
  void historyHasThem();
  void goingToAHiddenRankShowsIt();
  void commandsOfTheSelection();
  void expressionsAreAskedFor();
  void denseViews();
  void sortedIsDrawnAnew();

 private:
  [[nodiscard]] SpaceTimeCanvas& canvas() const { return *m_view->canvas(); }
  [[nodiscard]] QAction* action(const char* text) const {
    for (QAction* one : m_view->rankActions()) {
      if (one->text().startsWith(QLatin1String(text))) {
        return one;
      }
    }
    return nullptr;
  }
  [[nodiscard]] std::vector<std::vector<Rank>> rows() const {
    std::vector<std::vector<Rank>> out;
    const SpaceTimeGeometry g = canvas().view();
    for (int row = 0; row < g.rows; ++row) {
      out.push_back(g.ranksOf(row));
    }
    return out;
  }

  TraceIndexPtr m_trace;
  std::unique_ptr<SpaceTimeView> m_view;
};

using Rows = std::vector<std::vector<Rank>>;

void RankRowsTest::init() {
  m_trace = makeIndex(masterWorker());
  m_view = std::make_unique<SpaceTimeView>();
  m_view->resize(1200, 560);
  m_view->setTrace(m_trace);
  m_view->show();
  QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
}

void RankRowsTest::hiddenAndOrdered() {
  RankArrangement to;
  QVERIFY(arrangedRows(*m_trace, to) == nullptr);
  to.hide({2, 1, 2});
  const RankRowsPtr rows = arrangedRows(*m_trace, to);
  QCOMPARE(rows->rowOf(1), -1);
  QCOMPARE(rows->rowOf(3), 1);
  to = {};
  to.showOnly({3, 0}, 4);
  QCOMPARE(to.hidden, (QList<int>{1, 2}));
  for (const RankOrder order : {RankOrder::Waiting, RankOrder::Racing}) {
    to = {};
    to.order = order;
    const RankRowsPtr sorted = arrangedRows(*m_trace, to);
    const auto most = order == RankOrder::Waiting ? stepsWaited(*m_trace) : racesOfRanks(*m_trace);
    QVERIFY(*std::max_element(most.begin(), most.end()) > 0);
    for (std::size_t row = 1; row < sorted->rows().size(); ++row) {
      const auto of = [&](std::size_t i) {
        return most[static_cast<std::size_t>(sorted->rows()[i].ranks.front())];
      };
      QVERIFY(of(row - 1) >= of(row));
    }
  }
}

void RankRowsTest::sharedRows() {
  RankArrangement to;
  to.collapse({QStringLiteral("workers"), {3, 1, 2}});
  m_view->setArrangement(to);
  QCOMPARE(rows(), (Rows{{0}, {1, 2, 3}}));
  to.collapse({QStringLiteral("last"), {3}});  // leaves the other shared row
  m_view->setArrangement(to);
  QCOMPARE(rows(), (Rows{{0}, {1, 2}, {3}}));
  to.expand(QStringLiteral("workers"));
  m_view->setArrangement(to);
  QCOMPARE(rows(), (Rows{{0}, {1}, {2}, {3}}));
  to.hide({0});
  to.collapse({QStringLiteral("first"), {0, 1}});  // what is collapsed is shown
  QVERIFY(to.hidden.isEmpty());
}

void RankRowsTest::textAndBack() {
  RankArrangement to;
  to.collapse({QStringLiteral("a \"lane\""), {1, 2}});
  to.hide({3});
  to.order = RankOrder::Waiting;
  QVERIFY(arrangementOf(arrangementText(to), 4) == to);
  QVERIFY(arrangementOf(arrangementText(to), 3).hidden.isEmpty());  // there is no rank 3
  for (const char* bad : {"", "{", "[]", "{\"hidden\":\"x\"}",
                          "{\"sharedRows\":[{\"name\":\"\",\"ranks\":\"0\"}]}"}) {
    QVERIFY(arrangementOf(QString::fromLatin1(bad), 4).isPlain());
  }
}

void RankRowsTest::clicksFindTheRow() {
  RankArrangement to;
  to.hide({0});
  to.order = RankOrder::Waiting;
  m_view->setArrangement(to);
  for (const Rank rank : {1, 2, 3}) {
    const EventRef event{rank, 2};
    const QPoint at = canvas().view().point(*m_trace, event).toPoint();
    QVERIFY(canvas().rect().contains(at));
    QTest::mouseClick(&canvas(), Qt::LeftButton, {}, at);
    QCOMPARE(m_view->selectedEvent(), event);
  }
  // In a row, the nearest event of any of its ranks.
  to = {};
  to.collapse({QStringLiteral("workers"), {1, 2, 3}});
  m_view->setArrangement(to);
  const QPoint at = canvas().view().point(*m_trace, {2, 3}).toPoint();
  QTest::mouseClick(&canvas(), Qt::LeftButton, {}, at);
  QVERIFY(m_view->selectedEvent().rank != 0);
  QCOMPARE(m_trace->time(m_view->selectedEvent()), m_trace->time({2, 3}));
}

void RankRowsTest::historyHasThem() {
  QSignalSpy changed(m_view.get(), &SpaceTimeView::arrangementChanged);
  RankArrangement to;
  to.hide({1});
  m_view->setArrangement(to);
  canvas().viewport().zoomTo(2, 9);
  canvas().viewport().undo();
  QCOMPARE(rows(), (Rows{{0}, {2}, {3}}));
  canvas().viewport().undo();
  QCOMPARE(rows(), (Rows{{0}, {1}, {2}, {3}}));
  canvas().viewport().redo();
  QCOMPARE(rows(), (Rows{{0}, {2}, {3}}));
  QCOMPARE(changed.size(), 3);
  QVERIFY(m_view->arrangement() == to);
}

void RankRowsTest::goingToAHiddenRankShowsIt() {
  RankArrangement to;
  to.hide({1, 2});
  m_view->setArrangement(to);
  m_view->selectEvent({2, 1});
  QCOMPARE(rows(), (Rows{{0}, {2}, {3}}));
}

void RankRowsTest::commandsOfTheSelection() {
  QVERIFY(!action("Hide this rank")->isEnabled());
  QVERIFY(!action("Sort ranks by host")->isEnabled());  // one host
  m_view->selectEvent({3, 1});
  action("Hide this rank")->trigger();
  QCOMPARE(rows(), (Rows{{0}, {1}, {2}}));
  action("Show all ranks")->trigger();
  QCOMPARE(rows().size(), std::size_t{4});
  m_view->selectRace(0);
  action("Show only its partners")->trigger();
  std::size_t senders = 1;
  for (const std::uint32_t m : m_trace->data().races[0].alternatives) {
    QVERIFY(!m_view->arrangement().hidden.contains(m_trace->execution().messages[m].send.rank));
    ++senders;
  }
  QVERIFY(rows().size() >= 2 && senders >= 2);
  action("Show all ranks")->trigger();
  action("Sort ranks by racing receives")->trigger();
  QVERIFY(m_view->arrangement().order == RankOrder::Racing);
  action("Sort ranks by number")->trigger();
  QVERIFY(m_view->arrangement().isPlain());
}

void RankRowsTest::expressionsAreAskedFor() {
  m_view->setGroups({{QStringLiteral("workers"), {1, 2, 3}}});
  int asked = 0;
  const auto answer = [&](const QString& text) {
    auto* dialog = m_view->findChild<QInputDialog*>();
    QVERIFY(dialog != nullptr);
    ++asked;
    dialog->setTextValue(text);
    dialog->accept();
  };
  QTimer::singleShot(0, m_view.get(), [&] {
    QTimer::singleShot(0, m_view.get(), [&] { answer(QStringLiteral("workers - 2")); });
    answer(QStringLiteral("nobody"));  // asked again
  });
  action("Show only ranks")->trigger();
  QCOMPARE(asked, 2);
  QCOMPARE(rows(), (Rows{{1}, {3}}));
  QTimer::singleShot(0, m_view.get(), [&] { answer(QStringLiteral("workers")); });
  action("Collapse ranks")->trigger();
  QCOMPARE(rows(), (Rows{{1, 2, 3}}));
  action("Expand all shared rows")->trigger();
  QCOMPARE(rows(), (Rows{{1}, {2}, {3}}));
}

// The overview's cells are of ranks by number: another order is drawn from the events.
void RankRowsTest::denseViews() {
  const TraceIndexPtr large = makeIndex(stencil(16, 800));
  m_view->setTrace(large);
  RankArrangement to;
  to.order = RankOrder::Racing;
  to.hide({0, 1, 2, 3});
  to.collapse({QStringLiteral("half"), {8, 9, 10, 11, 12, 13, 14, 15}});
  m_view->setArrangement(to);
  (void)canvas().grab();
  QTRY_VERIFY_WITH_TIMEOUT(canvas().isUpToDate(), 20000);
  QVERIFY(!canvas().stats().exact);
  QVERIFY(!canvas().stats().overview);
  std::size_t events = 0;
  for (Rank rank = 4; rank < 16; ++rank) {
    events += large->lastSerial(rank);
  }
  QVERIFY(canvas().stats().events > events / 2 && canvas().stats().events <= events);
  const QImage image = canvas().grab().toImage();
  const SpaceTimeGeometry g = canvas().view();
  QCOMPARE(g.rows, 5);
  for (int row = 0; row < g.rows; ++row) {  // no row is blank
    const QColor there =
        image.pixelColor(static_cast<int>(g.plot.center().x()), static_cast<int>(g.rowY(row)));
    QVERIFY(there != m_view->palette().color(QPalette::Base));
  }
}

// Rows of the same height at the same places: the picture that is kept must not be taken for the
// new one.
void RankRowsTest::sortedIsDrawnAnew() {
  const auto plot = [this] {
    (void)canvas().grab();
    return canvas().grab(canvas().view().plot.toRect()).toImage();
  };
  const QImage before = plot();
  RankArrangement to;
  to.order = RankOrder::Racing;
  m_view->setArrangement(to);
  if (rows() == Rows{{0}, {1}, {2}, {3}}) {
    to.order = RankOrder::Waiting;
    m_view->setArrangement(to);
  }
  QVERIFY(rows() != (Rows{{0}, {1}, {2}, {3}}));
  QVERIFY(plot() != before);
  m_view->setArrangement({});
  QCOMPARE(plot(), before);
}

QTEST_MAIN(RankRowsTest)
#include "rank_rows_test.moc"
