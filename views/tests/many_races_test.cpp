// SPDX-License-Identifier: GPL-3.0-or-later
// The race list of a trace whose chunks are read when they are asked for says what that of the same
// trace in memory says, in the same order, and reads no chunk for it.
#include <random>
#include <set>

#include <QTest>

#include "replay_engine/races/race_classes.h"
#include "replay_engine/races/race_weight.h"
#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/random_execution.h"
#include "views/models/race_filter.h"
#include "views/models/race_list_model.h"
#include "views/tests/kept_chunks.h"
#include "views/trace/analyses/race_classes.h"
#include "views/trace/trace_index.h"
#include "views/values/text.h"

using namespace pf;
using namespace pf::views;

namespace {

/// Each of 7 ranks sends to others, then takes from any source, by receives that are posted and
/// waited for and others that are not, what was sent to it; round for round.
Execution crowd(std::uint64_t seed) {
  constexpr std::size_t kRanks = 7;
  std::mt19937_64 random(seed);
  Execution execution;
  execution.ranks.resize(kRanks);
  execution.communicators.push_back({1, "world", {0, 1, 2, 3, 4, 5, 6}, {}});
  const auto event = [&](std::size_t rank, EventKind kind, Rank peer) {
    Event made;
    made.kind = kind;
    made.comm = kind == EventKind::Completion ? kNone : 0;
    made.peer = peer;
    made.tag = kind == EventKind::Completion ? kAnyTag : 1;
    execution.ranks[rank].events.push_back(made);
    return Serial{execution.ranks[rank].events.size()};
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<std::vector<Rank>> waiting(kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      for (std::size_t n = random() % 4; n > 0; --n) {
        const std::size_t to = (rank + 1 + random() % (kRanks - 1)) % kRanks;
        const Serial serial = event(rank, EventKind::Send, static_cast<Rank>(to));
        execution.ranks[rank].sends.push_back({serial, 0, static_cast<Rank>(to), 1, false, 0});
        waiting[to].push_back(static_cast<Rank>(rank));
      }
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      std::shuffle(waiting[rank].begin(), waiting[rank].end(), random);
      for (const Rank source : waiting[rank]) {
        PostedReceive made;
        const bool posted = random() % 3 == 0;
        made.post = event(rank, posted ? EventKind::Post : EventKind::Receive, kAnySource);
        made.completion =
            posted ? event(rank, EventKind::Completion, kUnknownRank) : Serial{made.post};
        made.comm = 0;
        made.wantedTag = made.tag = 1;
        made.state = ReceiveState::Complete;
        made.source = source;
        execution.ranks[rank].receives.push_back(made);
      }
    }
  }
  return execution;
}

/// Events of a few calls at a few places, some of which have the same text.
std::shared_ptr<TraceData> traceOf(std::uint64_t seed) {
  auto data = std::make_shared<TraceData>();
  Execution& execution = data->execution;
  execution =
      seed % 10 == 3 ? crowd(seed) : oracle::randomExecution(seed, {120, seed % 2 == 0}).execution;
  execution.callNames = {"MPI_Recv", "MPI_Irecv", "MPI_Send"};
  for (const int line : {7, 12, 12, 40}) {
    CallSite site;
    site.module = "/home/user/program";
    site.offset = execution.sites.size();
    site.function = line == 40 ? "other" : "work";
    site.file = "/home/user/stencil.c";
    site.line = line;
    execution.sites.push_back(site);
  }
  std::mt19937 random(static_cast<unsigned>(seed));
  for (RankHistory& rank : execution.ranks) {
    for (Event& event : rank.events) {
      const bool send = event.kind == EventKind::Send;
      event.call = static_cast<std::uint16_t>(send ? 2 : random() % 8 == 0 ? 1 : 0);
      event.site = random() % 40 == 0 ? kNone : static_cast<std::uint32_t>(random() % 4);
    }
  }
  matchMessages(execution);
  data->races = findRaces(execution);
  data->logicalTimes = logicalTimes(execution);
  if (seed % 2 == 0 && !data->races.empty()) {
    const Race last = data->races[data->races.size() - 1];
    const RankHistory& rank = execution.ranks[static_cast<std::size_t>(last.rank)];
    data->failure.event = {last.rank, rank.events.size()};
  }
  return data;
}

/// Rows of a filtered and sorted list.
std::vector<int> rowsOf(const RaceFilterModel& list) {
  std::vector<int> rows;
  for (int row = 0; row < list.rowCount(); ++row) {
    rows.push_back(list.mapToSource(list.index(row, 0)).row());
  }
  return rows;
}

bool hasWord(const RaceListModel& model, int race, const QString& word) {
  for (int column = 0; column < RaceListModel::ColumnCount; ++column) {
    if (model.text(at(race), column).contains(word, Qt::CaseInsensitive)) {
      return true;
    }
  }
  return false;
}

class ManyRacesTest : public QObject {
  Q_OBJECT

  static void compareClasses(const RaceClasses& a, const RaceClasses& b, std::size_t races) {
    QCOMPARE(a.all().size(), b.all().size());
    for (std::size_t i = 0; i < a.all().size(); ++i) {
      const RaceClass& one = a.all()[i];
      const RaceClass& other = b.all()[i];
      QCOMPARE(one.key, other.key);
      QCOMPARE(one.receive, other.receive);
      QCOMPARE(one.senders, other.senders);
      QCOMPARE(one.call + one.site, other.call + other.site);
      QCOMPARE(one.ranks, other.ranks);
      QCOMPARE(a.races(i), b.races(i));
      QCOMPARE(a.races(i).size(), one.count);
    }
    for (std::size_t race = 0; race < races; ++race) {
      QCOMPARE(a.of(race), b.of(race));
    }
  }

  static void compareLists(const RaceListModel& whole, const RaceListModel& chunks) {
    RaceFilterModel a;
    RaceFilterModel b;
    a.setSourceModel(const_cast<RaceListModel*>(&whole));
    b.setSourceModel(const_cast<RaceListModel*>(&chunks));
    QCOMPARE(chunks.rowCount(), whole.rowCount());
    for (int column = 0; column < RaceListModel::ColumnCount; ++column) {
      const std::vector<std::int64_t> keys = whole.sortKeys(column);
      for (int race = 0; race < whole.rowCount(); ++race) {
        QCOMPARE(chunks.text(at(race), column), whole.text(at(race), column));
      }
      for (const auto order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
        a.sort(column, order);
        b.sort(column, order);
        const std::vector<int> rows = rowsOf(a);
        QCOMPARE(rowsOf(b), rows);
        QVERIFY(std::is_sorted(rows.begin(), rows.end(), [&](int x, int y) {
          const auto of = [&](int race) {
            return std::pair(order == Qt::AscendingOrder ? keys[at(race)] : -keys[at(race)], race);
          };
          return of(x) < of(y);
        }));
      }
    }
    for (const char* const query : {"1",
                                    "12",
                                    "0",
                                    "7",
                                    "-1",
                                    "3,",
                                    ",",
                                    "event",
                                    "rank",
                                    "record",
                                    "ank",
                                    "MPI_Irecv",
                                    "stencil.c:1",
                                    "probe",
                                    "posted",
                                    "receive",
                                    "before",
                                    "MPI_Recv 12",
                                    "4 7",
                                    "xyz",
                                    "k3",
                                    "rank:1",
                                    "from:0",
                                    "from:x",
                                    "tag:1",
                                    "tag:-1",
                                    "kind:probe",
                                    "kind:posted",
                                    "file:stencil.c:12",
                                    "event:17",
                                    "rank:",
                                    "FROM:2 7"}) {
      const QString text = QString::fromLatin1(query);
      a.setFilterText(text);
      b.setFilterText(text);
      QCOMPARE(rowsOf(b), rowsOf(a));
      if (!text.contains(QLatin1Char(':')) && !text.contains(QLatin1Char(' '))) {
        const std::vector<int> found = racesWith(whole, {text});
        for (int race = 0; race < whole.rowCount(); ++race) {
          QCOMPARE(std::binary_search(found.begin(), found.end(), race),
                   hasWord(whole, race, text));
        }
      }
    }
  }

 private:
  /// As the command line and the report weigh them.
  static std::vector<std::uint8_t> byExecution(const TraceData& data,
                                               const std::vector<Race>& races) {
    std::vector<std::uint8_t> severity;
    for (const RaceWeight weight :
         weighRaces(data.execution, data.failure.event, races.size(),
                    [&races](std::size_t i) -> const Race& { return races[i]; })) {
      severity.push_back(static_cast<std::uint8_t>(weight));
    }
    return severity;
  }

 private Q_SLOTS:
  void saysTheSameWithoutChunks() {
    std::size_t most = 0;
    std::size_t classes = 0;
    for (std::uint64_t seed = 1; seed <= oracle::runs(60) && !QTest::currentTestFailed(); ++seed) {
      const TraceDataPtr data = traceOf(seed);
      const auto inChunks = test::inChunks(data, static_cast<unsigned>(seed % 4));
      const TraceIndexPtr whole = makeIndex(data);
      const TraceIndexPtr chunks = makeIndex(inChunks);
      const std::vector<Race> races = findRaces(data->execution);
      most = std::max(most, races.size());
      AlternativeRanks alternatives(*chunks);
      for (std::size_t race = 0; race < races.size(); ++race) {
        const Race kept = inChunks->races[race];
        QCOMPARE(kept.rank, races[race].rank);
        QCOMPARE(kept.probe, races[race].probe);
        QCOMPARE(kept.index, races[race].index);
        QCOMPARE(kept.taken, races[race].taken);
        QCOMPARE(kept.alternatives, races[race].alternatives);
        QCOMPARE(inChunks->races.alternatives(race), races[race].alternatives.size());
        std::set<Rank> senders;
        for (const std::uint32_t m : races[race].alternatives) {
          senders.insert(data->execution.messages[m].send.rank);
        }
        QCOMPARE(alternatives.of(race), std::vector<Rank>(senders.begin(), senders.end()));
      }
      const JudgedRaces known = judgeRaces(whole);  // by a look at each message
      const JudgedRaces judged = judgeRaces(chunks);
      QVERIFY(!data->races.hasClasses() && (races.empty() || inChunks->races.hasClasses()));
      QCOMPARE(judged.severity, known.severity);
      QCOMPARE(known.severity, byExecution(*data, races));
      compareClasses(*known.classes, *judged.classes, races.size());
      classes = std::max(classes, known.classes->all().size());
      RaceListModel ofWhole;
      RaceListModel ofChunks;
      ofWhole.setTrace(whole, known);
      const TraceIndexPtr fresh = makeIndex(inChunks);  // nothing of it was read yet
      const auto& kept = dynamic_cast<const test::KeptChunks&>(*inChunks->chunks);
      const int before = kept.reads;
      ofChunks.setTrace(fresh, judged);
      compareLists(ofWhole, ofChunks);
      QCOMPARE(kept.reads.load(), before);
    }
    QVERIFY2(most > 2 * RaceTable::kBlock && classes > 20,
             qPrintable(u"%1 races, %2 classes"_s.arg(most).arg(classes)));
  }

  // Alternatives in any order, and races of ranks in any order.
  void keepsWhatIsOdd() {
    RaceTable table;
    std::mt19937 random(3);
    std::vector<Race> races;
    for (int i = 0; i < 300; ++i) {
      Race race;
      race.rank = static_cast<Rank>(random() % 3);
      race.probe = random() % 4 == 0;
      race.index = static_cast<std::uint32_t>(random());
      race.taken = random() % 9 == 0 ? kNone : static_cast<std::uint32_t>(random());
      for (std::size_t n = random() % 5; n > 0; --n) {
        race.alternatives.push_back(static_cast<std::uint32_t>(random() % 7));
      }
      races.push_back(race);
      table.push_back(race);
    }
    table.finish();
    std::size_t i = 0;
    for (const Race race : table) {
      QCOMPARE(race.rank, races[i].rank);
      QCOMPARE(race.probe, races[i].probe);
      QCOMPARE(race.index, races[i].index);
      QCOMPARE(race.taken, races[i].taken);
      QCOMPARE(race.alternatives, races[i].alternatives);
      QCOMPARE(table.alternatives(i), races[i].alternatives.size());
      ++i;
    }
    QCOMPARE(i, races.size());
    QVERIFY(!table.hasPlaces() && !table.hasMessages() && !table.hasClasses());
  }
};

}  // namespace

QTEST_GUILESS_MAIN(ManyRacesTest)
#include "many_races_test.moc"
