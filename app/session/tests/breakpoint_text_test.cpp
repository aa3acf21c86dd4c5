// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints as they are typed, as the trace keeps them, and as their lines are found again.
#include "app/session/records/breakpoint_text.h"

#include <utime.h>

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "app/session/records/line_text.h"

namespace pf::session {
namespace {

using values::BreakpointKind;

struct Typed {
  const char* text;
  BreakpointKind kind;
  const char* expression;  ///< of Code: its function
};

TEST(BreakpointText, EachFormIsWhatItSaysAndIsWrittenAsItWasTyped) {
  for (const Typed& typed :
       {Typed{"serve", BreakpointKind::Code, "serve"},
        Typed{"grid::Cell<int>::update(double, int)", BreakpointKind::Code,
              "grid::Cell<int>::update(double, int)"},
        Typed{"*0x4005d0", BreakpointKind::Address, "0x4005d0"},
        Typed{"watch state[3]", BreakpointKind::Watch, "state[3]"},
        Typed{"rwatch a + b", BreakpointKind::ReadWatch, "a + b"},
        Typed{"awatch *p", BreakpointKind::AccessWatch, "*p"},
        Typed{"catch throw", BreakpointKind::Catch, "throw"},
        Typed{"catch signal SIGUSR1", BreakpointKind::Catch, "signal SIGUSR1"},
        Typed{"catch mpi error", BreakpointKind::Catch, "mpi error"},
        Typed{"event 3:15", BreakpointKind::Logical, "event 3:15"},
        Typed{"receive 2#4", BreakpointKind::Logical, "receive 2#4"},
        Typed{"message from 1 to 2 tag 7", BreakpointKind::Logical, "message from 1 to 2 tag 7"},
        Typed{"divergence", BreakpointKind::Logical, "divergence"}}) {
    const auto breakpoint = parseBreakpoint(QLatin1String(typed.text));
    ASSERT_TRUE(breakpoint.ok()) << typed.text;
    EXPECT_EQ(breakpoint->kind, typed.kind) << typed.text;
    const bool code = typed.kind == BreakpointKind::Code;
    EXPECT_EQ(code ? breakpoint->function : breakpoint->expression,
              QLatin1String(typed.expression));
    EXPECT_EQ(breakpointText(*breakpoint), QLatin1String(typed.text));
  }
}

/// It has begun where a replay can stop first.
TEST(BreakpointText, MainIsAMomentOfTheRun) {
  const auto breakpoint = parseBreakpoint(QStringLiteral(" main "));
  ASSERT_TRUE(breakpoint.ok());
  EXPECT_EQ(breakpoint->kind, BreakpointKind::Logical);
  EXPECT_EQ(breakpointText(*breakpoint), QLatin1String("start of main"));
}

TEST(BreakpointText, ALineIsTheLastNumberOfItsFile) {
  const auto breakpoint = parseBreakpoint(QStringLiteral("  /a b/x:y.c:88 "));
  ASSERT_TRUE(breakpoint.ok());
  EXPECT_EQ(breakpoint->file, QLatin1String("/a b/x:y.c"));
  EXPECT_EQ(breakpoint->line, 88);
  EXPECT_EQ(breakpointText(*breakpoint), QLatin1String("/a b/x:y.c:88"));
}

TEST(BreakpointText, TheNthHitPassesOverThoseBefore) {
  const auto line = parseBreakpoint(QStringLiteral("hit 3 of  m.c:12"));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->ignoreCount, 2);
  EXPECT_EQ(line->line, 12);
  const auto first = parseBreakpoint(QStringLiteral("hit 1 of watch n"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->ignoreCount, 0);
  EXPECT_EQ(first->expression, QLatin1String("n"));
}

TEST(BreakpointText, WhatNamesNoPlaceIsRefusedWithTheForms) {
  for (const char* typed : {"", "  ", "*", "m.c:0", ":12", "two words", "hit 0 of main", "3main",
                            "catch fish", "catch signal sigint", "run; shell"}) {
    const auto breakpoint = parseBreakpoint(QLatin1String(typed));
    ASSERT_FALSE(breakpoint.ok()) << typed;
    EXPECT_EQ(breakpoint.error().code, ErrorCode::Usage) << typed;
    EXPECT_NE(breakpoint.error().text().find("FILE:LINE"), std::string::npos) << typed;
  }
  const auto logical = parseBreakpoint(QStringLiteral("receive 2"));
  ASSERT_FALSE(logical.ok());
  EXPECT_EQ(logical.error().code, ErrorCode::Usage);
}

TEST(BreakpointText, ARowHoldsAllThatWasSet) {
  for (const char* typed : {"m.c:12", "serve", "*0x10", "watch n", "rwatch n", "awatch n",
                            "catch throw", "event 1:2"}) {
    values::Breakpoint set = *parseBreakpoint(QLatin1String(typed));
    set.id = 7;
    set.enabled = false;
    set.condition = QStringLiteral("größe > 3");
    set.ignoreCount = 4;
    set.ranks = QStringLiteral("0, 2-4");
    set.temporary = true;
    set.commands = QStringList{QStringLiteral("print n"), QStringLiteral("bt")};
    set.log = QStringLiteral("n is {n}");
    set.lineText = QStringLiteral("n = 3;");
    set.stops = values::StopsWho::Group;
    set.group = QStringLiteral("1, 3");
    EXPECT_EQ(fromRow(toRow(set)), set) << typed;
  }
}

TEST(BreakpointText, ARowOfAnotherVersionIsAPlaceInTheSource) {
  db::Breakpoint row;
  row.kind = "of a later version";
  row.file = "m.c";
  row.line = 3;
  row.stops = "nobody";
  const values::Breakpoint read = fromRow(row);
  EXPECT_EQ(read.kind, BreakpointKind::Code);
  EXPECT_EQ(read.stops, values::StopsWho::Alone);
  EXPECT_TRUE(read.ranks.isEmpty());
}

TEST(BreakpointText, NoGdbIsGivenWhatLeavesTheProgram) {
  values::Breakpoint breakpoint = *parseBreakpoint(QStringLiteral("m.c:12"));
  breakpoint.condition = QStringLiteral("n > 3");
  EXPECT_TRUE(mayBeGiven(breakpoint).ok());
  for (QString values::Breakpoint::*field :
       {&values::Breakpoint::condition, &values::Breakpoint::log, &values::Breakpoint::function}) {
    values::Breakpoint changed = breakpoint;
    changed.*field = QStringLiteral("$_shell(\"touch x\")");
    EXPECT_FALSE(mayBeGiven(changed).ok());
  }
  breakpoint.commands = QStringList{QStringLiteral("print n"), QStringLiteral("shell rm x")};
  EXPECT_FALSE(mayBeGiven(breakpoint).ok());
}

// -- its line, in a source that was changed

TEST(LineText, TheNearestLineWithTheSameWordsIsIt) {
  const QStringList lines{QStringLiteral("{"), QStringLiteral("  n = 3;"),  QStringLiteral("}"),
                          QStringLiteral("{"), QStringLiteral("\tn = 3; "), QStringLiteral("}")};
  EXPECT_EQ(findLine(lines, 2, QStringLiteral("n = 3;")), 2);
  EXPECT_EQ(findLine(lines, 4, QStringLiteral("n = 3;")), 5);
  EXPECT_EQ(findLine(lines, 99, QStringLiteral(" n = 3; ")), 5);
  EXPECT_EQ(findLine(lines, 1, QStringLiteral("n = 4;")), 0);
  EXPECT_EQ(findLine(lines, 1, QStringLiteral("  ")), 0);
  EXPECT_EQ(findLine({}, 1, QStringLiteral("{")), 0);
}

class SourceNoticeTest : public testing::Test {
 protected:
  QString make(const char* name, std::time_t changed) {
    const QString path = m_directory.filePath(QLatin1String(name));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("int main;\nint n;\n");
    file.close();
    const utimbuf times{changed, changed};
    EXPECT_EQ(utime(qPrintable(path), &times), 0);
    return path;
  }

  QTemporaryDir m_directory;
};

TEST_F(SourceNoticeTest, ASourceThatIsNewerThanTheProgramIsSpokenOf) {
  const QString source = make("m.c", 2000);
  make("program", 1000);
  EXPECT_TRUE(sourceNotice(source, QStringLiteral("program"), m_directory.path())
                  .startsWith(QLatin1String("m.c is newer than the program")));
  make("program", 3000);
  EXPECT_TRUE(sourceNotice(source, QStringLiteral("program"), m_directory.path()).isEmpty());
}

TEST_F(SourceNoticeTest, WhatIsNotBuiltIsNotSpokenOf) {
  const QString script = make("m.py", 2000);
  const QString source = make("m.c", 2000);
  make("program", 1000);
  EXPECT_TRUE(sourceNotice(script, QStringLiteral("program"), m_directory.path()).isEmpty());
  EXPECT_TRUE(sourceNotice({}, QStringLiteral("program"), m_directory.path()).isEmpty());
  EXPECT_TRUE(sourceNotice(source, QStringLiteral("gone"), m_directory.path()).isEmpty());
  EXPECT_TRUE(sourceNotice(m_directory.filePath(QStringLiteral("gone.c")),
                           QStringLiteral("program"), m_directory.path())
                  .isEmpty());
}

TEST_F(SourceNoticeTest, LinesAreThoseOfTheFileAndNoneOfAMissingOne) {
  EXPECT_EQ(linesOf(make("m.c", 1)).value(1), QLatin1String("int n;"));
  EXPECT_TRUE(linesOf(m_directory.filePath(QStringLiteral("gone.c"))).isEmpty());
  EXPECT_TRUE(linesOf(m_directory.path()).isEmpty());
}

}  // namespace
}  // namespace pf::session
