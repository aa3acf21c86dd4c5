#include "mi_bridge/console_command.h"

#include <gtest/gtest.h>

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
                      Case{"!ls", 'r'}, Case{"| ls", 'r'}, Case{"tui enable", 'r'},
                      Case{"layout src", 'r'}, Case{"pi", 'r'}, Case{"target remote :1", 'r'},
                      Case{"set pagination on", 'r'}, Case{"set mi-async off", 'r'},
                      Case{"set breakpoint always-inserted on", 'r'},
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
