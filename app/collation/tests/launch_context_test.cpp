// SPDX-License-Identifier: GPL-3.0-or-later
// What ranks were started with: from the agents' files into a trace, back, and in what a replay differs from it.
#include "app/collation/launch_context.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "db/tests/sample.h"

namespace pf::app {
namespace {

using protocol::ContextFact;
using protocol::LaunchContext;
using Names = std::vector<std::string>;

Names exportedBy(const Names& options) {
  LaunchCommand command;
  command.words = {"mpirun"};
  command.words.insert(command.words.end(), options.begin(), options.end());
  command.programs = {command.words.size()};
  command.words.insert(command.words.end(), {"./app", "-x", "OF_THE_PROGRAM"});
  return exportedVariables(command);
}

TEST(ExportedVariablesTest, WhatTheLauncherIsToldToPassOn) {
  EXPECT_EQ(exportedBy({"-n", "2"}), Names{});
  EXPECT_EQ(exportedBy({"-x", "A", "-x", "B=1"}), (Names{"A", "B"}));
  EXPECT_EQ(exportedBy({"-genv", "A", "1", "-env", "B", "2"}), (Names{"A", "B"}));
  EXPECT_EQ(exportedBy({"-genvlist", "A,B,C"}), (Names{"A", "B", "C"}));
  EXPECT_EQ(exportedBy({"--export=ALL,A=x,B"}), (Names{"A", "B"}));
  EXPECT_EQ(exportedBy({"--export", "NONE"}), Names{});
  EXPECT_EQ(exportedBy({"-x"}), Names{}) << "the program is no name";
}

class LaunchFactsTest : public testing::Test {
 protected:
  void agentSays(Rank rank, const LaunchContext& context) const {
    std::string text;
    for (const ContextFact& fact : context) {
      text += protocol::factText(fact) + "\n";
    }
    writeText(rank, text);
  }
  void writeText(Rank rank, const std::string& text) const {
    db::writeFile(protocol::contextPath(m_directory.path(), rank), {text.begin(), text.end()});
  }
  [[nodiscard]] std::map<Rank, LaunchContext> back(Rank ranks) const {
    const Result<std::vector<db::LaunchFact>> facts = launchFacts(m_directory.path(), ranks);
    EXPECT_TRUE(facts.ok());
    return facts ? contextsOf(*facts, ranks) : std::map<Rank, LaunchContext>();
  }

  db::Directory m_directory;
};

TEST_F(LaunchFactsTest, EachRankHasItsOwnBack) {
  const LaunchContext zero = {{"argument", "0", "./a b", {}}, {"environ", "HOME", "/h\n", {}}};
  LaunchContext one = zero;
  one[1].value = "/other";
  LaunchContext two = zero;
  two.push_back({"library", "libm.so", "crc32c 12", {}});
  agentSays(0, zero);
  agentSays(1, one);
  agentSays(3, two);
  const std::map<Rank, LaunchContext> contexts = back(4);
  EXPECT_EQ(contexts.at(0), zero);
  EXPECT_EQ(contexts.at(1), one);
  EXPECT_EQ(contexts.at(3), two);
}

TEST_F(LaunchFactsTest, WhatAllHaveIsInTheTraceOnce) {
  const LaunchContext same = {{"argument", "0", "a", {}}};
  agentSays(0, same);
  agentSays(1, same);
  EXPECT_EQ(launchFacts(m_directory.path(), 2)->size(), 1U);
}

TEST_F(LaunchFactsTest, NothingAndNonsenseAreNothing) {
  EXPECT_TRUE(back(2).empty()) << "no agent has written";
  writeText(0, "\n%zz x y\nargument\n\xff\n");
  EXPECT_TRUE(back(2).empty());
  writeText(0, "argument 0 a\nnonsense\n");
  EXPECT_EQ(back(1).at(0), (LaunchContext{{"argument", "0", "a", {}}}));
}

TEST(RecordedEnvironmentsTest, OfTheFirstRankAndOfThoseThatDiffer) {
  const LaunchContext first = {{"environ", "A", "1", {}}, {"argument", "0", "x", {}}};
  LaunchContext other = first;
  other[0].value = "2";
  const auto given = recordedEnvironments({{0, first}, {1, first}, {2, other}, {3, first}});
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given.at(0), Names{"environ A 1"}) << "arguments are no environment";
  EXPECT_EQ(given.at(2), Names{"environ A 2"});
}

TEST(RecordedVariablesTest, AreSetOrTakenAway) {
  setenv("OMP_PF_TEST", "4", 1);
  setenv("PF_OF_NO_INTEREST", "4", 1);
  const LaunchContext recorded = {{"version", protocol::kContextVersion, "", {}},
                                  {"variable", "TZ", "UTC", {}}};
  const Names given = recordedVariables(recorded, {"MINE", "TZ"});
  EXPECT_NE(std::find(given.begin(), given.end(), "TZ=UTC"), given.end());
  EXPECT_NE(std::find(given.begin(), given.end(), "MINE"), given.end());
  EXPECT_NE(std::find(given.begin(), given.end(), "OMP_PF_TEST"), given.end());
  EXPECT_EQ(std::find(given.begin(), given.end(), "PF_OF_NO_INTEREST"), given.end());
  EXPECT_EQ(std::find(given.begin(), given.end(), "TZ"), given.end());
  EXPECT_EQ(recordedVariables({{"variable", "TZ", "UTC", {}}}, {"MINE"}), Names{})
      << "a version that looked at others";
}

TEST(ContextDifferencesTest, ArgumentsAndVariables) {
  const LaunchContext recorded = {{"version", "1", "", {}},
                                  {"argument", "0", "./a", {}},
                                  {"argument", "1", "-n", {}},
                                  {"variable", "TZ", "UTC", {}}};
  EXPECT_EQ(contextDifferences(recorded, recorded), Names{});
  EXPECT_EQ(contextDifferences(recorded, {}), Names{}) << "nothing is known of now";
  const LaunchContext now = {
      {"version", "1", "", {}}, {"argument", "0", "./b", {}}, {"variable", "LANG", "C", {}}};
  EXPECT_EQ(
      contextDifferences(recorded, now),
      (Names{"argument 0 is './b', recorded: './a'", "argument 1 is not there, recorded: '-n'",
             "LANG is 'C', recorded: not set", "TZ is not set, recorded: 'UTC'"}));
  LaunchContext later = now;
  later[0].name = "2";
  EXPECT_EQ(contextDifferences(recorded, later), Names{}) << "other variables are looked at";
}

TEST(ContextDifferencesTest, LibrariesThatBothHaveLoaded) {
  const LaunchContext recorded = {{"library", "libm.so", "build-id aa", {}},
                                  {"library", "plugin.so", "build-id cc", {}}};
  const LaunchContext now = {{"library", "libm.so", "build-id bb", "/opt/libm.so"},
                             {"library", "other.so", "build-id dd", {}}};
  EXPECT_EQ(contextDifferences(recorded, now),
            Names{"/opt/libm.so is build-id bb, recorded: build-id aa"});
}

TEST(ContextDifferencesTest, AProgramWithoutABuildId) {
  const LaunchContext recorded = {{"program", "", "crc32c 1", {}}};
  EXPECT_EQ(contextDifferences(recorded, {{"program", "", "crc32c 2", "/w/app"}}),
            Names{"the program /w/app is not the build that was recorded (crc32c 2, recorded: "
                  "crc32c 1)"});
  EXPECT_EQ(contextDifferences(recorded, {{"version", "1", "", {}}}),
            Names{"the program is not the build that was recorded (another one, with a build-id, "
                  "recorded: crc32c 1)"});
}

}  // namespace
}  // namespace pf::app
