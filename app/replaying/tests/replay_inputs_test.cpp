// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay says of its inputs, and of ranks that end otherwise than the recorded ones.
#include "app/replaying/replay_inputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

#include "app/replaying/survey.h"
#include "app/replaying/tests/trace_fixture.h"
#include "replay_engine/log_format/system_values.h"

namespace pf::app {
namespace {

using Lines = ReplayInputs::Lines;

class ReplayInputsTest : public test::TraceFixture {
 protected:
  /// A file of the run, as it is now.
  db::SeenInput seen(const std::string& name, const std::string& content) {
    const std::string path = m_directory.file(name);
    db::writeFile(path, {content.begin(), content.end()});
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return {0, "file", path, info.st_size,
            info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
  }
  /// A run that ended well, each rank after its event 7.
  static db::Content goodRun() {
    db::Content content = db::smallContent();
    content.run.complete = true;
    content.run.exitStatus = 0;
    for (db::RankInfo& rank : content.ranks) {
      rank.complete = true;
      rank.exitStatus = 0;
      rank.exitSignal.reset();
    }
    return content;
  }
  static protocol::RankExited exited(Rank rank, Serial serial, int status, int signal = 0) {
    protocol::RankExited one;
    one.rank = rank;
    one.serial = serial;
    one.exitStatus = status;
    one.signal = signal;
    return one;
  }
  static protocol::RankLaunched launched(const protocol::LaunchContext& environment) {
    protocol::RankLaunched rank;
    rank.environment = environment;
    return rank;
  }
  [[nodiscard]] std::string whyNot(const protocol::RankExited& rank) const {
    const std::optional<Error> error = m_inputs.ended(rank, *m_store);
    return error ? error->message : "";
  }

  ReplayInputs m_inputs;
};

TEST_F(ReplayInputsTest, FilesThatAreOthersNowAreNamed) {
  RecordedUse used;
  used.host = "here";
  used.ranks = {{}, {}};
  used.ranks[0].rank = 0;
  used.ranks[0].host = "here";
  used.ranks[1].rank = 1;
  used.ranks[1].host = "far";
  used.inputs = {seen("same", "1"),
                 seen("changed", "1"),
                 seen("gone", "1"),
                 {0, "absent", m_directory.file("new"), 0, 0},
                 {0, "exists", m_directory.path(), 0, 0},
                 {1, "file", m_directory.file("of-another-host"), 1, 1}};
  EXPECT_EQ(m_inputs.look(used), Lines{}) << "nothing has changed";
  EXPECT_EQ(m_inputs.atEnd(), "");
  seen("changed", "22");
  seen("new", "");
  ::unlink(m_directory.file("gone").c_str());
  const std::string names = m_directory.file("changed") + " (changed), " +
                            m_directory.file("gone") + " (gone), " + m_directory.file("new") +
                            " (new)";
  EXPECT_EQ(m_inputs.look(used),
            Lines{"inputs differ from the recorded run's: " + names + "; this replay may differ"});
  EXPECT_EQ(m_inputs.atEnd(), "inputs differ: " + names);
  EXPECT_EQ(m_inputs.advice("Look."), "Look. Inputs differ: " + names + ".");
}

TEST_F(ReplayInputsTest, ALinkThatLeadsElsewhereIsAnotherInput) {
  const std::string link = m_directory.file("link");
  ASSERT_EQ(::symlink("a", link.c_str()), 0);
  RecordedUse used;
  used.inputs = {{0, "link", link, 0, static_cast<std::int64_t>(pathHash("a"))}};
  EXPECT_EQ(m_inputs.look(used), Lines{});
  ASSERT_EQ(::unlink(link.c_str()), 0);
  ASSERT_EQ(::symlink("b", link.c_str()), 0);
  EXPECT_EQ(m_inputs.look(used).size(), 1U);
  EXPECT_NE(m_inputs.atEnd().find("(leads elsewhere)"), std::string::npos);
}

TEST_F(ReplayInputsTest, VariablesAreToldOnceForAllRanks) {
  const protocol::LaunchContext news = {{"given", "HOME", "is '/a' again"},
                                        {"other", "OMP_NUM_THREADS", "'4', recorded: '2'"},
                                        {"other", "MY_TOKEN", "another one"}};
  const Lines told = m_inputs.launched(launched(news), false);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_NE(told[0].find("gets the recorded environment again: HOME is '/a' again"),
            std::string::npos)
      << told[0];
  EXPECT_NE(told[1].find("not asked for by name: MY_TOKEN"), std::string::npos) << told[1];
  EXPECT_NE(told[2].find("OMP_NUM_THREADS ('4', recorded: '2'); this replay may differ"),
            std::string::npos)
      << told[2];
  EXPECT_EQ(m_inputs.launched(launched(news), false), Lines{}) << "another rank with the same";
  EXPECT_NE(m_inputs.atEnd().find("OMP_NUM_THREADS"), std::string::npos);
  EXPECT_EQ(m_inputs.atEnd().find("HOME"), std::string::npos) << "it got the recorded one";
}

TEST_F(ReplayInputsTest, QuietTellsWhatMayDecideOnly) {
  const protocol::LaunchContext news = {{"given", "HOME", "x"}, {"other", "OMP_NUM_THREADS", "y"}};
  const Lines told = m_inputs.launched(launched(news), true);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("OMP_NUM_THREADS"), std::string::npos);
}

TEST_F(ReplayInputsTest, AVariableThatTheProgramAskedForMayDecide) {
  RecordedUse used;
  used.inputs = {{0, "variable", "MY_TOKEN", 0, 0}};
  EXPECT_EQ(m_inputs.look(used), Lines{});
  const Lines told = m_inputs.launched(launched({{"other", "MY_TOKEN", "x"}}), true);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("MY_TOKEN (x); this replay may differ"), std::string::npos);
}

TEST_F(ReplayInputsTest, ARankThatEndsBeforeItsRecordDoes) {
  open(goodRun());
  EXPECT_EQ(whyNot(exited(0, 4, 0)), "rank 0 ended after event 4 of 7, with exit status 0");
  EXPECT_EQ(whyNot(exited(2, 4, -1, SIGSEGV)), "rank 2 ended after event 4 of 7, by signal 11");
  EXPECT_EQ(whyNot(exited(0, 7, 0)), "");
}

TEST_F(ReplayInputsTest, WhomTheLauncherEndsHasNotDiverged) {
  open(goodRun());
  for (const int signal : {SIGTERM, SIGKILL, -1}) {
    EXPECT_EQ(whyNot(exited(0, 2, -1, signal)), "") << signal;
  }
  EXPECT_EQ(whyNot(exited(-1, 0, 1)), "") << "it never came to MPI_Init: the launcher's word";
  EXPECT_EQ(whyNot(exited(9, 0, 1)), "") << "the job's daemon is hostile, too";
}

TEST_F(ReplayInputsTest, ARankThatEndsOtherwiseThanRecorded) {
  open(goodRun());
  EXPECT_EQ(whyNot(exited(1, 7, 2)),
            "rank 1 ended with exit status 2, in the recorded run with exit status 0");
  EXPECT_EQ(whyNot(exited(1, 7, -1, SIGABRT)),
            "rank 1 ended by signal 6, in the recorded run with exit status 0");
  db::Content content = goodRun();
  content.ranks[1].exitStatus.reset();
  content.ranks[1].exitSignal = SIGABRT;
  open(content);
  EXPECT_EQ(whyNot(exited(1, 7, -1, SIGABRT)), "");
  EXPECT_EQ(whyNot(exited(1, 7, 0)),
            "rank 1 ended with exit status 0, in the recorded run by signal 6");
}

TEST_F(ReplayInputsTest, HowACutRunWouldHaveEndedIsNotKnown) {
  db::Content content = goodRun();
  content.run.complete = false;
  open(content);
  EXPECT_EQ(whyNot(exited(1, 7, 2)), "");
  content = goodRun();
  content.ranks[1].exitStatus.reset();
  open(content);
  EXPECT_EQ(whyNot(exited(1, 7, 2)), "") << "nor of a rank whose agent was lost";
}

TEST_F(ReplayInputsTest, AnotherBuildMayBeIt) {
  open(goodRun());
  protocol::RankHello hello;
  hello.rank = 0;
  hello.executable = "./app";
  hello.buildId = m_store->ranks()[0].buildId;
  m_inputs.noteBuild(hello, *m_store);
  EXPECT_EQ(m_inputs.advice("Look."), "Look.");
  hello.buildId = "fedcba";
  hello.rank = 17;
  m_inputs.noteBuild(hello, *m_store);
  EXPECT_EQ(m_inputs.advice("Look."), "Look.") << "there is no such rank";
  hello.rank = 1;
  m_inputs.noteBuild(hello, *m_store);
  EXPECT_EQ(m_inputs.advice("Look."),
            "./app is not the build that was recorded (--force): that may be it. Look.");
}

TEST_F(ReplayInputsTest, ThreadsMayBeIt) {
  RecordedUse used;
  used.notGuaranteed = {
      {0, kNotGuaranteedTexts[static_cast<std::size_t>(NotGuaranteedKind::Threads)]}};
  EXPECT_EQ(m_inputs.look(used), Lines{});
  EXPECT_NE(m_inputs.advice("Look.").find("Threads of a rank share memory"), std::string::npos);
}

TEST_F(ReplayInputsTest, WhatARunUsedIsReadFromItsTrace) {
  open(db::smallContent());
  const Result<RecordedUse> used = recordedUse(*m_store);
  ASSERT_TRUE(used.ok());
  EXPECT_EQ(used->inputs, db::smallContent().inputs);
  EXPECT_EQ(used->notGuaranteed, db::smallContent().notGuaranteed);
  EXPECT_EQ(used->ranks.size(), 3U);
  EXPECT_EQ(used->host, "node1");
}

TEST_F(ReplayInputsTest, TheLastLinesOfALauncherThatWroteMuch) {
  const std::string path = m_directory.file("words");
  const auto wordsOf = [&](const std::string& written) {
    db::writeFile(path, {written.begin(), written.end()});
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return lastWords(file.get());
  };
  EXPECT_EQ(wordsOf(""), "");
  EXPECT_EQ(wordsOf("\n\n"), "");
  EXPECT_EQ(wordsOf("one\ntwo\n\n"), "\n    one\n    two");
  std::string many;
  for (int i = 0; i < 1000; ++i) {
    many += "line " + std::to_string(i) + "\n";
  }
  const std::string words = wordsOf(many);
  EXPECT_LT(words.size(), 3000U);
  EXPECT_TRUE(words.starts_with("\n    line ")) << "whole lines: " << words.substr(0, 30);
  EXPECT_TRUE(words.ends_with("\n    line 999"));
  EXPECT_EQ(lastWords(-1), "");
}

}  // namespace
}  // namespace pf::app
