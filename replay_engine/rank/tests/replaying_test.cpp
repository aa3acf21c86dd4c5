// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay forces, and what becomes of a rank whose record has an end.
#include <csignal>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/log_text.h"
#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

using fake::Script;

void takeAny() {
  int value = 0;
  MPI_Status status{};
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
  sayTaken(status, value);
}

/// The recorded source is waited for: no other message will do.
TEST(Replaying, aWildcardWaitsForItsRecordedSource) {
  for (const std::uint32_t mode : kBothModes) {
    const RankRun recorded = record(mode, {.arrivals = {{2, 5, 20}, {1, 5, 10}}}, takeAny);
    const RankRun late = replay(recorded, {.arrivals = {{1, 5, 10}, {2, 5, 20, 50}}}, takeAny);
    EXPECT_EQ(late.said, "took 20 from 2 tag 5\n");
    const RankRun never = replay(recorded, {.arrivals = {{1, 5, 10}}}, takeAny);
    EXPECT_EQ(never.ending, Ending::WaitsForEver);
    EXPECT_EQ(never.waitPeer, 2);  // not any source
  }
}

TEST(Replaying, aReceiveThatNobodySawCompleteIsLeftToMpi) {
  const auto program = [] {
    static int values[2] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&values[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
    std::raise(SIGKILL);
  };
  const RankRun recorded = record(kRecordChoices, {}, program);
  EXPECT_EQ(wildcardsIn(logOf(recorded)), "");
  const RankRun replayed = replay(recorded, {.arrivals = {{3, 5, 30}}}, takeAny);
  EXPECT_EQ(replayed.said, "took 30 from 3 tag 5\n");
}

/// Probes until one has seen two messages, with how often it failed before.
void pollTwice() {
  for (int i = 0; i < 2; ++i) {
    MPI_Status seen{};
    int failed = -1;
    for (int flag = 0; flag == 0; ++failed) {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &seen);
    }
    say("failed %d", failed);
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &seen);
    sayTaken(seen, value);
  }
}

RankRun runWith(const RankLog& choices, const fake::Script& script, const Program& program) {
  return run(script, program,
             {.mode = kReplay | kRecordEvents, .schedule = compileSchedule(choices)});
}

/// A schedule of several runs' choices: a poll fails until what it is to see is there, however often, and one without a choice sees any.
TEST(Replaying, aPollMayFailUntilItsMessageIsThere) {
  RankLog log;
  log.rank = 0;
  log.size = 4;
  auto& polls = log.choices[static_cast<std::size_t>(ChoiceKind::Iprobe)];
  polls = {{kUntilThere, {2, 5}}, {kUntilThere, {kSeesAny, kSeesAny}}};
  const RankRun second =
      runWith(log, {.arrivals = {{1, 5, 10}, {2, 6, 19}, {2, 5, 20, 7}}}, pollTwice);
  EXPECT_EQ(second.ending, Ending::Finished);
  EXPECT_EQ(second.said, "failed 7\ntook 20 from 2 tag 5\nfailed 0\ntook 10 from 1 tag 5\n");
  polls = {{kUntilThere, {kSeesAny, kSeesAny}}, {kUntilThere, {2, 6}}};
  const RankRun first = runWith(log, {.arrivals = {{1, 5, 10, 3}, {2, 6, 19}}}, pollTwice);
  EXPECT_EQ(first.said, "failed 0\ntook 19 from 2 tag 6\n");  // its other message never comes
  EXPECT_NE(first.ending, Ending::Finished);
}

TEST(Replaying, aProbeWithoutAChoiceSeesAny) {
  RankLog log;
  log.rank = 0;
  log.size = 4;
  log.choices[static_cast<std::size_t>(ChoiceKind::Probe)] = {{0, {kSeesAny, kSeesAny}},
                                                              {0, {1, 5}}};
  const RankRun both = runWith(log, {.arrivals = {{2, 6, 20}, {2, 7, 21}, {1, 5, 10, 4}}}, [] {
    for (int i = 0; i < 2; ++i) {
      MPI_Status seen{};
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &seen);
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &seen);
      sayTaken(seen, value);
    }
  });
  EXPECT_EQ(both.said, "took 20 from 2 tag 6\ntook 10 from 1 tag 5\n");
}

/// A rank that was killed in the recording goes on by itself where its record ends.
TEST(Replaying, behindTheEndOfTheRecordMpiChoosesAgain) {
  for (const std::uint32_t mode : kBothModes) {
    const RankRun recorded = record(mode, {.arrivals = {{2, 5, 20}, {1, 5, 10}}}, [] {
      takeAny();
      std::raise(SIGKILL);
    });
    const RankRun replayed =
        replay(recorded, {.arrivals = {{1, 5, 10}, {3, 5, 30}, {2, 5, 20}}}, [] {
          takeAny();
          takeAny();
          takeAny();
        });
    EXPECT_EQ(replayed.ending, Ending::Finished);
    EXPECT_EQ(replayed.said, "took 20 from 2 tag 5\ntook 10 from 1 tag 5\ntook 30 from 3 tag 5\n");
    EXPECT_TRUE(replayed.pastEnd);
  }
}

TEST(Replaying, failedTestsAreAnsweredWithoutMpi) {
  const auto program = [] {
    int value = 0;
    int flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    while (flag == 0) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    say("asked MPI %d times", fake::calls(kCallTest) + fake::calls(kCallWait));
  };
  const RankRun recorded = record(kRecordChoices, {.arrivals = {{1, 5, 10, 100}}}, program);
  EXPECT_EQ(recorded.said, "asked MPI 101 times\n");
  EXPECT_EQ(replay(recorded, {.arrivals = {{1, 5, 10}}}, program).said, "asked MPI 1 times\n");
}

TEST(Replaying, aTestSucceedsAsOftenAsRecordedThoughItsMessageIsLate) {
  const auto program = [] {
    int value = 0;
    int flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    say("flag %d value %d", flag, value);
  };
  const RankRun recorded = record(kRecordChoices, {.arrivals = {{1, 5, 10}}}, program);
  EXPECT_EQ(replay(recorded, {.arrivals = {{1, 5, 10, 30}}}, program).said, "flag 1 value 10\n");
}

/// It has seen nothing, and is filed as nothing else.
TEST(Replaying, aProbeThatFails) {
  const auto program = [] {
    int flag = 0;
    MPI_Status seen{};
    say("%d", MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &seen));
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const RankRun recorded = record(kRecordChoices, {.arrivals = {{2, 5}}}, program);
  const RankRun survey = run({.arrivals = {{2, 5}}, .failures = {{kCallProbe, 1}}}, program,
                             {.mode = kReplay | kRecordEvents, .schedule = scheduleOf(recorded)});
  EXPECT_EQ(survey.said, "16\n");
  EXPECT_TRUE(logOf(survey).history.probes.empty());
  EXPECT_EQ(choicesIn(logOf(survey)), "");
  EXPECT_EQ(callsIn(logOf(survey)), "MPI_Iprobe MPI_Barrier");
}

// -- stops

TEST(Stops, aRankStopsBeforeTheEventItWasToldOf) {
  const auto program = [] {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const RankRun recorded = run({}, program, {.mode = kRecordEvents, .stopAt = 3});
  EXPECT_EQ(recorded.stoppedBefore, 3U);
  EXPECT_EQ(recorded.ending, Ending::Finished);
  const RankRun replayed =
      run({}, program, {.mode = kReplay, .schedule = scheduleOf(recorded), .stopAt = 4});
  EXPECT_EQ(replayed.stoppedBefore, 4U);
  EXPECT_EQ(replayed.ending, Ending::Finished);
}

/// What the program does between two events is before the one, or, if it is told so, behind the other.
TEST(Stops, beforeTheNextEventOrBehindTheLast) {
  const auto program = [] {
    MPI_Barrier(MPI_COMM_WORLD);
    say("between");
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const RankRun before = run({}, program, {.mode = kRecordEvents, .stopAt = 3});
  EXPECT_EQ(before.stoppedBefore, 3U);
  EXPECT_EQ(before.saidBeforeStop, "between\n");
  const RankRun behind = run({}, program, {.mode = kRecordEvents | kHoldAfter, .stopAt = 3});
  EXPECT_EQ(behind.stoppedBefore, 3U);
  EXPECT_EQ(behind.saidBeforeStop, "");
}

/// At MPI_Init's own event there is no program yet; behind its last one it has gone.
TEST(Stops, noStopIsLateOrEarly) {
  for (const std::uint64_t stopAt : {1U, 2U, 3U}) {
    const RankRun stopped = run({}, [] { MPI_Barrier(MPI_COMM_WORLD); },
                                {.mode = kRecordChoices, .fast = false, .stopAt = stopAt});
    EXPECT_EQ(stopped.stoppedBefore, stopAt);
  }
  const RankRun behind =
      run({}, [] { MPI_Barrier(MPI_COMM_WORLD); }, {.mode = kRecordChoices, .stopAt = 4});
  EXPECT_EQ(behind.stoppedBefore, 0U);
}

}  // namespace
}  // namespace pf::test
