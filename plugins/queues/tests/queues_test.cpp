// SPDX-License-Identifier: MIT
// Message queues and waits at cuts of a run: against a count from the definition, and in the
// window.
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "plugins/queues/queues_widget.h"
#include "views/panes/theme.h"
#include "views/tests/sample_trace.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::plugins;
using namespace pf::views;
using namespace pf::views::test;

namespace {

/// Two ranks of which each waits for the other's message first, and a third that waits for them.
TraceIndexPtr deadlock() {
  TraceBuilder b(3);
  for (Rank r = 0; r < 3; ++r) {
    b.local(r, "MPI_Init");
  }
  b.send(2, 0, 5, 32);
  TraceData data = *b.build(QStringLiteral("deadlock"));
  const auto hang = [&](Rank rank, Rank source) {
    RankHistory& history = data.execution.ranks[static_cast<std::size_t>(rank)];
    data.execution.callNames.push_back("MPI_Recv");
    Event event;
    event.kind = EventKind::Receive;
    event.call = static_cast<std::uint16_t>(data.execution.callNames.size() - 1);
    event.comm = 0;
    event.peer = source;
    event.tag = 1;
    history.events.push_back(event);
    history.receives.push_back({history.events.size(), 0, 0, source, 1, ReceiveState::Pending,
                                kUnknownRank, kAnyTag, kNone});
    auto& times = data.logicalTimes[static_cast<std::size_t>(rank)];
    times.push_back(times.back() + 1);
  };
  hang(0, 1);
  hang(1, 0);
  hang(2, kAnySource);
  return makeIndex(std::make_shared<const TraceData>(std::move(data)));
}

/// By the definition, message by message and receive by receive, at events that are over.
std::pair<std::size_t, std::size_t> counted(const TraceIndex& trace, const JobCut& cut) {
  std::size_t posted = 0;
  std::size_t unexpected = 0;
  for (std::size_t r = 0; r < trace.rankCount(); ++r) {
    for (const PostedReceive& receive : trace.execution().ranks[r].receives) {
      posted += receive.post <= cut.done[r] &&
                        (receive.completion == 0 || receive.completion > cut.done[r])
                    ? 1U
                    : 0U;
    }
  }
  for (const Message& m : trace.execution().messages) {
    const auto to = static_cast<std::size_t>(m.dest);
    const bool sent = m.send.serial <= cut.done[static_cast<std::size_t>(m.send.rank)];
    const bool received =
        m.post != kNone && trace.execution().ranks[to].receives[m.post].post <= cut.done[to];
    unexpected += sent && !received ? 1U : 0U;
  }
  return {posted, unexpected};
}

}  // namespace

class QueuesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void queuesAreTheDefinitions() {
    for (const TraceIndexPtr& trace : {makeIndex(masterWorker()), makeIndex(stencil(6, 12))}) {
      for (std::size_t r = 0; r < trace->rankCount(); ++r) {
        for (Serial s = 1; s <= trace->lastSerial(static_cast<Rank>(r)); ++s) {
          const JobCut cut = cutJustBefore(*trace, {static_cast<Rank>(r), s});
          const JobState state = jobStateAt(*trace, cut);
          std::size_t posted = 0;
          for (const QueueItem& item : state.items) {
            posted += item.kind == QueueItem::Kind::Posted ? 1U : 0U;
          }
          const auto [wantPosted, wantUnexpected] = counted(*trace, cut);
          QCOMPARE(posted, wantPosted);
          QCOMPARE(state.items.size() - posted, wantUnexpected);
          QVERIFY(state.cycle.empty());  // a run that went on has none anywhere
          QVERIFY(state.stuck.empty());
        }
      }
    }
  }

  void waitsAtACut() {
    const auto trace = makeIndex(masterWorker());
    // All have done Init and Bcast; the workers are about to receive what rank 0 has not sent.
    const JobCut cut =
        cutOf(*trace, {{0, 3, true}, {1, 3, true}, {2, 3, true}, {3, 3, false, true}});
    const JobState state = jobStateAt(*trace, cut);
    QCOMPARE(state.waits.size(), std::size_t{3});
    QCOMPARE(state.waits[2].on, std::vector<Rank>{0});
    QCOMPARE(state.waits[2].why, u"MPI_Recv from rank 0, tag 1"_s);
    QVERIFY(!state.waits[2].anyOne);
    QCOMPARE(state.items.size(), std::size_t{1});  // rank 3 is inside: its receive is posted
    QCOMPARE(state.items[0].rank, 3);
  }

  void aDeadlockIsNamed() {
    const auto trace = deadlock();
    const JobState state = jobStateAt(*trace, cutAtEnd(*trace));
    QCOMPARE(state.waits.size(), std::size_t{3});
    QCOMPARE(state.stuck, (std::vector<Rank>{0, 1, 2}));
    QCOMPARE(state.cycle, (std::vector<Rank>{0, 1}));
    QVERIFY(state.waits[2].anyOne);
    QVERIFY(waitsDot(state).contains(u"0 -> 1"_s));
    const QString csv = queuesCsv(*trace, state);
    QVERIFY2(csv.contains(u"0,unexpected,2,5,\"MPI_COMM_WORLD\",32,2,2,0"_s), qPrintable(csv));
    QVERIFY2(csv.contains(u"0,posted,1,1,"_s), qPrintable(csv));
  }

  /// A replay stands in it: each rank is inside of its receive, which is not done.
  void aReplayedDeadlockNamesWhoWaits() {
    const auto trace = deadlock();
    QueuesWidget widget;
    widget.resize(1000, 260);
    widget.setTrace(trace);
    widget.show();
    widget.setPositions({{0, 2, false, true}, {1, 2, false, true}, {2, 3, false, true}});
    QCOMPARE(widget.moment()->currentIndex(), static_cast<int>(QueuesWidget::Present));
    QVERIFY2(widget.summary().contains(u"3 of 3 ranks wait; 3 cannot go on"_s),
             qPrintable(widget.summary()));
    const QStringList lines = widget.waitsText().split(u'\n');
    QCOMPARE(lines.value(0), u"rank 0 waits for rank 1: MPI_Recv from rank 1, tag 1 (event 2)"_s);
    QCOMPARE(lines.value(2),
             u"rank 2 waits for one of ranks 0-1: MPI_Recv from any source, tag 1 (event 3)"_s);
    // A rank that is not in the replay has done what the record has of it: nobody waits for it.
    widget.setPositions({{2, 3, false, true}});
    QVERIFY(!widget.summary().contains(u"3 of 3"_s));
  }

  /// Ranks inside of a wait, and of a send, that never end. What else they may wait for is not claimed.
  void waitsThatNeverEnded_data() {
    QTest::addColumn<bool>("sends");
    QTest::newRow("a receive only") << false;
    QTest::newRow("a send that does not block, too") << true;
  }
  void waitsThatNeverEnded() {
    QFETCH(bool, sends);
    TraceBuilder b(2);
    b.local(0, "MPI_Init");
    b.local(1, "MPI_Init");
    TraceData data = *b.build(QStringLiteral("waits"));
    const auto add = [&](Rank rank, const char* call, EventKind kind, Rank peer) {
      Event event;
      event.kind = kind;
      data.execution.callNames.emplace_back(call);
      event.call = static_cast<std::uint16_t>(data.execution.callNames.size() - 1);
      event.comm = 0;
      event.peer = peer;
      event.tag = 1;
      data.execution.ranks[static_cast<std::size_t>(rank)].events.push_back(event);
      auto& times = data.logicalTimes[static_cast<std::size_t>(rank)];
      times.push_back(times.back() + 1);
    };
    if (sends) {
      add(0, "MPI_Isend", EventKind::Send, 1);
    }
    add(0, "MPI_Irecv", EventKind::Post, 1);
    data.execution.ranks[0].receives.push_back({data.execution.ranks[0].events.size(), 0, 0, 1, 1,
                                                ReceiveState::Pending, kUnknownRank, kAnyTag,
                                                kNone});
    add(0, "MPI_Wait", EventKind::Completion, kUnknownRank);
    add(1, "MPI_Ssend", EventKind::Send, 0);
    data.ends.assign(2, {RankEndKind::Killed, QStringLiteral("stuck inside"), true});
    const auto trace = makeIndex(std::make_shared<const TraceData>(std::move(data)));
    for (const JobCut& cut :
         {cutAtEnd(*trace),
          cutOf(*trace, {{0, trace->lastSerial(0), true, true}, {1, 2, false, true}})}) {
      const JobState state = jobStateAt(*trace, cut);
      QCOMPARE(state.waits.size(), std::size_t{2});
      QCOMPARE(state.waits[0].on, std::vector<Rank>{1});
      QCOMPARE(state.waits[0].sure, !sends);
      QCOMPARE(state.waits[0].why, u"MPI_Wait from rank 1, tag 1"_s);
      QCOMPARE(state.waits[1].on, std::vector<Rank>{0});
      QCOMPARE(state.waits[1].why, u"MPI_Ssend to rank 0, tag 1"_s);
      QCOMPARE(state.stuck.size(), sends ? std::size_t{0} : std::size_t{2});
    }
  }

  /// Rank 2 did something else when it called MPI_Abort: it was not the wait for it that ended the run.
  void whoWaitsForOneThatAbortedMightHaveGoneOn() {
    const auto waiting = deadlock();
    TraceData data = waiting->data();
    for (RankHistory& rank : data.execution.ranks) {
      for (PostedReceive& receive : rank.receives) {
        receive.wantedSource = receive.wantedSource == kAnySource ? kAnySource : 2;
      }
    }
    data.execution.ranks[2].events.pop_back();
    data.execution.ranks[2].receives.clear();
    data.logicalTimes[2].pop_back();
    data.ends.assign(3, {RankEndKind::Killed, QStringLiteral("ended")});
    data.ends[2] = {RankEndKind::Aborted, QStringLiteral("MPI_Abort")};
    const auto aborted = makeIndex(std::make_shared<const TraceData>(data));
    const JobState state = jobStateAt(*aborted, cutAtEnd(*aborted));
    QCOMPARE(state.waits.size(), std::size_t{2});
    QVERIFY(state.stuck.empty() && state.cycle.empty());
    data.ends[2] = {RankEndKind::Finished, QStringLiteral("finished")};
    const auto finished = makeIndex(std::make_shared<const TraceData>(std::move(data)));
    QCOMPARE(jobStateAt(*finished, cutAtEnd(*finished)).stuck, (std::vector<Rank>{0, 1}));
  }

  void ofAJobThatWasNotRecordedNothingIsClaimed() {
    TraceBuilder b(2);
    TraceData data = *b.build(QStringLiteral("attached"));
    for (RankHistory& rank : data.execution.ranks) {
      rank = {};
    }
    QueuesWidget widget;
    widget.resize(1000, 260);
    widget.setTrace(makeIndex(std::make_shared<const TraceData>(std::move(data))));
    widget.show();
    QVERIFY2(widget.summary().startsWith(u"Not known of a job that was not recorded"_s),
             qPrintable(widget.summary()));
  }

  /// Rank 2 waits for one of the two that wait for one another.
  void itsCircleIsRed() {
    TraceBuilder b(3);
    TraceData data = *b.build(QStringLiteral("attached"));
    for (RankHistory& rank : data.execution.ranks) {
      rank = {};
    }
    for (const auto& [rank, source] : {std::pair(0, 1), std::pair(1, 0), std::pair(2, 0)}) {
      CallNow call;
      call.rank = rank;
      call.kind = CallNow::Kind::Receive;
      call.call = u"MPI_Recv"_s;
      call.peer = source;
      call.ofWorld = true;
      data.calls.push_back(call);
    }
    QueuesWidget widget;
    widget.resize(1000, 260);
    widget.setTrace(makeIndex(std::make_shared<const TraceData>(std::move(data))));
    widget.show();
    QCOMPARE(widget.state().cycle, (std::vector<Rank>{0, 1}));
    QVERIFY2(widget.state().stuck.empty(), "a message may be on its way");
    const QImage picture = widget.canvas()->grab().toImage();
    const QColor red = Theme::of(widget.canvas()->palette()).fail;
    const auto hasRedRing = [&](Rank rank) {
      QPoint at = widget.canvas()->centre(rank).toPoint();
      for (const int right = at.x() + 40; at.x() < std::min(right, picture.width()); ++at.rx()) {
        const QColor here = picture.pixelColor(at);
        if (std::abs(here.red() - red.red()) + std::abs(here.green() - red.green()) +
                std::abs(here.blue() - red.blue()) <
            60) {
          return true;
        }
      }
      return false;
    };
    QVERIFY(hasRedRing(0) && hasRedRing(1));
    QVERIFY(!hasRedRing(2));
  }

  void theWindowFollowsTheReplay() {
    QueuesWidget widget;
    widget.resize(1000, 260);
    const auto trace = deadlock();
    widget.setTrace(trace);
    widget.show();
    QVERIFY2(widget.summary().contains(u"3 of 3 ranks wait; 3 cannot go on"_s),
             qPrintable(widget.summary()));
    QSignalSpy selected(&widget, &ViewWidget::eventSelected);
    QTest::mouseClick(widget.canvas(), Qt::LeftButton, {}, widget.canvas()->centre(1).toPoint());
    QCOMPARE(selected.size(), 1);
    QCOMPARE(selected.at(0).first().value<EventRef>(), (EventRef{1, 2}));
    if (const QString shot = qEnvironmentVariable("PF_SHOT"); !shot.isEmpty()) {
      widget.grab().save(shot);
    }
    widget.setPositions({{0, 1, true}, {1, 1, true}, {2, 1, true}});
    QCOMPARE(widget.moment()->currentIndex(), static_cast<int>(QueuesWidget::Present));
    QCOMPARE(widget.table()->model()->rowCount(), 0);
    widget.setPositions({});
    QCOMPARE(widget.moment()->currentIndex(), static_cast<int>(QueuesWidget::End));
    QCOMPARE(widget.table()->model()->rowCount(), 4);
    widget.filter()->setText(u"unexpected"_s);
    QCOMPARE(widget.table()->model()->rowCount(), 1);
    Q_EMIT widget.table()->activated(widget.table()->model()->index(0, 0));
    QCOMPARE(selected.at(1).first().value<EventRef>(), (EventRef{2, 2}));
    widget.moment()->setCurrentIndex(QueuesWidget::Selected);
    widget.setSelectedEvent({0, 2});
    QCOMPARE(widget.state().items.size(), std::size_t{0});
    widget.setTrace(nullptr);
    QCOMPARE(widget.table()->model()->rowCount(), 0);
  }
};

QTEST_MAIN(QueuesTest)
#include "queues_test.moc"
