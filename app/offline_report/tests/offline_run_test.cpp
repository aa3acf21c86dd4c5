// SPDX-License-Identifier: GPL-3.0-or-later
// What an offline replay writes down, on replays, ranks and GDBs that are made up: hits, stacks,
// values, snapshots, output, and what was in the way of them.
#include "app/offline_report/offline_run.h"

#include <QFile>
#include <QTest>

#include "app/offline_report/offline_facts.h"
#include "app/session/tests/session_fixture.h"

namespace pf::headless {
namespace {

using protocol::GdbCondition;
using session::test::kMade;

constexpr const char* kPlace = "/src/m.c:12";

class OfflineRunTest : public session::test::ReplayFixture {
 protected:
  static constexpr int kPatienceMs = 30000;
  using Replies = std::vector<session::test::FakeTarget::Reply>;

  /// The ranks are past the gate.
  void begin(Replies replies = {}) {
    m_options.trace = m_trace.toStdString();
    auto loaded = session::loadTrace(m_trace);
    ASSERT_TRUE(loaded.ok());
    m_report = factsOf(m_options.trace, *loaded);
    m_run = std::make_unique<OfflineRun>(m_options, std::move(*loaded), m_report);
    m_run->session().setReplays(replays());
    QObject::connect(m_run.get(), &OfflineRun::finished, [this] { ++m_finished; });
    m_run->start();
    replies.push_back({"-break-insert", kMade});
    gate(replies);
    target().forgetOrders();
  }
  /// A recording in which this rank ended by SIGSEGV.
  void recordCrash(int rank) {
    bench::Traffic traffic;
    traffic.ranks = session::test::kRanks;
    traffic.events = 400;
    traffic.crashed = rank;
    QFile::remove(m_trace);
    ASSERT_TRUE(bench::writeSyntheticTrace(m_trace.toStdString(), traffic).ok());
  }
  void comesTo(int rank) {
    target().gdbStops(rank, R"(reason="breakpoint-hit",bkptno="2")");
    pump();
  }
  void crashes(int rank) {
    target().gdbStops(
        rank,
        R"(reason="signal-received",signal-name="SIGSEGV",signal-meaning="Segmentation fault")");
    pump();
  }
  void isPaused(int rank) {
    target().gdbStops(rank,
                      R"(reason="signal-received",signal-name="0",signal-meaning="Signal 0")");
  }
  /// The rank crashes; those that run are paused once they have had their time for it.
  void crashesAndOthersStop(int failed, const std::vector<int>& others) {
    crashes(failed);
    target().forgetOrders();
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
          pump();
          return !target().orders.empty();
        },
        kPatienceMs));
    for (const int rank : others) {
      isPaused(rank);
    }
    pump();
  }
  void allWait() {
    protocol::Verdict verdict;
    verdict.kind = protocol::VerdictKind::Deadlock;
    verdict.text = "rank 0 waits for rank 1";
    verdict.proven = true;
    Q_EMIT target().said(verdict);
    pump();
  }
  void end(int status = 0) {
    Q_EMIT target().ended(status, {});
    awaitEnd();
  }
  void awaitEnd() {
    EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), m_finished > 0; }, kPatienceMs));
    EXPECT_EQ(m_finished, 1);
  }
  [[nodiscard]] std::string notes() const {
    std::string text;
    for (const std::string& note : m_report.notes) {
      text += note + "\n";
    }
    return text;
  }

  OfflineOptions m_options;
  OfflineReport m_report;
  std::unique_ptr<OfflineRun> m_run;
  int m_finished = 0;
};

// -- to the end

TEST_F(OfflineRunTest, AReplayWithoutAFailureHasNoStacks) {
  m_options.breaks = {kPlace};
  begin();
  end();
  EXPECT_FALSE(m_report.failed);
  EXPECT_TRUE(m_report.stacks.empty());
  EXPECT_EQ(m_report.hitTotals, std::vector<std::string>{"/src/m.c:12: 0 hits"});
  EXPECT_EQ(m_report.failure, "The program ran to its end.");
}

TEST_F(OfflineRunTest, AReplayThatCannotBeginIsANote) {
  m_options.trace = m_trace.toStdString();
  auto loaded = session::loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  m_run = std::make_unique<OfflineRun>(m_options, std::move(*loaded), m_report);
  m_run->session().setReplays([](const session::ReplayRequest&) {
    return Result<std::unique_ptr<session::Target>>(
        Error{ErrorCode::System, "no ranks to be had", "Buy some."});
  });
  QObject::connect(m_run.get(), &OfflineRun::finished, [this] { ++m_finished; });
  m_run->start();
  awaitEnd();
  EXPECT_NE(notes().find("no ranks to be had"), std::string::npos) << notes();
}

TEST_F(OfflineRunTest, EndedFromOutsideItSaysSoOnce) {
  begin();
  m_run->stop();
  m_run->stop();
  awaitEnd();
  EXPECT_EQ(notes(), "The replay was ended from outside before it had come to its end.\n");
}

TEST_F(OfflineRunTest, OutputOfRanksIsKeptFromItsEnd) {
  begin();
  auto& session = m_run->session();
  Q_EMIT session.output(1, values::OutputStream::Out, "a\r\nb");
  Q_EMIT session.output(1, values::OutputStream::Err, QByteArray(70000, 'x') + "end");
  Q_EMIT session.output(-1, values::OutputStream::Out, "of nobody");
  Q_EMIT session.output(4, values::OutputStream::Out, "of nobody");
  end();
  Q_EMIT session.output(1, values::OutputStream::Out, "late");
  EXPECT_EQ(m_report.ranks[1].out, "a\nb");
  EXPECT_EQ(m_report.ranks[1].outLost, 0U);
  EXPECT_EQ(m_report.ranks[1].err.size(), 65536U);
  EXPECT_TRUE(m_report.ranks[1].err.ends_with("xend"));
  EXPECT_EQ(m_report.ranks[1].errLost, 70003U - 65536U);
  EXPECT_EQ(m_report.ranks[0].out, "");
}

// -- hits

TEST_F(OfflineRunTest, AHitIsWrittenDownAndTheRankGoesOn) {
  m_options.breaks = {kPlace};
  begin();
  target().runs(1, 17);
  comesTo(1);
  comesTo(3);
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
  EXPECT_TRUE(target().wasTold(3, "-exec-continue"));
  end();
  ASSERT_EQ(m_report.hits.size(), 2U);
  EXPECT_EQ(m_report.hits[0].what, kPlace);
  EXPECT_EQ(m_report.hits[0].after, (EventRef{1, 17}));
  EXPECT_EQ(m_report.hits[0].function, "collect()");
  EXPECT_EQ(m_report.hits[0].value, "");
  EXPECT_EQ(m_report.hitTotals, std::vector<std::string>{"/src/m.c:12: 2 hits"});
}

TEST_F(OfflineRunTest, AllThatIsWantedOfALineIsOneBreakpoint) {
  m_options.breaks = {kPlace, kPlace};
  m_options.logs = {"/src/m.c:12  n", "/src/m.c:12 x + 1"};
  begin({{"-data-evaluate-expression", R"(^done,value="7")"},
         {"x + 1", R"(^error,msg="No symbol \"x\" in current context.")"}});
  EXPECT_EQ(m_run->session().breakpoints().all().size(), 1);
  comesTo(2);
  end();
  ASSERT_EQ(m_report.hits.size(), 4U);
  EXPECT_EQ(m_report.hits[2].value, "7");
  EXPECT_EQ(m_report.hits[3].value, "No symbol \"x\" in current context.");
  EXPECT_EQ(m_report.hitTotals,
            (std::vector<std::string>{"/src/m.c:12: 1 hit", "/src/m.c:12: 1 hit",
                                      "/src/m.c:12  n: 1 hit", "/src/m.c:12 x + 1: 1 hit"}));
}

TEST_F(OfflineRunTest, AGdbThatDiesAtAHitIsNotWaitedFor) {
  m_options.logs = {"/src/m.c:12 n"};
  begin();
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  target().gdbIs(1, GdbCondition::Died, "gdb ended");
  end();
  ASSERT_EQ(m_report.hits.size(), 1U);
  EXPECT_NE(m_report.hits[0].value, "") << "why there is no value";
}

TEST_F(OfflineRunTest, TheRunMayGoWhileAValueIsAskedFor) {
  m_options.logs = {"/src/m.c:12 n"};
  begin();
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  m_run.reset();
  EXPECT_LE(m_report.hits.size(), 1U);
}

TEST_F(OfflineRunTest, BreakpointsOfTheTraceStopNobody) {
  {
    session::DebugSession other;
    auto loaded = session::loadTrace(m_trace);
    ASSERT_TRUE(loaded.ok());
    other.open(m_trace, std::move(*loaded));
    values::Breakpoint breakpoint;
    breakpoint.function = QStringLiteral("collect");
    other.breakpoints().add(breakpoint);
  }
  begin();
  EXPECT_FALSE(target().wasTold(0, "collect"));
  end();
}

// -- a failure

TEST_F(OfflineRunTest, ADeadlockIsTheFailureWithTheStacksOfAll) {
  begin();
  allWait();
  for (int rank = 0; rank < session::test::kRanks; ++rank) {
    isPaused(rank);
  }
  awaitEnd();
  EXPECT_TRUE(m_report.failed);
  EXPECT_EQ(m_report.failure, "Deadlock: rank 0 waits for rank 1");
  ASSERT_EQ(m_report.stacks.size(), 1U) << "equal ones are one";
  EXPECT_EQ(m_report.stacks[0].ranks, (std::vector<Rank>{0, 1, 2, 3}));
  ASSERT_EQ(m_report.stacks[0].frames.size(), 3U);
  EXPECT_EQ(m_report.stacks[0].frames[0].function, "PMPI_Recv()");
  EXPECT_EQ(m_report.stacks[0].frames[0].place, "") << "MPI's own lines are nobody's business";
  EXPECT_EQ(m_report.stacks[0].frames[1].place, "m.c:12");
}

TEST_F(OfflineRunTest, ACrashIsLookedAtInItsFrame) {
  recordCrash(1);
  begin({{"-stack-list-variables",
          R"(^done,variables=[{name="n",type="int",value="3"},{name="a",type="int [2]"},)"
          R"({name="b",type="struct s"}])"},
         {"-data-evaluate-expression", R"(^done,value="{1, 2}")"},
         {"--frame 1 \"b\"", R"(^error,msg="Cannot access memory")"}});
  ASSERT_TRUE(m_report.failed);
  crashesAndOthersStop(1, {0, 2, 3});
  awaitEnd();
  EXPECT_EQ(m_report.valuesOf, "rank 1 in collect()");
  ASSERT_EQ(m_report.values.size(), 3U);
  EXPECT_EQ(m_report.values[0].value, "3");
  EXPECT_EQ(m_report.values[1].value, "{1, 2}");
  EXPECT_EQ(m_report.values[2].value, "Cannot access memory");
}

TEST_F(OfflineRunTest, TheStackOfTheRankThatFailedComesFirst) {
  recordCrash(3);
  begin();
  target().replies.push_back(
      {"-stack-list-frames",
       R"(^done,stack=[frame={level="0",addr="0x9",func="crash",fullname="/src/m.c",line="30"}])",
       {},
       3});
  crashesAndOthersStop(3, {0, 1, 2});
  target().replies.push_back({"-stack-list-frames", R"(^error,msg="Cannot read it")", {}, 2});
  awaitEnd();
  ASSERT_EQ(m_report.stacks.size(), 3U);
  EXPECT_EQ(m_report.stacks[0].ranks, std::vector<Rank>{3});
  EXPECT_EQ(m_report.stacks[0].frames[0].function, "crash()");
  EXPECT_EQ(m_report.stacks[1].ranks, (std::vector<Rank>{0, 1}));
  EXPECT_EQ(m_report.stacks[2].note, "Cannot read it");
}

TEST_F(OfflineRunTest, WhereThereIsNoGdbTheRecordingSaysWhereItIs) {
  recordCrash(1);
  begin();
  target().gdbIs(2, GdbCondition::Died, "gdb ended");
  pump();
  target().stops(2, 9);
  pump();
  crashesAndOthersStop(1, {0, 3});
  awaitEnd();
  const auto found =
      std::find_if(m_report.stacks.begin(), m_report.stacks.end(),
                   [](const ReportStack& each) { return each.ranks == std::vector<Rank>{2}; });
  ASSERT_NE(found, m_report.stacks.end());
  EXPECT_EQ(found->note, "no GDB: the call that it is at, from the recording");
  ASSERT_EQ(found->frames.size(), 1U);
  EXPECT_EQ(found->frames[0].function.substr(0, 4), "MPI_");
}

TEST_F(OfflineRunTest, ASignalThatTheProgramDealsWithIsNoFailure) {
  recordCrash(1);
  begin();
  for (const int rank : {0, 1, 3}) {
    target().stops(rank, 5);
  }
  pump();
  crashes(2);
  pump();
  EXPECT_EQ(m_report.valuesOf, "");
  m_run->stop();
  awaitEnd();
}

TEST_F(OfflineRunTest, WhatGoesWrongIsANote) {
  begin();
  Q_EMIT m_run->session().message(QStringLiteral("all is well"), false);
  Q_EMIT m_run->session().message(QStringLiteral("rank 1 diverged"), true);
  end();
  EXPECT_EQ(notes(), "rank 1 diverged\n");
}

// -- snapshots

TEST_F(OfflineRunTest, ASnapshotIsOfAllRanksAndLetsThemGoOn) {
  begin();
  for (int rank = 0; rank < session::test::kRanks; ++rank) {
    target().runs(rank, 5 + static_cast<Serial>(rank));
  }
  pump();
  target().forgetOrders();
  m_run->snapshot("SIGUSR1");
  m_run->snapshot("SIGUSR1");  // one at a time
  pump();
  for (int rank = 0; rank < session::test::kRanks; ++rank) {
    isPaused(rank);
  }
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), !m_report.snapshots.empty(); }, kPatienceMs));
  pump();
  ASSERT_EQ(m_report.snapshots.size(), 1U);
  const ReportSnapshot& shot = m_report.snapshots[0];
  EXPECT_EQ(shot.why, "SIGUSR1");
  ASSERT_EQ(shot.where.size(), 4U);
  EXPECT_EQ(shot.where[3].substr(0, 7), "event 8");
  ASSERT_FALSE(shot.stacks.empty());
  EXPECT_FALSE(shot.stacks[0].frames.empty());
  EXPECT_TRUE(target().wasTold(0, "-exec-continue")) << target().toGdb[0];
  EXPECT_TRUE(m_report.stacks.empty()) << "that they stood is no failure";
  end();
}

TEST_F(OfflineRunTest, OfRanksThatDoNotRunNoSnapshotIsTaken) {
  begin();
  end();
  m_run->snapshot("SIGUSR1");
  pump();
  EXPECT_TRUE(m_report.snapshots.empty());
}

// -- what the trace gives

class OfflineFactsTest : public session::test::ReplayFixture {
 protected:
  OfflineReport facts(const std::function<void(session::LoadedTrace&)>& change = {}) {
    auto loaded = session::loadTrace(m_trace);
    EXPECT_TRUE(loaded.ok());
    if (change) {
      change(*loaded);
    }
    return factsOf(m_trace.toStdString(), *loaded);
  }
  static std::string fact(const OfflineReport& report, const std::string& name) {
    for (const auto& [each, value] : report.facts) {
      if (each == name) {
        return value;
      }
    }
    return "there is no " + name;
  }
};

TEST_F(OfflineFactsTest, SayWhatWasRunAndHowItEnded) {
  const OfflineReport report = facts();
  EXPECT_EQ(report.title, "Photofinish: stencil on 4 ranks");
  EXPECT_EQ(fact(report, "command"), "mpirun -n 4 /home/user/stencil");
  EXPECT_EQ(fact(report, "exit status"), "0");
  EXPECT_EQ(fact(report, "trace"), m_trace.toStdString());
  EXPECT_EQ(report.ranks.size(), 4U);
  EXPECT_GT(report.ranks[2].events, 0U);
}

TEST_F(OfflineFactsTest, AStatusIsAFailureThoughEveryRankFinished) {
  const OfflineReport report =
      facts([](session::LoadedTrace& loaded) { loaded.run.exitStatus = 7; });
  EXPECT_TRUE(report.failed);
  EXPECT_EQ(report.failure, "The program ended with status 7, and every rank finished.");
  EXPECT_EQ(fact(facts([](auto& loaded) { loaded.run.exitStatus.reset(); }), "exit status"),
            "not known");
}

TEST_F(OfflineFactsTest, TheCommandCanBeGivenToAShellAgain) {
  const OfflineReport report = facts([](session::LoadedTrace& loaded) {
    loaded.run.command = {"mpirun", "./a b", "", "it's", "x;y", "$HOME", "*.dat", "-n=4"};
  });
  EXPECT_EQ(fact(report, "command"), "mpirun './a b' '' 'it'\\''s' 'x;y' '$HOME' '*.dat' -n=4");
}

TEST_F(OfflineFactsTest, RacesAreTheLatestFirstAndNotMoreThanCanBeRead) {
  const OfflineReport report = facts();
  ASSERT_FALSE(report.races.empty());
  EXPECT_LE(report.races.size(), 100U);
  for (const ReportRace& race : report.races) {
    EXPECT_EQ(race.receive.call.substr(0, 8), "MPI_Recv");
    EXPECT_EQ(race.taken.call.substr(0, 8), "MPI_Send");
    EXPECT_FALSE(race.alternatives.empty());
    EXPECT_EQ(race.receive.place.substr(0, 10), "stencil.c:");
    EXPECT_EQ(race.receive.call.find(" at "), std::string::npos) << "the place has its own column";
  }
}

TEST_F(OfflineFactsTest, ALineOfTheSourceIsShownWithoutItsIndent) {
  const std::string path = m_own.filePath(QStringLiteral("m.c")).toStdString();
  QFile file(QString::fromStdString(path));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("int a;\n\t  f(x); \n   \n" + QByteArray(500, 'y'));
  file.close();
  EXPECT_EQ(sourceLine(path, 1), "int a;");
  EXPECT_EQ(sourceLine(path, 2), "f(x); ");
  EXPECT_EQ(sourceLine(path, 3), "");
  EXPECT_EQ(sourceLine(path, 4).size(), 200U);
  for (const int none : {0, -1, 5, 1 << 30}) {
    EXPECT_EQ(sourceLine(path, none), "") << none;
  }
  EXPECT_EQ(sourceLine("/nowhere.c", 1), "");
  EXPECT_EQ(sourceLine("", 1), "");
}

TEST_F(OfflineFactsTest, APlaceIsAFilesNameAndALine) {
  EXPECT_EQ(placeText("/src/a b/m.c", 12), "m.c:12");
  EXPECT_EQ(placeText("m.c", 12), "m.c:12");
  EXPECT_EQ(placeText("/src/m.c", 0), "");
  EXPECT_EQ(placeText("", 12), "");
}

}  // namespace
}  // namespace pf::headless
