// SPDX-License-Identifier: GPL-3.0-or-later
// Words for GDB that change nothing, and those that might.
#include "mi_bridge/looking_words.h"

#include <gtest/gtest.h>

namespace pf::mi {
namespace {

TEST(LookingWordsTest, ExpressionsThatLook) {
  for (const char* const text :
       {"total", "a[3].b->c", "*p@10", "(int)x + 1", "a == b", "a != b", "a <= b", "a >= b",
        "a>=b&&c==d", "$pc", "$_siginfo.si_signo", "$rax", "{int}0x1000", "x .eq. y", "f(3)",
        "sizeof(x)", "a - -b"}) {
    EXPECT_TRUE(onlyLooksAt(text)) << text;
  }
}

TEST(LookingWordsTest, ExpressionsThatMayChange) {
  for (const char* const text : {"a = 3",
                                 "a=3",
                                 "a += 3",
                                 "a|=1",
                                 "a<<=1",
                                 "a>>=1",
                                 "a<<==1",
                                 "a ===b",
                                 "a !== b",
                                 "x := 5",
                                 "a++",
                                 "--a",
                                 "$pc = 0",
                                 "=",
                                 "$_shell(\"touch x\")",
                                 "$_shell (\"touch x\")",
                                 "1 + $_as_string(2)",
                                 "'a' = 3",
                                 "\"a=b\"",
                                 "a\nshell touch x",
                                 "",
                                 "  ",
                                 "a/=2",
                                 "a\x01"}) {
    EXPECT_FALSE(onlyLooksAt(text)) << text;
  }
}

TEST(LookingWordsTest, LinesThatLook) {
  for (const char* const line : {"bt",
                                 "bt 3",
                                 "backtrace full",
                                 "where",
                                 "p total",
                                 "print/x total",
                                 "x/4xw $sp",
                                 "info locals",
                                 "i r",
                                 "info threads",
                                 "list",
                                 "l 20",
                                 "ptype struct s",
                                 "whatis x",
                                 "frame",
                                 "f 2",
                                 "frame level 1",
                                 "frame function main",
                                 "up",
                                 "up 2",
                                 "down",
                                 "thread",
                                 "thread 2",
                                 "thread apply all bt",
                                 "thread apply 1-3 -q p x",
                                 "disas main",
                                 "show version",
                                 "help print",
                                 "  bt  "}) {
    EXPECT_TRUE(onlyLooks(line)) << line;
  }
}

TEST(LookingWordsTest, LinesThatMayChange) {
  for (const char* const line : {"call f(1)",
                                 "set var a = 1",
                                 "set logging on",
                                 "shell ls",
                                 "!ls",
                                 "| p x | sh",
                                 "pipe p x | sh",
                                 "python 1",
                                 "py 1",
                                 "jump 20",
                                 "return",
                                 "kill",
                                 "run",
                                 "continue",
                                 "c",
                                 "next",
                                 "step",
                                 "finish",
                                 "detach",
                                 "signal 0",
                                 "b main",
                                 "break main",
                                 "tbreak main",
                                 "watch x",
                                 "delete",
                                 "commands 1",
                                 "define x",
                                 "source x",
                                 "eval \"x\"",
                                 "compile code x",
                                 "dump memory f a b",
                                 "generate-core-file",
                                 "record",
                                 "p a = 3",
                                 "print a++",
                                 "print $_shell(\"ls\")",
                                 "frame apply all call f()",
                                 "f apply all p 1",
                                 "frame address 0",
                                 "frame view 1",
                                 "thread apply all call f()",
                                 "thread apply all thread apply all bt",
                                 "thread apply all",
                                 "thread find x",
                                 "thread name x",
                                 "up x",
                                 "alias x = y",
                                 "with print pretty -- call f()",
                                 "maint print x",
                                 "target core x",
                                 "file x",
                                 "cd /",
                                 "make",
                                 "info locals\nshell ls",
                                 "tui enable",
                                 "printf \"%d\", f()",
                                 "echo x",
                                 "display x",
                                 "explore x",
                                 "search x",
                                 "edit",
                                 "save breakpoints f",
                                 "",
                                 "#",
                                 "faas bt",
                                 "taas bt"}) {
    EXPECT_FALSE(onlyLooks(line)) << line;
  }
}

TEST(LookingWordsTest, ARefusalSaysWhatMayBeAsked) {
  const Status refused = onlyLooks("call f(1)");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("call f(1)"), std::string::npos);
  EXPECT_NE(refused.error().advice.find("backtrace"), std::string::npos);
}

}  // namespace
}  // namespace pf::mi
