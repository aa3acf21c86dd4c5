// SPDX-License-Identifier: GPL-3.0-or-later
// The protocol as values: lines, messages, tools and what is given to them, texts that are kept short.
#include <set>

#include <gtest/gtest.h>

#include "app/mcp/wire/bounded_text.h"
#include "app/mcp/wire/json_rpc.h"
#include "app/mcp/wire/line_reader.h"
#include "app/mcp/wire/tool_catalog.h"

namespace pf::headless {
namespace {

using mcp::Code;
using mcp::Json;

std::vector<std::string> linesOf(const std::string& bytes, std::size_t piece) {
  LineReader reader;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::string_view(bytes).substr(at, piece));
    while (const auto line = reader.next()) {
      lines.push_back(line->ok() ? **line : "!" + line->error().message);
    }
  }
  return lines;
}

// -- lines

TEST(McpLinesTest, AreTheSameHoweverTheyCome) {
  const std::string bytes = "{\"a\":1}\r\n\n  \n{\"b\":2}\nrest";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    EXPECT_EQ(linesOf(bytes, piece), (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"})) << piece;
  }
}

TEST(McpLinesTest, OneThatIsTooLongIsToldOnceAndTheNextIsRead) {
  const std::string bytes = std::string(LineReader::kLongest + 5, 'x') + "\n{}\n";
  const std::vector<std::string> told{"!a line is longer than 1048576 bytes", "{}"};
  for (const std::size_t piece : {std::size_t{4096}, std::size_t{65536}, bytes.size()}) {
    EXPECT_EQ(linesOf(bytes, piece), told) << piece;
  }
  EXPECT_EQ(linesOf(std::string(3 * LineReader::kLongest, 'x') + "\n{}\n", 60000), told);
  EXPECT_EQ(linesOf(std::string(LineReader::kLongest, 'x') + "\n", 60000).front().size(),
            LineReader::kLongest);
}

// -- messages

Code codeOf(const std::string& line) {
  const mcp::Received received = mcp::readMessages(line);
  EXPECT_EQ(received.faults.size(), 1U) << line;
  EXPECT_TRUE(received.messages.empty()) << line;
  EXPECT_FALSE(received.faults.empty() || received.faults.front().error.advice.empty()) << line;
  return received.faults.empty() ? Code::NoMethod : received.faults.front().code;
}

TEST(McpMessagesTest, ARequestAndANotification) {
  const mcp::Received request = mcp::readMessages(
      R"({"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"info"}})");
  ASSERT_EQ(request.messages.size(), 1U);
  EXPECT_EQ(request.messages[0].id, "x");
  EXPECT_EQ(request.messages[0].method, "tools/call");
  EXPECT_EQ(request.messages[0].parameters["name"], "info");
  EXPECT_FALSE(request.batch);
  const mcp::Received told =
      mcp::readMessages(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  ASSERT_EQ(told.messages.size(), 1U);
  EXPECT_TRUE(told.messages[0].isNotification());
  EXPECT_TRUE(mcp::readMessages(R"({"jsonrpc":"2.0","id":3,"result":{}})").messages.empty());
}

TEST(McpMessagesTest, WhatIsNoneIsTold) {
  EXPECT_EQ(codeOf("{"), Code::Parse);
  EXPECT_EQ(codeOf("\xff"), Code::Parse);
  EXPECT_EQ(codeOf("GET / HTTP/1.1"), Code::Parse);
  EXPECT_EQ(codeOf("3"), Code::InvalidRequest);
  EXPECT_EQ(codeOf("null"), Code::InvalidRequest);
  EXPECT_EQ(codeOf("[]"), Code::InvalidRequest);
  EXPECT_EQ(codeOf("{}"), Code::InvalidRequest);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), Code::InvalidRequest);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), Code::InvalidRequest);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), Code::InvalidRequest);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":{"a":1},"method":"ping"})"), Code::InvalidRequest);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":7})"), Code::InvalidRequest);
  EXPECT_EQ(codeOf(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})"),
            Code::InvalidParameters);
}

TEST(McpMessagesTest, WhatLiesTooDeepIsNotRead) {
  const auto nested = [](int depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" +
           std::string(static_cast<std::size_t>(depth), '[') + "\"]]]\\\"\"" +
           std::string(static_cast<std::size_t>(depth), ']') + "}}";
  };
  EXPECT_EQ(mcp::readMessages(nested(62)).messages.size(), 1U);
  EXPECT_EQ(codeOf(nested(63)), Code::Parse);
  EXPECT_EQ(codeOf(std::string(500000, '[')), Code::Parse);
}

TEST(McpMessagesTest, ABatchKeepsWhatIsRight) {
  const mcp::Received batch = mcp::readMessages(
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"x"}])");
  EXPECT_TRUE(batch.batch);
  EXPECT_EQ(batch.messages.size(), 2U);
  EXPECT_EQ(batch.faults.size(), 1U);
}

TEST(McpMessagesTest, AVersionThatIsKnownIsSpokenElseTheLatest) {
  EXPECT_EQ(mcp::versionFor("2024-11-05"), "2024-11-05");
  EXPECT_EQ(mcp::versionFor("2025-03-26"), "2025-03-26");
  EXPECT_EQ(mcp::versionFor("2025-06-18"), "2025-06-18");
  EXPECT_EQ(mcp::versionFor("2031-01-01"), "2025-06-18");
  EXPECT_EQ(mcp::versionFor(""), "2025-06-18");
}

TEST(McpMessagesTest, WhatIsWrittenIsOneLineOfJson) {
  const std::string line = mcp::toLine(mcp::success(1, {{"text", "a\nb\xff\xc3\xa9"}}));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const Json read = Json::parse(line);
  EXPECT_EQ(read["jsonrpc"], "2.0");
  EXPECT_EQ(read["id"], 1);
  const Json failed = mcp::failure({Code::NoMethod, {ErrorCode::Usage, "no", "yes"}, 7});
  EXPECT_EQ(failed["error"]["code"], -32601);
  EXPECT_EQ(failed["error"]["data"]["next"], "yes");
}

// -- tools

TEST(McpToolsTest, EachHasWhatAClientNeeds) {
  std::set<std::string> names;
  for (const mcp::Tool& tool : mcp::tools()) {
    const Json described = mcp::describe(tool);
    names.insert(described["name"].get<std::string>());
    EXPECT_GT(described["description"].get<std::string>().size(), 40U) << tool.name;
    EXPECT_EQ(described["inputSchema"]["type"], "object");
    EXPECT_EQ(described["inputSchema"]["additionalProperties"], false);
    EXPECT_EQ(described["annotations"]["readOnlyHint"], tool.looksOnly);
    for (const auto& [name, schema] : described["inputSchema"]["properties"].items()) {
      EXPECT_GT(schema["description"].get<std::string>().size(), 5U) << tool.name << " " << name;
      EXPECT_TRUE(schema.contains("type")) << tool.name << " " << name;
    }
    EXPECT_EQ(mcp::findTool(tool.name), &tool);
  }
  EXPECT_EQ(names.size(), mcp::tools().size());
  EXPECT_EQ(mcp::findTool("nosuch"), nullptr);
  EXPECT_EQ(mcp::nearestTool("race"), "races");
  EXPECT_EQ(mcp::nearestTool("replay"), "replay_to");
  EXPECT_EQ(mcp::nearestTool("make_coffee"), "");
}

std::string wrong(const char* tool, const Json& arguments) {
  const Result<mcp::Given> given = mcp::Given::read(*mcp::findTool(tool), arguments);
  return given ? "right" : given.error().message + "|" + given.error().advice;
}

TEST(McpToolsTest, WhatIsGivenIsChecked) {
  EXPECT_EQ(wrong("open", {{"trace", "a.pft"}}), "right");
  EXPECT_EQ(wrong("open", {{"trace", "a.pft"}, {"ranks", "0,2-4"}}), "right");
  EXPECT_NE(wrong("open", Json::object()).find("'trace' is missing|Path"), std::string::npos);
  EXPECT_NE(wrong("open", {{"trace", 7}}).find("is a line of text"), std::string::npos);
  EXPECT_NE(wrong("open", {{"trace", "a\nb"}}).find("is a line of text"), std::string::npos);
  EXPECT_NE(wrong("open", {{"trace", std::string("a\0b", 3)}}).find("is a line"),
            std::string::npos);
  EXPECT_NE(wrong("open", {{"trace", ""}}).find("is a line of text"), std::string::npos);
  EXPECT_NE(wrong("open", {{"trace", std::string(5000, 'a')}}).find("is a line"),
            std::string::npos);
  EXPECT_NE(wrong("open", {{"trace", "a"}, {"trust", true}})
                .find("no argument 'trust'|It takes: trace, ranks, group"),
            std::string::npos)
      << "consent is no client's to give";
  EXPECT_NE(wrong("open", Json::array()).find("no object"), std::string::npos);
  EXPECT_NE(wrong("events", {{"rank", 1}, {"limit", 501}}).find("from 1 to 500"),
            std::string::npos);
  EXPECT_NE(wrong("events", {{"rank", -1}}).find("whole number"), std::string::npos);
  EXPECT_NE(wrong("events", {{"rank", 1.5}}).find("whole number"), std::string::npos);
  EXPECT_NE(wrong("events", {{"rank", 18446744073709551615U}}).find("whole number"),
            std::string::npos);
  EXPECT_NE(wrong("replay_to", {{"to", "nowhere"}}).find("is one of failure, event"),
            std::string::npos);
  EXPECT_NE(wrong("values", {{"expressions", Json::array()}}).find("one to 20"), std::string::npos);
  EXPECT_NE(wrong("values", {{"expressions", {"a", 3}}}).find("one to 20"), std::string::npos);
  EXPECT_EQ(wrong("info", {{"x", 1}}), "info: there is no argument 'x'|It takes none.");
}

// -- texts

TEST(McpTextTest, WhatDoesNotFitIsCounted) {
  BoundedText text(20);
  EXPECT_TRUE(text.isEmpty());
  text.add("one\ntwo\n");
  text.add("three");
  EXPECT_EQ(text.take("never said"), "one\ntwo\nthree");
  text.add("four is too long\nfive\n");
  EXPECT_EQ(text.take("ask for less"), "one\ntwo\nthree\n… 2 lines left out: ask for less");
}

TEST(McpTextTest, ALongLineIsCutAndSaysSo) {
  BoundedText text;
  text.add(std::string(kMostOfLine + 10, 'x'));
  EXPECT_NE(text.take("").find("x … (10 bytes more of this line left out)"), std::string::npos);
}

}  // namespace
}  // namespace pf::headless
