// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a session, each on ranks of a script and GDBs that answer what the test says.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using test::kRanks;

class PartsTest : public test::SessionFixture {};

// -- the rank that is looked at

TEST_F(PartsTest, TheProgramsFrameIsSelectedNotMpis) {
  QSignalSpy stacks(&session().inspector(), &Inspector::stackChanged);
  stand();
  ASSERT_FALSE(stacks.isEmpty());
  const auto frames = stacks.last()[1].value<QList<values::StackFrame>>();
  EXPECT_EQ(session().inspector().frame(), 1);
  ASSERT_NE(session().inspector().selected(), nullptr);
  EXPECT_EQ(session().inspector().selected()->function, QLatin1String("collect"));
  ASSERT_EQ(frames.size(), 3);
  EXPECT_TRUE(frames.first().file.isEmpty());  // nothing to look at
}

TEST_F(PartsTest, VariablesComeWithWhatIsInside) {
  QSignalSpy variables(&session().inspector(), &Inspector::variablesChanged);
  QSignalSpy children(&session().inspector(), &Inspector::childrenArrived);
  stand(
      {{"-stack-list-variables",
        R"(^done,variables=[{name="n",type="int",value="3"},{name="a",type="int [2]"}])"},
       {"-var-create", R"(^done,name="var1",numchild="2",value="[2]",type="int [2]",has_more="0")"},
       {"-var-list-children",
        R"(^done,numchild="2",children=[child={name="var1.0",exp="0",numchild="0",value="7",type="int"},)"
        R"(child={name="var1.1",exp="1",numchild="0",value="8",type="int"}],has_more="0")"}});
  ASSERT_FALSE(variables.isEmpty());
  const auto shown = variables.last()[1].value<QList<values::Variable>>();
  ASSERT_EQ(shown.size(), 3);  // and the globals
  EXPECT_EQ(shown[0].value, QLatin1String("3"));
  EXPECT_TRUE(shown[1].hasChildren);
  session().inspector().expand(QStringLiteral("v/a"), 0, {});
  pump();
  ASSERT_EQ(children.size(), 1);
  const auto inside = children.first()[1].value<QList<values::Variable>>();
  ASSERT_EQ(inside.size(), 2);
  EXPECT_EQ(inside[1].value, QLatin1String("8"));
}

TEST_F(PartsTest, AnAnswerForTheRankBeforeIsDropped) {
  stand();
  QSignalSpy stacks(&session().inspector(), &Inspector::stackChanged);
  session().setCurrentRank(1);
  session().setCurrentRank(3);
  pump();
  int shown = 0;
  for (const auto& stack : stacks) {
    EXPECT_EQ(stack[0].toInt(), 3);
    shown += stack[1].value<QList<values::StackFrame>>().isEmpty() ? 0 : 1;
  }
  EXPECT_EQ(shown, 1);
  EXPECT_EQ(session().currentRank(), 3);
  session().setCurrentRank(99);
  EXPECT_EQ(session().currentRank(), 3);
}

TEST_F(PartsTest, AValueThatIsChangedAltersTheCycleNotTheNextOne) {
  QSignalSpy altered(&session().inspector(), &Inspector::alteredChanged);
  stand({{"-stack-list-variables", R"(^done,variables=[{name="n",type="int",value="3"}])"},
         {"-data-evaluate-expression", R"(^done,value="5")"}});
  session().inspector().edit(QStringLiteral("v/n"), QStringLiteral("5"));
  pump();
  EXPECT_TRUE(session().inspector().isAltered());
  EXPECT_TRUE(said().contains(QLatin1String("This cycle is altered")));
  session().restartCycle();
  pump();
  EXPECT_FALSE(session().inspector().isAltered());
  EXPECT_EQ(altered.size(), 2);
}

TEST_F(PartsTest, RowsSayWhyThereAreNone) {
  QSignalSpy rows(&session().machine(), &MachineInspector::rowsArrived);
  session().machine().askRegisters();
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows.last()[3].toString(), QLatin1String("No replay runs."));
  stand(
      {{"-data-list-register-names", R"(^done,register-names=["rax"])"},
       {"-thread-info",
        R"(^done,threads=[{id="1",target-id="Thread 1",state="stopped",)"
        R"(frame={level="0",addr="0x1",func="main",file="m.c",line="4"}}],current-thread-id="1")"}});
  session().machine().askMemory({});
  EXPECT_TRUE(rows.last()[3].toString().contains(QLatin1String("An address")));
  session().machine().askThreads();
  pump();
  EXPECT_EQ(rows.last()[0].value<Look>(), Look::Threads);
  EXPECT_EQ(rows.last()[1].value<QList<QStringList>>().size(), 1);
}

// -- all ranks

TEST_F(PartsTest, StacksComeFromGdbsAndFromAgents) {
  session().debuggers().setFocus({0});
  session().replayTo({2, 40});
  pump();
  target().replies = {{"-stack-list-frames", test::kStack}};
  target().allGated();
  pump();
  target().comeToTheirStops();
  pump();
  QSignalSpy arrived(&session().stacks(), &AllStacks::arrived);
  session().stacks().ask();
  pump();
  const auto* ask = target().last<protocol::AskStack>();
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(ask->ranks, (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(arrived.size(), 0);
  for (const std::int32_t rank : ask->ranks) {
    protocol::RankStack stack;
    stack.rank = rank;
    stack.question = ask->question;
    stack.text = "it is asleep";
    Q_EMIT target().said(stack);
  }
  for (int i = 0; i < 500 && arrived.isEmpty(); ++i) {
    QTest::qWait(10);
  }
  ASSERT_EQ(arrived.size(), 1);
  const auto stacks = arrived.first()[0].value<QList<values::RankStack>>();
  ASSERT_EQ(stacks.size(), kRanks);
  EXPECT_TRUE(stacks[0].debugger);
  EXPECT_EQ(stacks[0].frames.first().function, QLatin1String("MPI_Recv"));
  EXPECT_EQ(stacks[1].note, QLatin1String("it is asleep"));
}

TEST_F(PartsTest, AnOldStackIsNoAnswerToANewQuestion) {
  session().debuggers().setFocus({});
  run({2, 40});
  QSignalSpy arrived(&session().stacks(), &AllStacks::arrived);
  session().stacks().ask();
  const protocol::AskStack asked = *target().last<protocol::AskStack>();
  for (const std::int32_t rank : asked.ranks) {
    protocol::RankStack stack;
    stack.rank = rank;
    stack.question = asked.question - 1;
    session().stacks().answered(stack);
  }
  for (int i = 0; i < 10; ++i) {
    QTest::qWait(10);
  }
  EXPECT_EQ(arrived.size(), 0);
}

TEST_F(PartsTest, AcrossSaysWhatEachRankHas) {
  stand({{"-data-evaluate-expression", R"(^done,value="5")", {}, 0},
         {"-data-evaluate-expression",
          R"(^error,msg="No symbol \"n\" in current context.")",
          {},
          1}});
  target().runs(2, 40);
  protocol::RankExited exited;
  exited.rank = 3;
  exited.text = "exited with 0";
  Q_EMIT target().said(exited);
  QSignalSpy arrived(&session().across(), &AcrossRanks::arrived);
  session().across().ask(QStringLiteral("n"));
  pump();
  ASSERT_FALSE(arrived.isEmpty());
  const auto values = arrived.last()[1].value<QList<values::RankValue>>();
  ASSERT_EQ(values.size(), kRanks);
  EXPECT_EQ(values[0].value, QLatin1String("5"));
  EXPECT_TRUE(values[1].error.contains(QLatin1String("No symbol")));
  EXPECT_EQ(values[3].error, QLatin1String("has ended"));
}

TEST_F(PartsTest, EqualAnswersOfConsolesAreShownOnce) {
  stand({{"print n", "^done", "$1 = 5"}, {"print n", "^done", "$1 = 6", 2}});
  QSignalSpy text(&session().consoles(), &GdbConsoles::consoleText);
  session().consoles().sendToAll({0, 1, 2, 3}, QStringLiteral("print n"), 1);
  pump();
  ASSERT_EQ(text.size(), 2);
  EXPECT_EQ(text[0][0].toInt(), 1);
  EXPECT_EQ(text[0][1].toString(), QLatin1String("[0-1, 3] 5\n"));
  EXPECT_EQ(text[1][1].toString(), QLatin1String("[2] 6\n"));
}

TEST_F(PartsTest, AConsoleWithoutGdbSaysSo) {
  run({2, 40});
  QSignalSpy text(&session().consoles(), &GdbConsoles::consoleText);
  session().consoles().send(3, QStringLiteral("bt"));
  ASSERT_EQ(text.size(), 1);
  EXPECT_TRUE(text[0][1].toString().contains(QLatin1String("Rank 3 has no debugger now")));
}

// -- groups

TEST_F(PartsTest, GroupsAreCleanAndComeBackWithTheTrace) {
  RankGroups& groups = session().groups();
  groups.add(QStringLiteral("  odd  ranks "), {3, 1, 99, 1});
  groups.add(QStringLiteral("all"), {0, 1, 2, 3});
  groups.add(QStringLiteral("all"), {0, 1});
  groups.add(QStringLiteral(" "), {0});
  EXPECT_TRUE(said().contains(QLatin1String("A group needs a name")));
  ASSERT_EQ(groups.all().size(), 2);
  EXPECT_EQ(groups.all()[0].name, QLatin1String("odd ranks"));
  EXPECT_EQ(groups.all()[0].ranks, (QList<int>{1, 3}));
  groups.remove(QStringLiteral("all"));
  views::RankArrangement rows;
  rows.hidden = {2};
  groups.setArrangement(rows);
  auto loaded = loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  session().open(m_trace, std::move(*loaded));
  ASSERT_EQ(groups.all().size(), 1);
  EXPECT_EQ(groups.all()[0].ranks, (QList<int>{1, 3}));
  EXPECT_EQ(groups.arrangement(), rows);
}

TEST_F(PartsTest, StragglersOfAnActionAreNamed) {
  stand();
  QSignalSpy told(&session().groupRun(), &GroupRun::changed);
  for (auto& [rank, text] : target().toGdb) {
    text.clear();
  }
  session().act(values::RankAction::Next, {0, 1}, QStringLiteral("pair"));
  pump();
  QTest::qWait(300);
  ASSERT_FALSE(told.isEmpty());
  EXPECT_TRUE(told.last()[0].toString().contains(QLatin1String("pair")));
  EXPECT_NE(target().toGdb[0].find("-exec-"), std::string::npos);
  EXPECT_EQ(target().toGdb[2].find("-exec-"), std::string::npos);
}

// -- breakpoints

TEST_F(PartsTest, BreakpointsAreGivenToEachGdbAndKept) {
  Breakpoints& breakpoints = session().breakpoints();
  breakpoints.toggle(QStringLiteral("/src/m.c"), 12);
  ASSERT_EQ(breakpoints.all().size(), 1);
  stand({{"-break-insert", R"(^done,bkpt={number="2",line="12",fullname="/src/m.c"})"}});
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_NE(target().toGdb[rank].find("-break-insert"), std::string::npos);
  }
  EXPECT_EQ(breakpoints.all().first().state, values::BreakpointState::Set);
  breakpoints.toggle(QStringLiteral("/src/m.c"), 12);
  EXPECT_TRUE(breakpoints.all().isEmpty());
  pump();
  EXPECT_NE(target().toGdb[0].find("-break-delete"), std::string::npos);
}

TEST_F(PartsTest, ALogicalBreakpointNeedsNoGdbAndSaysWhereItIs) {
  Breakpoints& breakpoints = session().breakpoints();
  breakpoints.breakAt({3, 15});
  EXPECT_EQ(breakpoints.all().first().state, values::BreakpointState::Set);
  EXPECT_EQ(breakpoints.all().first().note, QLatin1String("rank 3, event 15"));
  EXPECT_EQ(breakpoints.nextStopOf(3, 0), 15U);
  EXPECT_EQ(breakpoints.nextStopOf(3, 15), 0U);
  EXPECT_EQ(breakpoints.nextStopOf(2, 0), 0U);
  EXPECT_EQ(breakpoints.before({3, 15}), QList<int>{breakpoints.all().first().id});
  values::Breakpoint wrong;
  wrong.kind = values::BreakpointKind::Logical;
  wrong.expression = QStringLiteral("event 99:1");
  breakpoints.add(wrong);
  EXPECT_EQ(breakpoints.all().last().state, values::BreakpointState::Failed);
}

TEST_F(PartsTest, ATemporaryBreakpointIsOffOnceItIsHit) {
  values::Breakpoint once;
  once.kind = values::BreakpointKind::Logical;
  once.expression = QStringLiteral("event 3:15");
  once.temporary = true;
  session().breakpoints().add(once);
  session().restartCycle();
  pump();
  target().allGated();
  pump();
  target().comeToTheirStops();
  pump();
  const values::Breakpoint& hit = session().breakpoints().all().first();
  EXPECT_FALSE(hit.enabled);
  EXPECT_EQ(hit.note, QLatin1String("hit in cycle 1"));
  ASSERT_EQ(hit.hits.size(), 1);
}

TEST_F(PartsTest, PassingBreakpointsAreOfThisSessionOnly) {
  session().breakpoints().breakAt({3, 15});
  session().breakpoints().setAside();
  EXPECT_TRUE(session().breakpoints().all().isEmpty());
  values::Breakpoint passing;
  passing.function = QStringLiteral("main");
  const int id = session().breakpoints().addTransient(passing);
  EXPECT_LT(id, 0);
  EXPECT_LT(session().breakpoints().addTransient(passing), id);
  auto loaded = loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  session().open(m_trace, std::move(*loaded));
  ASSERT_EQ(session().breakpoints().all().size(), 1);
  EXPECT_EQ(session().breakpoints().all().first().expression, QLatin1String("event 3:15"));
}

TEST_F(PartsTest, ABreakpointThatStopsOthersPausesThem) {
  values::Breakpoint all;
  all.function = QStringLiteral("collect");
  all.stops = values::StopsWho::All;
  session().breakpoints().add(all);
  stand({{"-break-insert", R"(^done,bkpt={number="2",line="12",fullname="/src/m.c"})"}});
  session().act(values::RankAction::Continue, {0, 1, 2, 3});
  pump();
  Q_EMIT target().said(protocol::MiFromGdb{1,
                                           "*stopped,reason=\"breakpoint-hit\",bkptno=\"2\",frame={"
                                           "addr=\"0x2\",func=\"collect\",args=[],"
                                           "file=\"m.c\",line=\"12\"},thread-id=\"1\"\n"});
  pump();
  EXPECT_EQ(session().currentRank(), 1);
  EXPECT_EQ(session().cycles().last().hits, 1);
  EXPECT_NE(target().toGdb[0].find("-exec-interrupt"), std::string::npos);
}

}  // namespace
}  // namespace pf::session
