// SPDX-License-Identifier: GPL-3.0-or-later
// The launcher's command as typed: where its programs are, and what is said of one that cannot be run.
#include "app/job/launcher.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "app/job/tests/made_programs.h"

namespace pf::app {
namespace {

using Words = std::vector<std::string>;

class LauncherTest : public testing::Test {
 protected:
  LauncherTest() {
    for (const char* name : {"mpirun", "mpirun.openmpi", "mpiexec", "app", "other"}) {
      m_programs.make(name);
    }
    setenv("PATH", m_programs.path().c_str(), 1);
  }
  ~LauncherTest() override { setenv("PATH", m_path.c_str(), 1); }

  /// Indexes of the programs; none: it is refused.
  static std::vector<std::size_t> programsOf(const Words& words) {
    const auto command = parseLaunch(words);
    EXPECT_TRUE(command.ok()) << command.error().text();
    return command ? command->programs : std::vector<std::size_t>();
  }
  static Error whyNot(const Words& words) {
    const auto command = parseLaunch(words);
    return command ? Error{ErrorCode::Usage, "it is taken", {}} : command.error();
  }

  std::string m_path = std::getenv("PATH");
  test::MadePrograms m_programs;
};

TEST_F(LauncherTest, TheProgramIsBehindTheOptionsWithTheirValues) {
  const std::vector<Words> options = {{},
                                      {"-n", "4"},
                                      {"-np", "4"},
                                      {"--np", "4"},
                                      {"-np=4"},
                                      {"--host", "a:2,b"},
                                      {"--hostfile", "hosts"},
                                      {"--mca", "btl", "self,tcp"},
                                      {"-x", "PATH=/bin"},
                                      {"-genv", "A", "1"},
                                      {"--oversubscribe"},
                                      {"--bind-to", "core", "--map-by", "ppr:2:node"},
                                      {"-bind-to-core"},
                                      {"--prtemca", "a", "b", "--pmixmca", "c", "d"},
                                      {"--stream-buffering", "1", "--output", "tag"},
                                      {"--of-a-later-version"},
                                      {"--"},
                                      {"-n", "2", "--"}};
  for (const Words& each : options) {
    Words words = {"mpirun"};
    words.insert(words.end(), each.begin(), each.end());
    const std::size_t at = words.size();
    words.insert(words.end(), {"app", "-n", "9", ":x"});
    EXPECT_EQ(programsOf(words), std::vector<std::size_t>{at})
        << (each.empty() ? "" : each.front());
  }
}

TEST_F(LauncherTest, EachContextHasItsProgram) {
  const Words words = {"mpiexec", "-n", "1", "app", "a", ":", "-x", "V", "-n", "2", "other"};
  EXPECT_EQ(programsOf(words), (std::vector<std::size_t>{3, 10}));
  EXPECT_EQ(programsOf({"mpirun", "app", ":", "other", ":", "-n", "3", "app"}),
            (std::vector<std::size_t>{1, 3, 7}));
}

TEST_F(LauncherTest, TheAgentStandsInFrontOfEachProgramAndOptionsBehindTheLauncher) {
  const auto command = parseLaunch({"mpirun", "-n", "1", "app", ":", "other", "b"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->program(), "app");
  EXPECT_EQ(command->launcher, m_programs.at("mpirun"));
  EXPECT_EQ(command->withAgent({"agent", "-s"}, {"--extra", "x"}),
            (Words{"mpirun", "--extra", "x", "-n", "1", "agent", "-s", "--", "app", ":", "agent",
                   "-s", "--", "other", "b"}));
}

TEST_F(LauncherTest, AScriptGivesTheNameAndNotWhatRunsIt) {
  const auto titleOf = [](const Words& words) { return parseLaunch(words)->title(); };
  EXPECT_EQ(titleOf({"mpirun", "-n", "2", m_programs.at("app"), "x.py"}), "app");
  m_programs.make("python3.11");
  m_programs.make("env");
  const std::vector<std::pair<Words, const char*>> scripts = {
      {{"-u", "d/pipeline.py", "9"}, "pipeline"},
      {{"-X", "dev", "-W", "error", "a.b.py"}, "a.b"},
      {{"-m", "mpi4py", "run.py"}, "run"},
      {{"-m", "solver.main", "x"}, "solver.main"},
      {{".hidden"}, ".hidden"},
      {{"plain"}, "plain"},
      {{"-c", "import x"}, "python3.11"},
      {{}, "python3.11"}};
  for (const auto& [arguments, title] : scripts) {
    Words words = {"mpirun", "python3.11"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(titleOf(words), title);
  }
  EXPECT_EQ(titleOf({"mpirun", "python3.11", ":", "app"}), "python3.11");
  EXPECT_EQ(titleOf({"mpirun", "env", "A=b", "./tally", "1"}), "tally");
}

TEST_F(LauncherTest, AProgramWithoutLauncherIsOneRank) {
  const auto command = parseLaunch({"app", "-n", "4"});
  ASSERT_TRUE(command.ok());
  EXPECT_TRUE(command->launcher.empty());
  EXPECT_EQ(command->programs, std::vector<std::size_t>{0});
  EXPECT_EQ(command->withAgent({"agent"}, {"--extra"}), (Words{"agent", "--", "app", "-n", "4"}))
      << "there is no launcher to give options to";
}

TEST_F(LauncherTest, LaunchersAreKnownByTheirNamesAndVariants) {
  for (const char* launcher : {"mpirun", "mpiexec", "mpirun.openmpi"}) {
    EXPECT_EQ(programsOf({launcher, "-n", "2", "app"}), std::vector<std::size_t>{3}) << launcher;
    EXPECT_EQ(programsOf({m_programs.at(launcher), "app"}), std::vector<std::size_t>{1});
  }
  m_programs.make("mpirunner");
  EXPECT_EQ(programsOf({"mpirunner", "-n", "2", "app"}), std::vector<std::size_t>{0});
}

TEST_F(LauncherTest, WhatCannotBeRunIsSaidWithWhatToDo) {
  m_programs.make("data", {}, 0644);
  ASSERT_TRUE(std::filesystem::create_directory(m_programs.at("folder")));
  EXPECT_EQ(whyNot({}).code, ErrorCode::Usage);
  EXPECT_EQ(whyNot({"mpirun", "-n", "4"}).message, "no program behind 'mpirun'");
  EXPECT_EQ(whyNot({"mpirun", "missing"}).advice,
            "It is not in PATH: give its path, for example ./missing.");
  EXPECT_EQ(whyNot({"mpirun", "./missing"}).advice,
            "Check the path, and that the file has execute permission.");
  EXPECT_EQ(whyNot({"mpirun", "app", ":", "missing"}).code, ErrorCode::NotFound);
  EXPECT_EQ(whyNot({"orterun", "app"}).message, "launcher 'orterun' not found");
  EXPECT_NE(whyNot({"orterun", "app"}).advice.find("apt-get install openmpi-bin"),
            std::string::npos);
  EXPECT_NE(whyNot({"srun", "app"}).advice.find("Slurm"), std::string::npos);
  for (const char* name : {"data", "folder"}) {
    EXPECT_EQ(whyNot({name}).code, ErrorCode::NotFound) << name;
    EXPECT_EQ(whyNot({"mpirun", m_programs.at(name)}).code, ErrorCode::NotFound) << name;
  }
}

TEST_F(LauncherTest, APartOfTheJobKeepsWhatTheProgramGets) {
  const auto command =
      parseLaunch({"mpirun", "--tag-output", "-n", "64", "-H", "a,b", "--mca", "btl", "self", "-x",
                   "NAME", "--pmixmca", "a", "b", "--map-by", "node", "app", "-n", "7"});
  ASSERT_TRUE(command.ok());
  const LaunchCommand few = ofSo(*command, {{0, 3}});
  EXPECT_EQ(few.words, (std::vector<std::string>{"mpirun", "-n", "3", "--mca", "btl", "self", "-x",
                                                 "NAME", "--pmixmca", "a", "b", "app", "-n", "7"}));
  EXPECT_EQ(few.program(), "app");
  EXPECT_EQ(few.launcher, command->launcher);
  const LaunchCommand one = alone(*command);
  EXPECT_EQ(one.words, (std::vector<std::string>{"app", "-n", "7"}));
  EXPECT_TRUE(one.launcher.empty());
  EXPECT_EQ(one.withAgent({"agent"}), (std::vector<std::string>{"agent", "--", "app", "-n", "7"}));
}

TEST_F(LauncherTest, APartOfAJobOfSeveralPrograms) {
  const auto command =
      parseLaunch({"mpirun", "-x", "ONE", "-n", "2",   "app", "a", ":",  "-n", "3",  "-x",
                   "TWO",    "-H", "b",   "--", "app", "-n",  ":", "-n", "1",  "app"});
  ASSERT_TRUE(command.ok());
  ASSERT_EQ(command->programs.size(), 3U);
  EXPECT_EQ(wordsOfProgram(*command, 1), (std::vector<std::string>{"app", "-n"}));
  const LaunchCommand few = ofSo(*command, {{1, 2}, {2, 1}});
  EXPECT_EQ(few.words, (std::vector<std::string>{"mpirun", "-n", "2", "-x", "TWO", "app", "-n", ":",
                                                 "-n", "1", "app"}));
  EXPECT_EQ(few.programs, (std::vector<std::size_t>{5, 10}));
  EXPECT_EQ(ofSo(*command, {{0, 1}}).words,
            (std::vector<std::string>{"mpirun", "-n", "1", "-x", "ONE", "app", "a"}));
  EXPECT_EQ(optionsOfProgram(*command, 0), (std::vector<std::string>{"-x", "ONE", "-n", "2"}));
  EXPECT_EQ(optionsOfProgram(*command, 1),
            (std::vector<std::string>{"-n", "3", "-x", "TWO", "-H", "b", "--"}));
  EXPECT_EQ(alone(*command, 1).words, (std::vector<std::string>{"app", "-n"}));
  EXPECT_EQ(alone(*command).words, (std::vector<std::string>{"app", "a"}));
}

TEST_F(LauncherTest, APartKeepsWhatThePartsThatAreNotThereSayOfAll) {
  const auto command = parseLaunch({"mpirun", "-genv", "A", "1",      "-env", "B",    "2",  "-n",
                                    "2",      "app",   ":", "-env",   "C",    "3",    "-n", "1",
                                    "app",    "-genv", ":", "--gmca", "btl",  "self", "app"});
  ASSERT_TRUE(command.ok());
  ASSERT_EQ(command->programs.size(), 3U);
  EXPECT_EQ(ofSo(*command, {{1, 1}}).words,
            (std::vector<std::string>{"mpirun", "-genv", "A", "1", "--gmca", "btl", "self", "-n",
                                      "1", "-env", "C", "3", "app", "-genv"}));
}

TEST_F(LauncherTest, ProgramsAreFoundAsExecvpWould) {
  EXPECT_EQ(findInPath("app"), m_programs.at("app"));
  EXPECT_EQ(findInPath(m_programs.at("app")), m_programs.at("app"));
  EXPECT_EQ(findInPath("missing"), "");
  test::MadePrograms first;
  first.make("app", {}, 0644);  // passed over
  const std::string second = m_programs.path();
  setenv("PATH", (first.path() + ":/nowhere:" + second).c_str(), 1);
  EXPECT_EQ(findInPath("app"), m_programs.at("app"));
  const std::string here = std::filesystem::current_path();
  std::filesystem::current_path(second);
  setenv("PATH", ":/nowhere", 1);
  EXPECT_EQ(findInPath("app"), "./app") << "an empty part is the working directory";
  std::filesystem::current_path(here);
}

}  // namespace
}  // namespace pf::app
