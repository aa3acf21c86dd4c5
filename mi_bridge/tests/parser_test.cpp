// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/parser.h"

#include <string>

#include <gtest/gtest.h>

namespace pf::mi {
namespace {

/// A record as text, so that a table can hold it.
std::string shown(const Record& record) {
  if (const auto* result = std::get_if<ResultRecord>(&record)) {
    static constexpr const char* kNames[] = {"done", "running", "connected", "error", "exit", "?"};
    return (result->token ? std::to_string(*result->token) : "") + "^" +
           kNames[static_cast<int>(result->resultClass)] + result->results.toMi();
  }
  if (const auto* async = std::get_if<AsyncRecord>(&record)) {
    static constexpr const char kSigns[] = {'*', '+', '='};
    return (async->token ? std::to_string(*async->token) : "") +
           std::string(1, kSigns[static_cast<int>(async->kind)]) + async->asyncClass +
           async->results.toMi();
  }
  if (const auto* stream = std::get_if<StreamRecord>(&record)) {
    static constexpr const char kSigns[] = {'~', '@', '&'};
    return std::string(1, kSigns[static_cast<int>(stream->kind)]) + stream->text;
  }
  return "prompt";
}

struct Case {
  const char* line;
  const char* expected;
};

class ParserGood : public ::testing::TestWithParam<Case> {};

TEST_P(ParserGood, Parses) {
  const auto record = parseRecord(GetParam().line);
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(shown(*record), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Records, ParserGood,
    ::testing::Values(Case{"(gdb)", "prompt"}, Case{"(gdb) ", "prompt"}, Case{"^done", "^done{}"},
                      Case{"12^running", "12^running{}"}, Case{"3^connected", "3^connected{}"},
                      Case{"4^exit", "4^exit{}"}, Case{"5^new-class,x=\"1\"", "5^?{x=\"1\"}"},
                      Case{"6^error,msg=\"No symbol \\\"i\\\".\",code=\"undefined-command\"",
                           "6^error{msg=\"No symbol \\\"i\\\".\",code=\"undefined-command\"}"},
                      Case{"*running,thread-id=\"all\"", "*running{thread-id=\"all\"}"},
                      Case{"*stopped", "*stopped{}"},
                      Case{"=thread-group-added,id=\"i1\"", "=thread-group-added{id=\"i1\"}"},
                      Case{"+download,{section=\".text\",section-size=\"6668\"}",
                           "+download{{section=\".text\",section-size=\"6668\"}}"},
                      Case{"7^done,a={},b=[]", "7^done{a={},b=[]}"},
                      Case{"^done,stack=[frame={level=\"0\"},frame={level=\"1\"}]",
                           "^done{stack=[frame={level=\"0\"},frame={level=\"1\"}]}"},
                      Case{"^done,groups=[\"i1\",\"i2\"]", "^done{groups=[\"i1\",\"i2\"]}"},
                      // What mi2 really writes for a breakpoint with several locations.
                      Case{"^done,bkpt={number=\"1\"},{number=\"1.1\"},{number=\"1.2\"}",
                           "^done{bkpt={number=\"1\"},{number=\"1.1\"},{number=\"1.2\"}}"},
                      // GDB 13: a tuple of bare values.
                      Case{"=breakpoint-modified,bkpt={script={\"silent\",\"print i\"},x=\"1\"}",
                           "=breakpoint-modified{bkpt={script={\"silent\",\"print i\"},x=\"1\"}}"},
                      Case{"~\"a\\n\"", "~a\n"}, Case{"@\"out\"", "@out"}, Case{"&\"log\"", "&log"},
                      Case{"~\">\"", "~>"}, Case{"99999999999999999999999^done", "^done{}"}));

struct BadCase {
  const char* line;
  std::size_t offset;
};

class ParserBad : public ::testing::TestWithParam<BadCase> {};

TEST_P(ParserBad, NamesTheOffset) {
  std::size_t offset = 12345;
  const auto record = parseRecord(GetParam().line, &offset);
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(offset, GetParam().offset);
  EXPECT_NE(record.error().message.find("offset " + std::to_string(offset)), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Lines, ParserBad,
    ::testing::Values(BadCase{"", 0}, BadCase{"hello", 0}, BadCase{"12", 2}, BadCase{"12^", 3},
                      BadCase{"^done,", 6}, BadCase{"^done,x", 7}, BadCase{"^done,x=", 8},
                      BadCase{"^done,x=\"1", 8}, BadCase{"^done,x={", 9},
                      BadCase{"^done,x={a=\"1\"", 14}, BadCase{"^done,x=[\"1\",]", 13},
                      BadCase{"^done,x={a=\"1\"]", 14}, BadCase{"^done x", 5},
                      BadCase{"^done,x=\"1\"}", 11}, BadCase{"~plain", 1}, BadCase{"~\"a\"b", 4},
                      BadCase{"5~\"a\"", 1}, BadCase{"partial 0=breakpoint-modified,x=\"1\"", 0},
                      BadCase{"*,x=\"1\"", 1}, BadCase{"{}", 0}));

std::string nested(int depth) {
  std::string line = "^done,x=";
  for (int i = 0; i < depth; ++i) {
    line += '[';
  }
  return line + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(Parser, DepthIsLimited) {
  EXPECT_TRUE(parseRecord(nested(kMaxDepth - 1)).ok());
  EXPECT_FALSE(parseRecord(nested(kMaxDepth)).ok());
  EXPECT_FALSE(parseRecord("^done,x=" + std::string(1000000, '{')).ok());
}

TEST(Parser, EveryCutOfARecordIsAnErrorOrARecord) {
  const std::string line =
      R"(12*stopped,reason="breakpoint-hit",frame={func="m\303\251",args=[{name="a",value="\"x\""}]})";
  for (std::size_t length = 0; length < line.size(); ++length) {
    std::size_t offset = 0;
    const auto record = parseRecord(line.substr(0, length), &offset);
    EXPECT_LE(offset, length);
    if (record.ok()) {
      EXPECT_EQ(line[length], length < 11 ? line[length] : ',');
    }
  }
}

TEST(Parser, TokenOfADamagedReply) {
  EXPECT_EQ(resultTokenOf("17^done,x={"), 17U);
  EXPECT_EQ(resultTokenOf("^done"), std::nullopt);
  EXPECT_EQ(resultTokenOf("17*stopped"), std::nullopt);
  EXPECT_EQ(resultTokenOf("17"), std::nullopt);
  EXPECT_EQ(resultTokenOf(""), std::nullopt);
}

}  // namespace
}  // namespace pf::mi
