// SPDX-License-Identifier: GPL-3.0-or-later
// The file of an exploration: which branch is next, and what of it outlives its process.
#include "app/branching/exploration_file.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

constexpr std::uint32_t kAnyFlips = 1000;

class ExplorationFileTest : public testing::Test {
 protected:
  ExplorationFileTest() : m_path(testing::TempDir() + "exploration_" + std::to_string(::getpid())) {
    std::remove(m_path.c_str());
  }
  ~ExplorationFileTest() override { std::remove(m_path.c_str()); }

  [[nodiscard]] Result<ExplorationFile> open(const std::string& buildId = "b1",
                                             bool force = false) const {
    return ExplorationFile::open(m_path, {"/t.pft", "/a", buildId, "", 4, false}, force);
  }

  const std::string m_path;
};

OpenBranch branch(std::uint64_t key, std::uint32_t step, std::uint32_t flips, RaceWeight weight) {
  OpenBranch open;
  open.branch.key = {key, ~key};
  open.branch.step = step;
  open.branch.takes = {3, 7};
  open.flips = flips;
  open.weight = weight;
  return open;
}

FiledRun aRun(const std::string& outcome = "ok") {
  FiledRun run;
  run.outcome = {outcome, outcome == "ok" ? "" : "it failed", "abc", ""};
  run.matching = "1.0;;";
  run.steps = {{{0, ChosenBy::Receive, 0}, {1, 0}, true},
               {{2, ChosenBy::Probe, 5}, {3, 4}, false},
               {{1, ChosenBy::Completion, 2}, {1, 6}, true}};
  run.logs = {1, 2, 3};
  return run;
}

/// The keys of all open branches, each of which is given up then.
std::vector<std::uint64_t> inTurn(ExplorationFile& file, std::uint32_t mostFlips = kAnyFlips) {
  std::vector<std::uint64_t> keys;
  for (;;) {
    const auto next = file.next(mostFlips, {});
    if (!next || !*next) {
      return keys;
    }
    keys.push_back((*next)->branch.key[0]);
    EXPECT_TRUE(file.giveUp((*next)->branch.key, "a reason").ok());
  }
}

TEST_F(ExplorationFileTest, racesBeforeAFailureThenFewFlipsThenLastChoices) {
  Result<ExplorationFile> file = open();
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->file(aRun(),
                         {branch(1, 0, 1, RaceWeight::Other), branch(2, 4, 1, RaceWeight::Other),
                          branch(3, 2, 3, RaceWeight::BeforeFailure),
                          branch(4, 1, 4, RaceWeight::First), branch(5, 9, 2, RaceWeight::Other)},
                         {}));
  const auto first = file->next(kAnyFlips, {});
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->branch.takes, (ChosenName{3, 7}));
  EXPECT_EQ((*first)->run, 1);
  const auto beside = file->next(kAnyFlips, {(*first)->branch.key});
  ASSERT_TRUE(beside && *beside);
  EXPECT_EQ((*beside)->branch.key[0], 3U);
  EXPECT_EQ(inTurn(*file), (std::vector<std::uint64_t>{4, 3, 2, 1, 5}));
}

TEST_F(ExplorationFileTest, orFirstThoseOfTheRunThatCameFarthest) {
  Result<ExplorationFile> file = open();
  ASSERT_TRUE(file);
  FiledRun far = aRun();
  far.steps.push_back(far.steps.front());
  ASSERT_TRUE(file->file(aRun(), {branch(1, 9, 1, RaceWeight::First)}, {}));
  ASSERT_TRUE(file->file(
      far, {branch(2, 1, 2, RaceWeight::Other), branch(3, 2, 2, RaceWeight::Other)}, {}));
  const auto next = file->next(kAnyFlips, {}, true);
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*next)->branch.key[0], 3U);
}

TEST_F(ExplorationFileTest, noneWithMoreFlipsThanAskedFor) {
  Result<ExplorationFile> file = open();
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->file(
      aRun(), {branch(1, 0, 1, RaceWeight::Other), branch(2, 4, 2, RaceWeight::First)}, {}));
  EXPECT_EQ(inTurn(*file, 1), std::vector<std::uint64_t>{1});
  const auto counts = file->counts(1);
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->open, 1U);
  EXPECT_EQ(counts->beyond, 1U);
  EXPECT_EQ(counts->givenUp, 1U);
}

TEST_F(ExplorationFileTest, anotherProcessFindsWhatWasFiled) {
  {
    Result<ExplorationFile> file = open();
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->file(aRun("exit 3"),
                           {branch(1, 0, 1, RaceWeight::Other), branch(2, 1, 1, RaceWeight::Other)},
                           {}));
    FiledRun second = aRun();
    second.parent = 1;
    second.flips = 1;
    second.flip = TakenInstead{{0, 4}, {1, 2}, "rank 0 takes rank 1's"};
    // The same branch, shown by another run, is one.
    ASSERT_TRUE(file->file(second, {branch(1, 7, 2, RaceWeight::First)}, BranchKey{2, ~2ULL}));
  }
  Result<ExplorationFile> file = open();
  ASSERT_TRUE(file);
  const auto run = file->run(1);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->steps, aRun().steps);
  EXPECT_EQ(run->logs, aRun().logs);
  const auto flips = file->flipsTo(2);
  ASSERT_TRUE(flips);
  ASSERT_EQ(flips->size(), 1U);
  EXPECT_EQ(flips->front().text, "rank 0 takes rank 1's");
  EXPECT_EQ(inTurn(*file), std::vector<std::uint64_t>{1});
  const auto outcomes = file->outcomes();
  ASSERT_TRUE(outcomes);
  ASSERT_EQ(outcomes->size(), 2U);
  EXPECT_EQ(outcomes->front().outcome.name, "exit 3");
}

TEST_F(ExplorationFileTest, aDeadlockOfOtherRanksIsAnotherClass) {
  Result<ExplorationFile> file = open();
  ASSERT_TRUE(file);
  for (const char* waits : {"0 MPI_Recv 1; 1 MPI_Recv 0", "0 MPI_Recv 2; 2 MPI_Barrier",
                            "0 MPI_Recv 1; 1 MPI_Recv 0"}) {
    FiledRun run = aRun("deadlock");
    run.outcome.waits = waits;
    ASSERT_TRUE(file->file(run, {}, {}));
  }
  const auto outcomes = file->outcomes();
  ASSERT_TRUE(outcomes);
  ASSERT_EQ(outcomes->size(), 2U);
  EXPECT_EQ(outcomes->front().runs, 2U);
  Outcome kept = outcomes->front().outcome;
  ASSERT_TRUE(file->keep(kept, "a.pft").ok());
  EXPECT_TRUE(*file->isKept(kept));
  kept.waits = outcomes->back().outcome.waits;
  EXPECT_FALSE(*file->isKept(kept));
}

TEST_F(ExplorationFileTest, isForOneProcessAndOneProgram) {
  {
    Result<ExplorationFile> file = open();
    ASSERT_TRUE(file);
    const Result<ExplorationFile> second = open();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Usage);
  }
  const Result<ExplorationFile> changed = open("b2");
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("changed"), std::string::npos);
  EXPECT_TRUE(open("b2", true).ok());
}

TEST_F(ExplorationFileTest, whatIsNoneIsRefused) {
  std::FILE* const out = std::fopen(m_path.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs("this is no database, and it is longer than the header of one would be, by far", out);
  std::fclose(out);
  const Result<ExplorationFile> file = open();
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::Damaged);
}

}  // namespace
}  // namespace pf::app
