// What is known of a trace before its events are read agrees with them.
#include "synthetic.h"
#include "trace_loader.h"

#include <csignal>

#include <QTemporaryDir>
#include <QTest>

#include "core/cut_pyramid.h"

using namespace pf;

namespace {

class OutlineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void outlineAgreesWithTheEvents() {
    const QTemporaryDir directory;
    const QString path = directory.filePath(QStringLiteral("a.pft"));
    bench::Traffic traffic;
    traffic.ranks = 8;
    traffic.events = 20000;
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
    const CutPyramid pyramid = cutPyramid(data.execution, data.races, data.logicalTimes);
    QCOMPARE(data.pyramid->count(), pyramid.levels.size());
    for (int turn = 0; turn < 2; ++turn) {  // the second time some levels are still there
      for (std::size_t n = 0; n < pyramid.levels.size(); ++n) {
        QCOMPARE(data.pyramid->width(n), pyramid.levels[n].width);
        QVERIFY(*data.pyramid->level(n) == pyramid.levels[n]);
      }
    }
    QVERIFY(data.pyramid->lines() == pyramid.lines);
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
