// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks may be replayed without the others, and the job that starts only those.
#include "app/replaying/part_of_job.h"

#include <gtest/gtest.h>

#include "app/job/tests/made_programs.h"
#include "app/replaying/locality_groups.h"
#include "app/replaying/tests/trace_fixture.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::app {
namespace {

TEST(RanksOfTextTest, RanksAndRangesOfThem) {
  const std::vector<std::pair<std::string, std::vector<Rank>>> texts = {
      {"3", {3}}, {"0-3", {0, 1, 2, 3}}, {"0-1,5", {0, 1, 5}}, {"5;0+2", {5, 0, 2}}, {"7-7", {7}}};
  for (const auto& [text, ranks] : texts) {
    const Result<std::vector<Rank>> read = ranksOfText(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, ranks) << text;
  }
}

TEST(RanksOfTextTest, AnythingElseIsRefusedAndShownInPart) {
  for (const std::string text :
       {"", "a", "-1", "3-", "3-1", "1,", ",1", "1 2", "0-99999999", "4294967296", "1048576"}) {
    const Result<std::vector<Rank>> read = ranksOfText(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::Usage) << text;
  }
  EXPECT_LT(ranksOfText(std::string(10'000, 'x')).error().message.size(), 100U);
}

/// Many ranges of a million ranks each would be 4 GB.
TEST(RanksOfTextTest, NoMoreRanksThanAJobCanHave) {
  std::string text = "0-1048575";
  for (int i = 0; i < 100; ++i) {
    text += ",0-1048575";
  }
  EXPECT_FALSE(ranksOfText(text).ok());
}

TEST(AutoGroupsTest, HowManyRanksAGroupMayHave) {
  EXPECT_FALSE(*mostOfAutoGroups("each"));
  EXPECT_FALSE(*mostOfAutoGroups("0-3"));
  EXPECT_FALSE(*mostOfAutoGroups("automatic"));
  EXPECT_EQ(**mostOfAutoGroups("auto:8"), 8U);
  for (const char* spec : {"auto", "auto:", "auto:0", "auto:x", "auto:8x", "auto:-1",
                           "auto:100000001", "auto:99999999999999999999"}) {
    const Result<std::optional<std::size_t>> most = mostOfAutoGroups(spec);
    ASSERT_FALSE(most.ok()) << spec;
    EXPECT_NE(most.error().message.find(spec), std::string::npos) << spec;
  }
}

class PartOfJobTest : public test::TraceFixture {
 protected:
  PartOfJobTest() {
    for (const char* name : {"mpirun", "app", "other"}) {
      m_programs.make(name);
    }
    open(ofGroups("0;1-2"));
  }
  static db::Content ofGroups(const std::string& spec) {
    db::Content content = db::groupContent();
    content.run.groups = spec;
    return content;
  }
  Result<std::vector<Rank>> ranksOf(const PartOfJob& part) { return ranksOfPart(*m_store, part); }
  JobOptions jobOf(const std::vector<std::string>& words) {
    JobOptions job;
    const Result<LaunchCommand> command = parseLaunch(words);
    EXPECT_TRUE(command.ok());
    if (command) {
      job.command = *command;
    }
    return job;
  }
  std::vector<std::string> mpirun(std::vector<std::string> more) {
    more.insert(more.begin(), m_programs.at("mpirun"));
    return more;
  }

  test::MadePrograms m_programs;
};

TEST_F(PartOfJobTest, AGroupOrRanksThatAreAUnionOfGroups) {
  using Ranks = std::vector<Rank>;
  EXPECT_EQ(*ranksOf({0, {}}), Ranks{0});
  EXPECT_EQ(*ranksOf({1, {}}), (Ranks{1, 2}));
  EXPECT_EQ(*ranksOf({{}, {0}}), Ranks{0});
  EXPECT_EQ(*ranksOf({{}, {2, 1, 2}}), (Ranks{1, 2}));
  EXPECT_EQ(*ranksOf({{}, {2, 0, 1}}), (Ranks{0, 1, 2}));
}

TEST_F(PartOfJobTest, WhatIsNoneIsRefusedWithWhatToTake) {
  const auto advice = [&](const PartOfJob& part) {
    const Result<std::vector<Rank>> ranks = ranksOf(part);
    EXPECT_FALSE(ranks.ok());
    return ranks ? "" : ranks.error().message + ": " + ranks.error().advice;
  };
  EXPECT_EQ(advice({2, {}}),
            "the trace has no group 2: Its groups are 0 to 1; --ranks RANK names one by its "
            "ranks.");
  EXPECT_EQ(advice({{}, {0, 3}}), "the trace has no rank 3: Its ranks are 0 to 2.");
  EXPECT_EQ(advice({{}, {-1}}), "the trace has no rank -1: Its ranks are 0 to 2.");
  EXPECT_NE(advice({{}, {2}}).find("Take the whole of it: 1-2."), std::string::npos);
}

TEST_F(PartOfJobTest, WithoutContentsNoRankIsReplayedAlone) {
  open(db::smallContent());
  const Result<std::vector<Rank>> ranks = ranksOfPart(*m_store, {{}, {1}});
  ASSERT_FALSE(ranks.ok());
  EXPECT_NE(ranks.error().message.find("holds no contents"), std::string::npos);
  EXPECT_NE(ranks.error().advice.find("--groups"), std::string::npos);
}

/// A trace may say what it likes.
TEST_F(PartOfJobTest, GroupsThatAreNoSpecAreRefused) {
  open(ofGroups("0-99999"));
  EXPECT_FALSE(ranksOfPart(*m_store, {0, {}}).ok());
}

TEST_F(PartOfJobTest, OneRankNeedsNoLauncher) {
  JobOptions job = jobOf(mpirun({"-n", "3", m_programs.at("app"), "x"}));
  ASSERT_TRUE(startFew(job, *m_store, {2}).ok());
  EXPECT_EQ(job.command.words, (std::vector<std::string>{m_programs.at("app"), "x"}));
  EXPECT_TRUE(job.command.launcher.empty());
  EXPECT_EQ(job.session.running, std::vector<std::int32_t>{2});
  EXPECT_NE(job.session.mode & kReplayGroup, 0U);
  EXPECT_EQ(job.session.environment, std::vector<std::string>{"OMPI_MCA_ess_singleton_isolated=1"});
  EXPECT_EQ(job.givenInput, "") << "the launcher gave the recorded input to rank 0";
}

TEST_F(PartOfJobTest, SeveralAreASmallerJobOnThisHost) {
  JobOptions job = jobOf(mpirun({"-n", "3", "--host", "far:3", "-x", "A=1", m_programs.at("app")}));
  job.givenInput = "3 4";
  ASSERT_TRUE(startFew(job, *m_store, {0, 1}).ok());
  EXPECT_EQ(job.command.words, mpirun({"-n", "2", "-x", "A=1", m_programs.at("app")}));
  EXPECT_EQ(job.launcherOptions, std::vector<std::string>{"--oversubscribe"});
  EXPECT_EQ(job.givenInput, "3 4") << "rank 0 is among them";
}

TEST_F(PartOfJobTest, OtherLibrariesGetNoneOfOpenMpisOptions) {
  db::Content content = db::groupContent();
  content.run.mpiLibrary = "MPICH Version: 4.0.2";
  open(content);
  for (const std::vector<Rank>& ranks : {std::vector<Rank>{1}, std::vector<Rank>{1, 2}}) {
    JobOptions job = jobOf(mpirun({"-n", "3", m_programs.at("app")}));
    ASSERT_TRUE(startFew(job, *m_store, ranks).ok());
    EXPECT_TRUE(job.session.environment.empty());
    EXPECT_TRUE(job.launcherOptions.empty());
  }
}

TEST_F(PartOfJobTest, AJobOfSeveralProgramsIsReplayedWhole) {
  JobOptions job =
      jobOf(mpirun({"-n", "1", m_programs.at("app"), ":", "-n", "2", m_programs.at("other")}));
  const Status started = startFew(job, *m_store, {0});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::Usage);
  EXPECT_TRUE(job.session.running.empty()) << "nothing of the job is changed";
}

/// What the launcher of the recorded job said to a rank, behind the environment that it or the first one had.
TEST_F(PartOfJobTest, EachRankIsToldItsPlaceInTheRecordedJob) {
  db::Content content = db::groupContent();
  content.launch = {{0, db::LaunchFact::kAll, "environ", "HOME", "/home/u"},
                    {0, db::LaunchFact::kAll, "place", "OMPI_COMM_WORLD_RANK", "0"},
                    {2, db::LaunchFact::kAlso, "place", "OMPI_COMM_WORLD_RANK", "2"},
                    {2, db::LaunchFact::kLacks, "place", "OMPI_COMM_WORLD_RANK", "0"}};
  open(content);
  JobOptions job = jobOf(mpirun({"-n", "3", m_programs.at("app")}));
  job.session.recordedEnvironment[0] = {"environ HOME /home/u"};
  ASSERT_TRUE(startFew(job, *m_store, {2}).ok());
  ASSERT_EQ(job.session.recordedEnvironment.size(), 1U);
  EXPECT_EQ(job.session.recordedEnvironment.at(2),
            (std::vector<std::string>{"environ HOME /home/u", "place OMPI_COMM_WORLD_RANK 2"}));
}

}  // namespace
}  // namespace pf::app
