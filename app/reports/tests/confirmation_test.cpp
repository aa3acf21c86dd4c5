// SPDX-License-Identifier: GPL-3.0-or-later
// A shell script stands for photofinish: what is made of each way in which flip ends.
#include "app/reports/confirmation.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

class Confirming : public testing::Test {
 protected:
  Confirming() {
    char name[] = "/tmp/pf_confirmation_XXXXXX";
    m_directory = mkdtemp(name);
  }
  ~Confirming() override { std::filesystem::remove_all(m_directory); }

  Confirmation by(const std::string& script, const Prediction& prediction) {
    const std::string program = m_directory + "/photofinish";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    chmod(program.c_str(), 0700);
    FlipRun run;
    run.program = program;
    run.trace = "a b.pft";
    run.output = m_directory + "/out.pft";
    run.most = std::chrono::milliseconds(1000);
    return confirmByFlip(run, prediction);
  }

  static Prediction deadlock() {
    Prediction made;
    made.flips.push_back({{1, 2}, false, {2, 3}, {0, 4}});
    made.flips.push_back({{0, 5}, true, {2, 7}, {}});
    return made;
  }

  std::string m_directory;
};

TEST_F(Confirming, FlipIsGivenEachReceiveAndItsSend) {
  EXPECT_EQ(flipWords(deadlock()), "1:2=2:3 0:5=2:7");
  const Confirmation made =
      by("[ \"$1,$2,$3,$4,$5\" = \"flip,a b.pft,1:2=2:3,0:5=2:7,-o\" ] || exit 3\n"
         "[ -n \"$6\" ] && touch \"$6\"",
         deadlock());
  EXPECT_EQ(made.state, Confirmation::State::Otherwise);
  EXPECT_EQ(made.why, "it ended with exit status 0");
  EXPECT_EQ(made.trace, m_directory + "/out.pft");
}

TEST_F(Confirming, ARunThatDoesNotEndHangs) {
  const Confirmation made = by("touch \"$6\"; sleep 100 & wait", deadlock());
  EXPECT_EQ(made.state, Confirmation::State::Confirmed);
  EXPECT_EQ(made.why, "it had not ended after 1 s");
  EXPECT_FALSE(made.trace.empty());
  Prediction other = deadlock();
  other.kind = PredictionKind::Truncation;
  EXPECT_EQ(by("sleep 100", other).state, Confirmation::State::Otherwise);
}

/// e2e_predict has one whose trace says which rank failed.
TEST_F(Confirming, ATruncationIsLookedForInTheNewTrace) {
  Prediction truncation = deadlock();
  truncation.kind = PredictionKind::Truncation;
  EXPECT_EQ(by("exit 15", truncation).state, Confirmation::State::Otherwise);
  EXPECT_EQ(by("exit 0", truncation).state, Confirmation::State::Otherwise);
  EXPECT_EQ(by("kill -9 $$", truncation).why, "it ended by signal 9");
  EXPECT_EQ(by("exit 15", deadlock()).state, Confirmation::State::Otherwise);
  EXPECT_EQ(by("echo no trace >\"$6\"; exit 15", truncation).state, Confirmation::State::NotTried);
}

TEST_F(Confirming, WhatCannotBeForcedIsNotTried) {
  EXPECT_EQ(by("exit 3", deadlock()).state, Confirmation::State::NotTried);
  EXPECT_EQ(by("exit 2", deadlock()).state, Confirmation::State::NotTried);
  EXPECT_EQ(confirmByFlip({"/nowhere/photofinish", "a.pft", "b.pft", {}}, deadlock()).state,
            Confirmation::State::NotTried);
  Prediction sends;
  sends.blocked.push_back({{0, 1}, true});
  EXPECT_EQ(by("exit 0", sends).state, Confirmation::State::NotTried);
}

TEST_F(Confirming, AMessageThatIsLeftIsLookedForInTheNewTrace) {
  Prediction left = deadlock();
  left.kind = PredictionKind::Unreceived;
  left.send = {0, 1};
  EXPECT_EQ(by("exit 1", left).state, Confirmation::State::Otherwise);
  EXPECT_EQ(by("echo no trace >\"$6\"", left).state, Confirmation::State::NotTried);
}

}  // namespace
}  // namespace pf::app
