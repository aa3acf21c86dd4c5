// SPDX-License-Identifier: GPL-3.0-or-later
// What goes to ranks outside of the group is recorded in logs without events, by its size and a digest, and compared in
// a replay.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/log/record_text.h"
#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

using fake::Script;

/// Of rank 0 in the group of 0 and 1 of 4 ranks.
RunOptions ofPair(bool fast = true) {
  return {.mode = kRecordChoices | kKeepContents, .fast = fast, .group = {4, 2, 0, 1}};
}

/// `values` to rank `dest`, in each of the ways.
enum class Way {
  Send,
  Ssend,
  Isend,
  Start,
  Startall,
  Sendrecv,
  SendrecvReplace,
  Isendrecv,
  IsendrecvReplace
};
constexpr Way kWays[] = {
    Way::Send,     Way::Ssend,           Way::Isend,     Way::Start,           Way::Startall,
    Way::Sendrecv, Way::SendrecvReplace, Way::Isendrecv, Way::IsendrecvReplace};

void give(Way way, std::vector<int> values, int dest) {
  const int count = static_cast<int>(values.size());
  int* const data = values.data();
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  switch (way) {
    case Way::Send:
      MPI_Send(data, count, MPI_INT, dest, 5, MPI_COMM_WORLD);
      break;
    case Way::Ssend:
      MPI_Ssend(data, count, MPI_INT, dest, 5, MPI_COMM_WORLD);
      break;
    case Way::Isend:
      MPI_Isend(data, count, MPI_INT, dest, 5, MPI_COMM_WORLD, requests);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      break;
    case Way::Start:
      MPI_Send_init(data, count, MPI_INT, dest, 5, MPI_COMM_WORLD, requests);
      MPI_Start(requests);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      MPI_Request_free(requests);
      break;
    case Way::Startall: {  // the one that is asked for is the second of them
      const int other = 9;
      MPI_Send_init(&other, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &requests[0]);
      MPI_Send_init(data, count, MPI_INT, dest, 5, MPI_COMM_WORLD, &requests[1]);
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Request_free(&requests[0]);
      MPI_Request_free(&requests[1]);
      break;
    }
    case Way::Sendrecv:
      MPI_Sendrecv(data, count, MPI_INT, dest, 5, nullptr, 0, MPI_INT, MPI_PROC_NULL, 5,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      break;
    case Way::SendrecvReplace:
      MPI_Sendrecv_replace(data, count, MPI_INT, dest, 5, MPI_PROC_NULL, 5, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
      break;
    case Way::Isendrecv:
      exchange(data, count, dest, 5, nullptr, MPI_PROC_NULL, 5, requests);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      break;
    case Way::IsendrecvReplace:
      exchangeInPlace(data, count, dest, 5, MPI_PROC_NULL, 5, requests);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      break;
  }
}

/// To rank 1, to `dest`, and to rank 1 again.
Program giving(Way way, const std::vector<int>& values, int dest) {
  return [=] {
    give(way, {1}, 1);
    give(way, values, dest);
    give(way, {2}, 1);
  };
}

std::size_t recordsOf(const RankRun& run, const std::string& kind) {
  std::size_t found = 0;
  const Status read = printRecords(run.log, [&](const std::string& line) {
    found += line.find('\t' + kind + ' ') != std::string::npos ? 1U : 0U;
  });
  EXPECT_TRUE(read);
  return found;
}

TEST(Outgoing, eachWayOfSendingIsCompared) {
  for (const Way way : kWays) {
    for (const bool fast : {true, false}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(way)) + (fast ? " fast" : ""));
      const RankRun recorded = run({}, giving(way, {7, 8}, 2), ofPair(fast));
      EXPECT_EQ(recordsOf(recorded, "Outgoing"), 1U);
      const RankRun same = replay(recorded, {}, giving(way, {7, 8}, 2));
      EXPECT_EQ(same.ending, Ending::Finished);
      EXPECT_EQ(same.otherContentsAt, 0U);
      const RankRun other = replay(recorded, {}, giving(way, {7, 9}, 2));
      EXPECT_EQ(other.ending, Ending::Finished);
      EXPECT_NE(other.otherContentsAt, 0U);
      const RankRun longer = replay(recorded, {}, giving(way, {7, 8, 9}, 2));
      EXPECT_EQ(longer.ending, Ending::Diverged);
      EXPECT_NE(longer.expected.find("8 bytes"), std::string::npos) << longer.expected;
      EXPECT_NE(longer.got.find("12 bytes"), std::string::npos) << longer.got;
    }
  }
}

TEST(Outgoing, withinTheGroupNothingIsRecorded) {
  for (const Way way : kWays) {
    const RankRun recorded = run({}, giving(way, {7, 8}, 1), ofPair());
    EXPECT_EQ(recordsOf(recorded, "Outgoing"), 0U);
    EXPECT_EQ(replay(recorded, {}, giving(way, {9}, 1)).otherContentsAt, 0U);
  }
  const RankRun ungrouped =
      run({}, giving(Way::Send, {7, 8}, 2), {.mode = kRecordChoices, .group = {4, 2, 0, 1}});
  EXPECT_EQ(recordsOf(ungrouped, "Outgoing"), 0U);
}

TEST(Outgoing, theEventThatGivesSomethingElseIsNamed) {
  const auto program = [](int value) {
    return [value] {
      for (int i = 0; i < 5; ++i) {
        give(Way::Send, {i == 3 ? value : i}, i % 2 == 0 ? 1 : 3);
      }
    };
  };
  const RankRun recorded = run({}, program(7), ofPair());
  EXPECT_EQ(recordsOf(recorded, "Outgoing"), 2U);
  EXPECT_EQ(replay(recorded, {}, program(8)).otherContentsAt, 5U);  // MPI_Init is the first
}

TEST(Outgoing, nobodyIsNoRankOutside) {
  const auto program = [](int value) {
    return [value] {
      give(Way::Send, {value}, MPI_PROC_NULL);
      give(Way::Isend, {value}, MPI_PROC_NULL);
      give(Way::Send, {5}, 2);
    };
  };
  const RankRun recorded = run({}, program(7), ofPair());
  EXPECT_EQ(recordsOf(recorded, "Outgoing"), 1U);
  EXPECT_EQ(replay(recorded, {}, program(8)).otherContentsAt, 0U);
}

TEST(Outgoing, whatACollectiveBeyondTheGroupIsGivenIsCompared) {
  const Script script{.brought = {1, 2, 3, 4}};
  const auto program = [](int value, MPI_Op op, int inside) {
    return [=] {
      int result = 0;
      MPI_Allreduce(&inside, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Allreduce(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
      MPI_Allreduce(&inside, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    };
  };
  for (const bool fast : {true, false}) {
    const RankRun recorded = run(script, program(7, MPI_SUM, 1), ofPair(fast));
    EXPECT_EQ(recordsOf(recorded, "OutgoingGiven"), 1U);
    EXPECT_EQ(replay(recorded, script, program(7, MPI_SUM, 2)).otherContentsAt, 0U);
    EXPECT_EQ(replay(recorded, script, program(8, MPI_SUM, 1)).otherContentsAt, 4U);
    const RankRun otherwise = replay(recorded, script, program(7, MPI_MAX, 1));
    EXPECT_EQ(otherwise.ending, Ending::Diverged);
    EXPECT_NE(otherwise.got.find("another operation"), std::string::npos) << otherwise.got;
  }
}

TEST(Outgoing, gapsOfATypeDoNotCount) {
  const auto program = [](int gap, int value) {
    return [=] {
      const int values[4] = {value, gap, value, gap};
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_vector(2, 1, 2, MPI_INT, &type);
      MPI_Send(values, 1, type, 3, 5, MPI_COMM_WORLD);
    };
  };
  const RankRun recorded = run({}, program(1, 7), ofPair());
  EXPECT_EQ(replay(recorded, {}, program(2, 7)).otherContentsAt, 0U);
  EXPECT_EQ(replay(recorded, {}, program(1, 8)).otherContentsAt, 2U);
}

/// What threads send is known by their order.
TEST(Outgoing, ofARankWithThreads) {
  const auto program = [](int value) {
    return [=] {
      give(Way::Send, {1}, 1);
      give(Way::Sendrecv, {value}, 2);
      give(Way::SendrecvReplace, {value}, 3);
    };
  };
  RunOptions options = ofPair();
  options.threads = true;
  const Script script{.threadLevel = MPI_THREAD_SERIALIZED};
  const RankRun recorded = run(script, program(7), options);
  EXPECT_EQ(recordsOf(recorded, "Outgoing"), 2U);
  const auto again = [&](int value) {
    return run(script, program(value),
               {.mode = kReplay, .threads = true, .schedule = scheduleOf(recorded)});
  };
  EXPECT_EQ(again(7).otherContentsAt, 0U);
  EXPECT_NE(again(8).otherContentsAt, 0U);
}

}  // namespace
}  // namespace pf::test
