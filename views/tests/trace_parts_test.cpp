// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a trace index, each with only those before it.
#include <algorithm>
#include <set>

#include <QTest>

#include "views/tests/sample_trace.h"
#include "views/trace/collective_index.h"
#include "views/trace/event_link_index.h"
#include "views/trace/message_lines.h"
#include "views/trace/racing_events.h"

using namespace pf;
using namespace pf::views;
using namespace pf::views::test;

class TracePartsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eventsAreNumberedRankByRank();
  void linksLeadBackToTheirEvents();
  void serialsStandInForMissingTimes();
  void linesMeetTheWholeAxis();
  void racesAreAtTheirEvents();
  void racingEventsGoByTime();
  void partsOfACollectiveFeedEachOther();
};

void TracePartsTest::eventsAreNumberedRankByRank() {
  const TraceEvents events(stencil(4, 5));
  std::size_t id = 0;
  for (Rank rank = 0; rank < 4; ++rank) {
    QCOMPARE(events.firstId(rank), id);
    for (Serial serial = 1; serial <= events.lastSerial(rank); ++serial) {
      QCOMPARE(events.id({rank, serial}), id++);
    }
    QCOMPARE(events.id({rank, events.lastSerial(rank) + 1}), events.count());
  }
  QCOMPARE(events.count(), id);
  QVERIFY(!events.contains({4, 1}) && !events.contains({-1, 1}) && !events.contains({0, 0}));
}

void TracePartsTest::linksLeadBackToTheirEvents() {
  const TraceEvents events(stencil(4, 5));
  const EventLinkIndex links(events);
  std::size_t sent = 0;
  for (Rank rank = 0; rank < 4; ++rank) {
    for (Serial serial = 1; serial <= events.lastSerial(rank); ++serial) {
      const EventRef here{rank, serial};
      for (const std::uint32_t m : links.sentAt(here)) {
        const EventRef from = events.execution().messages[m].send;
        QCOMPARE(from, here);
        QCOMPARE(events.senderOf(m), rank);
        ++sent;
      }
      QCOMPARE(links.gives(events.id(here)),
               !links.sentAt(here).empty() || !links.postedAt(here).empty());
    }
  }
  QCOMPARE(sent, events.execution().messages.size());
}

void TracePartsTest::serialsStandInForMissingTimes() {
  TraceData data = *masterWorker();
  data.logicalTimes.pop_back();
  const TraceEvents events(std::make_shared<const TraceData>(data));
  const TraceTimes times(events);
  QVERIFY(!times.areOfData());
  QCOMPARE(times.at({0, 3}), 3U);
  QCOMPARE(times.nearest(0, 3), (EventRef{0, 3}));
  QCOMPARE(times.of(0).size(), events.lastSerial(0));
  QCOMPARE(times.at({0, events.lastSerial(0) + 1}), 0U);
}

void TracePartsTest::linesMeetTheWholeAxis() {
  const TraceEvents events(stencil(6, 60));
  const TraceTimes times(events);
  const MessageLines messages(events, times);
  std::set<std::uint32_t> found;
  messages.forEachIn(0, times.last(), [&](const MessageLine& line) {
    QCOMPARE(line.departs, times.departure(events.execution().messages[line.message]));
    QVERIFY(line.arrives == 0 || line.arrives > line.departs);
    found.insert(line.message);
  });
  QCOMPARE(found.size(), std::size_t{messages.count()});
}

void TracePartsTest::racesAreAtTheirEvents() {
  const TraceEvents events(masterWorker());
  const RaceIndex races(events);
  QVERIFY(races.table().size() > 0);
  for (std::uint32_t race = 0; race < races.table().size(); ++race) {
    for (const EventRef end : {races.eventOf(race), races.completionOf(race)}) {
      const auto here = races.at(end);
      QVERIFY(std::ranges::find(here, race) != here.end());
    }
    QCOMPARE(races.isTaken(races.table().taken(race)), races.takenIn(race).has_value());
  }
}

void TracePartsTest::racingEventsGoByTime() {
  const TraceEvents events(masterWorker());
  const TraceTimes times(events);
  const RaceIndex races(events);
  const RacingEvents racing(events, times, races);
  QVERIFY(racing.size() > 1);
  QVERIFY(std::ranges::is_sorted(racing.times()));
  for (std::size_t i = 0; i < racing.size(); ++i) {
    QCOMPARE(racing.times()[i], times.at(racing[i]));
    QVERIFY(!races.at(racing[i]).empty());
  }
}

void TracePartsTest::partsOfACollectiveFeedEachOther() {
  const TraceEvents events(stencil(6, 60));
  const TraceTimes times(events);
  const CollectiveIndex collectives(events, times);
  QVERIFY(!collectives.groups().empty());
  for (std::uint32_t number = 0; number < collectives.groups().size(); ++number) {
    const CollectiveGroup& group = collectives.groups()[number];
    QCOMPARE(group.parts.size(), std::size_t{6});
    QCOMPARE(group.meets, group.joins);
    for (const EventRef part : group.parts) {
      QCOMPARE(collectives.at(part), number);
      QVERIFY(times.at(part) >= group.firstTime && times.at(part) <= group.lastTime);
    }
  }
}

QTEST_GUILESS_MAIN(TracePartsTest)
#include "trace_parts_test.moc"
