// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a script: what each form becomes, what is refused and how, and that no line breaks the
// reader.
#include "app/script/language/script_commands.h"

#include <random>

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

ScriptCommand parsed(const std::string& line) {
  const auto command = parseScriptLine(line);
  EXPECT_TRUE(command.ok()) << line << ": " << (command ? "" : command.error().text());
  EXPECT_TRUE(!command || command->has_value()) << line;
  return command && *command ? **command : ScriptCommand{};
}

std::string refusal(const std::string& line) {
  const auto command = parseScriptLine(line);
  EXPECT_FALSE(command.ok()) << line;
  EXPECT_TRUE(command || command.error().code == ErrorCode::Usage);
  return command ? "" : command.error().message + "|" + command.error().advice;
}

TEST(ScriptCommands, BlankLinesAndCommentsAreNothing) {
  for (const char* line : {"", "  \t", "# run", "   #", "\r"}) {
    const auto command = parseScriptLine(line);
    EXPECT_TRUE(command.ok() && !command->has_value()) << line;
  }
  EXPECT_EQ(parsed(" run \r").verb->name, "run");
}

TEST(ScriptCommands, Words) {
  EXPECT_EQ(parsed("replay-to 2:17").event, (EventRef{2, 17}));
  const ScriptCommand until = parsed("until a dir/x.c:12");
  EXPECT_EQ(until.file + "|" + std::to_string(until.line), "a dir/x.c|12");
  const ScriptCommand conditional = parsed("break x.c:3 if a > 1 @workers+0");
  EXPECT_EQ(conditional.text + "|" + conditional.condition + "|" + conditional.group,
            "x.c:3|a > 1|workers+0");
  EXPECT_EQ(parsed("break receive 0#2").text, "receive 0#2");
  EXPECT_EQ(parsed("timeout 1.5").number, 1500);
  EXPECT_EQ(parsed("deliver-next anywhere").text, "anywhere");
  EXPECT_EQ(parsed("stops 3 0,2-4").text, "0,2-4");
  const ScriptCommand log = parsed("log x.c:7 i={i} @home");
  EXPECT_EQ(log.file + std::to_string(log.line) + log.text, "x.c7i={i} @home");
  EXPECT_EQ(parsed("echo  a  @b").text, "a  @b");
}

TEST(ScriptCommands, TheGroupMayComeFirstBehindTheNameOrLast) {
  for (const char* line : {"@0,2-4 print x[1]", "print @0,2-4 x[1]", "print x[1]  @0,2-4"}) {
    const ScriptCommand command = parsed(line);
    EXPECT_EQ(command.text + "|" + command.group, "x[1]|0,2-4") << line;
  }
  EXPECT_EQ(parsed("print *p@4").group, "");
  EXPECT_EQ(parsed("gdb @all print *p @4").text, "print *p @4");
  EXPECT_EQ(parsed("gdb print *p @4").group, "");
  EXPECT_EQ(parsed("next @all").group, "all");
}

TEST(ScriptCommands, WhatIsWrongIsSaid) {
  EXPECT_EQ(refusal("rnu"), "there is no command 'rnu'|Is it 'run'? 'help' lists all.");
  EXPECT_EQ(refusal("prnit x"), "there is no command 'prnit'|Is it 'print'? 'help' lists all.");
  EXPECT_EQ(refusal("n"), "there is no command 'n'|Is it 'next'? 'help' lists all.");
  EXPECT_EQ(refusal("nonsense"), "there is no command 'nonsense'|'help' lists all.");
  EXPECT_EQ(refusal("replay-to 3"), "'3' is not understood|Write: replay-to RANK:SERIAL");
  for (const char* line : {"run x",          "replay-to 0:0",
                           "replay-to -1:2", "replay-to 0:3x",
                           "until x.c",      "until :3",
                           "until x.c:0",    "rank",
                           "rank x",         "rank 99999999999",
                           "delete",         "ignore 1",
                           "timeout 0",      "timeout nan",
                           "timeout -1",     "timeout 1e9",
                           "print",          "break",
                           "break x if ",    "@all",
                           "@ print x",      "@all races",
                           "@0 print x @1",  "@0 @1 next",
                           "next @0 @1",     "deliver-next here",
                           "expect",         "log x.c:3",
                           "log x 3",        "RUN",
                           "help me"}) {
    EXPECT_NE(refusal(line), "") << line;
  }
  EXPECT_NE(refusal(std::string("run\0", 4)), "");
}

TEST(ScriptCommands, HelpNamesEachOnce) {
  const std::string help = "\n" + scriptHelp();
  for (const ScriptVerb& verb : scriptVerbs()) {
    EXPECT_NE(help.find("\n" + std::string(verb.name) + " "), help.npos) << verb.name;
    EXPECT_FALSE(verb.help.empty()) << verb.name;
    EXPECT_EQ(nearestScriptVerb(verb.name), verb.name);
  }
}

/// Pieces of right lines in any order: read without harm, and read again the same.
TEST(ScriptCommands, AnyLine) {
  std::vector<std::string> pieces = {
      "@",  "@0",   "@all", "0:3", "x.c:5", " if ", "1",   "-1",
      "\t", "1e99", "#",    ":",   "::",    "\xff", "{i}", "9999999999999999999"};
  for (const ScriptVerb& verb : scriptVerbs()) {
    pieces.emplace_back(verb.name);
  }
  std::mt19937 random(7);
  std::size_t right = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line =
        i % 2 == 0 ? std::string(scriptVerbs()[random() % scriptVerbs().size()].name) : "";
    for (auto left = random() % 4; left > 0; --left) {
      line += (random() % 5 == 0 ? "" : " ") + pieces[random() % pieces.size()];
    }
    const auto command = parseScriptLine(line);
    if (!command) {
      EXPECT_FALSE(command.error().message.empty() || command.error().advice.empty()) << line;
    } else if (*command) {
      ++right;
      EXPECT_EQ(**parseScriptLine("  " + line + " "), **command) << line;
    }
  }
  EXPECT_GT(right, 2000U);
}

}  // namespace
}  // namespace pf::headless
