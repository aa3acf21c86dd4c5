// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks have a GDB, and GDBs that come late, die, or are told to do what is Photofinish's business.
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <QDir>
#include <QSignalSpy>
#include <QTest>

#include "app/session/targets/unrecorded_target.h"
#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using protocol::GdbCondition;

class DebuggersTest : public test::SessionFixture {
 protected:
  QStringList transcripts() const {
    return QDir(m_own.filePath(QStringLiteral("transcripts"))).entryList(QDir::Files, QDir::Name);
  }
  void keepTranscripts() {
    ASSERT_TRUE(QDir(m_own.path()).mkdir(QStringLiteral("transcripts")));
    session().debuggers().setTranscripts(m_own.filePath(QStringLiteral("transcripts")));
  }
  QString consoleOf(int rank, const char* line) {
    QSignalSpy text(&session(), &DebugSession::consoleText);
    session().consoles().send(rank, QLatin1String(line));
    pump();
    return text.isEmpty() ? QString() : text.last()[1].toString();
  }
  [[nodiscard]] bool problemSaid(const char* words) const {
    return m_problems.join(QLatin1Char('\n')).contains(QLatin1String(words));
  }
};

// -- the focus set

TEST_F(DebuggersTest, ARankThatIsTickedMeanwhileGetsItsGdb) {
  session().debuggers().setFocus({0});
  run({2, 40});
  EXPECT_EQ(session().debugger(3), nullptr);
  session().debuggers().setFocus({0, 3});
  pump();
  EXPECT_EQ(target().last<protocol::AttachGdb>()->ranks, std::vector<std::int32_t>{3});
  EXPECT_NE(session().debugger(3), nullptr);
}

TEST_F(DebuggersTest, OneThatIsLookedAtMeanwhileShowsItsStack) {
  session().debuggers().setFocus({0});
  run({2, 40});
  session().inspector().selectRank(3);
  target().replies.insert(target().replies.begin(), {"-stack-list-frames", test::kStack});
  QSignalSpy stack(&session().inspector(), &Inspector::stackChanged);
  session().debuggers().setFocus({0, 3});
  pump();
  ASSERT_FALSE(stack.isEmpty());
  EXPECT_EQ(stack.last()[0].toInt(), 3);
  EXPECT_FALSE(stack.last()[1].value<QList<values::StackFrame>>().isEmpty());
}

TEST_F(DebuggersTest, ARankThatIsUntickedIsLetGoOf) {
  stand();
  session().debuggers().setFocus({0, 1, 2});
  pump();
  EXPECT_TRUE(target().wasTold(3, "-target-detach"));
  const auto* detach = target().last<protocol::DetachGdb>();
  ASSERT_NE(detach, nullptr);
  EXPECT_EQ(detach->ranks, std::vector<std::int32_t>{3});
  target().gdbIs(3, GdbCondition::Detached);
  EXPECT_EQ(session().debugger(3), nullptr);
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

TEST_F(DebuggersTest, ARankOfTheFocusSetThatIsNotThereIsNotWaitedFor) {
  session().debuggers().setFocus({7});
  run({2, 40});
  EXPECT_EQ(target().last<protocol::AttachGdb>(), nullptr);
  EXPECT_EQ(m_settled, 1);
}

TEST_F(DebuggersTest, OneThatCannotAttachIsToldOfAndNotWaitedFor) {
  session().debuggers().setFocus({1});
  session().replayTo({2, 40});
  pump();
  target().replies = {{"-target-attach", R"(^error,msg="ptrace: Operation not permitted.")"}};
  target().allGated();
  pump();
  EXPECT_TRUE(problemSaid("Rank 1: cannot attach to process 101: ptrace")) << said().toStdString();
  EXPECT_NE(target().last<protocol::OpenGate>(), nullptr);
  EXPECT_EQ(session().debugger(1), nullptr);
}

TEST_F(DebuggersTest, OneThatDiesWhileItAttachesIsNotWaitedFor) {
  session().debuggers().setFocus({1});
  session().replayTo({2, 40});
  pump();
  target().hears = [this](int rank, const std::string& command) {
    if (command.find("-target-attach") != std::string::npos) {
      target().gdbIs(rank, GdbCondition::Died, "gdb was ended by signal 9");
    }
  };
  target().allGated();
  pump();
  EXPECT_NE(target().last<protocol::OpenGate>(), nullptr);
  EXPECT_TRUE(problemSaid("The debugger of rank 1 is gone")) << said().toStdString();
}

TEST_F(DebuggersTest, OneThatDiesBeforeThatIsNotWaitedForEither) {
  session().debuggers().setFocus({1});
  session().replayTo({2, 40});
  pump();
  target().gdbs = GdbCondition::Died;
  target().allGated();
  pump();
  EXPECT_NE(target().last<protocol::OpenGate>(), nullptr);
  EXPECT_EQ(session().debugger(1), nullptr);
}

// -- GDBs that die

TEST_F(DebuggersTest, ARankWhoseGdbDiesGoesOnWithoutIt) {
  stand();
  target().gdbIs(1, GdbCondition::Died, "gdb was ended by signal 11");
  EXPECT_TRUE(problemSaid("The debugger of rank 1 is gone (gdb was ended by signal 11"))
      << said().toStdString();
  EXPECT_EQ(session().debugger(1), nullptr);
  EXPECT_FALSE(session().rankStates()[1].debugger);
  EXPECT_NE(session().debugger(0), nullptr);
  session().restartCycle();
  gate();
  EXPECT_NE(session().debugger(1), nullptr);
}

TEST_F(DebuggersTest, AGdbThatGoesWithItsRankIsNotMissed) {
  stand();
  target().exits(1, "exited with 0");
  target().gdbIs(1, GdbCondition::Died, "gdb ended");
  EXPECT_FALSE(wasSaid("The debugger of rank 1 is gone"));
}

TEST_F(DebuggersTest, AnAnswerOfAGdbThatIsGoneIsNobodys) {
  stand();
  session().across().ask(QStringLiteral("n"));
  session().consoles().send(1, QStringLiteral("bt"));
  target().gdbIs(1, GdbCondition::Died, "gdb ended");
  target().gdbSays(1, "4711^done,value=\"5\"");
  session().endReplay();
  target().gdbSays(2, "4711^done,value=\"5\"");
  pump();
  EXPECT_FALSE(session().isReplaying());
}

// -- transcripts

TEST_F(DebuggersTest, TranscriptsAreNamedAfterTraceCycleAndRank) {
  keepTranscripts();
  session().debuggers().setFocus({0, 2});
  run({2, 40});
  EXPECT_EQ(transcripts(), (QStringList{QStringLiteral("t-cycle-1-rank-0.transcript"),
                                        QStringLiteral("t-cycle-1-rank-2.transcript")}));
  QFile file(m_own.filePath(QStringLiteral("transcripts/t-cycle-1-rank-2.transcript")));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(file.readAll().contains("-target-attach 102"));
}

TEST_F(DebuggersTest, ATranscriptThatIsThereIsNotWrittenOver) {
  keepTranscripts();
  const QString taken = m_own.filePath(QStringLiteral("transcripts/t-cycle-1-rank-0.transcript"));
  ASSERT_TRUE(QFile::link(m_own.filePath(QStringLiteral("elsewhere")), taken));
  session().debuggers().setFocus({0});
  run({2, 40});
  EXPECT_TRUE(transcripts().contains(QStringLiteral("t-cycle-1-rank-0-2.transcript")));
  EXPECT_FALSE(QFile::exists(m_own.filePath(QStringLiteral("elsewhere"))));
}

TEST_F(DebuggersTest, WithoutAPlaceForItsTranscriptAGdbAttachesAllTheSame) {
  session().debuggers().setTranscripts(m_own.filePath(QStringLiteral("not/there")));
  session().debuggers().setFocus({0});
  run({2, 40});
  EXPECT_FALSE(m_problems.isEmpty());
  EXPECT_NE(session().debugger(0), nullptr);
}

// -- what is typed for a GDB, but is Photofinish's business

TEST_F(DebuggersTest, RunInAConsoleRestartsTheCycle) {
  stand();
  EXPECT_TRUE(consoleOf(1, "run").isEmpty());
  EXPECT_EQ(m_targets.size(), 2);
}

TEST_F(DebuggersTest, KillInAConsoleEndsIt) {
  stand();
  (void)consoleOf(1, "kill");
  EXPECT_FALSE(session().isReplaying());
}

TEST_F(DebuggersTest, DetachInAConsoleLetsGoOfThatRank) {
  stand();
  (void)consoleOf(1, "detach");
  EXPECT_TRUE(target().wasTold(1, "-target-detach"));
  EXPECT_FALSE(session().debuggers().focus().contains(1));
  EXPECT_TRUE(session().debuggers().focus().contains(0));
}

TEST_F(DebuggersTest, QuitAndAttachAreForTheMenu) {
  stand();
  for (const char* line : {"quit", "attach 1"}) {
    EXPECT_TRUE(consoleOf(1, line).contains(QLatin1String("use the Replay menu"))) << line;
  }
  EXPECT_TRUE(session().isRunning());
  EXPECT_NE(session().debugger(1), nullptr);
}

TEST_F(DebuggersTest, SourcesThatHaveMovedAreSaidToEachGdb) {
  stand();
  session().debuggers().mapSource(QStringLiteral("/build"), QStringLiteral("/home/u/src"));
  pump();
  for (int rank = 0; rank < test::kRanks; ++rank) {
    EXPECT_TRUE(target().wasTold(rank, "set substitute-path")) << rank;
    EXPECT_TRUE(target().wasTold(rank, "/home/u/src"));
  }
}

// -- ranks that were not started by us

class RunningJobTest : public DebuggersTest {
 protected:
  void attach(pid_t pid = getpid()) {
    UnrecordedRank rank;
    rank.rank = 1;
    rank.pid = pid;
    session().attachTo(QStringLiteral("job 4711"), {rank});
    pump();
  }
};

TEST_F(RunningJobTest, ItIsLookedAtAndNotReplayed) {
  attach();
  EXPECT_EQ(session().source(), Source::Job);
  EXPECT_TRUE(wasSaid("The rank of job 4711 goes on"));
  EXPECT_EQ(session().rankStates().size(), 2) << "rank 0 is not known, but has its number";
  EXPECT_EQ(session().currentRank(), 1);
  session().restartCycle();
  session().go(Move::NextReceive);
  EXPECT_TRUE(wasSaid("cannot be replayed"));
  EXPECT_EQ(m_targets.size(), 0);
}

TEST_F(RunningJobTest, ARankWithoutDebuggerIsNotMoved) {
  attach();
  session().act(values::RankAction::Next, {1});
  EXPECT_TRUE(wasSaid("Rank 1 has no debugger: tick it in the ranks' list, which stops it."));
}

TEST_F(RunningJobTest, RanksThatAreNotThereGetNoDebugger) {
  attach();
  session().debuggers().setFocus({0, 7});
  EXPECT_TRUE(session().debuggers().focus().isEmpty());
}

TEST_F(RunningJobTest, ARankThatHasEndedIsNoticedAndNotStopped) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  attach(child);
  EXPECT_TRUE(QTest::qWaitFor(
      [this] { return session().rankStates()[1].detail == QLatin1String("has ended"); }, 5000));
  session().debuggers().setFocus({1});
  EXPECT_TRUE(wasSaid("Rank 1 has ended: there is nothing to stop."));
}

TEST_F(RunningJobTest, ItsRanksGoOnWhenTheSessionEnds) {
  attach();
  session().endReplay();
  pump();
  EXPECT_TRUE(wasSaid("The ranks go on without a debugger."));
  EXPECT_FALSE(session().isReplaying());
  EXPECT_EQ(session().cycles().last().summary, QLatin1String("let go; the job goes on"));
  session().debuggers().setFocus({1});
  EXPECT_TRUE(wasSaid("Rank 1 has been let go of"));
}

TEST_F(RunningJobTest, ATraceThatIsOpenedNextIsReplayedAgain) {
  session().breakpoints().breakAt({3, 15});
  attach();
  EXPECT_TRUE(session().breakpoints().all().isEmpty()) << "those are of the trace";
  reopen();
  EXPECT_EQ(session().source(), Source::Recording);
  EXPECT_EQ(session().breakpoints().all().size(), 1);
  run({2, 40});
  EXPECT_EQ(m_settled, 2);
}

TEST_F(RunningJobTest, ACycleThatRunsIsClosedForIt) {
  run({2, 40});
  attach();
  EXPECT_EQ(session().source(), Source::Job);
  EXPECT_TRUE(session().isRunning());
  pump();
  EXPECT_TRUE(m_targets.first().isNull());
  EXPECT_TRUE(session().isRunning()) << "the end of the cycle's job is not of this session";
}

}  // namespace
}  // namespace pf::session
