#include "mi_bridge/console_command.h"

#include <gtest/gtest.h>

#include "mi_bridge/breakpoint_words.h"

namespace pf::mi {
namespace {

struct Case {
  const char* line;
  char expected;  ///< s send, b block, r refused; Q K R A D: action
};

class Plan : public ::testing::TestWithParam<Case> {};

TEST_P(Plan, Kind) {
  const auto plan = planConsoleLine(GetParam().line);
  char kind = 'r';
  if (plan) {
    kind = plan->kind == ConsolePlan::Kind::Send        ? 's'
           : plan->kind == ConsolePlan::Kind::NeedsBody ? 'b'
                                                        : "QKRAD"[static_cast<int>(plan->action)];
  }
  EXPECT_EQ(kind, GetParam().expected) << GetParam().line;
}

INSTANTIATE_TEST_SUITE_P(
    Lines, Plan,
    ::testing::Values(Case{"print x", 's'}, Case{"continue", 's'}, Case{"break foo", 's'},
                      Case{"p/x y", 's'}, Case{"info threads", 's'}, Case{"inf thr", 's'},
                      Case{"python print(1)", 's'}, Case{"set var x = 1", 's'}, Case{"", 's'},
                      Case{"ru", 'R'}, Case{"r", 'R'}, Case{"start", 'R'}, Case{"  quit  ", 'Q'},
                      Case{"q", 'Q'}, Case{"exit", 'Q'}, Case{"k", 'K'}, Case{"kill", 'K'},
                      Case{"attach 12", 'A'}, Case{"detach", 'D'}, Case{"until 5", 's'},
                      Case{"commands", 'b'}, Case{"commands 3", 'b'}, Case{"python", 'b'},
                      Case{"py", 'b'}, Case{"define foo", 'b'}, Case{"if x", 'b'},
                      Case{"while x", 'b'}, Case{"document foo", 'b'}, Case{"shell ls", 'r'},
                      Case{"!ls", 'r'}, Case{"pip ls", 'r'}, Case{"| ls", 'r'},
                      Case{"tui enable", 'r'}, Case{"layout src", 'r'}, Case{"pi", 'r'},
                      Case{"target remote :1", 'r'}, Case{"set pagination on", 'r'},
                      Case{"set mi-async off", 'r'}, Case{"set breakpoint always-inserted on", 'r'},
                      Case{"interpreter-exec mi \"-gdb-exit\"", 'r'}, Case{"print 1\nquit", 'r'}));

TEST(Console, SendIsQuoted) {
  EXPECT_EQ(planConsoleLine(" print \"a\\n\" ")->command,
            R"(-interpreter-exec console "print \"a\\n\"")");
}

Result<std::string> block(const std::vector<std::string>& lines) {
  ConsoleBlock block;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(block.add(lines[i]), i + 1 == lines.size()) << lines[i];
  }
  return block.take();
}

TEST(BreakpointWords, WhatLeavesTheProgramIsRefused) {
  for (const char* line : {"shell ls",
                           "  she ls",
                           "!ls",
                           "!  ls",
                           "| p x | cat",
                           "pipe p x | cat",
                           "pip p x",
                           "make all",
                           "mak",
                           "python print(1)",
                           "py print(1)",
                           "python",
                           "pi",
                           "source x",
                           "so x",
                           "guile 1",
                           "gu 1",
                           "gr",
                           "compile code 1",
                           "expression code 1",
                           "eval \"she%s ls\", \"ll\"",
                           "ev \"x\"",
                           "alias foo=shell",
                           "define foo",
                           "dump memory f 1 2",
                           "append memory f 1 2",
                           "save breakpoints f",
                           "generate-core-file f",
                           "gcore f",
                           "jit-reader-load f",
                           "file f",
                           "symbol-file f",
                           "add-symbol-file f",
                           "maintenance print symbols f",
                           "mt print symbols f",
                           "set logging file f",
                           "set logging file=f",
                           "set exec-wrapper sh",
                           "set auto-load safe-path /",
                           "target remote | sh",
                           "attach 1",
                           "thread apply all shell ls",
                           "thread apply all -q !ls",
                           "frame apply all shell ls",
                           "taas !ls",
                           "faas shell ls",
                           "with print pretty -- shell ls",
                           "w lang c -- thr ap all she ls",
                           "print $_shell(\"ls\")",
                           "break f if $_shell(\"ls\")",
                           "interpreter-exec mi \"-gdb-exit\""}) {
    EXPECT_FALSE(checkCommands({"silent", line})) << line;
  }
}

TEST(BreakpointWords, WhatLooksAtTheProgramIsNot) {
  EXPECT_TRUE(checkCommands({"silent",
                             "print x",
                             "p/x y",
                             "printf \"%d\\n\", make",
                             "bt 3",
                             "info locals",
                             "up",
                             "set var x = 1",
                             "set x = 1",
                             "set $n = $n + 1",
                             "set a.b = 2",
                             "set a[1] = 2",
                             "set *p = 3",
                             "set print pretty on",
                             "thread apply all bt",
                             "with print pretty -- print x",
                             "if x > 1",
                             "call f(1)",
                             "else",
                             "end",
                             "tbreak g",
                             "continue",
                             "",
                             "finish"}));
  EXPECT_TRUE(checkExpression("n == 3 && shell"));
  EXPECT_FALSE(checkExpression("$_shell(\"ls\") == 0"));
}

TEST(ConsoleBlock, CommandsThatAreRefusedOutsideAreRefusedInside) {
  EXPECT_FALSE(block({"commands 2", "silent", "shell ls", "end"}));
  EXPECT_FALSE(block({"commands 2", "python", "x = 1", "end", "!ls", "end"}));
  EXPECT_TRUE(block({"commands 2", "python", "target = 1", "end", "end"}));
}

TEST(ConsoleBlock, Commands) {
  EXPECT_EQ(*block({"commands 2", "silent", "print \"x\"", "end"}),
            R"(-break-commands 2 "silent" "print \"x\"")");
  EXPECT_EQ(*block({"commands 2", "python", "if x:", "\tprint(1)", "end", "end"}),
            R"mi(-break-commands 2 "python" "if x:" "        print(1)" "end")mi");
  const auto noNumber = block({"commands", "silent", "end"});
  ASSERT_FALSE(noNumber.ok());
  EXPECT_NE(noNumber.error().advice.find("commands 2"), std::string::npos);
}

TEST(ConsoleBlock, PythonAndDefine) {
  EXPECT_EQ(
      *block({"python", "if 1:", "  print('a')", "end"}),
      R"mi(-interpreter-exec console "python exec('if 1:\\x0a  print(\\x27a\\x27)\\x0a', globals())")mi");
  EXPECT_EQ(
      *block({"define f", "if 1", "print 2", "end", "end"}),
      R"mi(-interpreter-exec console "python gdb.execute('define f\\x0aif 1\\x0aprint 2\\x0aend\\x0aend\\x0a')")mi");
}

}  // namespace
}  // namespace pf::mi
