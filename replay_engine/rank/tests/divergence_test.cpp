// SPDX-License-Identifier: GPL-3.0-or-later
// A replay that does something else than its recording stands still, and says where and what.
#include "mpi_calls.h"

#include <cstring>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

struct Other {
  const char* name;
  Program recorded;
  Program replayed;
  std::uint64_t at;  ///< event
  const char* expected;
  const char* got;
};

void PrintTo(const Other& of, std::ostream* out) {
  *out << of.name;
}

Program sends(int dest, int tag, int count = 1) {
  return [=] {
    const int values[4] = {};
    MPI_Send(values, count, MPI_INT, dest, tag, MPI_COMM_WORLD);
  };
}

Program receives(int source, int tag) {
  return [=] {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
}

Program barriers(int count) {
  return [=] {
    for (int i = 0; i < count; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  };
}

Program sendsOn(bool world) {
  return [=] {
    const int value = 0;
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Send(&value, 1, MPI_INT, 1, 5, world ? MPI_COMM_WORLD : twin);
  };
}

Program broadcasts(int root) {
  return [=] {
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  };
}

Program exchanges(int dest) {
  return [=] {
    int value = 0;
    MPI_Sendrecv(&value, 1, MPI_INT, dest, 9, &value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  };
}

Program exchangesByRequest(int dest, int source, int tag) {
  return [=] {
    int values[2] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    exchange(&values[0], 1, dest, 9, &values[1], source, tag, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
}

Program starts(int dest) {
  return [=] {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Send_init(&value, 1, MPI_INT, dest, 9, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
}

Program reduces(bool sum) {
  return [=] {
    const int value = 1;
    int result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_INT, sum ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
  };
}

Program waitsForSomeOf(int count) {
  return [=] {
    static int values[2];  // one may be filled when the program has gone
    int indices[2] = {};
    int done = 0;
    MPI_Request requests[2] = {};
    for (int i = 0; i < 2; ++i) {
      MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 5, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
  };
}

std::vector<Other> others() {
  return {
      {"anotherCall", sends(1, 5), receives(1, 5), 2, "MPI_Send", "MPI_Recv rank 1 tag 5"},
      {"anotherDestination", sends(1, 5), sends(2, 5), 2, "MPI_Send", "MPI_Send rank 2 tag 5"},
      {"anotherTag", sends(1, 5), sends(1, 6), 2, "MPI_Send", "MPI_Send rank 1 tag 6"},
      {"anotherSource", receives(1, 5), receives(2, 5), 2, "MPI_Recv", "MPI_Recv rank 2 tag 5"},
      {"anySource", receives(1, 5), receives(MPI_ANY_SOURCE, 5), 2, "MPI_Recv",
       "MPI_Recv any source tag 5"},
      {"anyTag", receives(1, 5), receives(1, MPI_ANY_TAG), 2, "MPI_Recv",
       "MPI_Recv rank 1 any tag"},
      {"anotherCommunicator", sendsOn(false), sendsOn(true), 3, "MPI_Send",
       "MPI_Send rank 1 tag 5"},
      {"anotherRoot", broadcasts(1), broadcasts(2), 2, "MPI_Bcast", "MPI_Bcast rank 2 tag 0"},
      {"anotherSize", sends(1, 5, 2), sends(1, 5, 3), 2, "MPI_Send, 8 bytes", "MPI_Send, 12 bytes"},
      {"exchangeWithAnother", exchanges(2), exchanges(3), 2, "MPI_Sendrecv",
       "the same call, to another rank or with another tag"},
      {"exchangeByRequestWithAnother", exchangesByRequest(2, 1, 5), exchangesByRequest(3, 1, 5), 2,
       "MPI_Isendrecv", "the same call, to another rank or with another tag"},
      {"exchangeByRequestFromAnother", exchangesByRequest(2, 1, 5), exchangesByRequest(2, 2, 5), 2,
       "MPI_Isendrecv", "MPI_Isendrecv rank 2 tag 5"},
      {"exchangeByRequestFromAnyone", exchangesByRequest(2, 1, 5),
       exchangesByRequest(2, MPI_ANY_SOURCE, 5), 2, "MPI_Isendrecv",
       "MPI_Isendrecv any source tag 5"},
      {"exchangeByRequestFromOneOnly", exchangesByRequest(2, MPI_ANY_SOURCE, 5),
       exchangesByRequest(2, 2, 5), 2, "MPI_Isendrecv", "MPI_Isendrecv rank 2 tag 5"},
      {"exchangeByRequestFromNobody", exchangesByRequest(2, 1, 5),
       exchangesByRequest(2, MPI_PROC_NULL, 5), 2, "MPI_Isendrecv", "MPI_Isendrecv"},
      {"exchangeByRequestWithAnotherTag", exchangesByRequest(2, 1, 5),
       exchangesByRequest(2, 1, MPI_ANY_TAG), 2, "MPI_Isendrecv", "MPI_Isendrecv rank 1 any tag"},
      {"startToAnother", starts(2), starts(3), 2, "MPI_Start",
       "the same call, to another rank or with another tag"},
      {"anotherOperation", reduces(true), reduces(false), 2, "MPI_Allreduce",
       "the same call, with another operation"},
      {"fewerRequests", waitsForSomeOf(2), waitsForSomeOf(1), 4,
       "a request array with the recorded index", "a shorter one"},
      {"tooShort", barriers(3), barriers(2), 4, "MPI_Barrier", "MPI_Finalize"},
      {"tooLong", barriers(2), barriers(3), 4, "MPI_Finalize", "MPI_Barrier"},
  };
}

class Divergence : public testing::TestWithParam<Other> {};

fake::Script script() {
  return {.arrivals = {{2, 5, 20}, {1, 5, 10, 1}}, .brought = {1, 2}};
}

TEST_P(Divergence, isSaid) {
  const Other& of = GetParam();
  const RankRun recorded = record(kRecordEvents, script(), of.recorded);
  ASSERT_EQ(recorded.ending, Ending::Finished);
  EXPECT_EQ(replay(recorded, script(), of.recorded).ending, Ending::Finished);
  const RankRun replayed = replay(recorded, script(), of.replayed);
  EXPECT_EQ(replayed.ending, Ending::Diverged);
  EXPECT_EQ(replayed.divergedAt, of.at);
  EXPECT_EQ(replayed.expected, of.expected);
  EXPECT_EQ(replayed.got, of.got);
}

INSTANTIATE_TEST_SUITE_P(Replays, Divergence, testing::ValuesIn(others()),
                         [](const auto& each) { return std::string(each.param.name); });

/// What led to it: the last events, as far back as the page has room.
TEST(DivergenceOfEvents, hasAPast) {
  const auto program = [](int last) {
    return [last] {
      const int value = 0;
      for (int i = 0; i < 20; ++i) {
        MPI_Send(&value, 1, MPI_INT, 1 + i % 3, i, MPI_COMM_WORLD);
      }
      MPI_Send(&value, 1, MPI_INT, last, 5, MPI_COMM_WORLD);
    };
  };
  const RankRun recorded = record(kRecordEvents, script(), program(1));
  const RankRun replayed = replay(recorded, script(), program(2));
  EXPECT_EQ(replayed.divergedAt, 22U);
  ASSERT_EQ(replayed.past.size(), kPageEvents);
  EXPECT_EQ(replayed.past.front().serial, 12U);
  EXPECT_EQ(replayed.past.front().call, kCallSend);
  EXPECT_EQ(replayed.past.front().peer, 2);  // message 10 of 20, from 0
  EXPECT_EQ(replayed.past.front().tag, 10);
  EXPECT_EQ(replayed.past.back().serial, 22U);
  EXPECT_EQ(replayed.past.back().peer, 2);
  EXPECT_EQ(replayed.past.back().tag, 5);
}

/// A record of choices has nothing to compare events with, but for its length.
TEST(DivergenceOfChoices, isSeenAtTheEnd) {
  const RankRun recorded = record(kRecordChoices, script(), barriers(2));
  EXPECT_EQ(replay(recorded, script(), sends(1, 5)).expected, "more events before MPI_Finalize");
  EXPECT_EQ(replay(recorded, script(), barriers(3)).expected, "MPI_Finalize");
}

/// The results of a program tell more than a rank that stands still.
TEST(DivergenceOfContents, isToldAndTheRankGoesOn) {
  const auto program = [](int value) {
    return [value] {
      MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
    };
  };
  const RankRun recorded = record(kRecordEvents, script(), program(7));
  EXPECT_EQ(replay(recorded, script(), program(7)).otherContentsAt, 0U);
  const RankRun replayed = replay(recorded, script(), program(8));
  EXPECT_EQ(replayed.ending, Ending::Finished);
  EXPECT_EQ(replayed.otherContentsAt, 2U);
}

TEST(DivergenceOfSchedules, whatIsNoScheduleIsRefused) {
  const RankRun recorded = record(kRecordChoices, script(), barriers(1));
  const std::vector<unsigned char> right = scheduleOf(recorded);
  const auto refusal = [](const std::vector<unsigned char>& schedule, const fake::Script& of) {
    const RankRun refused = run(of, barriers(1), {.mode = kReplay, .schedule = schedule});
    EXPECT_EQ(refused.ending, Ending::Diverged);
    EXPECT_EQ(refused.expected, "a schedule for this rank");
    return refused.got;
  };
  EXPECT_EQ(refusal({}, script()), "the schedule of this rank cannot be read");
  std::vector<unsigned char> damaged = right;
  damaged[offsetof(ScheduleHeader, serials)] ^= 1U;
  EXPECT_EQ(refusal(damaged, script()), "the schedule of this rank is damaged");
  fake::Script larger = script();
  larger.size = 5;
  EXPECT_EQ(refusal(right, larger), "the recording had another number of ranks");
}

}  // namespace
}  // namespace pf::test
