// SPDX-License-Identifier: GPL-3.0-or-later
// The conversation of an editor with the server: its states, what begins and ends a session, and
// requests that come when they do not fit.
#include <set>

#include <QFile>

#include "app/dap/tests/dap_editor.h"

namespace pf::headless {
namespace {

using session::test::kRanks;

class DapServerTest : public DapServerFixture {
 protected:
  std::set<int> gdbs() {
    const QList<int> focus = session().debuggers().focus();
    return {focus.begin(), focus.end()};
  }
  /// Until another cycle is started than the first `cycles`.
  void awaitCycle(qsizetype cycles) {
    EXPECT_TRUE(QTest::qWaitFor([&] { return pump(), m_targets.size() > cycles; }, kPatienceMs));
    gate();
  }
};

// -- before a session

TEST_F(DapServerTest, WhatIsPromisedIsAnswered) {
  const Json can = introduce();
  EXPECT_EQ(can["supportsStepBack"], true);
  EXPECT_EQ(can["exceptionBreakpointFilters"][1]["filter"], "mpi");
  EXPECT_FALSE(can.contains("supportsDataBreakpoints")) << "none can be set";
}

TEST_F(DapServerTest, NothingComesBeforeInitialize) {
  EXPECT_EQ(refusal("launch", traceArguments()),
            "the request 'launch' does not fit before 'initialize'");
  introduce();
  EXPECT_EQ(refusal("initialize"), "the request 'initialize' does not fit before 'launch'");
  EXPECT_EQ(refusal("threads"), "the request 'threads' does not fit before 'launch'");
  EXPECT_EQ(refusal("photofinish/races"),
            "the request 'photofinish/races' does not fit before 'launch'");
}

TEST_F(DapServerTest, ALaunchThatFailsMayBeFollowedByAnother) {
  introduce();
  EXPECT_EQ(refusal("launch").substr(0, 26), "there is nothing to launch");
  const Json none =
      ask("launch", {{"trace", m_own.filePath(QStringLiteral("none.pft")).toStdString()}});
  EXPECT_NE(errorOf(none), "");
  EXPECT_NE(refusal("launch", {{"trace", m_own.path().toStdString()}}), "") << "a directory";
  QFile file(m_own.filePath(QStringLiteral("cut.pft")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("no trace");
  file.close();
  EXPECT_NE(refusal("launch", {{"trace", file.fileName().toStdString()}}), "");
  EXPECT_FALSE(session().isOpen());
  body("launch", traceArguments());
  event("initialized");
  EXPECT_TRUE(session().isOpen());
}

TEST_F(DapServerTest, ATraceOfSomebodyElseIsLaunchedWithConsentOnly) {
  const QString foreign = m_own.filePath(QStringLiteral("foreign.pft"));
  bench::Traffic traffic;
  traffic.ranks = 3;  // the others are trusted by now
  traffic.events = 200;
  ASSERT_TRUE(bench::writeSyntheticTrace(foreign.toStdString(), traffic).ok());
  introduce();
  for (const Json& trust : std::vector<Json>{nullptr, false, "true", 1}) {
    const std::string said =
        refusal("launch", {{"trace", foreign.toStdString()}, {"trust", trust}});
    EXPECT_NE(said.find("was not recorded by you"), std::string::npos) << said;
    EXPECT_NE(said.find("mpirun -n 3 /home/user/stencil"), std::string::npos) << "what would run";
    EXPECT_EQ(said.find(".."), std::string::npos) << "one full stop: " << said;
  }
  EXPECT_FALSE(session().isOpen());
  body("launch", traceArguments());
}

TEST_F(DapServerTest, ALaunchNamesWhatTheRecordingHas) {
  introduce();
  Json wrong = traceArguments();
  wrong["focus"] = {0, kRanks};
  EXPECT_EQ(refusal("launch", wrong), "'focus' names rank 4, and the recording has 4 ranks");
  for (const char* until : {"4:1", "0:999999", "3:18446744073709551615"}) {
    wrong = traceArguments();
    wrong["until"] = until;
    EXPECT_EQ(refusal("launch", wrong),
              "'until' names an event that the recording does not have. "
              "'photofinish events' lists them.")
        << until;
  }
  wrong = traceArguments();
  wrong["noDebug"] = true;
  EXPECT_NE(refusal("launch", wrong).find("'noDebug' is set"), std::string::npos);
}

TEST_F(DapServerTest, WhatIsNotThereCannotBeAttachedTo) {
  introduce();
  EXPECT_NE(refusal("attach").find("there is nothing to attach to"), std::string::npos);
  EXPECT_NE(refusal("attach", {{"pid", ::getpid()}}), "") << "no job of MPI";
  EXPECT_NE(refusal("attach", {{"coreFile", m_own.filePath(QStringLiteral("core")).toStdString()}}),
            "");
  EXPECT_NE(refusal("attach", {{"coreFile", m_trace.toStdString()}}), "") << "a trace";
  body("launch", traceArguments());
}

TEST_F(DapServerTest, OneLaunchAtATime) {
  introduce();
  const int first = m_editor.request("launch", traceArguments());
  const int second = m_editor.request("launch", traceArguments());
  const int early = m_editor.request("configurationDone", Json::object());
  EXPECT_EQ(errorOf(responseTo(second)),
            "the request 'launch' does not fit while the launch is under way");
  EXPECT_NE(errorOf(responseTo(early)), "");
  EXPECT_TRUE(responseTo(first)["success"].get<bool>());
}

TEST_F(DapServerTest, WhoLeavesDuringALaunchIsNotKeptWaiting) {
  introduce();
  m_editor.request("launch", traceArguments());
  body("disconnect");
  EXPECT_TRUE(QTest::qWaitFor([this] { return m_finished > 0; }, kPatienceMs));
  EXPECT_FALSE(session().isOpen()) << "what was loaded for nobody is not opened";
}

TEST_F(DapServerTest, TheGdbsAreThoseOfTheLaunch) {
  launch({{"focus", {1, 3}}});
  EXPECT_EQ(gdbs(), (std::set<int>{1, 3}));
}

TEST_F(DapServerTest, WithoutAFailureTheFirstRankIsTheFailedOne) {
  launch({{"focus", "failed"}});
  EXPECT_EQ(gdbs(), std::set<int>{0});
}

TEST_F(DapServerTest, AllRanksOfASmallRecordingHaveAGdb) {
  launch();
  EXPECT_EQ(gdbs(), (std::set<int>{0, 1, 2, 3}));
}

// -- a part of the job

TEST_F(DapServerTest, TheRanksOfTheLaunchAreThoseThatRun) {
  stand({}, {{"ranks", {2}}});
  EXPECT_EQ(target().part(), std::vector<Rank>{2});
  EXPECT_EQ(gdbs(), std::set<int>{2});
  const Json threads = body("threads")["threads"];
  ASSERT_EQ(threads.size(), 1U) << threads;
  EXPECT_EQ(threads[0]["id"], 3);
  const std::string outside =
      "Rank 0 is not in this replay, which runs rank 2 alone. To debug it too, debug ranks 0-2.";
  EXPECT_NE(refusal("stackTrace", {{"threadId", 1}}).find(outside), std::string::npos);
  EXPECT_EQ(refusal("photofinish/replayTo", {{"rank", 0}, {"serial", 3}}), outside);
  const Json points =
      body("setFunctionBreakpoints",
           {{"breakpoints", {{{"name", "0:60"}}, {{"name", "2:60"}}}}})["breakpoints"];
  EXPECT_EQ(points[0]["verified"], false);
  EXPECT_EQ(points[0]["message"], outside);
  EXPECT_EQ(points[1]["verified"], true);
  body("stepBack", {{"threadId", 3}, {"granularity", "instruction"}});
  gate();
  EXPECT_EQ(target().part(), std::vector<Rank>{2});
  EXPECT_EQ(target().last<protocol::Plan>()->stops, (std::vector<std::uint64_t>{0, 0, 39, 0}));
}

TEST_F(DapServerTest, AGroupOfTheLaunchIsItsRanks) {
  launch({{"group", 0}, {"stopOnEntry", true}});
  EXPECT_EQ(gdbs(), (std::set<int>{0, 1}));
  body("configurationDone");
  gate();
  EXPECT_EQ(target().part(), (std::vector<Rank>{0, 1}));
}

TEST_F(DapServerTest, ALaunchOfRanksThatCannotRunAloneFails) {
  introduce();
  const auto refused = [this](const Json& part) {
    Json arguments = traceArguments();
    arguments.update(part);
    return refusal("launch", arguments);
  };
  EXPECT_NE(refused({{"ranks", {0, 2}}}).find("Take the whole of it: 0-1."), std::string::npos);
  EXPECT_NE(refused({{"group", 3}}).find("no group 3"), std::string::npos);
  EXPECT_NE(refused({{"ranks", {2}}, {"focus", {0}}}).find("Rank 0 is not in this replay"),
            std::string::npos);
  EXPECT_NE(refused({{"ranks", {2}}, {"until", "3:5"}}).find("Rank 3 is not in this replay"),
            std::string::npos);
  Json right = traceArguments();
  right["ranks"] = {3};
  body("launch", right);
  EXPECT_EQ(gdbs(), std::set<int>{3});
}

// -- while breakpoints are set

TEST_F(DapServerTest, BeforeConfigurationDoneNoRankCanBeMoved) {
  launch();
  for (const char* command : {"continue", "next", "pause", "stepBack", "stackTrace", "restart"}) {
    EXPECT_EQ(refusal(command, {{"threadId", 1}}),
              std::string("the request '") + command + "' does not fit before 'configurationDone'");
  }
  EXPECT_EQ(body("threads")["threads"].size(), 4U);
  EXPECT_TRUE(m_targets.isEmpty()) << "nothing is started yet";
}

TEST_F(DapServerTest, TheRacesOfTheTraceAreARequest) {
  launch();
  const Json races = body("photofinish/races");
  EXPECT_TRUE(races.is_object());
  EXPECT_FALSE(races.empty());
}

TEST_F(DapServerTest, EventsOfARankAreARequest) {
  launch();
  const Json page = body("photofinish/events", {{"rank", 1}, {"first", 3}, {"limit", 2}});
  ASSERT_EQ(page["events"].size(), 2U) << page;
  EXPECT_EQ(page["events"][0]["rank"], 1);
  EXPECT_EQ(page["events"][0]["serial"], 3);
  EXPECT_GT(page["count"], 4);
  EXPECT_NE(refusal("photofinish/events", {{"rank", 4}}), "");
  EXPECT_NE(refusal("photofinish/events"), "");
  EXPECT_NE(refusal("photofinish/events", {{"rank", 1}, {"first", 0}}), "");
  EXPECT_NE(refusal("photofinish/events", {{"rank", 1}, {"limit", 1001}}), "");
}

TEST_F(DapServerTest, ATraceThatIsGoneHasNoRacesToTell) {
  launch();
  ASSERT_TRUE(QFile::remove(m_trace));
  EXPECT_NE(refusal("photofinish/races"), "");
}

// -- sources

TEST_F(DapServerTest, ASourceIsReadForWhoCannot) {
  introduce();
  QFile file(m_own.filePath(QStringLiteral("a b.c")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("int a;\n\xff\n");
  file.close();
  const Json source = {{"source", {{"path", file.fileName().toStdString()}}}};
  EXPECT_EQ(body("source", source)["content"], "int a;\n\xEF\xBF\xBD\n")
      << "bytes that are no UTF-8 do not break the message";
}

TEST_F(DapServerTest, WhatIsNoSourceIsRefused) {
  introduce();
  for (const Json& wrong : std::vector<Json>{
           Json::object(),
           {{"source", nullptr}},
           {{"source", {{"path", ""}}}},
           {{"source", {{"path", "/nowhere.c"}}}},
           {{"source", {{"path", m_own.path().toStdString()}}}},
           {{"source", {{"path", "/dev/zero"}}}},
           {{"sourceReference", 3}},
       }) {
    EXPECT_NE(refusal("source", wrong).find("that could be read"), std::string::npos) << wrong;
  }
}

TEST_F(DapServerTest, AHugeFileIsNoSource) {
  introduce();
  QFile file(m_own.filePath(QStringLiteral("huge.c")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  ASSERT_TRUE(file.resize((qint64{8} << 20) + 1));
  EXPECT_NE(refusal("source", {{"source", {{"path", file.fileName().toStdString()}}}}), "");
}

TEST_F(DapServerTest, PathsGoBothWaysInTheFormOfTheClient) {
  introduce({{"pathFormat", "uri"}});
  const QString path = m_own.filePath(QStringLiteral("x y.c"));
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("int a;\n");
  file.close();
  const std::string uri = QUrl::fromLocalFile(path).toString(QUrl::FullyEncoded).toStdString();
  EXPECT_EQ(body("source", {{"source", {{"path", uri}}}})["content"], "int a;\n");
}

// -- the cycle

TEST_F(DapServerTest, ACycleGoesToWhereTheLaunchSays) {
  stand();
  EXPECT_EQ(session().currentRank(), 2);
  EXPECT_EQ(session().serialOf(2), 39U);
  EXPECT_EQ(refusal("configurationDone"),
            "the request 'configurationDone' does not fit in a session that has begun");
}

TEST_F(DapServerTest, StopOnEntryIsTheFirstEventThatCanBeStoppedAt) {
  launch({{"stopOnEntry", true}});
  body("configurationDone");
  gate();
  const auto* plan = target().last<protocol::Plan>();
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stops[0], 2U);
  target().comeToTheirStops();
  EXPECT_EQ(event("stopped")["reason"], "entry");
}

TEST_F(DapServerTest, UntilAFailureThatThereIsNotIsSaidAndGoesOn) {
  launch({{"until", "failure"}});
  body("configurationDone");
  gate();
  EXPECT_NE(output("console").find("No rank failed in this recording"), std::string::npos);
  EXPECT_FALSE(m_targets.isEmpty());
}

TEST_F(DapServerTest, WhatRanksPrintIsMarkedAndCutInLines) {
  stand();
  forgetEvents();
  Q_EMIT session().output(1, values::OutputStream::Out, "one\ntw");
  Q_EMIT session().output(2, values::OutputStream::Err, "bad \xff\n");
  EXPECT_EQ(output("stdout"), "[1] one\n");
  EXPECT_EQ(output("stderr"), "[2] bad \xEF\xBF\xBD\n");
  body("terminate");
  EXPECT_EQ(output("stdout"), "[1] one\ntw\n") << "the rest comes with the end";
}

TEST_F(DapServerTest, WhatTheSessionSaysHasItsWeight) {
  stand();
  forgetEvents();
  Q_EMIT session().message(QStringLiteral("by the way"), false);
  Q_EMIT session().message(QStringLiteral("look out"), true);
  EXPECT_EQ(output("console"), "by the way\n");
  EXPECT_EQ(output("important"), "look out\n");
}

TEST_F(DapServerTest, ALineOfGdbThatNobodyAskedForIsShownIfItIsAnError) {
  stand();
  forgetEvents();
  Q_EMIT session().consoleText(1, QStringLiteral("warning: x\n"), true);
  Q_EMIT session().consoleText(1, QStringLiteral("Thread 1 hit\n"), false);
  EXPECT_EQ(output(), "warning: x\n");
}

TEST_F(DapServerTest, RestartIsANewCycleToTheSamePlace) {
  stand();
  body("restart");
  EXPECT_EQ(event("continued")["allThreadsContinued"], true);
  awaitCycle(1);
  EXPECT_EQ(target().last<protocol::Plan>()->stops[2], 40U);
  target().comeToTheirStops();
  EXPECT_EQ(event("stopped")["threadId"], 3);
  EXPECT_FALSE(hasEvent("terminated")) << "the end of the first cycle is not that of the session";
}

TEST_F(DapServerTest, RestartTakesTheLatestWayAndAnyWordsForIt) {
  launch({{"stopOnEntry", true}});
  body("configurationDone");
  gate();
  target().comeToTheirStops();
  event("stopped");
  for (const Json& odd : {Json(7), Json::array({1}), Json(nullptr), Json{{"trace", 5}}}) {
    const auto cycles = m_targets.size();
    body("restart", {{"arguments", odd}});
    awaitCycle(cycles);
    EXPECT_EQ(target().last<protocol::Plan>()->stops[0], 2U) << odd;
    target().comeToTheirStops();
    event("stopped");
  }
  const auto cycles = m_targets.size();
  body("restart", {{"arguments", traceArguments()}});
  awaitCycle(cycles);
  const auto* plan = target().last<protocol::Plan>();
  EXPECT_TRUE(plan == nullptr || plan->stops[0] == 0U) << "to the first stop or the end";
}

// -- the end

TEST_F(DapServerTest, TheEndOfTheProgramIsTheEndOfTheSession) {
  stand();
  body("continue", {{"threadId", 1}});
  pump();
  Q_EMIT target().ended(3, {});
  EXPECT_EQ(event("exited")["exitCode"], 3);
  event("terminated");
  EXPECT_EQ(refusal("continue", {{"threadId", 1}}),
            "the request 'continue' does not fit after the end of the session");
  EXPECT_EQ(m_finished, 0) << "the editor has still to leave";
  body("disconnect");
  EXPECT_TRUE(QTest::qWaitFor([this] { return m_finished > 0; }, kPatienceMs));
}

TEST_F(DapServerTest, TerminateEndsTheRanks) {
  stand();
  body("terminate");
  event("terminated");
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), !session().isReplaying(); }, kPatienceMs));
  EXPECT_FALSE(hasEvent("exited")) << "no program has come to its end by itself";
  EXPECT_EQ(refusal("terminate"),
            "the request 'terminate' does not fit after the end of the session");
}

TEST_F(DapServerTest, DisconnectIsAnsweredOnceAndEndsAll) {
  stand();
  body("disconnect");
  event("terminated");
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), m_finished > 0; }, kPatienceMs));
  EXPECT_FALSE(session().isReplaying());
  EXPECT_EQ(m_finished, 1);
  m_editor.request("threads", Json::object());
  EXPECT_FALSE(hasEvent("terminated"));
  EXPECT_EQ(std::count_if(m_responses.begin(), m_responses.end(),
                          [](const Json& each) { return each["command"] == "threads"; }),
            0)
      << "nobody listens any more";
}

TEST_F(DapServerTest, AnEditorThatIsGoneEndsTheRanksToo) {
  stand();
  m_editor.hangUp();
  EXPECT_TRUE(QTest::qWaitFor([this] { return pump(), m_finished > 0; }, kPatienceMs));
  EXPECT_FALSE(session().isReplaying());
}

TEST_F(DapServerTest, ACycleThatCannotBeginEndsTheSessionWithItsWords) {
  launch();
  session().setReplays([](const session::ReplayRequest&) {
    return Result<std::unique_ptr<session::Target>>(
        Error{ErrorCode::System, "no ranks to be had", "Buy some."});
  });
  body("configurationDone");
  event("terminated");
  EXPECT_NE(output("important").find("no ranks to be had"), std::string::npos) << output();
}

TEST_F(DapServerTest, TheServerMayGoWhileGdbsAreAsked) {
  stand();
  m_editor.request("stackTrace", {{"threadId", 1}});
  m_editor.request("evaluate", {{"expression", "n"}, {"context", "repl"}});
  m_editor.request("evaluate", {{"expression", "n"}});
  m_server.reset();
  pump();
  EXPECT_EQ(m_finished, 0) << "it was not asked to";
}

}  // namespace
}  // namespace pf::headless
