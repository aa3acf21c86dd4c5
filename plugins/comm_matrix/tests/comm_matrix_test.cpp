// SPDX-License-Identifier: MIT
// The communication matrix: its numbers, its clicks and its picture.
#include <QComboBox>
#include <QLabel>
#include <QPainter>
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
    CommMatrixPlugin plugin;
    const std::unique_ptr<ViewWidget> made(plugin.createWidget(nullptr));
    auto* widget = qobject_cast<MatrixWidget*>(made.get());
    QVERIFY(widget != nullptr);
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

  void measureAndNullTrace() {
    MatrixWidget widget;
    widget.resize(300, 320);
    widget.setTrace(views::makeIndex(stencil(64, 4)));
    widget.findChild<QComboBox*>()->setCurrentIndex(1);
    (void)widget.grab();
    widget.setTrace(nullptr);
    widget.setSelectedEvent({0, 1});
    (void)widget.grab();
    QCOMPARE(widget.canvas()->matrix().ranks(), 0);
  }
};

QTEST_MAIN(CommMatrixTest)
#include "comm_matrix_test.moc"
