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
