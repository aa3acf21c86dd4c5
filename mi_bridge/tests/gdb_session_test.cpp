// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "mi_bridge/gdb_command.h"
#include "mi_bridge/tests/support/fakes.h"

namespace pf::mi::test {
namespace {

using Log = std::vector<std::string>;

TEST(GdbCommand, HasTheRules) {
  const auto line = gdbCommandLine("/opt/gdb");
  EXPECT_EQ(line.front(), "/opt/gdb");
  for (const char* part : {"-nx", "--interpreter=mi3", "set debuginfod enabled off"}) {
    EXPECT_NE(std::find(line.begin(), line.end(), part), line.end()) << part;
  }
}

TEST(Session, StartSendsSettingsAndChecksTheVersion) {
  FakeSession gdb;
  gdb.session.start([](const Status&) {});
  EXPECT_TRUE(gdb.wasSent("-gdb-set mi-async on"));
  FakeSession good;
  good.started();
  EXPECT_TRUE(good.startStatus.ok());
  EXPECT_TRUE(good.observer.console.empty());  // the banner is not for the user
  FakeSession old;
  old.started("GNU gdb (GDB) 8.2\\n");
  EXPECT_NE(old.startStatus.error().message.find("too old"), std::string::npos);
  FakeSession strange;
  strange.started("lldb 14\\n");
  EXPECT_EQ(strange.startStatus.error().code, ErrorCode::Version);
}

TEST(Session, AttachCompletesAtTheStop) {
  FakeSession gdb;
  gdb.started();
  int calls = 0;
  gdb.session.attach(4711, [&calls](const Status& status) { calls += status.ok() ? 1 : 100; });
  gdb.answer("-target-attach 4711", "^done");
  EXPECT_EQ(calls, 0);
  gdb.line(std::string(FakeSession::kStop) + "thread-id=\"1\"");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(gdb.observer.log, (Log{"state stopped", "stopped attached"}));
}

TEST(Session, AttachRefused) {
  FakeSession gdb;
  gdb.started();
  Status status;
  gdb.session.attach(1, [&status](const Status& s) { status = s; });
  gdb.answer("-target-attach", "^error,msg=\"ptrace: Operation not permitted.\"");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("process 1"), std::string::npos);
  EXPECT_NE(status.error().advice.find("ptrace_scope"), std::string::npos);
}

TEST(Session, StateFollowsAsyncRecordsOnly) {
  FakeSession gdb;
  gdb.attached();
  gdb.observer.log.clear();
  gdb.session.run({}, [](const Status&) {});
  gdb.answer("-exec-continue", "^running");
  EXPECT_EQ(gdb.session.state(), SessionState::Stopped);
  gdb.line("*running,thread-id=\"all\"");
  EXPECT_EQ(gdb.session.state(), SessionState::Running);
  gdb.line("^done,fake=\"1\"");
  gdb.line("no MI at all");
  gdb.line("*stopped,reason=\"exited\",exit-code=\"03\"");
  EXPECT_EQ(gdb.observer.log, (Log{"state running", "state exited", "stopped exited"}));
  EXPECT_EQ(gdb.session.stop().exitCode, 3);
  EXPECT_EQ(gdb.observer.console, (Log{"@no MI at all\n"}));
}

TEST(Session, UnreadableReplyCompletesItsCommand) {
  FakeSession gdb;
  gdb.attached();
  std::string error;
  gdb.session.inspect().evaluate({}, "x", [&error](const Result<std::string>& value) {
    error = value ? "" : value.error().message;
  });
  gdb.answer("-data-evaluate-expression", "^done,value={");
  EXPECT_NE(error.find("cannot be read"), std::string::npos);
}

TEST(Session, RecordsBehindAnUnfinishedLineOfTheProgram) {
  FakeSession gdb;
  gdb.attached();
  std::string value;
  gdb.session.inspect().evaluate({}, "x", [&value](const Result<std::string>& v) { value = *v; });
  gdb.line("^error,msg=\"fake\"");
  gdb.line("rank 7^done,value=\"fake\"");
  EXPECT_EQ(value, "");
  gdb.line("rank 5" + tokenOf(gdb.sent, "-data-evaluate") + "^done,value=\"3\"");
  EXPECT_EQ(value, "3");
  gdb.line("half a line*running,thread-id=\"all\"");
  EXPECT_EQ(gdb.session.state(), SessionState::Running);
  EXPECT_EQ(gdb.observer.console.back(), "@half a line");
}

TEST(Session, DeathCompletesEverythingOnce) {
  FakeSession gdb;
  gdb.attached();
  int failures = 0;
  const auto count = [&failures](const auto& result) { failures += result.ok() ? 0 : 1; };
  gdb.session.inspect().evaluate({}, "x", count);
  gdb.runs();
  gdb.session.pause(count);
  gdb.session.closed("killed by signal 9");
  gdb.session.closed("again");
  gdb.session.inspect().evaluate({}, "y", count);
  gdb.session.pause(count);
  gdb.session.run({}, count);
  EXPECT_EQ(failures, 5);
  EXPECT_EQ(gdb.session.state(), SessionState::Lost);
  EXPECT_EQ(std::count_if(gdb.observer.log.begin(), gdb.observer.log.end(),
                          [](const std::string& l) { return l.rfind("lost ", 0) == 0; }),
            1);
}

TEST(Session, AnErrorInGdbItselfIsWhyItEnded) {
  FakeSession gdb;
  gdb.attached();
  gdb.line(
      R"(&"/build/gdb-1/gdb/thread.c:85: internal-error: inferior_thread: no thread\nA problem\n")");
  gdb.line(R"(&"another message\n")");
  EXPECT_EQ(gdb.session.closed("signal 6"),
            "signal 6: thread.c:85: internal-error: inferior_thread: no thread");
  FakeSession other;
  other.attached();
  EXPECT_EQ(other.session.closed("signal 6"), "signal 6");
}

TEST(Session, DetachStopsQuietlyFirst) {
  FakeSession gdb;
  gdb.attached();
  gdb.runs();
  gdb.observer.log.clear();
  Status status = Error{};
  gdb.session.detach([&status](const Status& s) { status = s; });
  EXPECT_FALSE(gdb.wasSent("-target-detach"));
  gdb.answer("-exec-interrupt", "^done");
  gdb.line(std::string(FakeSession::kStop) + R"(reason="signal-received",signal-name="SIGINT")");
  gdb.answer("-target-detach", "^done");
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(gdb.observer.log, (Log{"state not started"}));
  EXPECT_FALSE(gdb.wasSent("-exec-continue") && gdb.countSent("-exec-continue") > 1);
}

TEST(Session, AnAbandonedProgramEndsWithoutAWordOfIt) {
  FakeSession gdb;
  gdb.attached();
  gdb.runs();
  gdb.observer.log.clear();
  gdb.observer.stops.clear();
  Status status = Error{};
  gdb.session.abandon([&status](const Status& s) { status = s; });
  gdb.line(R"(*stopped,reason="exited-signalled",signal-name="SIGKILL")");
  EXPECT_TRUE(gdb.observer.stops.empty());
  gdb.answer("kill", R"(^error,msg="The program is not being run.")");
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(gdb.observer.log, (Log{"state not started"}));
  Status again = Error{};
  gdb.session.attach(4712, [&again](const Status& s) { again = s; });
  gdb.answer("-add-inferior", R"(^error,msg="Undefined MI command")");
  gdb.answer("-target-attach 4712", "^done");
  gdb.line(FakeSession::kStop + std::string("thread-id=\"1\",stopped-threads=\"all\""));
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(gdb.session.state(), SessionState::Stopped);
  EXPECT_FALSE(gdb.wasSent("remove-inferiors"));
}

TEST(Session, WhatIsKnownOfAnAbandonedProgramIsThereForTheNext) {
  FakeSession gdb;
  gdb.attached();
  for (int former = 1; former < 4; ++former) {
    const std::string next = std::to_string(former + 1);
    gdb.session.abandon([](const Status&) {});
    gdb.answer("kill", "^done");
    Status again = Error{};
    gdb.session.attach(4712, [&again](const Status& s) { again = s; });
    gdb.answer("-add-inferior", "^done,inferior=\"i" + next + "\"");
    EXPECT_FALSE(gdb.wasSent("-target-attach 4712") && former == 1) << "not in the former one";
    gdb.answer("inferior " + next, "^done");
    gdb.line(R"(=library-loaded,target-name="/lib/libmpi.so.40",thread-group="i2",)"
             R"(ranges=[{from="0x1000",to="0x2000"}])");
    gdb.answer("-target-attach 4712", "^done");
    gdb.line("*stopped,frame={addr=\"0x1010\",func=\"f\",args=[]},thread-id=\"1\"");
    // GDB 13 names the wrong inferior.
    gdb.line(R"(=library-unloaded,target-name="/lib/libmpi.so.40",thread-group="i2")");
    gdb.answer("remove-inferiors " + std::to_string(former), "^done");
    EXPECT_TRUE(again.ok());
    gdb.line("*stopped,frame={addr=\"0x1010\",func=\"f\",args=[]},thread-id=\"1\"");
    EXPECT_EQ(gdb.observer.stops.back().frame.from, "/lib/libmpi.so.40");
  }
}

TEST(Session, AnInferiorWithAStrangeNameIsNotUsed) {
  for (const char* name : {"", "i", "2", "i2x", "ix", "i-", "i99999999999999999999"}) {
    FakeSession gdb;
    gdb.attached();
    gdb.session.abandon([](const Status&) {});
    gdb.answer("kill", "^done");
    gdb.session.attach(4712, [](const Status&) {});
    gdb.answer("-add-inferior", "^done,inferior=\"" + std::string(name) + "\"");
    EXPECT_TRUE(gdb.wasSent("-target-attach 4712")) << name;
  }
}

TEST(Session, ReverseCommandsAreTheTools) {
  FakeSession gdb;
  gdb.attached();
  const std::size_t before = gdb.sent.size();
  for (const char* line :
       {"reverse-continue", "rc", "reverse-next", "rs", "reverse-stepi", "reverse-finish"}) {
    gdb.session.console(line, [](const Status&) {});
  }
  EXPECT_EQ(
      gdb.observer.actions,
      (std::vector<ToolAction>{ToolAction::Back, ToolAction::Back, ToolAction::LineNext,
                               ToolAction::LineStep, ToolAction::Before, ToolAction::LineFinish}));
  EXPECT_EQ(gdb.sent.size(), before);
}

/// They come by errors, which GDB prints, too (gdb_python/asked.py).
TEST(Session, AnswersOfGdbsPythonAreNotTold) {
  FakeSession gdb;
  gdb.attached();
  gdb.observer.console.clear();
  gdb.line(R"(&"photofinish answer: {a = 0x7}\n")");
  gdb.line(R"(&"photofinish problem: No symbol \"n\" ")");
  gdb.line(R"(&"in current context.\n")");
  EXPECT_EQ(gdb.observer.console, Log{});
  gdb.line(R"(&"photofinish answer: of which the end is lost")");
  gdb.session.console("print x", [](const Status&) {});
  gdb.answer("print x", "^done");
  gdb.line(R"(&"warning: of GDB\n")");
  EXPECT_EQ(gdb.observer.console, Log{"&warning: of GDB\n"});
}

TEST(Session, ConsoleInterception) {
  FakeSession gdb;
  gdb.attached();
  const std::size_t before = gdb.sent.size();
  gdb.session.console("quit", [](const Status&) {});
  EXPECT_EQ(gdb.observer.actions, (std::vector<ToolAction>{ToolAction::Quit}));
  EXPECT_EQ(gdb.sent.size(), before);
  for (const char* line : {"commands 1", "silent"}) {
    gdb.session.console(line, [](const Status&) {});
  }
  EXPECT_EQ(gdb.observer.console, (Log{"~>", "~>"}));
  gdb.session.console("end", [](const Status&) {});
  EXPECT_TRUE(gdb.wasSent("-break-commands 1 \"silent\""));
  gdb.session.console("compile code", [](const Status&) {});
  gdb.line("~\">\"");
  EXPECT_EQ(gdb.sent.back(), "end\n");  // no command: GDB reads it as a line of the block
}

TEST(Session, SlowCommandsEscalate) {
  FakeSession gdb;
  gdb.attached();
  gdb.session.inspect().evaluate({}, "endless()", [](const Result<std::string>&) {});
  gdb.session.tick(at(5000));
  EXPECT_EQ(gdb.observer.escalations, (std::vector<Escalation>{Escalation::InterruptGdb}));
  gdb.session.tick(at(15000));
  EXPECT_EQ(gdb.observer.escalations.back(), Escalation::TerminateGdb);
}

}  // namespace
}  // namespace pf::mi::test
