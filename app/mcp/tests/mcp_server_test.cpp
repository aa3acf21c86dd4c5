// SPDX-License-Identifier: GPL-3.0-or-later
// A client's requests, and what the tools do on replays, ranks and GDBs that are made up (app/session/tests/fake_target.h).
#include "app/mcp/mcp_server.h"

#include <fcntl.h>

#include <array>
#include <csignal>

#include <QTest>

#include "app/session/tests/session_fixture.h"

namespace pf::headless {
namespace {

using mcp::Json;
using session::test::FakeTarget;

constexpr int kPatienceMs = 30000;

class McpServerTest : public session::test::ReplayFixture {
 protected:
  McpServerTest() {
    ::setenv("XDG_STATE_HOME", m_own.path().toStdString().c_str(), 1);  // what is trusted
    serve({.trusted = true, .console = false});
  }

  void serve(McpOptions options) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC | O_NONBLOCK), 0);
    m_server.reset();
    m_say = UniqueFd(in[1]);
    m_hear = UniqueFd(out[0]);
    m_channel = std::make_unique<ByteChannel>(UniqueFd(in[0]), UniqueFd(out[1]));
    m_server = std::make_unique<McpServer>(
        *m_channel, options,
        [this](session::DebugSession& session) { session.setReplays(replays()); });
    QObject::connect(m_server.get(), &McpServer::finished, [this] { ++m_finished; });
    m_lines = LineReader();
    m_heard.clear();
  }

  void say(const std::string& bytes) {
    Q_EMIT m_channel->received(QByteArray::fromStdString(bytes));
  }
  int send(const std::string& method, const Json& parameters = Json::object()) {
    say(Json{{"jsonrpc", "2.0"}, {"id", ++m_id}, {"method", method}, {"params", parameters}}
            .dump() +
        "\n");
    return m_id;
  }
  void listen() {
    std::array<char, 65536> buffer{};
    for (ssize_t got = 1; got > 0;) {
      got = ::read(m_hear.get(), buffer.data(), buffer.size());
      m_lines.feed({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
    }
    while (const auto line = m_lines.next()) {
      m_heard.push_back(Json::parse(**line));
    }
  }
  /// The answer to a request; null: there is none by now.
  Json answerTo(const Json& id) {
    listen();
    for (const Json& each : m_heard) {
      if (each.is_object() && each.contains("id") && each["id"] == id) {
        return each;
      }
    }
    return nullptr;
  }
  Json await(const Json& id) {
    Json answer;
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
          pump();
          answer = answerTo(id);
          return !answer.is_null();
        },
        kPatienceMs))
        << "no answer to " << id;
    return answer;
  }
  Json ask(const std::string& method, const Json& parameters = Json::object()) {
    return await(send(method, parameters));
  }
  void initialize(const char* version = "2025-06-18") {
    ask("initialize", {{"protocolVersion", version}, {"capabilities", Json::object()}});
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
        "\n");
  }
  int begin(const std::string& tool, const Json& arguments = Json::object()) {
    return send("tools/call", {{"name", tool}, {"arguments", arguments}});
  }
  static std::string textOf(const Json& answer) {
    return answer.value("/result/content/0/text"_json_pointer, answer.dump());
  }
  std::string call(const std::string& tool, const Json& arguments = Json::object()) {
    const Json answer = await(begin(tool, arguments));
    EXPECT_FALSE(answer.value("/result/isError"_json_pointer, true)) << answer;
    return textOf(answer);
  }
  std::string refusal(const std::string& tool, const Json& arguments = Json::object()) {
    const Json answer = await(begin(tool, arguments));
    EXPECT_TRUE(answer.value("/result/isError"_json_pointer, false)) << answer;
    return textOf(answer);
  }
  void open() {
    initialize();
    call("open", {{"trace", m_trace.toStdString()}});
  }
  /// The ranks come to the stops that they were sent to.
  Json arrive(int id, const std::vector<FakeTarget::Reply>& replies = {}) {
    EXPECT_TRUE(QTest::qWaitFor(
        [this] {
          pump();
          return !m_targets.isEmpty();
        },
        kPatienceMs));
    gate(replies);
    target().comeToTheirStops();
    return await(id);
  }
  void stand(const std::vector<FakeTarget::Reply>& replies = {}) {
    open();
    const Json there =
        arrive(begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}}), replies);
    EXPECT_FALSE(there["result"]["isError"].get<bool>()) << there;
    target().forgetOrders();
  }

  UniqueFd m_say;
  UniqueFd m_hear;
  std::unique_ptr<ByteChannel> m_channel;
  std::unique_ptr<McpServer> m_server;
  LineReader m_lines;
  std::vector<Json> m_heard;
  int m_id = 0;
  int m_finished = 0;
};

// -- the protocol

TEST_F(McpServerTest, EveryToolIsCarriedOut) {
  const ToolDesk desk({});
  for (const mcp::Tool& tool : mcp::tools()) {
    EXPECT_TRUE(desk.has(tool.name)) << tool.name;
  }
}

TEST_F(McpServerTest, ItIsInitializedOnceAndFirst) {
  EXPECT_EQ(ask("ping")["result"], Json::object()) << "a ping comes at any time";
  EXPECT_NE(ask("tools/list")["error"]["message"].get<std::string>().find("before 'initialize'"),
            std::string::npos);
  EXPECT_EQ(ask("initialize")["error"]["code"], -32602);
  const Json told = ask("initialize", {{"protocolVersion", "2024-11-05"}})["result"];
  EXPECT_EQ(told["protocolVersion"], "2024-11-05");
  EXPECT_EQ(told["serverInfo"]["name"], "photofinish");
  EXPECT_TRUE(told["capabilities"].contains("tools"));
  EXPECT_EQ(ask("initialize", {{"protocolVersion", "2024-11-05"}})["error"]["code"], -32600);
  EXPECT_EQ(ask("tools/list")["result"]["tools"].size(), mcp::tools().size());
  EXPECT_EQ(ask("tools/list", {{"cursor", "x"}})["error"]["code"], -32602);
  EXPECT_EQ(ask("resources/list")["error"]["code"], -32601);
}

TEST_F(McpServerTest, AVersionThatIsNotKnownIsAnsweredByTheLatest) {
  EXPECT_EQ(ask("initialize", {{"protocolVersion", "1999-01-01"}})["result"]["protocolVersion"],
            "2025-06-18");
}

TEST_F(McpServerTest, WhatIsNoRequestIsAnsweredAndTheNextOneIsRead) {
  initialize();
  say("{\n\xff\n[[[[\nnull\n{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n");
  say(std::string(3 << 20, 'x') + "\n");
  listen();
  EXPECT_EQ(std::count_if(m_heard.begin(), m_heard.end(),
                          [](const Json& each) { return each.contains("error"); }),
            6);
  EXPECT_EQ(ask("ping")["result"], Json::object());
}

TEST_F(McpServerTest, ABatchIsAnsweredByOne) {
  initialize("2025-03-26");
  say(R"([{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"info"}},)"
      R"({"jsonrpc":"2.0","method":"notifications/initialized"},8])"
      "\n");
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        listen();
        return m_heard.back().is_array();
      },
      kPatienceMs));
  ASSERT_TRUE(m_heard.back().is_array());
  EXPECT_EQ(m_heard.back().size(), 3U);
}

TEST_F(McpServerTest, ToolsThatAreNotThereAreNamed) {
  initialize();
  EXPECT_EQ(ask("tools/call", {{"name", "race"}})["error"]["data"]["next"],
            "Is it 'races'? tools/list has them all.");
  EXPECT_EQ(ask("tools/call", {{"name", 7}})["error"]["code"], -32602);
  EXPECT_EQ(ask("tools/call")["error"]["code"], -32602);
  EXPECT_NE(refusal("events", {{"rank", "one"}}).find("'rank' is a whole number"),
            std::string::npos);
}

TEST_F(McpServerTest, AnErrorSaysWhatToDoNext) {
  initialize();
  const Json answer = await(begin("races"));
  EXPECT_EQ(textOf(answer),
            "error: no trace is open\nnext: Call 'open' with the path of a .pft file first.");
  EXPECT_EQ(answer["result"]["structuredContent"]["error"]["message"], "no trace is open");
}

TEST_F(McpServerTest, AClientOfAnEarlierRevisionGetsTextOnly) {
  initialize("2025-03-26");
  EXPECT_FALSE(await(begin("races"))["result"].contains("structuredContent"));
}

// -- a trace

TEST_F(McpServerTest, ATraceIsOpenedAndLookedAt) {
  initialize();
  EXPECT_NE(refusal("open", {{"trace", "/nowhere/x.pft"}}).find("/nowhere/x.pft"),
            std::string::npos);
  EXPECT_NE(refusal("where").find("no trace is open"), std::string::npos) << "that one is not open";
  const std::string opened = call("open", {{"trace", m_trace.toStdString()}});
  EXPECT_EQ(opened.find("opened " + m_trace.toStdString()), 0U) << opened;
  EXPECT_NE(opened.find("ranks"), std::string::npos) << opened;
  EXPECT_NE(call("races", {{"limit", 1}}).find("racing receives"), std::string::npos);
  const std::string events = call("events", {{"rank", 1}, {"first", 3}, {"limit", 2}});
  EXPECT_EQ(std::count(events.begin(), events.end(), '\n'), 2) << events;
  EXPECT_NE(events.find("event 3"), std::string::npos) << events;
  EXPECT_NE(events.find("'first' 5 shows the next"), std::string::npos) << events;
  EXPECT_NE(refusal("events", {{"rank", 9}}).find("ranks 0 to 3"), std::string::npos);
  EXPECT_NE(refusal("events", {{"rank", 1}, {"first", 999999}}).find("Give a 'first'"),
            std::string::npos);
  EXPECT_NE(call("waits").find("at the end of the record"), std::string::npos);
  EXPECT_NE(refusal("where").find("no replay runs"), std::string::npos);
  EXPECT_EQ(call("close"), "closed");
  EXPECT_NE(refusal("info").find("no trace is open"), std::string::npos);
}

TEST_F(McpServerTest, PartsOfTheJobAreCheckedBeforeAnythingIsOpened) {
  initialize();
  EXPECT_NE(
      refusal("open", {{"trace", m_trace.toStdString()}, {"ranks", "x"}}).find("names no ranks"),
      std::string::npos);
  EXPECT_NE(refusal("open", {{"trace", m_trace.toStdString()}, {"ranks", "0"}, {"group", 1}})
                .find("Give one of them"),
            std::string::npos);
}

// -- replays

TEST_F(McpServerTest, ToAnEventWithItsStacksAndValues) {
  stand({{"-data-evaluate-expression", R"(^done,value="5")"},
         {"-data-evaluate-expression", R"(^done,value="6")", {}, 1}});
  EXPECT_NE(call("where", {{"ranks", "2"}}).find("before event 40"), std::string::npos);
  EXPECT_NE(call("stacks").find("[0-3] main() at m.c:40"), std::string::npos);
  EXPECT_NE(call("stacks", {{"ranks", "1"}}).find("[1] #1 collect() at m.c:12"), std::string::npos);
  EXPECT_EQ(call("values", {{"expressions", {"n"}}, {"ranks", "all"}}), "n:\n[0, 2-3] 5\n[1] 6");
  EXPECT_EQ(call("values", {{"expressions", {"n"}}, {"rank", 1}}), "n:\n[1] 6");
  EXPECT_NE(call("waits").find("where the replay is"), std::string::npos);
}

TEST_F(McpServerTest, OneValueOfSeveralIsEnough) {
  stand({{"-data-evaluate-expression", R"(^done,value="5")"},
         {"\"nosuch\"", R"(^error,msg="No symbol \"nosuch\" in current context.")"}});
  const std::string some = call("values", {{"expressions", {"nosuch", "n"}}});
  EXPECT_NE(some.find("nosuch:\n"), std::string::npos) << some;
  EXPECT_NE(some.find("No symbol"), std::string::npos) << some;
  EXPECT_NE(some.find("n:\n[2] 5"), std::string::npos) << some;
  EXPECT_NE(refusal("values", {{"expressions", {"nosuch"}}}).find("'info locals'"),
            std::string::npos);
}

TEST_F(McpServerTest, WhatMayChangeTheProgramReachesNoGdb) {
  stand();
  for (const auto& [tool, arguments] : std::vector<std::pair<std::string, Json>>{
           {"values", {{"expressions", {"n = 7"}}}},
           {"values", {{"expressions", {"n", "$_shell(\"id\")"}}}},
           {"console", {{"command", "call abort()"}}},
           {"console", {{"command", "print n++"}}},
           {"console", {{"command", "shell id"}}},
           {"which_message", {{"expression", "n = 7"}}},
           {"last_change", {{"expression", "n = 7"}}},
           {"breakpoints", {{"action", "set"}, {"place", "m.c:12"}, {"condition", "n = 7"}}},
           {"replay_to", {{"to", "breakpoint"}, {"place", "watch n = 7"}}}}) {
    const std::string said = refusal(tool, arguments);
    EXPECT_NE(said.find("not given to GDB"), std::string::npos) << said;
    EXPECT_NE(said.find("--allow-console"), std::string::npos) << said;
  }
  EXPECT_FALSE(target().wasTold(2, "n = 7") || target().wasTold(2, "abort") ||
               target().wasTold(2, "id"));
}

TEST_F(McpServerTest, GdbsAreKeptFromCallsUnlessTheConsoleIsAllowed) {
  open();
  const int id = begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  arrive(id);
  EXPECT_TRUE(target().wasTold(2, "may-call-functions off"));
}

TEST_F(McpServerTest, AConsoleThatIsAllowedGivesGdbAnyLine) {
  serve({.trusted = true, .console = true});
  stand({{"call f()", "^done", "$1 = 8"}});
  EXPECT_FALSE(target().wasTold(2, "may-call-functions"));
  EXPECT_EQ(call("console", {{"command", "call f()"}}), "[2] 8");
}

TEST_F(McpServerTest, TheConsoleLooksInAnyCase) {
  stand({{"info locals", "^done", "n = 5"}});
  EXPECT_EQ(call("console", {{"command", "info locals"}, {"rank", 1}}), "[1] n = 5");
}

TEST_F(McpServerTest, WhereARequestLeadsIsCheckedFirst) {
  open();
  EXPECT_NE(refusal("replay_to", {{"to", "failure"}}).find("next: 'races' lists the suspects"),
            std::string::npos)
      << "no rank failed";
  EXPECT_NE(refusal("replay_to", {{"to", "event"}}).find("'number' is missing"), std::string::npos);
  EXPECT_NE(
      refusal("replay_to", {{"to", "event"}, {"rank", 9}, {"number", 1}}).find("ranks 0 to 3"),
      std::string::npos);
  EXPECT_NE(
      refusal("replay_to", {{"to", "receive"}, {"rank", 9}, {"number", 1}}).find("ranks 0 to 3"),
      std::string::npos);
  EXPECT_NE(refusal("replay_to", {{"to", "receive"}, {"rank", 1}, {"number", 99999}})
                .find("counts from 1"),
            std::string::npos);
  EXPECT_NE(refusal("replay_to", {{"to", "race"}, {"number", 999999}}).find("'races' lists them"),
            std::string::npos);
  EXPECT_NE(refusal("move", {{"how", "next"}}).find("no replay runs"), std::string::npos);
  EXPECT_TRUE(m_targets.isEmpty()) << "nothing has been run";
}

TEST_F(McpServerTest, BreakpointsAreSetListedAndDeleted) {
  open();
  EXPECT_EQ(call("breakpoints", {{"action", "list"}}), "there are none");
  EXPECT_EQ(call("output"), "nothing was printed in this replay");
  EXPECT_NE(call("breakpoints", {{"action", "set"}, {"place", "m.c:12"}, {"condition", "n == 3"}})
                .find("breakpoint 1: m.c:12 if n == 3"),
            std::string::npos);
  EXPECT_NE(call("breakpoints", {{"action", "list"}}).find("breakpoint 1"), std::string::npos);
  EXPECT_NE(refusal("breakpoints", {{"action", "delete"}}).find("'number' is missing"),
            std::string::npos);
  EXPECT_NE(refusal("breakpoints", {{"action", "delete"}, {"number", 7}}).find("no breakpoint 7"),
            std::string::npos);
  EXPECT_EQ(call("breakpoints", {{"action", "delete"}, {"number", 1}}), "done");
  EXPECT_NE(refusal("breakpoints", {{"action", "set"}}).find("'place' is missing"),
            std::string::npos);
}

TEST_F(McpServerTest, CallsWaitForTheirTurnAndAPingDoesNot) {
  open();
  const int go = begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  const int where = begin("where", {{"ranks", "2"}});
  EXPECT_EQ(ask("ping")["result"], Json::object());
  EXPECT_TRUE(answerTo(where).is_null());
  arrive(go);
  EXPECT_NE(textOf(await(where)).find("before event 40"), std::string::npos);
}

TEST_F(McpServerTest, AnIdThatIsUnderWayIsNotTakenTwice) {
  open();
  const int go = begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  m_id = go - 1;
  send("ping");
  EXPECT_EQ(await(go)["error"]["code"], -32600);
}

TEST_F(McpServerTest, ACancelledReplayIsEndedAndHasNoAnswer) {
  open();
  const int go = begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  const int behind = begin("where");
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        return !m_targets.isEmpty();
      },
      kPatienceMs));
  gate();
  say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
      std::to_string(go) + "}}\n");
  EXPECT_NE(textOf(await(behind)).find("no replay runs"), std::string::npos);
  EXPECT_TRUE(answerTo(go).is_null());
  EXPECT_TRUE(m_targets.last() == nullptr || m_targets.last()->closing);
}

TEST_F(McpServerTest, ACallThatWaitsCanBeCancelledAndWhatIsNotThereIsNoMatter) {
  open();
  const int go = begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  const int behind = begin("where");
  for (const std::string& id :
       {std::to_string(behind), std::string("\"x\""), std::string("null"), std::string("[]")}) {
    say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
        "}}\n");
  }
  arrive(go);
  ask("ping");
  EXPECT_TRUE(answerTo(behind).is_null());
}

TEST_F(McpServerTest, ProgressIsToldWhereItWasAskedFor) {
  initialize();
  await(send("tools/call", {{"name", "open"},
                            {"arguments", {{"trace", m_trace.toStdString()}}},
                            {"_meta", {{"progressToken", "p"}}}}));
  const auto told = std::find_if(m_heard.begin(), m_heard.end(), [](const Json& each) {
    return each.value("method", "") == "notifications/progress";
  });
  ASSERT_NE(told, m_heard.end());
  EXPECT_EQ((*told)["params"]["progressToken"], "p");
  EXPECT_EQ((*told)["params"]["progress"], 1);
}

TEST_F(McpServerTest, WhatRanksPrintIsAnAnswerAndNothingElse) {
  stand();
  testing::internal::CaptureStderr();
  Q_EMIT target().said(protocol::Output{1, 1, "{\"jsonrpc\":\"2.0\"}\n", 0});
  pump();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(call("output"), "[1] {\"jsonrpc\":\"2.0\"}");
}

TEST_F(McpServerTest, AClientThatGoesAwayEndsTheReplay) {
  stand();
  m_say.reset();
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        return m_finished == 1;
      },
      kPatienceMs));
  EXPECT_TRUE(m_targets.last() == nullptr || m_targets.last()->closing);
}

TEST_F(McpServerTest, AClientThatGoesAwayDuringACallEndsIt) {
  open();
  begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  begin("where");
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        return !m_targets.isEmpty();
      },
      kPatienceMs));
  m_say.reset();
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        return m_finished == 1;
      },
      kPatienceMs));
}

TEST_F(McpServerTest, AClientThatHearsNothingAnyMoreEndsTheReplay) {
  stand();
  m_hear.reset();
  testing::internal::CaptureStderr();
  std::signal(SIGPIPE, SIG_IGN);  // as in photofinish-headless
  send("ping");
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        return m_finished == 1;
      },
      kPatienceMs));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(McpServerTest, CallsThatWaitAreBounded) {
  open();
  const int go = begin("replay_to", {{"to", "event"}, {"rank", 2}, {"number", 40}});
  int last = 0;
  for (int i = 0; i < 33; ++i) {
    last = begin("where");
  }
  EXPECT_NE(textOf(await(last)).find("too many calls"), std::string::npos);
  arrive(go);
  EXPECT_NE(textOf(await(last - 1)).find("before event 40"), std::string::npos)
      << "the others are answered";
}

TEST_F(McpServerTest, AClientThatGoesAwayWhileATraceIsOpenedIsNotWaitedForLong) {
  initialize();
  begin("open", {{"trace", m_trace.toStdString()}});
  m_say.reset();
  EXPECT_TRUE(QTest::qWaitFor(
      [this] {
        pump();
        return m_finished == 1;
      },
      kPatienceMs));
}

TEST_F(McpServerTest, AnotherTraceTakesThePlaceOfTheFirst) {
  stand();
  const QString other = m_own.filePath(QStringLiteral("other.pft"));
  QFile::copy(original(), other);
  EXPECT_NE(call("open", {{"trace", other.toStdString()}}).find("opened " + other.toStdString()),
            std::string::npos);
  EXPECT_NE(refusal("where").find("no replay runs"), std::string::npos);
}

TEST_F(McpServerTest, ATraceOfSomebodyElseIsReadAndNotRun) {
  bench::Traffic traffic;
  traffic.ranks = 3;  // the others are trusted by now
  traffic.events = 300;
  ASSERT_TRUE(bench::writeSyntheticTrace(m_trace.toStdString(), traffic).ok());
  serve({});
  initialize();
  const std::string opened = call("open", {{"trace", m_trace.toStdString()}});
  EXPECT_NE(opened.find("nothing of it is run. Only the person"), std::string::npos) << opened;
  EXPECT_NE(call("races").find("racing receives"), std::string::npos);
  EXPECT_NE(call("events", {{"rank", 1}}).find("event 1"), std::string::npos);
  EXPECT_NE(call("waits").find("at the end of the record"), std::string::npos);
  for (const auto& [tool, arguments] : std::vector<std::pair<std::string, Json>>{
           {"replay_to", {{"to", "failure"}}},
           {"replay_to", {{"to", "breakpoint"}, {"place", "main"}}},
           {"move", {{"how", "continue"}}},
           {"breakpoints", {{"action", "set"}, {"place", "main"}}},
           {"focus", {{"ranks", "0"}}},
           {"last_change", {{"expression", "n"}}}}) {
    const std::string said = refusal(tool, arguments);
    EXPECT_NE(said.find("not recorded by you"), std::string::npos) << said;
    EXPECT_NE(said.find("photofinish mcp --trust"), std::string::npos) << said;
  }
  EXPECT_TRUE(m_targets.isEmpty());
}

}  // namespace
}  // namespace pf::headless
