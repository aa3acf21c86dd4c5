// SPDX-License-Identifier: MIT
// One rank's events, and the selection both ways.
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "plugins/rank_timeline/timeline_widget.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_text.h"

using namespace pf;
using namespace pf::plugins;
using namespace pf::views::test;

class RankTimelineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void allEventsOfTheRank() {
    const auto trace = views::makeIndex(masterWorker());
    TimelineModel model;
    model.show(trace, 1, {});
    QCOMPARE(static_cast<Serial>(model.rowCount()), trace->lastSerial(1));
    for (int row = 0; row < model.rowCount(); ++row) {
      const EventRef event{1, static_cast<Serial>(row) + 1};
      QCOMPARE(model.eventAt(row), event);
      QCOMPARE(model.index(row, TimelineModel::CallColumn).data().toString(),
               views::callName(*trace, event));
      QCOMPARE(model.index(row, TimelineModel::PlaceColumn).data().toString(),
               views::siteText(*trace, event));
    }
    QCOMPARE(model.rowOf(3), 2);
  }

  void whatBecameOfThem() {
    const auto trace = views::makeIndex(masterWorker());
    const EventRef racing = trace->races().eventOf(2);
    QVERIFY2(eventState(*trace, racing).contains(QStringLiteral("racing, 2 others possible")),
             qPrintable(eventState(*trace, racing)));
    const Message& taken = trace->execution().messages[trace->data().races[2].taken];
    QVERIFY2(eventState(*trace, taken.send)
                 .contains(QStringLiteral("received by rank 0 at %1").arg(taken.completion)),
             qPrintable(eventState(*trace, taken.send)));
    QCOMPARE(eventState(*trace, {9, 1}), QString());
  }

  void filterAndSelection() {
    const auto trace = views::makeIndex(masterWorker());
    TimelineWidget widget;
    widget.resize(900, 300);
    widget.setTrace(trace);
    QCOMPARE(widget.model()->rowCount(), 0);  // nobody looks
    widget.show();
    QCOMPARE(static_cast<Serial>(widget.model()->rowCount()), trace->lastSerial(0));
    QSignalSpy selected(&widget, &ViewWidget::eventSelected);
    // Here, and so in the diagram.
    widget.table()->selectRow(4);
    QCOMPARE(selected.size(), 1);
    QCOMPARE(selected.first().first().value<EventRef>(), (EventRef{0, 5}));
    // In the diagram, and so here; nothing comes back.
    widget.setSelectedEvent({2, 3});
    QCOMPARE(widget.ranks()->currentIndex(), 2);
    QCOMPARE(widget.table()->currentIndex().row(), 2);
    QCOMPARE(selected.size(), 1);
    // The filter of the search.
    widget.setSelectedEvent({0, 5});
    widget.filter()->setText(QStringLiteral("kind:racing"));
    std::size_t racing = 0;
    for (const EventRef event : trace->racing()) {
      racing += event.rank == 0 ? 1U : 0U;
    }
    QTRY_COMPARE(static_cast<std::size_t>(widget.model()->rowCount()), racing);
    QVERIFY(widget.summary().contains(QStringLiteral(" of ")));
    widget.filter()->setText(QStringLiteral("kind:nothing"));
    QTRY_VERIFY(widget.summary().contains(QStringLiteral("there is no kind")));
    QCOMPARE(widget.model()->rowCount(), 0);
  }

  void manyEventsAreSearchedBesideTheWindow() {
    const auto trace = views::makeIndex(stencil(2, 9000));
    QVERIFY(trace->lastSerial(0) > views::kFewEvents && trace->lastSerial(1) > views::kFewEvents);
    const auto found = [&](Rank rank, const QString& query) {
      return views::searchRank(*trace, rank, query).hits;
    };
    TimelineWidget widget;
    widget.setTrace(trace);
    widget.show();
    const auto rows = [&] {
      std::vector<EventRef> events;
      for (int row = 0; row < widget.model()->rowCount(); ++row) {
        events.push_back(widget.model()->eventAt(row));
      }
      return events;
    };
    const QString searching = QStringLiteral("searching …");
    const auto search = [&](const char* query) {
      widget.filter()->setText(QString::fromLatin1(query));
      QTest::keyClick(widget.filter(), Qt::Key_Return);
    };
    widget.setSelectedEvent({0, 12000});
    search("kind:collective");
    QCOMPARE(widget.summary(), searching);
    QCOMPARE(static_cast<Serial>(widget.model()->rowCount()), trace->lastSerial(0));  // as before
    QTRY_COMPARE(rows(), found(0, QStringLiteral("kind:collective")));
    QVERIFY(widget.summary().contains(QStringLiteral(" of ")));
    // Of another rank there are none until they are found; nothing of the search before comes.
    search("kind:send");
    QCOMPARE(widget.summary(), searching);
    widget.ranks()->setCurrentIndex(1);
    QCOMPARE(widget.summary(), searching);
    QCOMPARE(widget.model()->rowCount(), 0);
    QTRY_COMPARE(rows(), found(1, QStringLiteral("kind:send")));
    // Without a filter all of them, at once.
    widget.ranks()->setCurrentIndex(0);
    QTRY_VERIFY(widget.model()->rowCount() > 0);
    widget.setTrace(trace);
    QCOMPARE(widget.summary(), searching);
    QCOMPARE(widget.model()->rowCount(), 0);  // nor of another trace
    widget.filter()->clear();
    QTRY_COMPARE(static_cast<Serial>(widget.model()->rowCount()), trace->lastSerial(0));
    search("kind:collective");
    QCOMPARE(widget.summary(), searching);  // and the widget goes
  }

  /// A trace that grows moves nothing that is looked at; what is selected meanwhile comes into
  /// view.
  void growsUnderTheEyes() {
    int steps = 9000;
    TimelineWidget widget;
    widget.resize(900, 300);
    widget.setTrace(views::makeIndex(stencil(2, steps)));
    widget.show();
    const auto grow = [&] {
      steps += 100;
      widget.renewTrace(views::makeIndex(stencil(2, steps)));
    };
    const QString searching = QStringLiteral("searching …");
    const auto found = [&] { return widget.summary() != searching; };
    const auto scrollTo = [&](int row) {
      widget.table()->scrollTo(widget.model()->index(row, 0), QAbstractItemView::PositionAtTop);
    };
    const auto top = [&] { return widget.table()->rowAt(0); };
    const auto sees = [&](EventRef event) {
      const int row = widget.model()->rowOf(event.serial);
      const int bottom = widget.table()->rowAt(widget.table()->viewport()->height() - 1);
      return widget.model()->eventAt(row) == event && top() <= row && row <= bottom;
    };
    const auto filter = [&](const char* query) {
      widget.filter()->setText(QString::fromLatin1(query));
      QTest::keyClick(widget.filter(), Qt::Key_Return);
    };
    filter("kind:send");
    QVERIFY(!found());
    QTRY_VERIFY(found());
    scrollTo(300);
    grow();
    QTRY_VERIFY(found());
    QCOMPARE(top(), 300);  // nothing is selected
    const EventRef low = widget.model()->eventAt(1500);
    const EventRef high = widget.model()->eventAt(50);
    widget.setSelectedEvent(low);
    QVERIFY(sees(low));
    scrollTo(300);
    grow();
    QTRY_VERIFY(found());
    QCOMPARE(top(), 300);
    QCOMPARE(widget.table()->currentIndex().row(), 1500);
    // While it is searched for: the user scrolls, or selects another event, here or elsewhere.
    grow();
    QVERIFY(!found());
    scrollTo(600);
    QTRY_VERIFY(found());
    QCOMPARE(top(), 600);
    grow();
    widget.setSelectedEvent(high);
    QVERIFY(!found());
    QTRY_VERIFY(found());
    QVERIFY(sees(high));
    scrollTo(600);
    grow();
    const EventRef other{1, low.serial};
    widget.setSelectedEvent(other);
    QVERIFY(!found());
    QTRY_VERIFY(found());
    QVERIFY(sees(other));
    scrollTo(300);
    grow();
    QTRY_VERIFY(found());
    QCOMPARE(top(), 300);
    // While nobody sees it.
    widget.hide();
    grow();
    widget.setSelectedEvent({1, high.serial});
    widget.show();
    QTRY_VERIFY(found());
    QVERIFY(sees({1, high.serial}));
    // Another filter has other rows.
    scrollTo(600);
    filter("rank:1");
    QVERIFY(!found());
    QTRY_VERIFY(found());
    QVERIFY(sees({1, high.serial}));
  }

  void replayIsMarked() {
    const auto trace = views::makeIndex(masterWorker());
    TimelineWidget widget;
    widget.setTrace(trace);
    widget.show();
    widget.setPositions({{0, 4, true}, {1, 2, true}});
    QVERIFY(widget.model()->index(3, 0).data(values::BoldRole).toBool());
    QVERIFY(!widget.model()->index(2, 0).data(values::BoldRole).toBool());
    widget.ranks()->setCurrentIndex(1);
    QVERIFY(widget.model()->index(1, 0).data(values::BoldRole).toBool());
    widget.setPositions({});
    QVERIFY(!widget.model()->index(1, 0).data(values::BoldRole).toBool());
    widget.setTrace(nullptr);
    QCOMPARE(widget.model()->rowCount(), 0);
  }
};

QTEST_MAIN(RankTimelineTest)
#include "rank_timeline_test.moc"
