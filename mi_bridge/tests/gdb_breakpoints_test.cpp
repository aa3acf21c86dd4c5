// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/gdb_breakpoints.h"

#include <gtest/gtest.h>

#include "mi_bridge/tests/support/fakes.h"

namespace pf::mi::test {
namespace {

TEST(Breakpoints, CommandText) {
  BreakpointRequest request;
  request.source = "a \"b\".c";
  request.line = 4;
  request.condition = "i == 1";
  request.ignoreCount = 2;
  request.temporary = true;
  request.enabled = false;
  EXPECT_EQ(*insertCommand(request),
            R"(-break-insert -f -t -d -c "i == 1" -i 2 --source "a \"b\".c" --line 4)");
  BreakpointRequest function;
  function.function = "ns::f(int)";
  EXPECT_EQ(*insertCommand(function), R"mi(-break-insert -f --function "ns::f(int)")mi");
  BreakpointRequest address;
  address.address = 0x55aa;
  EXPECT_EQ(*insertCommand(address), "-break-insert -f *0x55aa");
  EXPECT_FALSE(insertCommand({}).ok());
  request.source = "a\nshell touch x";
  EXPECT_FALSE(insertCommand(request).ok());
}

class BreakpointsTest : public ::testing::Test {
 protected:
  BreakpointsTest() {
    gdb.attached();
    gdb.observer.log.clear();
  }
  void insert() {
    BreakpointRequest request;
    request.function = "f";
    gdb.session.breakpoints().insert(request, [this](const Result<Breakpoint>& bp) {
      status = bp ? Status() : Status(bp.error());
    });
  }
  FakeSession gdb;
  Status status;
};

TEST_F(BreakpointsTest, TableFollowsRepliesAndNotifications) {
  insert();
  gdb.answer("-break-insert", R"(^done,bkpt={number="1",enabled="y",times="0"})");
  ASSERT_NE(gdb.session.breakpoints().find(1), nullptr);
  gdb.line(R"(=breakpoint-modified,bkpt={number="1",enabled="y",times="3"})");
  EXPECT_EQ(gdb.session.breakpoints().find(1)->hits, 3);
  gdb.session.breakpoints().enable(1, false, {});
  gdb.answer("-break-disable 1", "^done");
  EXPECT_FALSE(gdb.session.breakpoints().find(1)->enabled);
  gdb.session.breakpoints().setCondition(1, "i==2", {});
  gdb.answer("condition 1 i==2", "^error,msg=\"No symbol\"");
  EXPECT_EQ(gdb.session.breakpoints().find(1)->condition, "");
  gdb.session.breakpoints().setIgnoreCount(1, 4, {});
  gdb.answer("-break-after 1 4", "^done");
  EXPECT_EQ(gdb.session.breakpoints().find(1)->ignoreCount, 4);
  gdb.line(R"(=breakpoint-deleted,id="1")");
  EXPECT_TRUE(gdb.session.breakpoints().table().empty());
  EXPECT_EQ(gdb.observer.log, (std::vector<std::string>{"created 1", "modified 1", "modified 1",
                                                        "modified 1", "deleted 1"}));
}

class PythonBreakpointsTest : public BreakpointsTest {
 protected:
  void insertPython(int line, const std::string& condition = {}) {
    BreakpointRequest request;
    request.source = "/src/a.py";
    request.line = line;
    request.condition = condition;
    gdb.session.breakpoints().insert(request, [this](const Result<Breakpoint>& bp) {
      status = bp ? Status() : Status(bp.error());
    });
  }
  /// The rank has what it tells of lines by at 65536.
  void found(const char* words = "00000000000000000100000000000000") {
    gdb.answer("-data-read-memory-bytes &pf_python 16",
               std::string(R"(^done,memory=[{begin="0x10000",contents=")") + words + "\"}]");
  }
  static std::string written(int offset, const std::string& digits) {
    return "-data-write-memory-bytes " + std::to_string(65536 + offset) + " " + digits;
  }
  void answerAll() {
    for (std::size_t i = 0; i < gdb.sent.size(); ++i) {
      gdb.line(gdb.sent[i].substr(0, gdb.sent[i].find('-')) + "^done");
    }
  }
  void told(const char* answer = "^done") {
    gdb.answer(written(288, "2f7372632f612e707900"), answer);
    gdb.answer(written(288 + 1016, ""), answer);
    gdb.answer(written(32, "12000000"), answer);
    gdb.answer(written(16, "01000000"), answer);
  }
};

TEST_F(PythonBreakpointsTest, TheRankIsToldAndGdbStopsWhereItTells) {
  insertPython(18, "i > 1");
  found();
  gdb.answer(written(16, std::string(2 * 272, '0')), "^done");  // whoever was there before
  EXPECT_TRUE(gdb.wasSent(written(288 + 1016, "69203e203100")));
  told();
  gdb.answer(
      R"(-break-insert -f -c "(*(unsigned long*)65536 >> 0) & 1" --function "pf_python_line")",
      R"(^done,bkpt={number="4",func="pf_python_line",file="python_lines.cpp",line="20",cond="x"})");
  EXPECT_TRUE(status.ok());
  const Breakpoint* const made = gdb.session.breakpoints().find(4);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->fullname + ":" + std::to_string(made->line) + " " + made->condition,
            "/src/a.py:18 i > 1");
  gdb.line(R"(=breakpoint-modified,bkpt={number="4",func="pf_python_line",line="20",times="2"})");
  EXPECT_EQ(gdb.session.breakpoints().find(4)->line, 18);
  EXPECT_EQ(gdb.session.breakpoints().find(4)->hits, 2);
  gdb.sent.clear();
  gdb.session.breakpoints().enable(4, false, {});
  answerAll();
  EXPECT_TRUE(gdb.wasSent(written(32, "00000000"))) << "it costs nothing while it is off";
  EXPECT_TRUE(gdb.wasSent(written(16, "00000000")));
  EXPECT_TRUE(gdb.wasSent("-break-disable 4"));
  gdb.sent.clear();
  gdb.session.breakpoints().enable(4, true, {});
  answerAll();
  EXPECT_TRUE(gdb.wasSent(written(32, "12000000")));
  EXPECT_TRUE(gdb.wasSent(written(16, "01000000")));
  gdb.sent.clear();
  gdb.session.breakpoints().remove(4, {});
  answerAll();
  EXPECT_TRUE(gdb.wasSent("-break-delete 4"));
  EXPECT_TRUE(gdb.wasSent(written(32, "00000000"))) << "the line is none any more";
  EXPECT_TRUE(gdb.wasSent(written(16, "00000000"))) << "and no other is wanted";
}

TEST_F(PythonBreakpointsTest, ARankThatDoesNotListenHasNoBreakpoint) {
  insertPython(18);
  found("00000000000000000000000000000000");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().advice.find("one of a replay"), std::string::npos);
  insertPython(18);
  gdb.answer("&pf_python 16", R"(^error,msg="No symbol \"pf_python\" in current context.")");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("No symbol \"pf_python\""), std::string::npos);
  EXPECT_FALSE(gdb.wasSent("-break-insert"));
  EXPECT_FALSE(gdb.wasSent("-data-write"));
}

TEST_F(PythonBreakpointsTest, WhatCouldNotBeToldIsTakenBack) {
  insertPython(18);
  found();
  gdb.answer(written(16, std::string(2 * 272, '0')), "^done");
  told("^error,msg=\"no\"");
  gdb.answer("-break-insert", R"(^done,bkpt={number="4",func="pf_python_line"})");
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(gdb.wasSent("-break-delete 4"));
  EXPECT_TRUE(gdb.wasSent(written(32, "00000000")));
  EXPECT_TRUE(gdb.session.breakpoints().table().empty());
}

TEST_F(PythonBreakpointsTest, ThereAreSixtyThreeAndPathsHaveALength) {
  PythonLines full;
  for (std::size_t slot = 0; slot < 63; ++slot) {
    EXPECT_EQ(*full.take({"a.py", 1, {}}), slot);
  }
  const auto another = full.take({"a.py", 64, {}});
  ASSERT_FALSE(another.ok());
  EXPECT_NE(another.error().message.find("there are 63 breakpoints"), std::string::npos);
  full.release(17);
  EXPECT_EQ(*full.take({"a.py", 64, {}}), 17U);
  PythonLines lines;
  EXPECT_FALSE(lines.take({std::string(1016, 'a') + ".py", 1, {}}).ok());
  EXPECT_FALSE(lines.take({"a.py", 1, std::string(1024, 'a')}).ok());
  EXPECT_TRUE(lines.take({std::string(1012, 'a') + ".py", 1, std::string(1023, 'a')}).ok());
}

TEST_F(BreakpointsTest, RemoveAndWatch) {
  gdb.session.breakpoints().watch(
      "v[0]", WatchKind::Access, [](const Result<Breakpoint>& bp) { EXPECT_EQ(bp->what, "v[0]"); });
  gdb.answer("-break-watch -a \"v[0]\"", R"(^done,hw-awpt={number="2",exp="v[0]"})");
  gdb.session.breakpoints().remove(2, {});
  gdb.answer("-break-delete 2", "^done");
  EXPECT_EQ(gdb.observer.log, (std::vector<std::string>{"created 2", "deleted 2"}));
}

TEST_F(BreakpointsTest, StopsQuietlyWhenGdbInsists) {
  gdb.runs();
  gdb.observer.log.clear();
  insert();
  gdb.answer("-break-insert",
             "^error,msg=\"Cannot execute this command while the target is running.\"");
  ASSERT_TRUE(gdb.wasSent("-exec-interrupt"));
  gdb.answer("-exec-interrupt", "^done");
  gdb.line(std::string(FakeSession::kStop) +
           R"(reason="signal-received",signal-name="SIGINT",thread-id="1")");
  EXPECT_EQ(gdb.countSent("-break-insert"), 2);
  gdb.answer("-break-insert", R"(^done,bkpt={number="1"})");
  gdb.answer("-exec-continue", "^running");
  gdb.line("*running,thread-id=\"all\"");
  EXPECT_EQ(gdb.observer.log, (std::vector<std::string>{"created 1"}));  // the stop was not shown
  EXPECT_EQ(gdb.session.state(), SessionState::Running);
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace pf::mi::test
