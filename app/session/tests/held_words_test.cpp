// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints and watches of a trace that this user has not set: listed, and off.
#include <stdlib.h>

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTemporaryDir>

#include "app/session/debug_session.h"
#include "app/traces/own_traces.h"
#include "db/tests/sample.h"

namespace pf::session {
namespace {

class HeldWordsTest : public testing::Test {
 protected:
  HeldWordsTest() {
    setenv("XDG_STATE_HOME", qPrintable(m_state.path()), 1);
    db::Content content = db::smallContent();
    content.breakpoints.clear();
    content.watches.clear();
    content.cycles.clear();
    content.stops.clear();
    content.hits.clear();
    content.notes.clear();
    (void)db::writeContent(m_trace, content);  // but its session tables: it is nobody's yet
    EXPECT_TRUE(app::takeOver(m_trace));
  }
  /// As another program does that changes the file.
  template <typename T>
  void put(const T& value) {
    Result<db::TraceStore> store = db::TraceStore::open(m_trace, db::TraceStore::Mode::ReadWrite);
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->session().add(value));
  }
  void open(DebugSession& session) {
    const QString path = QString::fromStdString(m_trace);
    QObject::connect(&session.watches(), &Watches::changed, &session,
                     [this](const QStringList& watches) { m_watches = watches; });
    Result<LoadedTrace> loaded = loadTrace(path);
    ASSERT_TRUE(loaded);
    session.open(path, std::move(*loaded));
  }
  static db::Breakpoint breakpoint(std::vector<std::string> commands) {
    db::Breakpoint row;
    row.kind = "line";
    row.file = "a.c";
    row.line = 3;
    row.commands = std::move(commands);
    return row;
  }

  QStringList m_watches;
  QTemporaryDir m_state;
  db::Directory m_directory;
  std::string m_trace = m_directory.file("t.pft");
};

TEST_F(HeldWordsTest, AreListedAndOffUntilTheyAreEnabled) {
  put(breakpoint({}));
  put(breakpoint({"print held"}));
  put(db::Watch{0, "held(1)"});
  {
    DebugSession session;
    open(session);
    ASSERT_EQ(session.breakpoints().all().size(), 2);
    EXPECT_TRUE(session.breakpoints().all()[0].enabled) << "it says nothing to a debugger";
    values::Breakpoint held = session.breakpoints().all()[1];
    EXPECT_FALSE(held.enabled);
    EXPECT_EQ(held.commands, QStringList{QStringLiteral("print held")});
    EXPECT_TRUE(held.note.contains(QStringLiteral("not yours"))) << qPrintable(held.note);
    EXPECT_TRUE(m_watches.isEmpty());
    held.enabled = true;
    session.breakpoints().change(held);
    session.watches().set({QStringLiteral("held(1)")});
  }
  DebugSession again;
  open(again);
  EXPECT_TRUE(again.breakpoints().all()[1].enabled);
  EXPECT_EQ(m_watches, QStringList{QStringLiteral("held(1)")});
}

TEST_F(HeldWordsTest, OwnOnesComeBackAsTheyWere) {
  {
    DebugSession session;
    open(session);
    values::Breakpoint set;
    set.file = QStringLiteral("a.c");
    set.line = 3;
    set.condition = QStringLiteral("own == 3");
    session.breakpoints().add(set);
  }
  DebugSession again;
  open(again);
  ASSERT_EQ(again.breakpoints().all().size(), 1);
  EXPECT_TRUE(again.breakpoints().all()[0].enabled);
}

TEST_F(HeldWordsTest, WhatLeavesTheProgramIsNotSetWhoeverWroteIt) {
  DebugSession session;
  open(session);
  values::Breakpoint shell;
  shell.file = QStringLiteral("a.c");
  shell.line = 3;
  shell.commands = QStringList{QStringLiteral("silent"), QStringLiteral("shell touch mark")};
  session.breakpoints().add(shell);
  ASSERT_EQ(session.breakpoints().all().size(), 1);
  EXPECT_EQ(session.breakpoints().all()[0].state, values::BreakpointState::Failed);
  EXPECT_TRUE(session.breakpoints().all()[0].note.contains(QStringLiteral("shell touch mark")));
}

}  // namespace
}  // namespace pf::session

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const QCoreApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
