// SPDX-License-Identifier: GPL-3.0-or-later
// A trace whose chunks are read when they are asked for says what the same trace in memory says.
#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <tuple>
#include <vector>

#include <QTest>

#include "replay_engine/causality/clock_checkpoints.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/random_execution.h"
#include "replay_engine/races/tests/random_threads.h"
#include "views/tests/kept_chunks.h"
#include "views/trace/analyses/event_search.h"
#include "views/trace/analyses/job_state.h"
#include "views/trace/analyses/race_classes.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/trace/trace_index.h"

using namespace pf;
using namespace pf::views;
using Qt::Literals::StringLiterals::operator""_s;

namespace {

std::shared_ptr<TraceData> wholeOf(std::uint64_t seed) {
  auto data = std::make_shared<TraceData>();
  data->execution =
      oracle::randomExecution(seed, {seed % 5 == 0 ? 400 : 60, seed % 3 == 0}).execution;
  if (seed % 4 == 0) {
    oracle::giveThreads(data->execution, seed);
  }
  matchMessages(data->execution);
  data->races = findRaces(data->execution);
  data->logicalTimes = logicalTimes(data->execution);
  if (seed % 2 == 0) {
    data->clocks = clockCheckpoints(data->execution, 7);
  }
  return data;
}

std::vector<std::uint32_t> listOf(const LinkedItems& items) {
  return {items.begin(), items.end()};
}

using Line = std::tuple<std::uint32_t, Rank, Rank, std::uint32_t, std::uint32_t>;

std::set<Line> messagesIn(const TraceIndex& trace, double from, double to) {
  std::set<Line> out;
  trace.messages().forEachIn(from, to, [&](const MessageLine& line) {
    out.insert({line.message, line.source, line.dest, line.departs, line.arrives});
  });
  return out;
}

class ChunksTest : public QObject {
  Q_OBJECT

  static void compareEvents(const TraceIndex& whole, const TraceIndex& chunks) {
    for (std::size_t r = 0; r < whole.rankCount(); ++r) {
      const auto rank = static_cast<Rank>(r);
      QCOMPARE(chunks.lastSerial(rank), whole.lastSerial(rank));
      for (Serial s = 0; s <= whole.lastSerial(rank) + 1; ++s) {
        const EventRef ref{rank, s};
        QCOMPARE(chunks.time(ref), whole.time(ref));
        QCOMPARE(chunks.event(ref).kind, whole.event(ref).kind);
        QCOMPARE(chunks.event(ref).peer, whole.event(ref).peer);
        QCOMPARE(listOf(chunks.links().sentAt(ref)), listOf(whole.links().sentAt(ref)));
        QCOMPARE(listOf(chunks.links().postedAt(ref)), listOf(whole.links().postedAt(ref)));
        QCOMPARE(listOf(chunks.links().completedAt(ref)), listOf(whole.links().completedAt(ref)));
        QCOMPARE(listOf(chunks.links().probesAt(ref)), listOf(whole.links().probesAt(ref)));
        QCOMPARE(listOf(chunks.links().synchronousDoneAt(ref)),
                 listOf(whole.links().synchronousDoneAt(ref)));
        QCOMPARE(listOf(chunks.links().collectivesDoneAt(ref)),
                 listOf(whole.links().collectivesDoneAt(ref)));
        QCOMPARE(chunks.collectives().at(ref), whole.collectives().at(ref));
        QCOMPARE(chunks.links().isWildcard(ref), whole.links().isWildcard(ref));
        QCOMPARE(partnersOf(chunks, ref), partnersOf(whole, ref));
        QCOMPARE(eventDetails(chunks, ref), eventDetails(whole, ref));
      }
    }
  }

  static void compareTimes(const TraceIndex& whole, const TraceIndex& chunks,
                           std::mt19937& random) {
    QCOMPARE(chunks.lastTime(), whole.lastTime());
    for (int look = 0; look < 10; ++look) {
      const double from = static_cast<double>(random() % (whole.lastTime() + 4)) - 1.5;
      const double to = from + static_cast<double>(random() % 20) / 2;
      for (std::size_t r = 0; r < whole.rankCount(); ++r) {
        const auto rank = static_cast<Rank>(r);
        const auto serials = whole.times().serialsIn(rank, from, to);
        QCOMPARE(chunks.times().serialsIn(rank, from, to), serials);
        QCOMPARE(chunks.times().of(rank).about(from, to, 100000), serials.second - serials.first);
        const auto time = static_cast<std::uint32_t>(random() % (whole.lastTime() + 2));
        QCOMPARE(chunks.times().nearest(rank, time), whole.times().nearest(rank, time));
      }
      QCOMPARE(messagesIn(chunks, from, to), messagesIn(whole, from, to));
    }
    QCOMPARE(chunks.collectives().groups().size(), whole.collectives().groups().size());
    for (std::size_t i = 0; i < whole.collectives().groups().size(); ++i) {
      const CollectiveGroup& group = chunks.collectives().groups()[i];
      QCOMPARE(group.parts, whole.collectives().groups()[i].parts);
      QCOMPARE(chunks.collectives().firstTimeOf(group), whole.collectives().groups()[i].firstTime);
      QVERIFY(group.firstTime <= whole.collectives().groups()[i].firstTime);
      QVERIFY(group.lastTime >= whole.collectives().groups()[i].lastTime);
    }
  }

  static void compareCauses(const TraceIndex& whole, const TraceIndex& chunks,
                            std::mt19937& random) {
    QCOMPARE(chunks.racing(), whole.racing());
    QCOMPARE(chunks.racing().times(), whole.racing().times());
    for (std::size_t race = 0; race < whole.data().races.size(); ++race) {
      QCOMPARE(chunks.races().eventOf(race), whole.races().eventOf(race));
      QCOMPARE(chunks.races().completionOf(race), whole.races().completionOf(race));
      QCOMPARE(chunks.racing().observedTime(race), whole.racing().observedTime(race));
    }
    for (int look = 0; look < 12; ++look) {
      const auto rank = static_cast<Rank>(random() % whole.rankCount());
      if (whole.lastSerial(rank) == 0) {
        continue;
      }
      const EventRef event{rank, 1 + random() % whole.lastSerial(rank)};
      QCOMPARE(pastOf(chunks, event), pastOf(whole, event));
      QCOMPARE(futureOf(chunks, event), futureOf(whole, event));
      const JobCut cut = cutJustBefore(whole, event);
      QCOMPARE(queuesCsv(chunks, jobStateAt(chunks, cut)),
               queuesCsv(whole, jobStateAt(whole, cut)));
      QCOMPARE(waitsDot(jobStateAt(chunks, cut)), waitsDot(jobStateAt(whole, cut)));
    }
    for (const QString& query : {u"kind:receive"_s, u"to:1"_s, u"from:0"_s, u"tag:1"_s,
                                 u"kind:wildcard"_s, u"from:0 kind:completion"_s}) {
      QCOMPARE(searchEvents(chunks, query).hits, searchEvents(whole, query).hits);
    }
    compareSearch(whole);
  }

  /// With a look at every event.
  static void compareSearch(const TraceIndex& trace) {
    const auto message = [&](std::uint32_t m) { return trace.execution().messages[m]; };
    const auto takes = [&](EventRef ref, const auto& holds) {
      const auto done = trace.links().completedAt(ref);
      return std::any_of(done.begin(), done.end(), [&](std::uint32_t r) {
        const auto& receives = trace.execution().ranks[static_cast<std::size_t>(ref.rank)].receives;
        const std::uint32_t m = receives[r].message;
        return m < trace.messages().count() && holds(message(m));
      });
    };
    const auto compare = [&](const QString& query, const auto& holds) {
      std::vector<std::tuple<std::uint32_t, Rank, Serial>> found;
      for (std::size_t r = 0; r < trace.rankCount(); ++r) {
        EventRef ref{static_cast<Rank>(r), 0};
        while (ref.serial++ < trace.lastSerial(ref.rank)) {
          if (holds(ref)) {
            found.emplace_back(trace.time(ref), ref.rank, ref.serial);
          }
        }
      }
      std::sort(found.begin(), found.end());
      const auto hits = searchEvents(trace, query).hits;
      QVERIFY2(std::equal(hits.begin(), hits.end(), found.begin(), found.end(),
                          [](EventRef hit, const auto& one) {
                            return hit.rank == std::get<Rank>(one) &&
                                   hit.serial == std::get<Serial>(one);
                          }),
               qPrintable(query));
    };
    compare(u"kind:wildcard"_s, [&](EventRef ref) { return trace.links().isWildcard(ref); });
    compare(u"from:0"_s, [&](EventRef ref) {
      return takes(ref, [](const Message& m) { return m.send.rank == 0; });
    });
    compare(u"tag:1"_s, [&](EventRef ref) {
      return trace.event(ref).tag == 1 || takes(ref, [](const Message& m) { return m.tag == 1; });
    });
    compare(u"to:1"_s, [&](EventRef ref) {
      const auto sent = trace.links().sentAt(ref);
      return std::any_of(sent.begin(), sent.end(),
                         [&](std::uint32_t m) { return message(m).dest == 1; });
    });
  }

 private Q_SLOTS:
  void saysTheSameOfRandomExecutions() {
    std::mt19937 random(5);
    const std::uint64_t runs = oracle::runs(160);
    for (std::uint64_t seed = 1; seed <= runs && !QTest::currentTestFailed(); ++seed) {
      const TraceDataPtr data = wholeOf(seed);
      const TraceIndexPtr whole = makeIndex(data);
      const TraceIndexPtr chunks = makeIndex(test::inChunks(data, static_cast<unsigned>(seed % 4)));
      QVERIFY(chunks->pages() != nullptr && whole->pages() == nullptr);
      QCOMPARE(chunks->messages().count(), whole->messages().count());
      for (std::uint32_t m = 0; m < whole->messages().count(); ++m) {
        QCOMPARE(chunks->messages().arrival(chunks->execution().messages[m]),
                 whole->messages().arrival(whole->execution().messages[m]));
        QCOMPARE(chunks->races().isTaken(m), whole->races().isTaken(m));
      }
      compareEvents(*whole, *chunks);
      compareTimes(*whole, *chunks, random);
      compareCauses(*whole, *chunks, random);
    }
  }

  // More threads than pages fit.
  void keepsWithinItsBound() {
    const TraceDataPtr data = wholeOf(5);
    const ChunkCache pages(test::inChunks(data, 2)->chunks, data->execution.ranks.size(), 2000);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = 0; i < 20000; ++i) {
          const auto rank = random() % data->execution.ranks.size();
          const auto& events = data->execution.ranks[rank].events;
          if (events.empty()) {
            continue;
          }
          const std::size_t n = random() % events.size();
          const auto value = pages.value<TimedEvent>(static_cast<Rank>(rank), n);
          const auto links = pages.links(static_cast<Rank>(rank), pages.chunkOf<TimedEvent>(n));
          wrong += value.event.kind != events[n].kind || value.event.tag != events[n].tag ||
                           value.step != data->logicalTimes[rank][n] || links == nullptr
                       ? 1
                       : 0;
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    QCOMPARE(wrong.load(), 0);
    QVERIFY2(pages.bytes() <= 2000, qPrintable(QString::number(pages.bytes())));
  }

  // What cannot be read is empty, in its place.
  void bearsChunksThatCannotBeRead() {
    for (const std::uint64_t seed : {3U, 5U, 8U}) {
      const TraceDataPtr data = wholeOf(seed);
      const auto kept = std::make_shared<test::KeptChunks>(data, 2);
      kept->broken = true;
      const auto broken = test::inChunks(data, 2);
      broken->chunks = kept;
      const TraceIndexPtr trace = makeIndex(broken);
      for (std::size_t r = 0; r < trace->rankCount(); ++r) {
        for (Serial s = 1; s <= trace->lastSerial(static_cast<Rank>(r)); ++s) {
          const EventRef ref{static_cast<Rank>(r), s};
          QVERIFY(trace->time(ref) <= trace->lastTime());
          (void)trace->event(ref);
          (void)eventDetails(*trace, ref);
          (void)pastOf(*trace, ref);
          (void)futureOf(*trace, ref);
        }
      }
      (void)jobStateAt(*trace, cutAtEnd(*trace));
    }
  }
};

}  // namespace

QTEST_GUILESS_MAIN(ChunksTest)
#include "chunks_test.moc"
