// SPDX-License-Identifier: GPL-3.0-or-later
// Search over the events: against a look at every event, and by keyboard in the diagram.
#include <QAction>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "views/diagram/space_time_view.h"
#include "views/diagram/tools/search_bar.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

namespace {

std::size_t count(const TraceIndex& trace, const std::function<bool(EventRef)>& holds) {
  std::size_t n = 0;
  for (std::size_t r = 0; r < trace.rankCount(); ++r) {
    for (Serial s = 1; s <= trace.lastSerial(static_cast<Rank>(r)); ++s) {
      n += holds({static_cast<Rank>(r), s}) ? 1U : 0U;
    }
  }
  return n;
}

}  // namespace

class SearchTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void findsWhatTheWordsSay() {
    const auto trace = makeIndex(masterWorker());
    const auto hits = [&](const QString& query) { return searchEvents(*trace, query).hits.size(); };
    const auto site = [&](EventRef ref, int line) {
      const CallSite* s = siteOf(*trace, ref);
      return s != nullptr && s->line == line;
    };
    QCOMPARE(hits(QString()), std::size_t{0});
    QCOMPARE(hits(u"mpi"_s), trace->eventCount());
    QCOMPARE(hits(u"call:recv"_s), count(*trace, [&](EventRef ref) {
               return callName(*trace, ref).contains(u"Recv"_s, Qt::CaseInsensitive);
             }));
    QCOMPARE(hits(u"recv line:88"_s), count(*trace, [&](EventRef ref) {
               return site(ref, 88) &&
                      callName(*trace, ref).contains(u"recv"_s, Qt::CaseInsensitive);
             }));
    QCOMPARE(hits(u"kind:racing"_s), count(*trace, [&](EventRef ref) {
               for (std::size_t race = 0; race < trace->data().races.size(); ++race) {
                 if (trace->races().eventOf(race) == ref) {
                   return true;
                 }
               }
               return false;
             }));
    QCOMPARE(hits(u"rank:2 event:4"_s), std::size_t{1});
    QCOMPARE(hits(u"from:3"_s), count(*trace, [&](EventRef ref) {
               for (const std::uint32_t r : trace->links().completedAt(ref)) {
                 const auto& receives =
                     trace->execution().ranks[static_cast<std::size_t>(ref.rank)].receives;
                 if (receives[r].source == 3) {
                   return true;
                 }
               }
               return false;
             }));
    QCOMPARE(hits(u"to:0 bytes:>1000"_s), count(*trace, [&](EventRef ref) {
               const auto sent = trace->links().sentAt(ref);
               return !sent.empty() && trace->execution().messages[sent.front()].dest == 0 &&
                      trace->event(ref).bytes > 1000;
             }));
    QVERIFY(hits(u"tag:9"_s) == 1);
    QCOMPARE(hits(u"nothing-is-called-so"_s), std::size_t{0});
  }

  void saysWhatItDoesNotUnderstand() {
    const auto trace = makeIndex(masterWorker());
    QVERIFY(searchEvents(*trace, u"tag:x"_s).problem.contains(u"wants a number"_s));
    QVERIFY(searchEvents(*trace, u"colour:red"_s).problem.contains(u"there is no \"colour:\""_s));
    QVERIFY(searchEvents(*trace, u"kind:odd"_s).problem.contains(u"racing"_s));
    QVERIFY(searchEvents(*trace, u"bytes:>"_s).problem.contains(u"bytes:>1024"_s));
    QVERIFY(searchEvents(*trace, u"tag:"_s).problem.isEmpty());  // still being typed
  }

  void hitsComeInTheOrderOfTime() {
    const auto trace = makeIndex(stencil(8, 20));
    const auto hits = searchEvents(*trace, u"allreduce"_s).hits;
    QVERIFY(hits.size() > 10);
    for (std::size_t i = 1; i < hits.size(); ++i) {
      QVERIFY(trace->time(hits[i - 1]) <= trace->time(hits[i]));
    }
    QCOMPARE(nextHit(*trace, hits, {}, 1), 0);
    QCOMPARE(nextHit(*trace, hits, {}, -1), static_cast<int>(hits.size()) - 1);
    QCOMPARE(nextHit(*trace, hits, hits[3], 1), 4);
    QCOMPARE(nextHit(*trace, hits, hits[3], -1), 2);
    QCOMPARE(nextHit(*trace, hits, hits.back(), 1), 0);  // round the end
    QCOMPARE(nextHit(*trace, hits, hits.front(), -1), static_cast<int>(hits.size()) - 1);
    QCOMPARE(nextHit(*trace, {}, {}, 1), -1);
  }

  void ofManyEventsBesideTheWindow() {
    SpaceTimeView view;
    const auto trace = makeIndex(stencil(64, 200));
    QVERIFY(trace->eventCount() > kFewEvents);
    view.setTrace(trace);
    SearchBar& bar = *view.searchBar();
    const auto expected = searchEvents(*trace, u"kind:collective"_s).hits;
    bar.edit()->setText(u"kind:send"_s);
    bar.search();
    bar.edit()->setText(u"kind:collective"_s);  // the one before is not wanted any more
    QTest::keyClick(bar.edit(), Qt::Key_Return);
    QCOMPARE(bar.countText(), u"searching …"_s);
    QVERIFY(bar.hits().empty() && !view.selectedEvent().valid());
    QTRY_VERIFY(bar.isDone());
    QCOMPARE(bar.hits(), expected);
    QCOMPARE(view.selectedEvent(), expected.front());  // Enter was for when they are found
    bar.edit()->setText(u"colour:red"_s);
    bar.search();
    QTRY_VERIFY(bar.countText().contains(u"there is no"_s));
    bar.edit()->setText(u"kind:send"_s);
    bar.search();
    QVERIFY(!bar.isDone());
    QTest::keyClick(bar.edit(), Qt::Key_Escape);
    QVERIFY(bar.isDone() && bar.hits().empty() && bar.countText().isEmpty());
    std::stop_source stopped;
    stopped.request_stop();
    QVERIFY(searchEvents(*trace, u"kind:collective"_s, stopped.get_token()).hits.empty());
  }

  void byKeyboardInTheDiagram() {
    SpaceTimeView view;
    view.resize(1100, 420);
    const auto trace = makeIndex(masterWorker());
    view.setTrace(trace);
    view.show();
    view.activateWindow();
    view.setFocus();
    QSignalSpy selected(&view, &SpaceTimeView::eventSelected);
    view.searchBar()->findAction()->trigger();
    QTest::keyClicks(view.searchBar()->edit(), u"recv rank:0"_s);  // r is a key of the diagram, too
    QCOMPARE(view.searchBar()->edit()->text(), u"recv rank:0"_s);
    QTest::keyClick(view.searchBar()->edit(), Qt::Key_Return);
    QCOMPARE(view.searchBar()->hits().size(), std::size_t{8});
    QCOMPARE(view.selectedEvent(), view.searchBar()->hits().front());
    QCOMPARE(view.searchBar()->countText(), u"1 of 8"_s);
    view.searchBar()->nextAction()->trigger();
    QCOMPARE(view.selectedEvent(), view.searchBar()->hits()[1]);
    QTest::keyClick(view.searchBar()->edit(), Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(view.selectedEvent(), view.searchBar()->hits()[0]);
    if (const QString shot = qEnvironmentVariable("PF_SHOT"); !shot.isEmpty()) {
      view.grab().save(shot);
    }
    QTest::keyClick(view.searchBar()->edit(), Qt::Key_Escape);
    QVERIFY(view.searchBar()->hits().empty());
    QCOMPARE(view.searchBar()->countText(), QString());
    view.setTrace(nullptr);
    QVERIFY(!view.searchBar()->nextAction()->isEnabled());
  }
};

QTEST_MAIN(SearchTest)
#include "search_test.moc"
