// SPDX-License-Identifier: MIT
// The communication matrix: its numbers, its clicks and its picture.
#include <cmath>

#include <QComboBox>
#include <QContextMenuEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "plugins/comm_matrix/matrix_widget.h"
#include "views/tests/sample_trace.h"

using namespace pf;
using namespace pf::plugins;
using namespace pf::views::test;

class CommMatrixTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void countsMessagesBytesAndRaces() {
    const CommMatrix matrix(*views::makeIndex(masterWorker()));
    QCOMPARE(matrix.ranks(), 4);
    QCOMPARE(matrix.at(0, 1).messages, std::uint64_t{3});
    QCOMPARE(matrix.at(0, 1).bytes, std::uint64_t{192});
    QCOMPARE(matrix.at(0, 1).racing, std::uint64_t{0});
    QCOMPARE(matrix.at(2, 0).messages, std::uint64_t{3});
    QCOMPARE(matrix.at(2, 0).bytes, std::uint64_t{3 * 1536});
    QVERIFY(matrix.at(2, 0).racing > 0);
    QCOMPARE(matrix.at(1, 2).messages, std::uint64_t{0});
    QCOMPARE(matrix.at(-1, 9).messages, std::uint64_t{0});
    QCOMPARE(matrix.most(false), std::uint64_t{3});
  }

  void clicksWalkThePairsMessages() {
    const auto made = std::make_unique<MatrixWidget>();
    MatrixWidget* const widget = made.get();
    widget->resize(420, 460);
    widget->setTrace(views::makeIndex(masterWorker()));
    widget->show();
    QSignalSpy selected(widget, &ViewWidget::eventSelected);
    const QPoint cell = widget->canvas()->cellRect(2, 0).center().toPoint();
    QTest::mouseClick(widget->canvas(), Qt::LeftButton, {}, cell);
    QTest::mouseClick(widget->canvas(), Qt::LeftButton, {}, cell);
    QCOMPARE(selected.size(), 2);
    QCOMPARE(selected.at(0).first().value<EventRef>(), (EventRef{2, 4}));
    QCOMPARE(selected.at(1).first().value<EventRef>(), (EventRef{2, 6}));
    QTest::mouseClick(widget->canvas(), Qt::LeftButton, {},
                      widget->canvas()->cellRect(1, 2).center().toPoint());
    QCOMPARE(selected.size(), 2);  // an empty pair has nothing to select
  }

  void bigTracesAreCountedMeanwhile() {
    MatrixWidget widget;
    widget.resize(420, 460);
    const auto trace = views::makeIndex(stencil(16, 600));
    QVERIFY(trace->eventCount() > views::kFewEvents);
    widget.setTrace(trace);
    const auto says = [&](const QString& text) {
      const auto labels = widget.findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(),
                         [&](const QLabel* label) { return label->text().contains(text); });
    };
    QVERIFY(says(QStringLiteral("counting")));
    QTRY_VERIFY(says(QString::number(trace->messages().count())));
    widget.setTrace(trace);
    widget.setTrace(
        views::makeIndex(masterWorker()));  // what was being counted is not shown any more
    QTest::qWait(200);
    QVERIFY(!says(QString::number(trace->messages().count())));
    auto* gone = new MatrixWidget;
    gone->setTrace(trace);
    delete gone;
    QTest::qWait(50);
  }

  void racingPairsAreOutlined() {
    MatrixWidget widget;
    widget.resize(420, 460);
    widget.setTrace(views::makeIndex(masterWorker()));
    widget.setSelectedEvent({0, 6});
    widget.show();
    const QImage image = widget.canvas()->grab().toImage();
    const auto orange = [&](Rank source, Rank dest) {
      const QColor race = views::Theme::of(widget.palette()).race;
      const QRect box = widget.canvas()->cellRect(source, dest).toRect();
      int n = 0;
      for (int x = box.left(); x < box.right(); ++x) {
        for (int y = box.top(); y < box.bottom(); ++y) {
          const QColor c = image.pixelColor(x, y);
          n += std::abs(c.red() - race.red()) + std::abs(c.green() - race.green()) +
                           std::abs(c.blue() - race.blue()) <
                       40
                   ? 1
                   : 0;
        }
      }
      return n;
    };
    QVERIFY(orange(1, 0) > 50);
    QCOMPARE(orange(0, 1), 0);
    if (const QString shot = qEnvironmentVariable("PF_SHOT"); !shot.isEmpty()) {
      widget.grab().save(shot);
    }
  }

  void eachRankHasOnePlaceWhateverTheGroupsSay() {
    const MatrixOrder order(5, {{4, 1}, {1, 9, -3, 0}, {}, {2}});
    QCOMPARE(order.ranks(), 5);
    std::vector<Rank> ranks;
    for (int place = 0; place < 5; ++place) {
      ranks.push_back(order.rankAt(place));
      QCOMPARE(order.placeOf(order.rankAt(place)), place);
    }
    QCOMPARE(ranks, (std::vector<Rank>{4, 1, 0, 2, 3}));
    QCOMPARE(order.frames().size(), std::size_t{1});  // one rank alone has none
    QCOMPARE(order.groupOf(1, 4), (std::vector<Rank>{1, 4}));
    QVERIFY(order.groupOf(0, 4).empty());
    QVERIFY(order.groupOf(2, 2).empty());
  }

  void groupsLieTogetherAndAreFramed() {
    MatrixWidget widget;
    widget.resize(520, 560);
    widget.setTrace(views::makeIndex(masterWorker()));
    widget.show();
    auto* canvas = widget.canvas();
    const auto isBehind = [&](Rank rank, Rank other) {  // in the order that is shown
      return (canvas->cellRect(rank, rank).topLeft() - canvas->cellRect(other, other).bottomRight())
                 .manhattanLength() < 0.01;
    };
    QVERIFY(isBehind(1, 0) && isBehind(2, 1) && isBehind(3, 2));
    widget.setRecordedGroups({{{0, 3}, {1, 2}}, QStringLiteral("Recorded in 2 groups.")});
    QCoreApplication::processEvents();
    QCOMPARE(widget.groupsText(), QStringLiteral("Recorded in 2 groups."));
    QVERIFY(isBehind(3, 0) && isBehind(1, 3) && isBehind(2, 1));
    // What is clicked is what is drawn there.
    QSignalSpy clicked(canvas, &MatrixCanvas::cellClicked);
    QTest::mouseClick(canvas, Qt::LeftButton, {}, canvas->cellRect(3, 1).center().toPoint());
    QCOMPARE(clicked.takeFirst(), (QVariantList{3, 1}));
    const QImage image = canvas->grab().toImage();
    const auto hasFrame = [&](const QRectF& cell) {  // at its left edge
      const QColor text = views::Theme::of(widget.palette()).text;
      for (int x = qRound(cell.left()) - 2; x <= qRound(cell.left()) + 2; ++x) {
        const QColor pixel = image.pixelColor(x, qRound(cell.top() + cell.height() / 4));
        if (std::abs(pixel.red() - text.red()) + std::abs(pixel.green() - text.green()) < 80) {
          return true;
        }
      }
      return false;
    };
    QVERIFY(hasFrame(canvas->cellRect(1, 1)));   // the first of the second frame
    QVERIFY(!hasFrame(canvas->cellRect(2, 2)));  // the second of it
    // The frames go with the trace.
    widget.setTrace(views::makeIndex(masterWorker()));
    QVERIFY(isBehind(1, 0) && isBehind(3, 2));
    QCOMPARE(widget.groupsText(), QString());
  }

  void groupsAreFoundOnRequest() {
    MatrixWidget widget;
    widget.setTrace(views::makeIndex(masterWorker()));
    widget.setMost(3);
    QSignalSpy wanted(&widget, &MatrixWidget::groupsWanted);
    auto* find = widget.findChild<QPushButton*>(QStringLiteral("findGroups"));
    find->click();
    find->click();  // one search is enough
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted.first().first().toInt(), 3);
    QVERIFY(widget.groupsText().contains(QStringLiteral("looking")));
    widget.setFoundGroups({{{0, 1}, {2, 3}}, QStringLiteral("2 groups would leave 1 KiB.")});
    QCOMPARE(widget.groupsText(), QStringLiteral("2 groups would leave 1 KiB."));
    QCOMPARE(widget.canvas()->order().frames().size(), std::size_t{2});
    find->click();
    widget.setFoundGroups({{}, QStringLiteral("It cannot be told.")});
    QCOMPARE(widget.groupsText(), QStringLiteral("It cannot be told."));
    QVERIFY(widget.canvas()->order().frames().empty());
    QVERIFY(find->isEnabled());
    // Choosing in the list what there is.
    auto* framed = widget.findChild<QComboBox*>(QStringLiteral("framedGroups"));
    QVERIFY(!framed->model()->index(1, 0).flags().testFlag(Qt::ItemIsEnabled));
    widget.setRecordedGroups({{{0, 3}, {1, 2}}, QStringLiteral("Recorded.")});
    QCOMPARE(framed->currentIndex(), 1);
    QTest::keyClick(framed, Qt::Key_Up);
    QVERIFY(widget.canvas()->order().frames().empty());
    QTest::keyClick(framed, Qt::Key_Down);
    QCOMPARE(widget.canvas()->order().frames().size(), std::size_t{2});
  }

  void theMenuIsForTheFrameOrTheTwoRanks() {
    MatrixWidget widget;
    widget.resize(520, 560);
    widget.setTrace(views::makeIndex(masterWorker()));
    widget.setRecordedGroups({{{0, 3}, {1, 2}}, {}});
    widget.show();
    QList<QList<int>> asked;
    widget.setRankCommands([&asked](QMenu&, const QList<int>& ranks) { asked.append(ranks); });
    for (const auto& [source, dest] : {std::pair{3, 0}, std::pair{2, 2}, std::pair{3, 1}}) {
      const QPoint at = widget.canvas()->cellRect(source, dest).center().toPoint();
      QContextMenuEvent event(QContextMenuEvent::Mouse, at, widget.canvas()->mapToGlobal(at));
      QApplication::sendEvent(widget.canvas(), &event);
    }
    QCOMPARE(asked, (QList<QList<int>>{{0, 3}, {1, 2}, {1, 3}}));
  }

  void measureAndNullTrace() {
    MatrixWidget widget;
    widget.resize(300, 320);
    widget.setTrace(views::makeIndex(stencil(64, 4)));
    widget.findChildren<QComboBox*>().first()->setCurrentIndex(1);
    (void)widget.grab();
    widget.setTrace(nullptr);
    widget.setSelectedEvent({0, 1});
    (void)widget.grab();
    QCOMPARE(widget.canvas()->matrix().ranks(), 0);
  }
};

QTEST_MAIN(CommMatrixTest)
#include "comm_matrix_test.moc"
