// SPDX-License-Identifier: GPL-3.0-or-later
// The client's form of lines and paths, and messages over pipes, without a session.
#include "app/dap/wire/dap_client.h"

#include "app/dap/ranks/dap_goto_targets.h"
#include "app/dap/tests/dap_editor.h"

namespace pf::headless {
namespace {

TEST(DapClientFormat, OfAClientThatSaysNothing) {
  const ClientFormat format(Json::object());
  EXPECT_EQ(format.toClient(QStringLiteral("/a b/c.c")), "/a b/c.c");
  EXPECT_EQ(format.fromClient("/a b/c.c"), QStringLiteral("/a b/c.c"));
  EXPECT_EQ(format.lineToClient(7), 7);
  EXPECT_EQ(format.lineFromClient(7), 7);
  EXPECT_EQ(format.firstColumn(), 1);
}

TEST(DapClientFormat, CountsFrom0WhereTheClientDoes) {
  const ClientFormat format(Json{{"linesStartAt1", false}, {"columnsStartAt1", false}});
  EXPECT_EQ(format.lineToClient(7), 6);
  EXPECT_EQ(format.lineFromClient(6), 7);
  EXPECT_EQ(format.lineFromClient(0), 1);
  EXPECT_EQ(format.firstColumn(), 0);
}

TEST(DapClientFormat, WhatIsNoLineIs0) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const ClientFormat from1;
  const ClientFormat from0(Json{{"linesStartAt1", false}});
  EXPECT_EQ(from1.lineFromClient(-1), 0);
  EXPECT_EQ(from0.lineFromClient(-1), 0);
  EXPECT_EQ(from1.lineFromClient(kMost), kMost);
  EXPECT_EQ(from0.lineFromClient(kMost), 0);
  EXPECT_EQ(from1.lineFromClient(kMost + 1), 0);
}

TEST(DapClientFormat, PathsAreUrisWhereTheClientWantsThem) {
  const ClientFormat format(Json{{"pathFormat", "uri"}});
  EXPECT_EQ(format.toClient(QStringLiteral("/a b/c.c")), "file:///a%20b/c.c");
  EXPECT_EQ(format.fromClient("file:///a%20b/c.c"), QStringLiteral("/a b/c.c"));
  EXPECT_EQ(format.source(QStringLiteral("/a/c.c")),
            (Json{{"name", "c.c"}, {"path", "file:///a/c.c"}}));
}

TEST(DapClientFormat, ASourceMayBeAnything) {
  const ClientFormat format;
  EXPECT_EQ(format.sourcePath(Json{{"source", {{"path", "/c.c"}}}}), QStringLiteral("/c.c"));
  for (const Json& arguments : {Json::object(), Json{{"source", 7}}, Json{{"source", {1}}},
                                Json{{"source", {{"path", 7}}}}}) {
    EXPECT_TRUE(format.sourcePath(arguments).isEmpty()) << arguments;
  }
}

Execution twoRanksOnOneLine() {
  Execution execution;
  CallSite here;
  here.file = "/a.c";
  here.line = 7;
  CallSite below = here;
  below.line = 8;
  execution.sites = {here, below};
  execution.ranks.resize(2);
  Event on;
  on.site = 0;
  Event off;
  off.site = 1;
  execution.ranks[0].events = {off, on};
  execution.ranks[1].events = {on};
  return execution;
}

const GotoTargets::Filter kAll = [](const EventRef&) { return true; };

TEST(DapGotoTargets, OnlyEventsThatAreMeant) {
  const Execution execution = twoRanksOnOneLine();
  GotoTargets targets;
  const Json found = targets.find(execution, {QStringLiteral("/a.c"), 7}, {},
                                  [](const EventRef& event) { return event.rank == 1; });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(targets.event(found[0]["id"]), (EventRef{1, 1}));
}

TEST(DapGotoTargets, EventsOfALineThenTheLine) {
  const Execution execution = twoRanksOnOneLine();
  const GotoTargets::Line line{QStringLiteral("/a.c"), 7};
  GotoTargets targets;
  const Json found =
      targets.find(execution, line, ClientFormat(Json{{"linesStartAt1", false}}), kAll);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]["line"], 6);
  EXPECT_EQ(found[2]["label"], "on to this line");
  EXPECT_EQ(targets.event(found[0]["id"]), (EventRef{0, 2}));
  EXPECT_EQ(targets.event(found[1]["id"]), (EventRef{1, 1}));
  EXPECT_EQ(targets.line(found[2]["id"]), line);
  EXPECT_FALSE(targets.event(found[2]["id"]));
}

TEST(DapGotoTargets, NumbersAreNotUsedAgain) {
  const Execution execution = twoRanksOnOneLine();
  GotoTargets targets;
  const Json former = targets.find(execution, {QStringLiteral("/a.c"), 7}, {}, kAll);
  const Json found = targets.find(execution, {QStringLiteral("/b.c"), 7}, {}, kAll);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0]["id"], former[2]["id"]);
  EXPECT_FALSE(targets.event(former[0]["id"]));
  EXPECT_FALSE(targets.line(former[2]["id"]));
}

/// A client on two pipes; what is said to it is taken from the far end.
class DapClientTest : public testing::Test {
 protected:
  explicit DapClientTest(bool strict = false) : m_client(m_editor.channel(), strict) {
    QObject::connect(&m_client, &DapClient::requested,
                     [this](const Request& request) { m_requests.push_back(request); });
    QObject::connect(&m_client, &DapClient::left, [this] { ++m_left; });
  }
  void say(const std::string& bytes) { m_editor.say(bytes); }
  void request(const Json& message) { say(frame(message.dump())); }
  std::vector<Json> heard() { return m_editor.heard(); }

  Editor m_editor;
  DapClient m_client;
  std::vector<Request> m_requests;
  int m_left = 0;
};

TEST_F(DapClientTest, AnswersAreNumberedAndNameTheirRequest) {
  request({{"seq", 5}, {"type", "request"}, {"command", "threads"}});
  ASSERT_EQ(m_requests.size(), 1U);
  m_client.tell("stopped", {{"threadId", 1}});
  m_client.fail(m_requests[0], "no", "Ask again.");
  const std::vector<Json> said = heard();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0]["seq"], 1);
  EXPECT_EQ(said[0]["event"], "stopped");
  EXPECT_EQ(said[1]["seq"], 2);
  EXPECT_EQ(said[1]["request_seq"], 5);
  EXPECT_EQ(said[1]["success"], false);
  EXPECT_EQ(said[1]["body"]["error"]["variables"]["text"], "no. Ask again.");
}

TEST_F(DapClientTest, WhatIsNoRequestGoesNoFurther) {
  request({{"seq", 5}, {"type", "event"}});
  say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(m_requests.empty());
  EXPECT_EQ(m_left, 0);
  const std::vector<Json> said = heard();
  ASSERT_GE(said.size(), 2U);
  EXPECT_EQ(said[0]["request_seq"], 5);
  EXPECT_EQ(said[1]["request_seq"], 0);
}

TEST_F(DapClientTest, RequestsThatComeTogetherAreTakenInTheirOrder) {
  const auto text = [](int seq) {
    return frame(Json{{"seq", seq}, {"type", "request"}, {"command", "threads"}}.dump());
  };
  say(text(1) + text(2) + text(3).substr(0, 20));
  ASSERT_EQ(m_requests.size(), 2U);
  EXPECT_EQ(m_requests[1].seq, 2);
  say(text(3).substr(20));
  EXPECT_EQ(m_requests.size(), 3U);
}

TEST_F(DapClientTest, WhoStopsListeningInARequestTakesNoneOfTheRest) {
  QObject::connect(&m_client, &DapClient::requested, [this] { m_client.stopListening(); });
  const std::string text =
      frame(Json{{"seq", 1}, {"type", "request"}, {"command", "disconnect"}}.dump());
  say(text + text + text);
  EXPECT_EQ(m_requests.size(), 1U);
}

TEST_F(DapClientTest, InvalidatedIsForWhoKnowsIt) {
  m_client.invalidateVariables();
  EXPECT_TRUE(heard().empty());
  m_client.introduce({{"supportsInvalidatedEvent", true}});
  m_client.invalidateVariables();
  EXPECT_EQ(heard().at(0)["body"]["areas"], Json::array({"variables"}));
}

class DapStrictClientTest : public DapClientTest {
 protected:
  DapStrictClientTest() : DapClientTest(true) {}
};

TEST_F(DapStrictClientTest, NoiseIsTheEnd) {
  say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_GE(m_left, 1);
}

TEST_F(DapClientTest, NothingIsTakenOnceNobodyListens) {
  m_client.stopListening();
  request({{"seq", 5}, {"type", "request"}, {"command", "threads"}});
  EXPECT_TRUE(m_requests.empty());
}

TEST_F(DapClientTest, ProgressIsShownToWhoWantsIt) {
  m_client.showProgress(QStringLiteral("a"));
  EXPECT_TRUE(heard().empty());
  m_client.introduce(Json{{"supportsProgressReporting", true}});
  m_client.showProgress({});
  for (const char* task : {"a", "b", "", "", "c"}) {
    m_client.showProgress(QString::fromLatin1(task));
  }
  std::string events;
  for (const Json& message : heard()) {
    events += message["event"].get<std::string>() + " " +
              message["body"]["progressId"].get<std::string>() + ", ";
  }
  EXPECT_EQ(events, "progressStart 1, progressUpdate 1, progressEnd 1, progressStart 2, ");
}

TEST_F(DapClientTest, OutputOfRanksComesByLines) {
  m_client.rankOutput(2, false, "a\nb");
  m_client.rankOutput(3, true, "c");
  m_client.endRankOutput();
  std::string text;
  for (const Json& message : heard()) {
    text += message["body"]["category"].get<std::string>() + ": " +
            message["body"]["output"].get<std::string>();
  }
  EXPECT_EQ(text, "stdout: [2] a\nstdout: b\nstderr: c\n");
}

}  // namespace
}  // namespace pf::headless
