// SPDX-License-Identifier: GPL-3.0-or-later
// How the selection of the diagram moves, without a widget.
#include "views/diagram/canvas/event_cursor.h"

#include <QSignalSpy>
#include <QTest>

#include "views/diagram/canvas/space_time_viewport.h"
#include "views/tests/sample_trace.h"
#include "views/trace/analyses/trace_causality.h"

using namespace pf;         // NOLINT(google-build-using-namespace)
using namespace pf::views;  // NOLINT(google-build-using-namespace)
using pf::views::test::masterWorker;
using pf::views::test::stencil;

class EventCursorTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init();
  void selectionIsWithinTheTrace();
  void alongARank();
  void acrossRanks();
  void ends();
  void racesRoundTheEnd();
  void partners();
  void alternativesRoundTheEnd();
  void alternativesAreOfASelection();
  void renewedAlternatives();
  void zoomsToWhatBelongsTogether();
  void noTrace();

 private:
  [[nodiscard]] bool isInView(EventRef event) const {
    const SpaceTimeGeometry g = m_viewport->geometry();
    return g.plot.contains(g.point(*m_trace, event));
  }
  [[nodiscard]] std::size_t alternatives() const {
    return m_trace->data()
        .races[m_trace->races().at(m_cursor->selected()).front()]
        .alternatives.size();
  }

  TraceIndexPtr m_trace;
  std::unique_ptr<SpaceTimeViewport> m_viewport;
  std::unique_ptr<EventCursor> m_cursor;
};

void EventCursorTest::init() {
  m_trace = makeIndex(masterWorker());
  m_cursor.reset();
  m_viewport = std::make_unique<SpaceTimeViewport>([] { return QRectF(100, 20, 960, 400); });
  m_cursor = std::make_unique<EventCursor>(*m_viewport);
  (void)m_viewport->setTrace(m_trace);
}

void EventCursorTest::selectionIsWithinTheTrace() {
  QSignalSpy selected(m_cursor.get(), &EventCursor::selectionChanged);
  m_cursor->select({2, 4}, false);
  m_cursor->select({2, 4}, false);
  QCOMPARE(selected.size(), 1);
  m_cursor->select({2, 4000}, false);
  m_cursor->select({77, 1}, false);
  QCOMPARE(m_cursor->selected(), (EventRef{2, 4}));
  m_cursor->select({}, true);
  QVERIFY(!m_cursor->selected().valid());
  QCOMPARE(selected.size(), 2);
}

void EventCursorTest::alongARank() {
  m_cursor->moveAlongRank(1);  // enters
  QCOMPARE(m_cursor->selected(), (EventRef{0, 1}));
  m_cursor->moveAlongRank(-1);
  QCOMPARE(m_cursor->selected(), (EventRef{0, 1}));
  m_cursor->moveAlongRank(1);
  QCOMPARE(m_cursor->selected(), (EventRef{0, 2}));
  const EventRef last{0, m_trace->lastSerial(0)};
  m_viewport->setSpan(1, 4);
  m_cursor->select(last, false);
  QVERIFY(!isInView(last));
  m_cursor->moveAlongRank(1);  // goes nowhere, and shows that
  QCOMPARE(m_cursor->selected(), last);
  QVERIFY(isInView(last));
}

void EventCursorTest::acrossRanks() {
  const EventRef from{0, 6};
  m_cursor->select(from, true);
  m_cursor->moveAcrossRanks(1);
  QCOMPARE(m_cursor->selected(), m_trace->times().nearest(1, m_trace->time(from)));
  RankArrangement order;
  order.hide({2});
  m_viewport->arrange(order);
  m_cursor->moveAcrossRanks(1);
  QCOMPARE(m_cursor->selected().rank, 3);
  m_cursor->moveAcrossRanks(1);  // the last row
  QCOMPARE(m_cursor->selected().rank, 3);
}

void EventCursorTest::ends() {
  m_cursor->selectEnd(true);
  QCOMPARE(m_cursor->selected(), (EventRef{0, m_trace->lastSerial(0)}));
  m_cursor->select({2, 3}, true);
  m_cursor->selectEnd(true);
  QCOMPARE(m_cursor->selected(), (EventRef{2, m_trace->lastSerial(2)}));
  m_cursor->selectEnd(false);
  QCOMPARE(m_cursor->selected(), (EventRef{2, 1}));
}

void EventCursorTest::racesRoundTheEnd() {
  const RacingEvents& races = m_trace->racing();
  QVERIFY(races.size() > 1);
  for (const EventRef race : races) {
    m_cursor->selectRace(1);
    QCOMPARE(m_cursor->selected(), race);
  }
  m_cursor->selectRace(1);
  QCOMPARE(m_cursor->selected(), races.front());
  m_cursor->selectRace(-1);
  QCOMPARE(m_cursor->selected(), races.back());
  m_cursor->select({}, false);
  m_cursor->selectRace(-1);
  QCOMPARE(m_cursor->selected(), races.back());
}

void EventCursorTest::partners() {
  const EventRef send = m_trace->execution().messages[0].send;
  m_cursor->select(send, false);
  m_cursor->selectPartner();
  QCOMPARE(m_cursor->selected(), partnersOf(*m_trace, send).front());
  QVERIFY(isInView(m_cursor->selected()));
}

void EventCursorTest::alternativesRoundTheEnd() {
  m_cursor->stepAlternative(1);  // nothing is selected
  QCOMPARE(m_cursor->alternative(), 0);
  m_cursor->selectRace(1);
  const int count = static_cast<int>(alternatives());
  QVERIFY(count > 1);
  QSignalSpy chosen(m_cursor.get(), &EventCursor::alternativeChanged);
  for (int number = 1; number <= count; ++number) {
    m_cursor->stepAlternative(1);
    QCOMPARE(m_cursor->alternative(), number);
  }
  m_cursor->stepAlternative(1);
  QCOMPARE(m_cursor->alternative(), 1);
  m_cursor->chooseAlternative(0);
  m_cursor->stepAlternative(-1);
  QCOMPARE(m_cursor->alternative(), count);
  QCOMPARE(chosen.size(), count + 3);
}

void EventCursorTest::alternativesAreOfASelection() {
  m_cursor->selectRace(1);
  m_cursor->chooseAlternative(1);
  m_cursor->select(m_cursor->selected(), true);
  QCOMPARE(m_cursor->alternative(), 1);
  m_cursor->moveAlongRank(1);
  QCOMPARE(m_cursor->alternative(), 0);
  m_cursor->forget();
  QVERIFY(!m_cursor->selected().valid());
}

/// The same message has another number once there are more of them.
void EventCursorTest::renewedAlternatives() {
  m_cursor->selectRace(1);
  const std::uint32_t race = m_trace->races().at(m_cursor->selected()).front();
  m_cursor->chooseAlternative(1);
  m_cursor->renewTrace(*m_trace);
  QCOMPARE(m_cursor->alternative(), 1);
  auto data = std::make_shared<TraceData>(m_trace->data());
  std::vector<Race> races = data->races.list();
  std::swap(races[race].alternatives[0], races[race].alternatives[1]);
  data->races = races;
  const TraceIndex swapped(data);
  m_cursor->renewTrace(swapped);
  QCOMPARE(m_cursor->alternative(), 2);
  races[race].alternatives.resize(1);
  data = std::make_shared<TraceData>(m_trace->data());
  data->races = races;
  m_cursor->chooseAlternative(1);
  m_cursor->renewTrace(TraceIndex(data));  // the one that is left is another
  QCOMPARE(m_cursor->alternative(), 0);
}

void EventCursorTest::zoomsToWhatBelongsTogether() {
  m_cursor->zoomToSelection();  // of nothing
  QVERIFY(!m_viewport->history().canUndo());
  m_cursor->selectRace(1);
  const EventRef receive = m_cursor->selected();
  m_viewport->zoomTo(1, 2);
  m_cursor->zoomToSelection();
  QVERIFY(isInView(receive));
  for (const EventRef partner : partnersOf(*m_trace, receive)) {
    QVERIFY(isInView(partner));
  }
  for (const std::uint32_t message :
       m_trace->data().races[m_trace->races().at(receive).front()].alternatives) {
    QVERIFY(isInView(m_trace->execution().messages[message].send));
  }
}

void EventCursorTest::noTrace() {
  (void)m_viewport->setTrace(nullptr);
  m_cursor->select({0, 1}, true);
  m_cursor->moveAlongRank(1);
  m_cursor->moveAcrossRanks(1);
  m_cursor->selectEnd(true);
  m_cursor->selectRace(1);
  m_cursor->selectPartner();
  m_cursor->stepAlternative(1);
  m_cursor->zoomToSelection();
  QVERIFY(!m_cursor->selected().valid() && m_cursor->alternative() == 0);
}

QTEST_GUILESS_MAIN(EventCursorTest)
#include "event_cursor_test.moc"
