// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that an editor sends on, and what it is told of their stops.
#include "app/dap/tests/dap_editor.h"

namespace pf::headless {
namespace {

using session::test::kRanks;

class DapMovesTest : public DapServerFixture {
 protected:
  /// How often a rank's GDB was told so.
  int told(int rank, const std::string& part) {
    int count = 0;
    const std::string& text = target().toGdb[rank];
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }
  void verdict(const std::string& text) {
    protocol::Verdict deadlock;
    deadlock.kind = protocol::VerdictKind::Deadlock;
    deadlock.text = text;
    deadlock.proven = true;
    Q_EMIT target().said(deadlock);
  }
  Json targetsOf(int line, const char* file = "/home/user/stencil.c") {
    return body("gotoTargets", {{"source", {{"path", file}}}, {"line", line}})["targets"];
  }
};

// -- stops

TEST_F(DapMovesTest, AllThatStandAreOneStopOfTheCurrentRank) {
  launch({{"until", "2:40"}});
  body("configurationDone");
  gate();
  EXPECT_FALSE(hasEvent("stopped")) << "at the gate they are on their way";
  target().comeToTheirStops();
  const Json stop = event("stopped");
  EXPECT_EQ(stop["threadId"], 3);
  EXPECT_EQ(stop["reason"], "goto");
  EXPECT_EQ(stop["allThreadsStopped"], true);
  EXPECT_EQ(stop["description"].get<std::string>().substr(0, 8), "rank 2: ");
  EXPECT_FALSE(hasEvent("stopped"));
}

TEST_F(DapMovesTest, AStopOfOneDoesNotTakeTheOthersAlong) {
  stand();
  letRun(0);
  letRun(1);
  forgetEvents();
  target().gdbStops(1, R"(reason="end-stepping-range")");
  const Json stop = event("stopped");
  EXPECT_EQ(stop["threadId"], 2);
  EXPECT_EQ(stop["reason"], "step");
  EXPECT_EQ(stop["allThreadsStopped"], false);
  target().gdbStops(0, R"(reason="end-stepping-range")");
  EXPECT_EQ(event("stopped")["allThreadsStopped"], true);
}

/// GDB is asked for the stack of a rank before that steps out of a call; meanwhile another one stops.
TEST_F(DapMovesTest, WhoIsToStepIsNotToldAsStoppedBeforeItHas) {
  stand();
  letRun(1);
  forgetEvents();
  bool asked = false;
  target().hears = [this, &asked](int rank, const std::string& command) {
    const bool begins = rank == 2 && session().debugger(2)->isAboutToRun();
    if (begins && !asked && command.find("-stack-list-frames") != std::string::npos) {
      asked = true;
      target().gdbStops(1, R"(reason="end-stepping-range")");
      QTest::qWait(100);  // GDB takes its time
    }
  };
  body("next", {{"threadId", 3}});
  const Json stop = event("stopped");
  EXPECT_TRUE(asked);
  EXPECT_EQ(stop["threadId"], 2);
  EXPECT_EQ(stop["allThreadsStopped"], false) << "rank 2 is about to go on";
  EXPECT_FALSE(hasEvent("stopped"));
}

TEST_F(DapMovesTest, WhoCannotBeSentOnIsToldAsStopped) {
  stand();
  target().replies.push_back({"-exec-finish", R"(^error,msg="no such frame")"});
  target().hears = [](int, const std::string& command) {
    if (command.find("-exec-finish") != std::string::npos) {
      QTest::qWait(100);  // GDB takes its time
    }
  };
  forgetEvents();
  body("next", {{"threadId", 3}});
  EXPECT_EQ(event("stopped")["threadId"], 3);
  EXPECT_NE(output().find("no such frame"), std::string::npos) << output();
}

TEST_F(DapMovesTest, TheReasonsOfGdbAreThoseOfTheProtocol) {
  stand();
  for (const auto& [how, reason] : std::vector<std::pair<const char*, const char*>>{
           {R"(reason="watchpoint-trigger",wpt={number="3",exp="n"},value={old="1",new="2"})",
            "data breakpoint"},
           {R"(reason="function-finished",gdb-result-var="$1",return-value="5")", "step"},
           {R"(reason="location-reached")", "step"},
           {R"(reason="breakpoint-hit",bkptno="99")", "breakpoint"},
           {R"(reason="signal-received",signal-name="SIGABRT",signal-meaning="Aborted")",
            "exception"},
           {R"(reason="fork")", "pause"}}) {
    letRun(1);
    forgetEvents();
    target().gdbStops(1, how);
    const Json stop = event("stopped");
    EXPECT_EQ(stop["reason"], reason) << how;
    EXPECT_FALSE(stop.contains("hitBreakpointIds")) << "none of the editor's";
  }
}

TEST_F(DapMovesTest, WhoEndsIsAThreadThatHasExited) {
  stand({}, {{"focus", {2}}});
  body("continue", {{"threadId", 3}});
  pump();
  forgetEvents();
  target().exits(1, "rank 1 ended with status 0");
  const Json gone = event("thread");
  EXPECT_EQ(gone["reason"], "exited");
  EXPECT_EQ(gone["threadId"], 2);
  EXPECT_EQ(body("threads")["threads"].size(), 3U);
  target().exits(1, "rank 1 ended with status 0");
  EXPECT_FALSE(hasEvent("thread")) << "once";
}

TEST_F(DapMovesTest, WhoseGdbDiesIsSeenAsTheRecordingHasIt) {
  stand();
  forgetEvents();
  target().gdbIs(1, protocol::GdbCondition::Died, "gdb ended");
  pump();
  EXPECT_NE(output().find("gdb ended"), std::string::npos) << output();
  const Json threads = body("threads")["threads"];
  ASSERT_EQ(threads.size(), 4U);
  EXPECT_NE(threads[1]["name"].get<std::string>().find("(no GDB)"), std::string::npos);
  const Json frames = body("stackTrace", {{"threadId", 2}})["stackFrames"];
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_NE(frames[0]["name"].get<std::string>().find("(recorded; no GDB)"), std::string::npos);
  EXPECT_EQ(body("stackTrace", {{"threadId", 1}})["stackFrames"].size(), 3U);
}

TEST_F(DapMovesTest, WhoRunsByALineOfTheConsoleIsTold) {
  stand();
  const int frame = userFrame(1);
  forgetEvents();
  target().gdbSays(1, R"(*running,thread-id="all")");
  target().gdbStops(1, R"(reason="end-stepping-range")");
  EXPECT_EQ(event("continued")["threadId"], 2);
  EXPECT_EQ(event("stopped")["threadId"], 2);
  EXPECT_NE(refusal("scopes", {{"frameId", frame}}), "") << "it has run in between";
}

TEST_F(DapMovesTest, ADeadlockPausesWhoWaitsAndSaysWhatItIs) {
  stand();
  body("continue", {{"threadId", 1}});
  pump();
  target().forgetOrders();
  forgetEvents();
  verdict("rank 0 waits for rank 1\nand so on");
  pump();
  for (int rank = 0; rank < kRanks; ++rank) {
    target().gdbStops(rank,
                      R"(reason="signal-received",signal-name="0",signal-meaning="Signal 0")");
  }
  const Json stop = event("stopped");
  EXPECT_NE(stop["description"].get<std::string>().find("Deadlock: rank 0 waits for rank 1"),
            std::string::npos)
      << stop;
  EXPECT_EQ(stop["description"].get<std::string>().find("and so on"), std::string::npos);
}

// -- from where they are

TEST_F(DapMovesTest, ContinueIsOfAllOrOfOne) {
  stand();
  EXPECT_EQ(body("continue", {{"threadId", 2}, {"singleThread", true}})["allThreadsContinued"],
            false);
  pump();
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
  EXPECT_FALSE(target().wasTold(0, "-exec-continue"));
  EXPECT_EQ(body("continue", {{"threadId", 1}})["allThreadsContinued"], true);
  pump();
  EXPECT_TRUE(target().wasTold(0, "-exec-continue"));
  EXPECT_TRUE(target().wasTold(3, "-exec-continue"));
  EXPECT_FALSE(hasEvent("continued")) << "the response has said it";
}

TEST_F(DapMovesTest, AStepIsOfItsRankAndMakesItTheCurrentOne) {
  stand();
  for (const char* command : {"next", "stepIn"}) {
    target().forgetOrders();
    body(command, {{"threadId", 2}});
    pump();
    EXPECT_EQ(told(1, "-exec-"), 1) << target().toGdb[1];
    EXPECT_EQ(session().currentRank(), 1);
    forgetEvents();
    target().gdbStops(1, R"(reason="end-stepping-range")");
    EXPECT_EQ(event("stopped")["threadId"], 2);
  }
  EXPECT_FALSE(target().wasTold(0, "-exec-"));
}

TEST_F(DapMovesTest, StepOutLeavesTheFrameOfTheProgram) {
  stand();
  ASSERT_EQ(session().currentRank(), 2);
  for (const int rank : {2, 0}) {  // of another rank its stack has to be asked first
    target().forgetOrders();
    body("stepOut", {{"threadId", rank + 1}});
    pump();
    EXPECT_EQ(told(rank, "-exec-finish"), 1) << target().toGdb[rank];
    EXPECT_TRUE(target().wasTold(rank, "--frame 1")) << "not MPI_Recv: " << target().toGdb[rank];
  }
}

TEST_F(DapMovesTest, AStepOutThatNeverLeftDoesNotMoveTheRankLater) {
  stand();
  body("stepOut", {{"threadId", 1}});
  target().gdbIs(0, protocol::GdbCondition::Died, "gdb ended");
  pump();
  target().forgetOrders();
  body("next", {{"threadId", 2}});
  pump();
  target().gdbStops(1, R"(reason="end-stepping-range")");
  pump();
  EXPECT_EQ(told(0, "-exec-"), 0) << target().toGdb[0];
}

TEST_F(DapMovesTest, APauseIsOfWhoRuns) {
  stand();
  letRun(0);
  letRun(3);
  target().forgetOrders();
  body("pause", {{"threadId", 1}});
  pump();
  EXPECT_NE(target().toGdb[0] + target().toGdb[3], "");
  EXPECT_EQ(target().toGdb[1], "") << "it stands";
  EXPECT_NE(refusal("pause", {{"threadId", 9}}), "");
}

// -- to another place

TEST_F(DapMovesTest, AStepBackByLinesThatCannotBeStays) {
  stand();
  forgetEvents();
  body("stepBack", {{"threadId", 3}});  // the GDB does not say how deep the stack is
  const Json stop = event("stopped");
  EXPECT_EQ(stop["threadId"], 3);
  EXPECT_EQ(m_targets.size(), 1);
  EXPECT_NE(event("output").dump().find("Previous event goes back"), std::string::npos);
}

TEST_F(DapMovesTest, AStepBackByAnInstructionIsOneEventBack) {
  stand();
  body("stepBack", {{"threadId", 3}, {"granularity", "instruction"}});
  ASSERT_TRUE(QTest::qWaitFor([this] { return pump(), m_targets.size() == 2; }, kPatienceMs));
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 39U);
  forgetEvents();
  target().comeToTheirStops();
  const Json stop = event("stopped");
  EXPECT_EQ(stop["reason"], "step");
  EXPECT_EQ(stop["threadId"], 3);
}

TEST_F(DapMovesTest, BeforeTheFirstEventThereIsNothingToGoBackTo) {
  launch({{"stopOnEntry", true}});
  body("configurationDone");
  gate();
  EXPECT_EQ(refusal("stepBack", {{"threadId", 1}}), "rank 0 has done no event yet");
  EXPECT_EQ(refusal("reverseContinue", {{"threadId", 1}}),
            "rank 0 has received nothing before this");
  EXPECT_NE(refusal("stepBack", {{"threadId", 0}}), "");
}

TEST_F(DapMovesTest, ReverseContinueIsBackToTheLastReceive) {
  stand();
  const RankHistory& history = session().trace()->execution.ranks[2];
  Serial last = 0;
  for (const PostedReceive& receive : history.receives) {
    if (receive.completion <= session().serialOf(2)) {
      last = std::max(last, receive.completion);
    }
  }
  ASSERT_GT(last, 0U);
  EXPECT_EQ(body("reverseContinue", {{"threadId", 3}})["allThreadsContinued"], true);
  ASSERT_TRUE(QTest::qWaitFor([this] { return pump(), m_targets.size() == 2; }, kPatienceMs));
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], last);
}

TEST_F(DapMovesTest, ReplayToGoesToAnEventThatThereIs) {
  stand();
  for (const Json& wrong : std::vector<Json>{Json::object(),
                                             {{"rank", 2}},
                                             {{"rank", 4}, {"serial", 1}},
                                             {{"rank", -1}, {"serial", 1}},
                                             {{"rank", 2}, {"serial", 0}},
                                             {{"rank", 2}, {"serial", std::int64_t{1} << 40}},
                                             {{"rank", "2"}, {"serial", "3"}}}) {
    EXPECT_EQ(refusal("photofinish/replayTo", wrong).substr(0, 31),
              "the recording has no such event")
        << wrong;
  }
  EXPECT_FALSE(hasEvent("continued"));
  body("photofinish/replayTo", {{"rank", 2}, {"serial", 60}});
  EXPECT_EQ(event("continued")["threadId"], 3);
  pump();
  EXPECT_EQ(m_targets.size(), 1) << "the same cycle goes on";
  target().comeToTheirStops();
  EXPECT_EQ(event("stopped")["reason"], "goto");
  EXPECT_EQ(session().serialOf(2), 59U);
}

TEST_F(DapMovesTest, AGotoIsToAnEventOfItsLine) {
  stand();
  const Json targets = targetsOf(12);
  ASSERT_GT(targets.size(), 2U);
  EXPECT_LE(targets.size(), 201U) << "no more than a person can look through";
  EXPECT_EQ(targets.back()["label"], "on to this line");
  const std::string label = targets[0]["label"];
  EXPECT_EQ(label.substr(0, 13), "rank 0 event ");
  body("goto", {{"threadId", 1}, {"targetId", targets[0]["id"]}});
  pump();
  const Serial serial = std::stoull(label.substr(13));
  ASSERT_TRUE(QTest::qWaitFor([this] { return pump(), m_targets.size() == 2; }, kPatienceMs));
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[0], serial);
}

TEST_F(DapMovesTest, AGotoOnToTheLineIsOfTheRankAlone) {
  stand();
  const Json targets = targetsOf(40, "/src/m.c");
  ASSERT_EQ(targets.size(), 1U);
  target().forgetOrders();
  body("goto", {{"threadId", 2}, {"targetId", targets[0]["id"]}});
  pump();
  EXPECT_NE(target().toGdb[1].find("m.c"), std::string::npos) << target().toGdb[1];
  EXPECT_EQ(target().toGdb[0].find("-exec-"), std::string::npos);
}

TEST_F(DapMovesTest, TargetsOfAnotherLineAndThoseThatNeverWereAreRefused) {
  stand();
  const Json former = targetsOf(12);
  const Json targets = targetsOf(13);
  const std::int64_t first = targets[0]["id"];
  for (const Json& wrong :
       std::vector<Json>{former[0]["id"], 0, -1, "1", nullptr, first + (std::int64_t{1} << 32)}) {
    EXPECT_EQ(refusal("goto", {{"threadId", 1}, {"targetId", wrong}}),
              "there is no such target. Ask for 'gotoTargets' of the line again.")
        << wrong;
  }
  EXPECT_NE(refusal("goto", {{"threadId", 7}, {"targetId", first}}), "");
  EXPECT_EQ(refusal("gotoTargets", {{"line", 3}}), "'gotoTargets' needs source.path and line");
  EXPECT_EQ(refusal("gotoTargets", {{"source", {{"path", "/a.c"}}}, {"line", 0}}),
            "'gotoTargets' needs source.path and line");
}

}  // namespace
}  // namespace pf::headless
