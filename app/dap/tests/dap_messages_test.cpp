// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_messages.h"

#include <gtest/gtest.h>

#include "app/dap/values/dap_references.h"
#include "app/front_end/line_buffers.h"

namespace pf::headless {
namespace {

Error errorOf(const std::string& content) {
  std::int64_t seq = 0;
  const Result<Request> request = parseRequest(content, seq);
  return request ? Error{} : request.error();
}

TEST(DapMessages, ARequestIsRead) {
  std::int64_t seq = 0;
  const auto request = parseRequest(
      R"({"seq": 7, "type": "request", "command": "next", "arguments": {"threadId": 3}})", seq);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(seq, 7);
  EXPECT_EQ(request->command, "next");
  EXPECT_EQ(number(request->arguments, "threadId", 0), 3);
}

TEST(DapMessages, WhatIsNoRequestIsSaid) {
  EXPECT_EQ(errorOf("{").message, "a message is no JSON");
  EXPECT_EQ(errorOf("[]").message, "a message is no JSON object");
  EXPECT_EQ(errorOf("\"\xff\"").message, "a message is no JSON");
  EXPECT_EQ(errorOf(R"({"seq": 1, "type": "event"})").message, "a message is no request");
  EXPECT_NE(errorOf(R"({"seq": "1", "type": "request", "command": "next"})").message, "");
  EXPECT_NE(errorOf(R"({"seq": 1, "type": "request", "command": 5})").message, "");
  EXPECT_NE(errorOf(R"({"seq": 1, "type": "request", "command": "a", "arguments": [1]})").message,
            "");
  EXPECT_NE(errorOf(std::string(100000, '[')).message, "");
}

TEST(DapMessages, FieldsOfAnotherTypeAreNotThere) {
  const Json object = {{"a", "x"}, {"b", 1.5}, {"c", 18446744073709551615U}, {"d", nullptr}};
  for (const char* field : {"a", "b", "c", "d", "e"}) {
    EXPECT_EQ(number(object, field, -3), -3) << field;
  }
  EXPECT_EQ(word(object, "b"), "");
  EXPECT_FALSE(flag(object, "a"));
  EXPECT_EQ(word(Json(5), "a"), "");
  EXPECT_EQ(number(Json::array(), "a", 2), 2);
}

/// Braces in a message are not places for variables; bytes that are no UTF-8 do not stop it.
TEST(DapMessages, AnErrorIsShownAsItIs) {
  const Json error = errorResponse(4, "launch", {ErrorCode::NotFound, "no {file} \xff", "Look"});
  EXPECT_EQ(error["body"]["error"]["format"], "{text}");
  EXPECT_EQ(error["body"]["error"]["variables"]["text"], "no {file} \xff. Look");
  EXPECT_FALSE(error["success"].get<bool>());
  EXPECT_FALSE(Json::parse(toText(error), nullptr, false).is_discarded());
}

TEST(DapMessages, AnErrorHasOneFullStopBeforeItsAdvice) {
  const auto text = [](const char* message, const char* advice) {
    return errorResponse(4, "launch",
                         {ErrorCode::System, message, advice})["body"]["error"]["variables"]["text"]
        .get<std::string>();
  };
  EXPECT_EQ(text("no file", "Look elsewhere."), "no file. Look elsewhere.");
  EXPECT_EQ(text("Nothing has been run.", "Look elsewhere."),
            "Nothing has been run. Look elsewhere.");
  EXPECT_EQ(text("no file", ""), "no file");
}

TEST(DapMessages, ARankThatRunsIsTheProtocolsOwnError) {
  const Json error = notStopped({4, "stackTrace", Json::object()}, "rank 2 runs");
  EXPECT_EQ(error["message"], "notStopped");
  EXPECT_EQ(error["request_seq"], 4);
  EXPECT_EQ(error["body"]["error"]["showUser"], false) << "no box comes up";
  EXPECT_EQ(error["body"]["error"]["variables"]["text"], "rank 2 runs");
}

TEST(DapMessages, ABodyThatIsNothingIsLeftOut) {
  EXPECT_FALSE(response({4, "next", Json::object()}, nullptr).contains("body"));
  EXPECT_FALSE(eventMessage("initialized", nullptr).contains("body"));
  EXPECT_EQ(eventMessage("stopped", {{"threadId", 1}})["body"]["threadId"], 1);
}

TEST(DapMessages, NamesOfEvents) {
  EXPECT_EQ(parseEventRef("2:17"), (EventRef{2, 17}));
  EXPECT_EQ(parseEventRef("0:18446744073709551615"), (EventRef{0, 18446744073709551615U}));
  for (const char* none : {"", ":", "2", "2:", ":17", "2:0", "-1:3", "2:-3", "2:3 ", " 2:3",
                           "2:3:4", "2147483648:1", "2:18446744073709551616", "main", "ns::f"}) {
    EXPECT_FALSE(parseEventRef(none).has_value()) << none;
  }
}

TEST(DapMessages, LaunchesOfBothKinds) {
  const auto trace =
      parseLaunchArguments({{"trace", "a.pft"}, {"until", "2:17"}, {"focus", {0, 2}}});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->until, (EventRef{2, 17}));
  EXPECT_EQ(trace->focus, (std::vector<Rank>{0, 2}));
  const auto program = parseLaunchArguments({{"program", "./a"},
                                             {"args", {"x"}},
                                             {"launcher", {"mpirun", "-n", "4"}},
                                             {"until", "failure"},
                                             {"env", {{"N", "1"}}}});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->command, (std::vector<std::string>{"mpirun", "-n", "4", "./a", "x"}));
  EXPECT_TRUE(program->untilFailure);
  EXPECT_EQ(program->environment.front().first, "N");
}

TEST(DapMessages, LaunchesOfAPartOfTheJob) {
  const auto ranks = parseLaunchArguments({{"trace", "a.pft"}, {"ranks", {3, 0}}});
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ(ranks->ranks, (std::vector<Rank>{3, 0}));
  const auto group = parseLaunchArguments({{"trace", "a.pft"}, {"group", 2}});
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->group, 2U);
  for (const Json& wrong : std::vector<Json>{
           {{"trace", "a"}, {"ranks", Json::array()}},
           {{"trace", "a"}, {"ranks", 3}},
           {{"trace", "a"}, {"ranks", {"3"}}},
           {{"trace", "a"}, {"ranks", {-1}}},
           {{"trace", "a"}, {"ranks", {0}}, {"group", 0}},
           {{"trace", "a"}, {"group", -1}},
           {{"trace", "a"}, {"group", 0.5}},
           {{"trace", "a"}, {"group", "0"}},
           {{"trace", "a"}, {"group", 4294967296}},
           {{"program", "b"}, {"ranks", {0}}},
       }) {
    EXPECT_FALSE(parseLaunchArguments(wrong).ok()) << wrong.dump();
  }
}

TEST(DapMessages, LaunchesThatMakeNoSense) {
  for (const Json& wrong : std::vector<Json>{
           Json::object(),
           {{"trace", "a"}, {"program", "b"}},
           {{"program", "b"}, {"args", {1}}},
           {{"program", "b"}, {"launcher", "mpirun"}},
           {{"trace", "a"}, {"until", "2"}},
           {{"trace", "a"}, {"until", 2}},
           {{"trace", "a"}, {"focus", "some"}},
           {{"trace", "a"}, {"focus", {1.5}}},
           {{"trace", "a"}, {"focus", {4294967296}}},
           {{"program", "b"}, {"env", {{"N", 1}}}},
       }) {
    EXPECT_FALSE(parseLaunchArguments(wrong).ok()) << wrong.dump();
  }
}

TEST(DapMessages, JobsAndCoreFiles) {
  const auto job = parseAttachArguments({{"processId", "4711"}, {"focus", {1}}});
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->pid, 4711);
  EXPECT_TRUE(job->stopOnEntry);
  EXPECT_EQ(job->focus, (std::vector<Rank>{1}));
  const auto cores = parseAttachArguments(
      {{"coreFiles", {"a"}}, {"coreFile", "b"}, {"program", "./p"}, {"stopOnEntry", false}});
  ASSERT_TRUE(cores.ok());
  EXPECT_EQ(cores->cores, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(cores->program, "./p");
  EXPECT_FALSE(cores->stopOnEntry);
  for (const Json& wrong : std::vector<Json>{
           Json::object(),
           {{"pid", 0}},
           {{"pid", -7}},
           {{"processId", "12 "}},
           {{"pid", 4294967296}},
           {{"pid", 3}, {"coreFile", "a"}},
           {{"coreFiles", "a"}},
           {{"coreFiles", {1}}},
           {{"pid", 3}, {"until", "2:17"}},
           {{"pid", 3}, {"trace", "a.pft"}},
           {{"pid", 3}, {"focus", "failed"}},
       }) {
    EXPECT_FALSE(parseAttachArguments(wrong).ok()) << wrong.dump();
  }
}

TEST(DapMessages, HitConditions) {
  for (const auto& [text, ignored] : std::vector<std::pair<std::string, int>>{
           {"", 0}, {"1", 0}, {"3", 2}, {" >= 3 ", 2}, {">3", 3}}) {
    const Result<int> count = ignoreCountOf(text);
    EXPECT_TRUE(count.ok() && *count == ignored) << text;
  }
  for (const char* text : {"often", "0", "%2", "== 3", "-1", "> ", "99999999999"}) {
    EXPECT_FALSE(ignoreCountOf(text).ok()) << text;
  }
}

TEST(DapMessages, LogMessages) {
  EXPECT_EQ(logPieces("x is {x + 1}, {{y}}"),
            (std::vector<LogPiece>{{"x is ", false}, {"x + 1", true}, {", {y}", false}}));
  EXPECT_EQ(logPieces("{} {open"), (std::vector<LogPiece>{{"{} {open", false}}));
  EXPECT_TRUE(logPieces("").empty());
}

TEST(DapReferences, AreGoodUntilTheirRankRuns) {
  References references;
  const int frame = references.add(references.key(1, 1, 0));
  const int locals =
      references.add(Container{ContainerKind::Locals, references.key(1, 1, 0), {}, 0, {}});
  const int other = references.add(references.key(2, 1, 0));
  EXPECT_TRUE(references.frame(frame).has_value());
  EXPECT_EQ(references.container(frame), nullptr);
  references.run(1);
  EXPECT_FALSE(references.frame(frame).has_value());
  EXPECT_EQ(references.container(locals), nullptr);
  EXPECT_TRUE(references.frame(other).has_value());
  EXPECT_GT(references.add(references.key(1, 1, 0)), other);  // never used again
  for (const std::int64_t none : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    EXPECT_FALSE(references.frame(none).has_value());
    EXPECT_EQ(references.container(none), nullptr);
  }
}

TEST(LineBuffers, RanksDoNotShareLines) {
  LineBuffers buffers;
  EXPECT_EQ(buffers.feed(0, 1, "a\r\nb"), "a\n");
  EXPECT_EQ(buffers.feed(1, 1, "x\n"), "x\n");
  EXPECT_EQ(buffers.feed(0, 1, "c\n\n"), "bc\n\n");
  EXPECT_EQ(buffers.feed(0, 2, "rest"), "");
  const auto rest = buffers.takeRest();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest.begin()->second, "rest\n");
  EXPECT_EQ(marked("a\n\nb\n", "[0] "), "[0] a\n[0] \n[0] b\n");
}

}  // namespace
}  // namespace pf::headless
