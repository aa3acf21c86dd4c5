// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints across cycles, ranks and GDBs that disagree.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "app/session/tests/session_fixture.h"

namespace pf::session {
namespace {

using test::kMade;
using test::kRanks;

class BreakpointsTest : public test::SessionFixture {
 protected:
  Breakpoints& breakpoints() { return session().breakpoints(); }
  values::Breakpoint& first() { return *breakpoints().find(breakpoints().all().first().id); }
  void addLine(const QString& file, int line, const QString& ranks = {}) {
    values::Breakpoint breakpoint;
    breakpoint.file = file;
    breakpoint.line = line;
    breakpoint.ranks = ranks;
    breakpoints().add(breakpoint);
  }
  void addLogical(const char* expression, const char* ranks = "") {
    values::Breakpoint breakpoint;
    breakpoint.kind = values::BreakpointKind::Logical;
    breakpoint.expression = QLatin1String(expression);
    breakpoint.ranks = QLatin1String(ranks);
    breakpoints().add(breakpoint);
  }
  QString write(const QByteArray& text) {
    const QString path = m_own.filePath(QStringLiteral("m.c"));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
    return path;
  }
};

// -- whose they are

TEST_F(BreakpointsTest, ABreakpointOfFewRanksBringsTheirGdbs) {
  session().debuggers().setFocus({0});
  addLine(QStringLiteral("/src/m.c"), 12, QStringLiteral("2"));
  addLogical("event 3:15");
  session().restartCycle();
  gate({{"-break-insert", kMade}});
  QList<int> focus = session().debuggers().focus();
  std::sort(focus.begin(), focus.end());
  EXPECT_EQ(focus, (QList<int>{0, 2, 3}));
  EXPECT_TRUE(target().wasTold(2, "-break-insert"));
  EXPECT_FALSE(target().wasTold(0, "-break-insert"));
}

TEST_F(BreakpointsTest, OneOfManyEventsOrOneThatIsOffBringsNone) {
  session().debuggers().setFocus({});
  addLogical("event 3:15");
  first().enabled = false;
  values::Breakpoint passing;
  passing.ranks = QStringLiteral("1");
  passing.function = QStringLiteral("collect");
  breakpoints().addTransient(passing);
  EXPECT_TRUE(breakpoints().ownRanks().isEmpty());
}

TEST_F(BreakpointsTest, EventsOfOtherRanksAreLeftOut) {
  addLogical("any receive", "2");
  ASSERT_FALSE(first().events.isEmpty());
  for (const EventRef& event : first().events) {
    ASSERT_EQ(event.rank, 2);
  }
  addLogical("event 1:5", "2");
  EXPECT_EQ(breakpoints().all().last().state, values::BreakpointState::Failed);
  EXPECT_EQ(breakpoints().all().last().note,
            QLatin1String("there is no such event in the recording"));
}

TEST_F(BreakpointsTest, TheNearestOfSeveralStopsARank) {
  addLogical("event 3:30");
  addLogical("event 3:15");
  addLogical("event 3:10");

  breakpoints().find(breakpoints().all().last().id)->enabled = false;
  EXPECT_EQ(breakpoints().nextStopOf(3, 0), 15U);
  EXPECT_EQ(breakpoints().nextStopOf(3, 15), 30U);
  EXPECT_EQ(breakpoints().nextStopOf(3, 30), 0U);
  EXPECT_EQ(breakpoints().pendingStops().size(), 2U);
  EXPECT_TRUE(breakpoints().before({3, 10}).isEmpty());
}

// -- what GDBs make of them

TEST_F(BreakpointsTest, OneThatNoGdbCanSetSaysWhy) {
  addLine(QStringLiteral("/src/m.c"), 99);
  stand({{"-break-insert", R"(^error,msg="No line 99 in file \"m.c\".")"}});
  EXPECT_EQ(first().state, values::BreakpointState::Failed);
  EXPECT_EQ(first().note, QLatin1String("No line 99 in file \"m.c\"."));
}

TEST_F(BreakpointsTest, OneWhoseCodeIsNotKnownYetSaysSoUntilItIs) {
  addLine(QStringLiteral("/src/later.c"), 3);
  stand({{"-break-insert", R"(^done,bkpt={number="2",pending="later.c:3"})"}});
  EXPECT_EQ(first().state, values::BreakpointState::Failed);
  EXPECT_EQ(first().note, QLatin1String("no code is known for it yet"));
  target().gdbSays(1, R"(=breakpoint-modified,bkpt={number="2",line="3",fullname="/src/later.c"})");
  EXPECT_EQ(first().state, values::BreakpointState::Set);
}

TEST_F(BreakpointsTest, ChangesGoToTheGdbsThatHaveIt) {
  addLine(QStringLiteral("/src/m.c"), 12);
  stand({{"-break-insert", kMade}});
  target().forgetOrders();
  values::Breakpoint changed = first();
  changed.condition = QStringLiteral("n > 3");
  changed.ignoreCount = 2;
  breakpoints().change(changed);
  pump();
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(target().wasTold(rank, "condition 2 n > 3")) << target().toGdb[rank];
    EXPECT_TRUE(target().wasTold(rank, "-break-after 2 2"));
    EXPECT_FALSE(target().wasTold(rank, "-break-insert"));
  }
  changed.enabled = false;
  breakpoints().change(changed);
  pump();
  EXPECT_TRUE(target().wasTold(0, "-break-disable 2"));
}

TEST_F(BreakpointsTest, AnotherPlaceIsAnotherBreakpointOfGdb) {
  addLine(QStringLiteral("/src/m.c"), 12);
  stand({{"-break-insert", kMade}});
  target().forgetOrders();
  values::Breakpoint moved = first();
  moved.line = 14;
  breakpoints().change(moved);
  pump();
  EXPECT_TRUE(target().wasTold(3, "-break-delete 2"));
  EXPECT_TRUE(target().wasTold(3, "--line 14"));
}

TEST_F(BreakpointsTest, ChangesAreInTheTrace) {
  addLine(QStringLiteral("/src/m.c"), 12);
  addLogical("event 3:15");
  values::Breakpoint changed = first();
  changed.condition = QStringLiteral("n > 3");
  breakpoints().change(changed);
  breakpoints().remove({breakpoints().all().last().id});
  values::Breakpoint unknown;
  unknown.id = 99;
  breakpoints().change(unknown);
  reopen();
  ASSERT_EQ(breakpoints().all().size(), 1);
  EXPECT_EQ(first().condition, QLatin1String("n > 3"));
}

TEST_F(BreakpointsTest, OneThatIsDeletedInAConsoleIsThereInTheNextCycleAgain) {
  addLine(QStringLiteral("/src/m.c"), 12);
  stand({{"-break-insert", kMade}});
  target().gdbSays(1, R"(=breakpoint-deleted,id="2")");
  EXPECT_EQ(first().state, values::BreakpointState::Failed);
  EXPECT_EQ(first().note, QLatin1String("deleted in GDB's console"));
  session().restartCycle();
  gate({{"-break-insert", kMade}});
  EXPECT_TRUE(target().wasTold(1, "-break-insert"));
  EXPECT_EQ(first().state, values::BreakpointState::Set);
}

TEST_F(BreakpointsTest, AGdbsOwnBreakpointIsSaidNotToComeBack) {
  stand();
  QSignalSpy console(&session(), &DebugSession::consoleText);
  target().gdbSays(2, R"(=breakpoint-created,bkpt={number="9",line="3"})");
  ASSERT_EQ(console.size(), 1);
  EXPECT_EQ(console[0][0].toInt(), 2);
  EXPECT_TRUE(console[0][1].toString().contains(QLatin1String("breakpoint 9 is this GDB's own")));
}

TEST_F(BreakpointsTest, ALogpointWritesAndDoesNotStop) {
  values::Breakpoint logpoint;
  logpoint.function = QStringLiteral("collect");
  logpoint.log = QStringLiteral("n is {n}");
  breakpoints().add(logpoint);
  session().debuggers().setFocus({1});
  session().replayTo({2, 40});
  pump();
  target().hears = [this](int rank, const std::string& command) {
    if (command.find("n is") != std::string::npos) {
      target().gdbSays(rank, R"(=breakpoint-created,bkpt={number="2",line="12"})");
    }
  };
  gate();
  qRegisterMetaType<values::LogEntry>();
  QSignalSpy logged(&session(), &DebugSession::logged);
  target().gdbSays(1, R"(~"@pf-log 1 23 n is 5\n")");
  ASSERT_EQ(logged.size(), 1);
  const auto entry = logged[0][0].value<values::LogEntry>();
  EXPECT_EQ(entry.rank, 1);
  EXPECT_EQ(entry.serial, 23U);
  EXPECT_EQ(entry.text, QLatin1String("n is 5"));
  EXPECT_EQ(entry.breakpoint, first().id);
  target().gdbSays(1, R"(~"@pf-log 77 23 of no breakpoint\n")");
  EXPECT_EQ(logged.size(), 1);
  EXPECT_EQ(session().cycles().last().hits, 0);
}

// -- who stops with a rank

TEST_F(BreakpointsTest, AGroupIsStoppedByGdbOrAtItsNextEvent) {
  values::Breakpoint group;
  group.function = QStringLiteral("collect");
  group.stops = values::StopsWho::Group;
  group.group = QStringLiteral("0, 2");
  breakpoints().add(group);
  session().debuggers().setFocus({0, 1});
  session().restartCycle();
  gate({{"-break-insert", kMade}});
  target().runs(2, 30);
  target().runs(3, 30);
  target().forgetOrders();
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  pump();
  EXPECT_TRUE(target().wasTold(0, "-exec-interrupt"));
  const auto* stop = target().last<protocol::SetStop>();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->rank, 2);
  EXPECT_EQ(stop->serial, 31U);
}

TEST_F(BreakpointsTest, OneThatIsSetWhileRanksAreOnTheirWayIsPlanned) {
  session().restartCycle();
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 0U);
  target().runs(3, 10);
  breakpoints().breakAt({3, 15});
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 15U);
  breakpoints().remove({first().id});
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 0U);
}

// -- in the diagram

TEST_F(BreakpointsTest, BookmarksAndLogicalBreakpointsAreMarked) {
  std::vector<values::EventMark> marks;
  QObject::connect(&session(), &DebugSession::marksChanged,
                   [&marks](const std::vector<values::EventMark>& now) { marks = now; });
  session().bookmarks().add({1, 5}, QStringLiteral("here"));
  addLogical("event 3:15");
  addLine(QStringLiteral("/src/m.c"), 12);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].kind, values::MarkKind::Bookmark);
  EXPECT_EQ(marks[1].event, (EventRef{3, 15}));
  EXPECT_TRUE(marks[1].text.contains(QLatin1String("event 3:15")));
  values::Breakpoint off = first();
  off.enabled = false;
  breakpoints().change(off);
  EXPECT_EQ(marks.size(), 1U);
}

// -- a source that was changed since

TEST_F(BreakpointsTest, ALineIsFoundAgainByItsText) {
  const QString source = write("int f() {\n  n = 3;\n}\n");
  addLine(source, 2);
  EXPECT_EQ(first().lineText, QLatin1String("n = 3;"));
  write("// new\nint f() {\n\n  n = 3;\n}\n");
  session().restartCycle();
  EXPECT_EQ(first().line, 4);
  EXPECT_TRUE(wasSaid("has moved with its text from line 2 of m.c to line 4"));
  pump();
  reopen();
  EXPECT_EQ(first().line, 4);
}

TEST_F(BreakpointsTest, ALineThatIsGoneStaysWhereItWasAndIsToldOf) {
  const QString source = write("int f() {\n  n = 3;\n}\n");
  addLine(source, 2);
  write("int f() {\n  n = 4;\n}\n");
  session().restartCycle();
  EXPECT_EQ(first().line, 2);
  EXPECT_TRUE(m_problems.join(QLatin1Char('\n')).contains(QLatin1String("it stays at line 2")));
}

TEST_F(BreakpointsTest, AFileThatCannotBeReadMovesNothing) {
  const QString source = write("int f() {\n  n = 3;\n}\n");
  addLine(source, 2);
  ASSERT_TRUE(QFile::remove(source));
  session().restartCycle();
  EXPECT_EQ(first().line, 2);
  EXPECT_TRUE(m_problems.isEmpty()) << said().toStdString();
}

}  // namespace
}  // namespace pf::session
