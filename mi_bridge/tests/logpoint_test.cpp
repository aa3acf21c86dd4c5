// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/logpoint.h"

#include <gtest/gtest.h>

namespace pf::mi {
namespace {

TEST(Logpoint, textInParts) {
  EXPECT_EQ(
      *parseLog("sum is {sum} of {a[{1}]}"),
      (std::vector<LogPart>{{false, "sum is "}, {true, "sum"}, {false, " of "}, {true, "a[{1}]"}}));
  EXPECT_EQ(*parseLog("{{x}}"), (std::vector<LogPart>{{false, "{x}"}}));
  EXPECT_EQ(parseLog("")->size(), 0U);
  for (const char* bad : {"{", "}", "a {x", "x} b", "{}", "{ }", "{{{"}) {
    EXPECT_FALSE(parseLog(bad)) << bad;
  }
}

TEST(Logpoint, commandIsOneLineWhateverItHolds) {
  LogpointRequest request;
  request.id = 3;
  request.source = "/a b/it's\n.c";
  request.line = 7;
  request.condition = "s == \"'\"";
  request.parts = {{false, "x\\\n"}, {true, "x"}};
  EXPECT_EQ(
      logpointCommand(request),
      R"(python PfLog(3,[(False,'x\\\n'),(True,'x'),],'s == "\'"',0,source='/a b/it\'s\n.c',line=7))");
  request.source.clear();
  request.function = "f";
  EXPECT_NE(logpointCommand(request).find("function='f'"), std::string::npos);
  request.function.clear();
  request.address = "main+4";
  EXPECT_NE(logpointCommand(request).find("'*main+4'"), std::string::npos);
  EXPECT_EQ(logpointSetup().find('\n'), std::string::npos);
}

TEST(Logpoint, linesComeBack) {
  EXPECT_EQ(logLineOf("@pf-log 3 17 x is\\n\\\\n 4\n"), (LogLine{3, 17, "x is\n\\n 4"}));
  EXPECT_EQ(logLineOf("@pf-log 3 17 \n"), (LogLine{3, 17, ""}));
  for (const char* other : {"", "hello", "@pf-log ", "@pf-log x 1 y", "@pf-log 1", "@pf-log 1 2"}) {
    EXPECT_FALSE(logLineOf(other)) << other;
  }
}

}  // namespace
}  // namespace pf::mi
