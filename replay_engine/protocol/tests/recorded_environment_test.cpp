// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/recorded_environment.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::protocol {
namespace {

using Lines = std::vector<std::string>;

bool has(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

std::string told(const GivenEnvironment& given, const std::string& name) {
  for (const ContextFact& fact : given.differences) {
    if (fact.name == name) {
      return fact.kind + ": " + fact.value;
    }
  }
  return "";
}

TEST(RecordedEnvironment, IsGivenBackWhole) {
  const LaunchContext recorded = environmentFacts({"SEED=1", "EMPTY=", "GONE=x", "SAME=a=b"});
  const GivenEnvironment given =
      giveBackEnvironment(recorded, {"SEED=2", "SAME=a=b", "NEW=1", "OMPI_RANK=3"}, true);
  EXPECT_TRUE(has(given.environment, "SEED=1"));
  EXPECT_TRUE(has(given.environment, "EMPTY="));
  EXPECT_TRUE(has(given.environment, "GONE=x"));
  EXPECT_TRUE(has(given.environment, "SAME=a=b"));
  EXPECT_TRUE(has(given.environment, "OMPI_RANK=3")) << "the launcher's are today's";
  EXPECT_EQ(given.environment.size(), 5U);
  EXPECT_EQ(told(given, "SEED"), "given: '1' (here: '2')");
  EXPECT_EQ(told(given, "GONE"), "given: 'x' (here: not set)");
  EXPECT_EQ(told(given, "NEW"), "given: not set (here it is)");
  EXPECT_EQ(told(given, "SAME"), "");
  EXPECT_EQ(told(given, "OMPI_RANK"), "");
}

TEST(RecordedEnvironment, OfNowIsOnlyCompared) {
  const LaunchContext recorded = environmentFacts({"SEED=1", "GONE=x"});
  const Lines now{"SEED=2", "NEW=1"};
  const GivenEnvironment given = giveBackEnvironment(recorded, now, false);
  EXPECT_EQ(given.environment, now);
  EXPECT_EQ(told(given, "SEED"), "other: '2', recorded: '1'");
  EXPECT_EQ(told(given, "GONE"), "other: not set, recorded: 'x'");
  EXPECT_EQ(told(given, "NEW"), "other: set here only");
}

TEST(RecordedEnvironment, SecretsAreNeitherKeptNorShown) {
  const Lines secrets{"API_TOKEN=tulip",
                      "MY_SECRET=tulip",
                      "DB_PASSWORD=tulip",
                      "AWS_ACCESS_KEY_ID=tulip",
                      "key=tulip",
                      "X_AUTH=tulip",
                      "DB=postgres://me:tulip@host/db",
                      "CREDENTIALS=tulip"};
  LaunchContext recorded = environmentFacts(secrets);
  ASSERT_EQ(recorded.size(), secrets.size());
  for (const ContextFact& fact : recorded) {
    EXPECT_EQ(fact.kind, "digest") << fact.name;
    EXPECT_LE(fact.value.size(), 8U);
    EXPECT_EQ(factText(fact).find("tulip"), std::string::npos);
  }
  EXPECT_TRUE(giveBackEnvironment(recorded, secrets, true).differences.empty());
  const GivenEnvironment given =
      giveBackEnvironment(recorded, {"API_TOKEN=rose", "NEW_TOKEN=rose"}, true);
  EXPECT_TRUE(has(given.environment, "API_TOKEN=rose"));
  EXPECT_FALSE(has(given.environment, "NEW_TOKEN=rose")) << "it was not there";
  EXPECT_EQ(told(given, "API_TOKEN"), "other: another one here");
  EXPECT_EQ(told(given, "DB_PASSWORD"), "other: not set here");
  for (const ContextFact& fact : given.differences) {
    EXPECT_EQ(fact.value.find("rose"), std::string::npos);
  }
}

TEST(RecordedEnvironment, WhatNamesCodeIsNeverGivenBack) {
  LaunchContext recorded;
  for (const char* name : {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GLIBC_TUNABLES", "PATH",
                           "PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "OMP_TOOL_LIBRARIES",
                           "MY_PLUGIN_PATH", "GCONV_PATH", "PF_X", "OMPI_MCA_x", "TMPDIR"}) {
    recorded.push_back({"environ", name, "/evil", {}});  // as no recorder writes it
  }
  recorded.push_back({"environ", "SEED", "1", {}});
  const GivenEnvironment given = giveBackEnvironment(recorded, {"PATH=/bin"}, true);
  EXPECT_EQ(given.environment, (Lines{"PATH=/bin", "SEED=1"}));
  EXPECT_FALSE(neverGivenBack("PYTHONHASHSEED"));
  EXPECT_EQ(useOf("PYTHONHASHSEED"), VariableUse::Given);
}

TEST(RecordedEnvironment, TodaysAreToldByName) {
  const LaunchContext recorded = environmentFacts({"PATH=/bin", "TERM=xterm", "SLURM_JOB_ID=1"});
  const GivenEnvironment given =
      giveBackEnvironment(recorded, {"PATH=/usr/bin", "TERM=xterm", "DISPLAY=:1"}, true);
  EXPECT_EQ(told(given, "PATH"), "other: another one here");
  EXPECT_EQ(told(given, "DISPLAY"), "other: set here only");
  EXPECT_EQ(given.differences.size(), 2U);
}

TEST(RecordedEnvironment, TracesThatKnowNoneChangeNothing) {
  const Lines now{"A=1", "odd", "A=2"};
  const GivenEnvironment given = giveBackEnvironment({{"variable", "TZ", "UTC", {}}}, now, true);
  EXPECT_EQ(given.environment, now);
  EXPECT_TRUE(given.differences.empty());
}

}  // namespace
}  // namespace pf::protocol
