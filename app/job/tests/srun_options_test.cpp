// SPDX-License-Identifier: GPL-3.0-or-later
// Finding the program behind srun's options.
#include "app/job/srun_options.h"

#include <gtest/gtest.h>

#include "app/job/launcher.h"
#include "app/job/tests/made_programs.h"

namespace pf::app {
namespace {

using Words = std::vector<std::string>;

struct Case {
  Words option;
  std::size_t words;
};

TEST(SrunOptions, TakeTheWordsThatSrunTakes) {
  const std::vector<Case> cases = {{{"-n", "4"}, 2},
                                   {{"-n4"}, 1},
                                   {{"-l"}, 1},
                                   {{"-lun", "4"}, 2},
                                   {{"-lun4"}, 1},
                                   {{"-K"}, 1},
                                   {{"-K1"}, 1},
                                   {{"-I10"}, 1},
                                   {{"-lKn", "4"}, 1},
                                   {{"--ntasks", "4"}, 2},
                                   {{"--ntasks=4"}, 1},
                                   {{"--mpi=pmix"}, 1},
                                   {{"--mpi", "pmix"}, 2},
                                   {{"--label"}, 1},
                                   {{"--lab"}, 1},
                                   {{"--kill-on-bad-exit"}, 1},
                                   {{"--kill-on-bad-exit=1"}, 1},
                                   {{"--export", "NONE"}, 2},
                                   {{"--exclusive"}, 1},
                                   {{"--exclude", "n1"}, 2},
                                   {{"--cpu-bind", "none"}, 2},
                                   {{"--gres", "gpu:1"}, 2},
                                   {{"--pty"}, 1},
                                   {{"--nice"}, 1}};
  for (const Case& each : cases) {
    Words words = each.option;
    words.emplace_back("./app");
    EXPECT_EQ(srunOptionWords(words, 0), each.words) << each.option[0];
  }
}

/// With a launcher and a program that can be found.
class SrunLaunch : public testing::Test {
 protected:
  SrunLaunch() {
    m_programs.make("srun");
    m_programs.make("app");
  }
  [[nodiscard]] Words launch(const Words& words) const {
    Words all = {m_programs.at("srun")};
    for (const std::string& word : words) {
      all.push_back(word == "APP" ? m_programs.at("app") : word);
    }
    return all;
  }

 private:
  test::MadePrograms m_programs;
};

TEST_F(SrunLaunch, TheAgentIsPutInFrontOfTheProgram) {
  const Words typed = launch({"--mpi", "pmix", "-K", "-ln", "4", "--", "APP", "-n", ":x"});
  const auto command = parseLaunch(typed);
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->programs, std::vector<std::size_t>{7});
  const Words expected = launch({"--quiet", "--mpi", "pmix", "-K", "-ln", "4", "--", "agent",
                                 "--session", "/s", "--", "APP", "-n", ":x"});
  EXPECT_EQ(command->withAgent({"agent", "--session", "/s"}, {"--quiet"}), expected);
}

TEST_F(SrunLaunch, EachPartOfAHeterogeneousJobHasIts) {
  const auto command = parseLaunch(launch({"-n1", "APP", "a", ":", "-n", "2", "APP"}));
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->programs, (std::vector<std::size_t>{2, 7}));
}

TEST_F(SrunLaunch, WhatLeavesNoPlaceForTheAgentIsRefused) {
  for (const Words& words :
       {Words{"--multi-prog", "APP"}, Words{"--bcast=/tmp/x", "APP"}, Words{"--bcast", "APP"}}) {
    const auto command = parseLaunch(launch(words));
    ASSERT_FALSE(command.ok()) << words[0];
    EXPECT_EQ(command.error().code, ErrorCode::Usage);
    EXPECT_NE(command.error().message.find("srun's --"), std::string::npos);
  }
  EXPECT_TRUE(parseLaunch(launch({"APP", "--multi-prog"})).ok());
}

}  // namespace
}  // namespace pf::app
