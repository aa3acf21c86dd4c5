// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of a trace before its events are read agrees with them.
#include <csignal>

#include <QTemporaryDir>
#include <QTest>

#include "app/trace_loading/trace_clocks.h"
#include "app/trace_loading/trace_loader.h"
#include "db/sqlite/database.h"
#include "replay_engine/causality/density_pyramid.h"
#include "tests/bench/views/synthetic.h"
#include "views/models/race_list_model.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/trace/trace_index.h"

using namespace pf;

namespace {

/// Of ranks [first, last).
std::vector<DensityCell> cellsOf(const views::DensityWindow& window, Rank first, Rank last) {
  std::vector<DensityCell> cells;
  std::vector<DensityCell> gathered;
  for (Rank rank = first; rank < last; ++rank) {
    const std::span<const DensityCell> row = window.row(rank, gathered);
    cells.insert(cells.end(), row.begin(), row.end());
  }
  return cells;
}

class OutlineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void outlineAgreesWithTheEvents_data() {
    QTest::addColumn<int>("ranks");
    QTest::newRow("one row of tiles") << 8;
    QTest::newRow("two rows of tiles") << 70;
  }
  void outlineAgreesWithTheEvents() {
    QFETCH(const int, ranks);
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("a.pft"));
    bench::Traffic traffic;
    traffic.ranks = ranks;
    traffic.events = 2500UL * static_cast<std::size_t>(ranks);
    QVERIFY(bench::writeSyntheticTrace(path.toStdString(), traffic).ok());
    const views::TraceDataPtr outline = session::loadOutline(path);
    QVERIFY(outline && outline->outline);
    QVERIFY(outline->execution.ranks.front().events.empty());
    const auto loaded = session::loadTrace(path, outline);
    QVERIFY(loaded.ok());
    const views::TraceData& data = *loaded->data;
    QVERIFY(!data.outline);
    QCOMPARE(data.title, outline->title);
    QCOMPARE(data.pyramid, outline->pyramid);
    QVERIFY(data.clocks.every != 0);
    const session::FileClocks rows(db::SummaryView::open(path.toStdString()).value(),
                                   data.clocks.ranks);
    QCOMPARE(rows.every(), data.clocks.every);
    std::vector<std::uint32_t> row;
    for (Rank rank = 0; rank < static_cast<Rank>(data.clocks.ranks); ++rank) {
      for (std::size_t n = 0; n < data.clocks.count(rank); ++n) {
        QVERIFY(std::ranges::equal(rows.past(rank, n, row), data.clocks.pastOf(rank, n)));
        QVERIFY(std::ranges::equal(rows.future(rank, n, row), data.clocks.futureOf(rank, n)));
      }
    }
    std::size_t events = 0;
    std::uint32_t last = 0;
    for (std::size_t rank = 0; rank < data.execution.ranks.size(); ++rank) {
      events += data.execution.ranks[rank].events.size();
      last = std::max(last, data.logicalTimes[rank].back());
    }
    QCOMPARE(outline->execution.ranks.size(), data.execution.ranks.size());
    QCOMPARE(outline->outline->events, events);
    QCOMPARE(outline->outline->lastTime, last);
    std::uint64_t profile = 0;
    for (const std::uint64_t each : outline->profile) {
      profile += each;
    }
    QCOMPARE(profile, events);
    const DensityPyramid pyramid =
        densityPyramid(data.execution, data.races.list(), data.logicalTimes);
    QCOMPARE(data.pyramid->count(), pyramid.levels.size());
    for (int turn = 0; turn < 2; ++turn) {  // the second time some levels are still there
      for (std::size_t n = 0; n < pyramid.levels.size(); ++n) {
        QCOMPARE(data.pyramid->width(n), pyramid.levels[n].width);
        const DensityLevel& level = pyramid.levels[n];
        const auto all = data.pyramid->window(n, 0, ranks, 0, 1e12);
        QVERIFY(cellsOf(*all, 0, ranks) == level.cells);
        QCOMPARE(all->bins, level.bins);
        const double from = level.width * static_cast<double>(level.bins / 3);
        const double to =
            from + level.width * (turn == 0 ? 2.5 : static_cast<double>(level.bins) / 2);
        for (const Rank first : {1, ranks - 3}) {
          const auto some = data.pyramid->window(n, first, ranks, from, to);
          const auto kept = views::KeptCutLevels(pyramid).window(n, first, ranks, from, to);
          QVERIFY(cellsOf(*some, first, ranks) == cellsOf(*kept, first, ranks));
          QCOMPARE(some->firstBin, level.bins / 3);
        }
      }
    }
    QVERIFY(data.pyramid->lines() == pyramid.lines);
  }

  // Chunks of a file say what all of it says.
  void chunksAgreeWithTheEvents() {
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("a.pft"));
    bench::Traffic traffic;
    traffic.ranks = 5;
    traffic.events = 60000;
    QVERIFY(bench::writeSyntheticTrace(path.toStdString(), traffic).ok());
    const auto few = session::loadTrace(path, nullptr, 1000000);
    QVERIFY(few.ok() && few->data->chunks == nullptr);
    const auto loaded = session::loadTrace(path, nullptr, 1000);
    QVERIFY(loaded.ok() && loaded->data->chunks != nullptr && loaded->data->whole);
    const views::TraceIndexPtr whole = views::makeIndex(few->data);
    const views::TraceIndexPtr chunks = views::makeIndex(loaded->data);
    QCOMPARE(chunks->eventCount(), whole->eventCount());
    QCOMPARE(chunks->lastTime(), whole->lastTime());
    QCOMPARE(chunks->messages().count(), whole->messages().count());
    QCOMPARE(chunks->racing(), whole->racing());
    QCOMPARE(chunks->racing().times(), whole->racing().times());
    QCOMPARE(chunks->collectives().groups().size(), whole->collectives().groups().size());
    for (std::size_t race = 0; race < whole->data().races.size(); ++race) {
      QCOMPARE(chunks->races().completionOf(race), whole->races().completionOf(race));
      QCOMPARE(chunks->racing().observedTime(race), whole->racing().observedTime(race));
    }
    views::RaceListModel ofWhole;
    views::RaceListModel ofChunks;
    ofWhole.setTrace(whole);
    ofChunks.setTrace(chunks);
    QVERIFY(chunks->data().races.hasClasses() && ofChunks.rowCount() > 500);
    for (int race = 0; race < ofWhole.rowCount(); ++race) {
      for (int column = 0; column < views::RaceListModel::ColumnCount; ++column) {
        const auto number = static_cast<std::size_t>(race);
        QCOMPARE(ofChunks.text(number, column), ofWhole.text(number, column));
      }
    }
    for (Rank rank = 0; rank < traffic.ranks; ++rank) {
      QVERIFY(chunks->pages()->chunks(rank, ChunkStream::Event).size() > 2);
      for (Serial s = 1; s <= whole->lastSerial(rank); s += 1 + s % 7) {
        const EventRef ref{rank, s};
        QCOMPARE(views::eventDetails(*chunks, ref), views::eventDetails(*whole, ref));
        QCOMPARE(partnersOf(*chunks, ref), partnersOf(*whole, ref));
        QCOMPARE(chunks->time(ref), whole->time(ref));
        if (s % 11 == 0) {
          QCOMPARE(pastOf(*chunks, ref), pastOf(*whole, ref));
          QCOMPARE(futureOf(*chunks, ref), futureOf(*whole, ref));
        }
      }
    }
    QCOMPARE(loaded->data->whole()->execution.messages.size(), whole->messages().count());
    QCOMPARE(loaded->data->whole(), loaded->data->whole());
  }

  // The last events of a rank that crashed are read for it.
  void theFailureIsTheSame() {
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("a.pft"));
    bench::Traffic traffic;
    traffic.ranks = 4;
    traffic.events = 40000;
    traffic.crashed = 2;
    QVERIFY(bench::writeSyntheticTrace(path.toStdString(), traffic).ok());
    const auto whole = session::loadTrace(path);
    const auto chunks = session::loadTrace(path, nullptr, 1000);
    QVERIFY(whole.ok() && chunks.ok());
    QVERIFY(whole->data->failure.event.valid());
    QCOMPARE(whole->data->failure.event.rank, 2);
    QCOMPARE(chunks->data->failure.event, whole->data->failure.event);
    QCOMPARE(chunks->data->failure.reason, whole->data->failure.reason);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      QCOMPARE(chunks->data->ends[rank].text, whole->data->ends[rank].text);
    }
  }

  // A chunk that does not verify is told once, and all else is there.
  void damageIsTold() {
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("a.pft"));
    bench::Traffic traffic;
    traffic.ranks = 4;
    traffic.events = 40000;
    QVERIFY(bench::writeSyntheticTrace(path.toStdString(), traffic).ok());
    {
      auto file = db::Database::open(path.toStdString(), db::Database::Access::Update);
      QVERIFY(file.ok());
      QVERIFY(file->execute("UPDATE column_chunk SET data=zeroblob(length(data)) "
                            "WHERE rank=1 AND stream=0 AND ordinal=1")
                  .ok());
    }
    const auto loaded = session::loadTrace(path, nullptr, 1000);
    QVERIFY(loaded.ok());
    QStringList problems;
    loaded->data->chunks->whenItFails([&](const QString& problem) { problems << problem; });
    const views::TraceIndexPtr trace = views::makeIndex(loaded->data);
    for (Serial s = 1; s <= trace->lastSerial(1); ++s) {
      QVERIFY(trace->time({1, s}) <= trace->lastTime());
      QCOMPARE(views::callName(*trace, {1, s}).isEmpty(), false);
    }
    QCOMPARE(problems.size(), 1);
    QVERIFY2(problems[0].contains(QStringLiteral("rank 1")), qPrintable(problems[0]));
  }

  void aRankThatWasEndedSaysWhatItWasIn() {
    db::RankInfo rank;
    rank.state = "ended inside MPI_Recv (event 3)";
    rank.exitSignal = SIGTERM;
    const auto text = [&rank] { return session::rankEnd(rank, {}, {}).text; };
    QCOMPARE(text(), QStringLiteral("ended inside MPI_Recv (event 3), by SIGTERM"));
    rank.exitSignal = SIGSEGV;
    QCOMPARE(text(), QStringLiteral("SIGSEGV"));
    rank.exitSignal = SIGKILL;
    rank.state = "nothing was written";
    QCOMPARE(text(), QStringLiteral("ended by SIGKILL"));
  }

  void thereIsNoneOfWhatIsNoTrace() {
    QVERIFY(!session::loadOutline(QStringLiteral("/nowhere/a.pft")));
    QVERIFY(!session::loadOutline(QStringLiteral("/dev/null")));
  }
};

}  // namespace

QTEST_GUILESS_MAIN(OutlineTest)
#include "outline_test.moc"
