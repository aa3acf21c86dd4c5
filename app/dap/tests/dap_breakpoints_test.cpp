// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints, logpoints and filters of an editor: what is kept of them, what GDBs make of them, and
// what the editor is told.
#include "app/dap/tests/dap_editor.h"

namespace pf::headless {
namespace {

using session::test::kMade;

class DapBreakpointsTest : public DapServerFixture {
 protected:
  static Json source(const Json& breakpoints, const char* path = "/src/m.c") {
    return {{"source", {{"path", path}}}, {"breakpoints", breakpoints}};
  }
  /// The answer to each.
  Json set(const Json& breakpoints, const char* path = "/src/m.c") {
    return body("setBreakpoints", source(breakpoints, path))["breakpoints"];
  }
  Json setFunctions(const Json& breakpoints) {
    return body("setFunctionBreakpoints", {{"breakpoints", breakpoints}})["breakpoints"];
  }
  const QList<values::Breakpoint>& all() { return session().breakpoints().all(); }
  /// Stands at a line with a logpoint, after which rank 1 comes to it. The message has braces.
  void comeToLogpoint(const std::string& message, Replies replies = {}) {
    launch({{"until", "2:40"}});
    set({{{"line", 12}, {"logMessage", message}}});
    body("configurationDone");
    replies.push_back({"-break-insert", kMade});
    gate(replies);
    target().comeToTheirStops();
    event("stopped");
    letRun(1);
    target().forgetOrders();
    forgetEvents();
    target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
    pump();
  }
};

// -- lines

TEST_F(DapBreakpointsTest, EachGetsANumberThatStaysItsOwn) {
  launch();
  const Json first = set({{{"line", 12}}, {{"line", 14}}});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_NE(first[0]["id"], first[1]["id"]);
  EXPECT_GT(first[0]["id"].get<int>(), 0);
  EXPECT_EQ(first[0]["verified"], false);
  EXPECT_EQ(first[0]["reason"], "pending");
  EXPECT_EQ(first[0]["line"], 12);
  const Json again = set({{{"line", 14}}, {{"line", 16}}});
  EXPECT_EQ(again[0]["id"], first[1]["id"]);
  EXPECT_NE(again[1]["id"], first[0]["id"]) << "numbers are not used again";
  EXPECT_EQ(all().size(), 2);
}

TEST_F(DapBreakpointsTest, TwoOnOneLineAreTwo) {
  launch();
  const Json both = set({{{"line", 12}}, {{"line", 12}, {"condition", "n > 3"}}});
  EXPECT_NE(both[0]["id"], both[1]["id"]);
  EXPECT_EQ(all().size(), 2);
}

TEST_F(DapBreakpointsTest, ALineThatBecomesALogpointIsAnother) {
  launch();
  const Json stop = set({{{"line", 12}}});
  const Json log = set({{{"line", 12}, {"logMessage", "here"}}});
  EXPECT_NE(stop[0]["id"], log[0]["id"]);
  ASSERT_EQ(all().size(), 1);
  EXPECT_EQ(all()[0].id, BreakpointAnswers::clientId(log[0]["id"].get<int>()));
}

TEST_F(DapBreakpointsTest, AFileHasItsOwn) {
  launch();
  set({{{"line", 12}}});
  set({{{"line", 3}}}, "/src/other.c");
  setFunctions({{{"name", "collect"}}});
  set(Json::array());
  EXPECT_EQ(all().size(), 2);
  EXPECT_EQ(all()[0].file, QLatin1String("/src/other.c"));
}

TEST_F(DapBreakpointsTest, ConditionsAndCountsAreChangedInPlace) {
  launch();
  const Json before = set({{{"line", 12}, {"condition", "n > 3"}, {"hitCondition", "> 2"}}});
  EXPECT_EQ(all()[0].condition, QLatin1String("n > 3"));
  EXPECT_EQ(all()[0].ignoreCount, 2);
  const Json after = set({{{"line", 12}}});
  EXPECT_EQ(before[0]["id"], after[0]["id"]);
  EXPECT_TRUE(all()[0].condition.isEmpty());
  EXPECT_EQ(all()[0].ignoreCount, 0);
}

TEST_F(DapBreakpointsTest, AWrongOneIsSaidInItsPlaceAndTheOthersAreSet) {
  launch();
  const Json answers = set({{{"line", 12}, {"hitCondition", "% 3"}},
                            {{"line", 0}},
                            {{"line", -3}},
                            {{"line", "7"}},
                            {{"line", 4294967308}},
                            Json(5),
                            Json(nullptr),
                            {{"line", 14}}});
  ASSERT_EQ(answers.size(), 8U);
  EXPECT_NE(answers[0]["message"].get<std::string>().find("'% 3' is not known"), std::string::npos);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(answers[i]["verified"], false) << i;
    EXPECT_EQ(answers[i]["reason"], "failed") << i;
    EXPECT_FALSE(answers[i].contains("id")) << i;
  }
  EXPECT_EQ(answers[7]["line"], 14);
  ASSERT_EQ(all().size(), 1);
  EXPECT_EQ(all()[0].line, 14);
}

TEST_F(DapBreakpointsTest, WithoutASourceNothingIsTouched) {
  launch();
  set({{{"line", 12}}});
  for (const Json& arguments :
       std::vector<Json>{Json::object(), {{"source", {{"name", "m.c"}}}}, {{"source", "m.c"}}}) {
    EXPECT_EQ(refusal("setBreakpoints", arguments), "'setBreakpoints' needs source.path");
  }
  EXPECT_EQ(all().size(), 1);
}

TEST_F(DapBreakpointsTest, OldClientsGiveLinesOnly) {
  launch();
  const Json answers = body("setBreakpoints", {{"source", {{"path", "/src/m.c"}}},
                                               {"lines", {3, "x", 4}}})["breakpoints"];
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[1]["reason"], "failed");
  EXPECT_EQ(all().size(), 2);
}

TEST_F(DapBreakpointsTest, LinesAreCountedAsTheClientDoes) {
  introduce({{"linesStartAt1", false}, {"pathFormat", "uri"}});
  body("launch",
       {{"trace", QUrl::fromLocalFile(m_trace).toString().toStdString()}, {"trust", true}});
  const Json answer = set({{{"line", 0}}, {{"line", 11}}}, "file:///src/m.c");
  EXPECT_EQ(all()[0].line, 1);
  EXPECT_EQ(all()[1].line, 12);
  EXPECT_EQ(all()[1].file, QLatin1String("/src/m.c"));
  EXPECT_EQ(answer[1]["line"], 11);
  EXPECT_EQ(answer[1]["source"]["path"], "file:///src/m.c");
}

TEST_F(DapBreakpointsTest, WhatIsInTheTraceIsLeftAlone) {
  launch();
  set({{{"line", 12}}});
  body("disconnect");
  m_server = nullptr;
  session::DebugSession reader;
  auto loaded = session::loadTrace(m_trace);
  ASSERT_TRUE(loaded.ok());
  reader.open(m_trace, std::move(*loaded));
  EXPECT_TRUE(reader.breakpoints().all().isEmpty()) << "the editor keeps its own";
}

// -- functions and events

TEST_F(DapBreakpointsTest, FunctionsAndEventsAreOfOneList) {
  launch();
  const Json answers = setFunctions(
      {{{"name", "collect"}, {"condition", "n"}}, {{"name", "1:9"}}, {{"name", ""}}, Json(3)});
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[2]["message"], "a name is missing");
  EXPECT_EQ(answers[3]["message"], "a name is missing");
  ASSERT_EQ(all().size(), 2);
  EXPECT_EQ(all()[0].function, QLatin1String("collect"));
  EXPECT_EQ(all()[1].event, (EventRef{1, 9}));
  EXPECT_EQ(setFunctions({{{"name", "1:9"}}})[0]["id"], answers[1]["id"]);
  EXPECT_EQ(all().size(), 1);
  setFunctions(Json::array());
  EXPECT_TRUE(all().isEmpty());
}

TEST_F(DapBreakpointsTest, EventsThatTheRecordingLacksAreRefused) {
  launch();
  for (const char* name : {"4:1", "0:999999999", "2147483647:1"}) {
    EXPECT_EQ(setFunctions({{{"name", name}}})[0]["message"],
              std::string("the recording has no event ") + name);
  }
  EXPECT_EQ(setFunctions({{{"name", "1:9"}, {"hitCondition", "often"}}})[0]["reason"], "failed");
}

TEST_F(DapBreakpointsTest, AnEventStopsItsRankAndIsNamed) {
  launch();
  const Json answers = setFunctions({{{"name", "3:15"}}});
  body("configurationDone");
  gate();
  EXPECT_EQ(target().last<protocol::Plan>()->stops[3], 15U);
  target().comeToTheirStops();
  const Json stop = event("stopped");
  EXPECT_EQ(stop["threadId"], 4);
  EXPECT_EQ(stop["reason"], "function breakpoint");
  EXPECT_EQ(stop["hitBreakpointIds"], Json::array({answers[0]["id"]}));
}

// -- filters

TEST_F(DapBreakpointsTest, OneFilterIsOursToSet) {
  launch();
  body("setExceptionBreakpoints", {{"filters", {"failure", "mpi"}}});
  body("setExceptionBreakpoints", {{"filters", {"mpi"}}});
  ASSERT_EQ(all().size(), 1);
  EXPECT_EQ(all()[0].kind, values::BreakpointKind::Catch);
  set(Json::array());
  setFunctions(Json::array());
  EXPECT_EQ(all().size(), 1) << "it is of no file, and no function";
  body("setExceptionBreakpoints", {{"filters", Json::array()}});
  EXPECT_TRUE(all().isEmpty());
}

TEST_F(DapBreakpointsTest, FiltersOfAnyKindDoNoHarm) {
  launch();
  for (const Json& filters :
       std::vector<Json>{Json(7), "mpi", nullptr, {{"mpi", true}}, {7, nullptr}}) {
    body("setExceptionBreakpoints", {{"filters", filters}});
    EXPECT_TRUE(all().isEmpty()) << filters;
  }
  body("setExceptionBreakpoints");
}

// -- what GDBs make of them

TEST_F(DapBreakpointsTest, WhatBecomesOfThemIsToldOnce) {
  launch({{"until", "2:40"}});
  const Json answers = set({{{"line", 12}}});
  body("configurationDone");
  gate({{"-break-insert", kMade}});
  target().comeToTheirStops();
  event("stopped");
  const Json changed = event("breakpoint");
  EXPECT_EQ(changed["reason"], "changed");
  EXPECT_EQ(changed["breakpoint"]["id"], answers[0]["id"]);
  EXPECT_EQ(changed["breakpoint"]["verified"], true);
  EXPECT_FALSE(hasEvent("breakpoint"));
}

TEST_F(DapBreakpointsTest, WhatNoGdbCanSetSaysWhy) {
  launch({{"until", "2:40"}});
  set({{{"line", 99}}});
  body("configurationDone");
  gate({{"-break-insert", R"(^error,msg="No line 99 in file \"m.c\".")"}});
  target().comeToTheirStops();
  event("stopped");
  const Json changed = event("breakpoint")["breakpoint"];
  EXPECT_EQ(changed["verified"], false);
  EXPECT_EQ(changed["reason"], "failed");
  EXPECT_EQ(changed["message"], "No line 99 in file \"m.c\".");
}

TEST_F(DapBreakpointsTest, AHitNamesTheBreakpoint) {
  launch({{"until", "2:40"}});
  const Json answers = set({{{"line", 12}}});
  body("configurationDone");
  gate({{"-break-insert", kMade}});
  target().comeToTheirStops();
  event("stopped");
  letRun(1);
  forgetEvents();
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  const Json stop = event("stopped");
  EXPECT_EQ(stop["threadId"], 2);
  EXPECT_EQ(stop["reason"], "breakpoint");
  EXPECT_EQ(stop["hitBreakpointIds"], Json::array({answers[0]["id"]}));
}

// -- logpoints

TEST_F(DapBreakpointsTest, ALogpointWritesItsLineAndGoesOn) {
  comeToLogpoint("n is {n} {{ok}}", {{"-data-evaluate-expression", R"(^done,value="7")"}});
  const Json line = event("output");
  const std::string after = std::to_string(session().serialOf(1));
  EXPECT_EQ(line["output"], "[1, event " + after + "] n is 7 {ok}\n");
  EXPECT_EQ(line["line"], 12);
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
  EXPECT_FALSE(hasEvent("stopped")) << "no stop for the editor";
}

TEST_F(DapBreakpointsTest, AValueThatIsNotThereDoesNotHoldTheRank) {
  comeToLogpoint("{nosuch} and {n}",
                 {{"-data-evaluate-expression", R"(^done,value="7")"},
                  {"nosuch", R"(^error,msg="No symbol \"nosuch\" in current context.")"}});
  EXPECT_NE(event("output")["output"].get<std::string>().find(
                "] <No symbol \"nosuch\" in current context.> and 7\n"),
            std::string::npos);
  EXPECT_TRUE(target().wasTold(1, "-exec-continue"));
}

TEST_F(DapBreakpointsTest, AGdbThatDiesAtALogpointIsTheEndOfItsLine) {
  comeToLogpoint("here");
  event("output");
  forgetEvents();
  set({{{"line", 12}, {"logMessage", "{n}"}}});
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  target().gdbIs(1, protocol::GdbCondition::Died, "gdb ended");
  pump();
  EXPECT_EQ(output("console").find("[1, event"), std::string::npos) << output();
  EXPECT_TRUE(ask("stackTrace", {{"threadId", 1}})["success"].get<bool>()) << "the others stay";
}

TEST_F(DapBreakpointsTest, ALineThatIsNotCompleteGoesWithItsCycle) {
  launch({{"until", "2:40"}});
  set({{{"line", 12}, {"logMessage", "{n}"}}});
  body("configurationDone");
  gate({{"-break-insert", kMade}});
  target().comeToTheirStops();
  event("stopped");
  letRun(1);
  forgetEvents();
  target().gdbStops(1, R"(reason="breakpoint-hit",bkptno="2")");
  body("photofinish/replayTo", {{"rank", 2}, {"serial", 20}});
  pump();
  EXPECT_EQ(output("console").find("[1, event"), std::string::npos) << output();
}

TEST_F(DapBreakpointsTest, ALogpointThatIsTakenAwayStopsNoMore) {
  comeToLogpoint("here");
  event("output");
  set(Json::array());
  EXPECT_TRUE(all().isEmpty());
  pump();
  EXPECT_TRUE(target().wasTold(0, "-break-delete 2"));
}

}  // namespace
}  // namespace pf::headless
