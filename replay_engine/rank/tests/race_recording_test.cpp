// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank tells its clocks while it looks for races, and what its log says of them at the end.
// Other ranks are clocks on the same board.
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "replay_engine/rank/clocks/rank_clocks.h"
#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

using fake::Script;
using online::Algorithm;

constexpr int kRanks = 4;
constexpr int kTag = 5;

RankLog traced(Algorithm algorithm, const Script& script, const Program& program) {
  const RankRun recorded = run(
      script, program,
      {.mode = kRecordChoices | kRecordRaces, .algorithm = static_cast<std::uint32_t>(algorithm)});
  EXPECT_EQ(recorded.ending, Ending::Finished);
  RankLog log = logOf(recorded);
  EXPECT_TRUE(log.races.has_value());
  return log;
}

/// Another rank of the job.
class OtherRank {
 public:
  explicit OtherRank(int rank) { m_board.open(g_engine.page->boardPath, rank, kRanks); }
  /// Receives the oldest message of rank 0 that it has not received.
  void receives() {
    const online::ClockRecord* const record = m_board.next(0);
    if (record != nullptr) {
      m_board.learn(0, *record);
      m_board.drop(0);
    }
  }
  /// The clock of its next message to rank 0; the script brings the message.
  void sends() { m_board.publish(0, online::streamOf(0, kTag), ++m_sent); }
  void completesWildcard() { m_board.tick(); }
  void entersCollective(std::uint32_t ordinal) { m_board.contribute(0, ordinal); }
  void leavesCollective(std::uint32_t ordinal) { m_board.learnContribution(0, 0, ordinal); }
  [[nodiscard]] std::uint32_t knows(int rank) const { return m_board.known(rank); }

 private:
  online::ClockBoard m_board;
  std::uint32_t m_sent = 0;
};

int take(int source, int tag = kTag) {
  int value = 0;
  MPI_Status status{};
  MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
  return status.MPI_SOURCE;
}

void send(int dest) {
  const int value = 0;
  MPI_Send(&value, 1, MPI_INT, dest, kTag, MPI_COMM_WORLD);
}

Script fromTwo() {
  return {.size = kRanks, .arrivals = {{1, kTag}, {2, kTag}}};
}

void takeBoth() {
  take(MPI_ANY_SOURCE);
  take(MPI_ANY_SOURCE);
}

/// Rank 2 sends only when it has heard of the first receive.
void takeOneBehindTheOther() {
  OtherRank two(2);
  take(MPI_ANY_SOURCE);
  send(2);
  two.receives();
  two.sends();
  take(MPI_ANY_SOURCE);
}

TEST(Races, ofMessagesThatKnowNothingOfEachOther) {
  const RankLog log = traced(Algorithm::Meehan, fromTwo(), takeBoth);
  EXPECT_EQ(log.races->found, 1U);
  EXPECT_EQ(log.races->wildcards, 2U);
  EXPECT_TRUE(log.races->kept[0]);
  EXPECT_FALSE(log.races->kept[1]);
}

TEST(Races, areNoneWhereTheSenderKnewOfTheReceive) {
  const RankLog log = traced(Algorithm::Meehan, fromTwo(), takeOneBehindTheOther);
  EXPECT_EQ(log.races->found, 0U);
  EXPECT_FALSE(log.races->kept[0]);
}

TEST(Races, areNoneOfOtherTags) {
  const Script script{.size = kRanks, .arrivals = {{1, kTag}, {2, 6}}};
  const RankLog log = traced(Algorithm::Meehan, script, [] {
    take(MPI_ANY_SOURCE);
    take(MPI_ANY_SOURCE, 6);
  });
  EXPECT_EQ(log.races->found, 0U);
  EXPECT_EQ(traced(Algorithm::Meehan, script,
                   [] {
                     take(MPI_ANY_SOURCE, MPI_ANY_TAG);
                     take(MPI_ANY_SOURCE, 6);
                   })
                .races->found,
            1U);
}

TEST(Races, ofANamedReceiveWithAWildcardBeforeIt) {
  const RankLog log = traced(Algorithm::Meehan, fromTwo(), [] {
    take(MPI_ANY_SOURCE);
    take(2);
  });
  EXPECT_EQ(log.races->found, 1U);
  EXPECT_EQ(traced(Algorithm::Meehan, fromTwo(),
                   [] {
                     take(1);
                     take(MPI_ANY_SOURCE);
                   })
                .races->found,
            0U);
}

/// The first one could have had the second one's message, whichever the program saw first.
TEST(Races, ofReceivesByRequest) {
  for (const int seenFirst : {0, 1}) {
    const RankLog log = traced(Algorithm::Meehan, fromTwo(), [seenFirst] {
      int values[2] = {};
      MPI_Request requests[2] = {};
      for (int i = 0; i < 2; ++i) {
        MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &requests[i]);
      }
      MPI_Wait(&requests[seenFirst], MPI_STATUS_IGNORE);
      MPI_Wait(&requests[1 - seenFirst], MPI_STATUS_IGNORE);
    });
    EXPECT_EQ(log.races->found, 1U);
    EXPECT_TRUE(log.races->kept[0]);
    EXPECT_FALSE(log.races->kept[1]);
  }
}

TEST(Races, eachWildcardIsKeptByTheNaiveTrace) {
  const RankLog log = traced(Algorithm::Naive, fromTwo(), takeOneBehindTheOther);
  EXPECT_TRUE(log.races->kept[0]);
  EXPECT_TRUE(log.races->kept[1]);
}

TEST(Races, theSecondOfTwoIsTracedWithItsMessage) {
  for (const Algorithm algorithm :
       {Algorithm::NetzerMiller, Algorithm::AlgorithmA, Algorithm::AlgorithmB}) {
    const RankLog log =
        traced(algorithm, {.size = kRanks, .arrivals = {{2, kTag}, {1, kTag}, {2, kTag}}}, [] {
          take(2);
          takeBoth();
        });
    ASSERT_EQ(log.traced.size(), 1U);
    EXPECT_EQ(log.traced[0].post, 2U);
    EXPECT_EQ(log.traced[0].source, 2);
    EXPECT_EQ(log.traced[0].tag, kTag);
    EXPECT_EQ(log.traced[0].number, 2U);  // of its stream
    EXPECT_TRUE(traced(algorithm, fromTwo(), takeOneBehindTheOther).traced.empty());
  }
}

TEST(Races, aProbeSaysWhichMessageItSaw) {
  const auto program = [] {
    take(1);
    MPI_Probe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    take(1);
  };
  const Script script{.size = kRanks, .arrivals = {{1, kTag}, {1, kTag}}};
  const RankLog log = traced(Algorithm::NetzerMiller, script, program);
  ASSERT_EQ(log.seen.size(), 1U);
  EXPECT_EQ(log.seen[0].source, 1);
  EXPECT_EQ(log.seen[0].number, 2U);
  EXPECT_TRUE(traced(Algorithm::Meehan, script, program).seen.empty());  // it traces no messages
}

TEST(Races, messagesThatWereExchangedAreCounted) {
  const RankLog log = traced(Algorithm::Meehan, fromTwo(), [] {
    takeBoth();
    for (int i = 0; i < 3; ++i) {
      send(2);
    }
  });
  const std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> expected{{1, {0, 1}},
                                                                                  {2, {3, 1}}};
  EXPECT_EQ(log.races->exchanged, expected);
}

TEST(Races, aSendThatFailedIsNotCounted) {
  Script script = fromTwo();
  script.failures = {{kCallSend, 2}};
  const RankLog log = traced(Algorithm::Meehan, script, [] {
    send(2);
    send(2);
    send(2);
  });
  EXPECT_EQ(log.races->exchanged.at(2).first, 2U);
}

TEST(Clocks, travelWithMessages) {
  const RankRun recorded = run(fromTwo(),
                               [] {
                                 OtherRank three(3);
                                 send(3);
                                 three.receives();
                                 say("%u", three.knows(0));
                                 takeBoth();
                                 send(3);
                                 three.receives();
                                 say("%u", three.knows(0));
                               },
                               {.mode = kRecordChoices | kRecordRaces});
  EXPECT_EQ(recorded.said, "0\n2\n");
}

TEST(Clocks, travelToAReceiverWhateverElseIsPending) {
  for (const bool pending : {false, true}) {
    const RankRun recorded =
        run({.size = kRanks, .arrivals = {{2, kTag}}},
            [pending] {
              static int value = 0;
              OtherRank two(2);
              two.completesWildcard();
              two.sends();
              MPI_Request request = MPI_REQUEST_NULL;
              if (pending) {
                MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, kTag + 1, MPI_COMM_WORLD, &request);
              }
              take(2);
              say("%u", clocks().board.known(2));
            },
            {.mode = kRecordChoices | kRecordRaces});
    EXPECT_EQ(recorded.said, "1\n") << pending;
  }
}

TEST(Clocks, travelWithCollectives) {
  const auto program = [](bool behind) {
    return [behind] {
      OtherRank two(2);
      take(MPI_ANY_SOURCE);
      two.entersCollective(0);
      MPI_Barrier(MPI_COMM_WORLD);
      if (behind) {
        two.leavesCollective(0);
      }
      two.sends();
      take(MPI_ANY_SOURCE);
    };
  };
  EXPECT_EQ(traced(Algorithm::Meehan, fromTwo(), program(true)).races->found, 0U);
  EXPECT_EQ(traced(Algorithm::Meehan, fromTwo(), program(false)).races->found, 1U);
}

/// What rank 0 knows of rank 2 behind a collective that both have entered.
std::string knownBehind(void (*collective)(int root), int root) {
  return run({.size = kRanks, .brought = {1, 2, 3}},
             [collective, root] {
               OtherRank two(2);
               two.completesWildcard();
               two.entersCollective(0);
               collective(root);
               say("%u", clocks().board.known(2));
             },
             {.mode = kRecordChoices | kRecordRaces})
      .said;
}

TEST(Clocks, followTheFlowOfACollective) {
  const auto broadcasts = [](int root) {
    int value = 0;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  };
  const auto reduces = [](int root) {
    const int value = 1;
    int sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  };
  const auto meets = [](int) { MPI_Barrier(MPI_COMM_WORLD); };
  EXPECT_EQ(knownBehind(broadcasts, 2), "1\n");
  EXPECT_EQ(knownBehind(broadcasts, 1), "0\n");  // only its root has told anything
  EXPECT_EQ(knownBehind(reduces, 0), "1\n");
  EXPECT_EQ(knownBehind(reduces, 1), "0\n");  // only its root has heard anything
  EXPECT_EQ(knownBehind(meets, 0), "1\n");
}

/// What is followed costs a record nothing that a replay needs.
TEST(Clocks, leaveTheChoicesAsTheyAre) {
  const RankRun plain = record(kRecordChoices, fromTwo(), takeBoth);
  const RankRun raced = run(fromTwo(), takeBoth, {.mode = kRecordChoices | kRecordRaces});
  EXPECT_EQ(scheduleOf(raced), scheduleOf(plain));
}

}  // namespace
}  // namespace pf::test
