// SPDX-License-Identifier: GPL-3.0-or-later
#include "mi_bridge/console_command.h"

#include <gtest/gtest.h>

#include "mi_bridge/breakpoint_words.h"

namespace pf::mi {
namespace {

struct Verb {
  const char* line;
  char expected;  ///< s send, b block, r refused; Q K R A D: action
};

class Plan : public ::testing::TestWithParam<Verb> {};

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
    ::testing::Values(
        Verb{"print x", 's'}, Verb{"continue", 's'}, Verb{"break foo", 's'}, Verb{"p/x y", 's'},
        Verb{"info threads", 's'}, Verb{"inf thr", 's'}, Verb{"python print(1)", 's'},
        Verb{"set var x = 1", 's'}, Verb{"", 's'}, Verb{"ru", 'R'}, Verb{"r", 'R'},
        Verb{"start", 'R'}, Verb{"  quit  ", 'Q'}, Verb{"q", 'Q'}, Verb{"exit", 'Q'},
        Verb{"k", 'K'}, Verb{"kill", 'K'}, Verb{"attach 12", 'A'}, Verb{"detach", 'D'},
        Verb{"until 5", 's'}, Verb{"commands", 'b'}, Verb{"commands 3", 'b'}, Verb{"python", 'b'},
        Verb{"py", 'b'}, Verb{"define foo", 'b'}, Verb{"if x", 'b'}, Verb{"while x", 'b'},
        Verb{"document foo", 'b'}, Verb{"shell ls", 'r'}, Verb{"!ls", 'r'}, Verb{"pip ls", 'r'},
        Verb{"| ls", 'r'}, Verb{"tui enable", 'r'}, Verb{"layout src", 'r'}, Verb{"pi", 'r'},
        Verb{"target remote :1", 'r'}, Verb{"set pagination on", 'r'},
        Verb{"set follow-fork-mode child", 'r'}, Verb{"set follow-f child", 'r'},
        Verb{"set detach-on-fork off", 'r'}, Verb{"set det off", 'r'},
        Verb{"set follow-exec-mode new", 'r'}, Verb{"set schedule-multiple on", 'r'},
        Verb{"with follow-fork-mode child -- next", 'r'}, Verb{"w det off -- next", 'r'},
        Verb{"set follow = 1", 's'}, Verb{"catch fork", 'r'}, Verb{"catch vfork if x", 'r'},
        Verb{"tcatch fork", 'r'}, Verb{"tc f", 'r'}, Verb{"catch exec", 's'},
        Verb{"catch throw", 's'}, Verb{"break fork", 's'}, Verb{"set mi-async off", 'r'},
        Verb{"set breakpoint always-inserted on", 'r'},
        Verb{"interpreter-exec mi \"-gdb-exit\"", 'r'}, Verb{"print 1\nquit", 'r'}));

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
