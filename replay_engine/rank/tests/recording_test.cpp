// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank writes about single calls, field by field, and what is left of a record that ends in
// the middle of a call.
#include <csignal>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "replay_engine/log_format/payload_format.h"
#include "replay_engine/rank/engine/engine.h"
#include "replay_engine/rank/tests/log_text.h"
#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

using fake::Script;

/// Event number `serial` of a log with events.
const Event& eventAt(const RankLog& log, Serial serial) {
  return log.history.events.at(serial - 1);
}

void receiveAny(int values = 1) {
  std::vector<int> buffer(static_cast<std::size_t>(values));
  MPI_Recv(buffer.data(), values, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

/// The ranks 0, 2 and 4 of six; all numbers differ in it.
MPI_Comm halfOfWorld() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
  return half;
}

TEST(Recording, aReceiveSaysWhatWasWantedAndWhatCame) {
  const RankLog log = logOf(
      record(kRecordEvents, {.size = 6, .arrivals = {{.source = 2, .tag = 7, .comm = 1}}}, [] {
        int value = 0;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, halfOfWorld(), MPI_STATUS_IGNORE);
      }));
  const Event& event = eventAt(log, 3);
  EXPECT_EQ(event.kind, EventKind::Receive);
  EXPECT_EQ(event.call, kCallRecv);
  EXPECT_EQ(event.comm, 2U);
  EXPECT_EQ(event.peer, kAnySource);
  EXPECT_EQ(event.tag, 7);
  const PostedReceive& receive = log.history.receives.at(0);
  EXPECT_EQ(receive.post, 3U);
  EXPECT_EQ(receive.completion, 3U);
  EXPECT_EQ(receive.comm, 2U);
  EXPECT_EQ(receive.wantedSource, kAnySource);
  EXPECT_EQ(receive.wantedTag, 7);
  EXPECT_EQ(receive.source, 4);
  EXPECT_EQ(receive.tag, 7);
}

TEST(Recording, aReceiveByRequestIsPostedAndCompleted) {
  const RankLog log =
      logOf(record(kRecordEvents, {.arrivals = {{.source = 3, .tag = 8, .after = 2}}}, [] {
        int value = 0;
        int flag = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(&value, 1, MPI_INT, 3, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        while (flag == 0) {
          MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
      }));
  const PostedReceive& receive = log.history.receives.at(0);
  EXPECT_EQ(receive.post, 2U);
  EXPECT_EQ(receive.completion, 3U);
  EXPECT_EQ(receive.wantedSource, 3);
  EXPECT_EQ(receive.wantedTag, kAnyTag);
  EXPECT_EQ(receive.tag, 8);
  EXPECT_EQ(eventAt(log, 3).call, kCallTest);
}

TEST(Recording, aReceiveSaysHowMuchItTakes) {
  const RankLog log = logOf(
      record(kRecordEvents, {.arrivals = {{.source = 3, .tag = 8}, {.source = 3, .tag = 9}}}, [] {
        int values[4] = {};
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Recv(values, 4, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(values, 3, MPI_INT, 3, 9, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }));
  const std::vector<std::pair<std::uint32_t, std::uint64_t>> expected{{0, 16}, {1, 12}};
  EXPECT_EQ(log.rooms, expected);
}

/// Two receives, an inactive persistent request, two that are null; the second receive is done.
void waitForAny() {
  int values[2] = {};
  int index = 0;
  MPI_Request requests[5] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                             MPI_REQUEST_NULL};
  MPI_Irecv(&values[0], 1, MPI_INT, 3, 8, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&values[1], 1, MPI_INT, 3, 9, MPI_COMM_WORLD, &requests[2]);
  MPI_Irecv(&values[1], 1, MPI_INT, 2, 8, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE);
}

TEST(Recording, whatACallWasOfferedIsThereIfAskedFor) {
  const fake::Script script{.arrivals = {{.source = 2, .tag = 8}}};
  EXPECT_TRUE(logOf(record(kRecordEvents, script, waitForAny)).history.offers.empty());
  const RankLog log = logOf(record(kRecordEvents | kOffers, script, waitForAny));
  ASSERT_EQ(log.history.offers.size(), 1U);
  const OfferedCompletion& call = log.history.offers[0];
  EXPECT_EQ(eventAt(log, call.event).call, kCallWaitany);
  EXPECT_FALSE(call.some);
  const std::vector<OfferedRequest> expected{{0, 0, OfferedKind::Receive, false},
                                             {3, 1, OfferedKind::Receive, true}};
  EXPECT_EQ(call.requests, expected);
}

TEST(Recording, aSendSaysWhereToAndHowMuch) {
  const RankLog log = logOf(record(kRecordEvents, {.size = 6}, [] {
    const int values[3] = {1, 2, 3};
    MPI_Send(values, 3, MPI_INT, 1, 9, halfOfWorld());
  }));
  const Event& event = eventAt(log, 3);
  EXPECT_EQ(event.kind, EventKind::Send);
  EXPECT_EQ(event.comm, 2U);
  EXPECT_EQ(event.peer, 2);  // rank 1 of the half
  EXPECT_EQ(event.tag, 9);
  EXPECT_EQ(event.bytes, 12U);
}

TEST(Recording, aSynchronousSendIsDoneWhereThatWasSeen) {
  const RankLog log = logOf(record(kRecordEvents, {.answersAfter = 2}, [] {
    const int value = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Issend(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ssend(&value, 1, MPI_INT, 2, 9, MPI_COMM_WORLD);
  }));
  ASSERT_EQ(log.history.sends.size(), 2U);
  EXPECT_EQ(log.history.sends[0].syncCompletion, 4U);
  EXPECT_EQ(log.history.sends[1].syncCompletion, 5U);
}

TEST(Recording, anExchangeSaysBothHalves) {
  const RankLog log = logOf(record(kRecordEvents, {.arrivals = {{.source = 1, .tag = 6}}}, [] {
    const int given[2] = {1, 2};
    int value = 0;
    MPI_Sendrecv(given, 2, MPI_INT, 3, 9, &value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }));
  EXPECT_EQ(sendsIn(log), "3/9");
  EXPECT_EQ(receivesIn(log), "0:1/6");
  EXPECT_EQ(eventAt(log, 2).bytes, 8U);
  EXPECT_EQ(log.history.receives.at(0).wantedSource, kAnySource);
  EXPECT_EQ(log.history.receives.at(0).wantedTag, 6);
}

TEST(Recording, anExchangeByRequestSaysBothHalves) {
  const RankLog log = logOf(record(kRecordEvents, {.arrivals = {{.source = 1, .tag = 6}}}, [] {
    const int given[2] = {1, 2};
    int values[2] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    exchange(given, 2, 3, 9, values, MPI_ANY_SOURCE, 6, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  EXPECT_EQ(sendsIn(log), "3/9");
  EXPECT_EQ(receivesIn(log), "0:1/6");
  EXPECT_EQ(eventAt(log, 2).call, kCallIsendrecv);
  EXPECT_EQ(eventAt(log, 2).kind, EventKind::Start);
  EXPECT_EQ(eventAt(log, 2).bytes, 8U);
  EXPECT_EQ(log.history.sends.at(0).event, 2U);
  EXPECT_EQ(log.history.receives.at(0).post, 2U);
  EXPECT_EQ(log.history.receives.at(0).completion, 3U);
}

/// Its receive takes no later message, and nobody waits for what it would have sent.
TEST(Recording, anExchangeByRequestThatFails) {
  const auto program = [] {
    const int given = 7;
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    say("%d", exchange(&given, 1, 3, 9, &value, MPI_ANY_SOURCE, 5, &request));
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("got %d", value);
  };
  for (const std::uint16_t call : {kCallIrecv, kCallIsend}) {
    const Script script{.arrivals = {{1, 5, 10, 2}}, .failures = {{call, 1, MPI_ERR_RANK}}};
    const RankRun recorded = record(kRecordEvents, script, program);
    EXPECT_EQ(recorded.said, std::to_string(MPI_ERR_RANK) + "\ngot 10\n");
    const RankLog log = logOf(recorded);
    EXPECT_EQ(log.history.sends.at(0).dest, kUnknownRank);
    EXPECT_EQ(receivesIn(log), "0:pending 1:1/5");
    EXPECT_EQ(replay(recorded, script, program).said, recorded.said);
  }
}

/// What it would send MPI refuses before it takes a message that is there.
TEST(Recording, anExchangeThatIsRefusedTakesNothing) {
  const auto program = [] {
    const int given = 7;
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    say("%d", exchange(&given, 1, 77, 9, &value, MPI_ANY_SOURCE, 5, &request));
    say("%d", exchangeInPlace(&value, 1, 77, 9, MPI_ANY_SOURCE, 5, &request));
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("got %d", value);
  };
  const Script script{.arrivals = {{1, 5, 10, 0}, {1, 5, 20, 0}}};
  const std::string refused = std::to_string(MPI_ERR_RANK) + "\n";
  for (const std::uint32_t mode : kBothModes) {
    const RankRun recorded = record(mode, script, program);
    EXPECT_EQ(recorded.said, refused + refused + "got 10\n");
    EXPECT_EQ(replay(recorded, script, program).said, recorded.said);
  }
}

TEST(Recording, anExchangeByRequestIsNotCancelled) {
  const auto program = [] {
    const int given = 7;
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    exchange(&given, 1, 3, 9, &value, MPI_ANY_SOURCE, 5, &request);
    say("%d", MPI_Cancel(&request));
    say("told %d", fake::toldErrors());
    MPI_Wait(&request, &status);
    sayTaken(status, value);
  };
  const Script script{.arrivals = {{1, 5, 10, 2}}};
  const std::string expected = std::to_string(MPI_ERR_REQUEST) + "\ntold 1\ntook 10 from 1 tag 5\n";
  for (const std::uint32_t mode : kBothModes) {
    const RankRun recorded = record(mode, script, program);
    EXPECT_EQ(recorded.said, expected);
    EXPECT_EQ(replay(recorded, script, program).said, expected);
  }
}

TEST(Recording, aStartSaysTheSizeOfItsMessageIfThereIsOne) {
  const RankLog log = logOf(record(kRecordEvents, {}, [] {
    const int given[2] = {1, 2};
    MPI_Request requests[2] = {};
    MPI_Send_init(given, 2, MPI_INT, 3, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(given, 1, MPI_INT, 2, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }));
  EXPECT_EQ(eventAt(log, 2).bytes, 8U);
  EXPECT_EQ(eventAt(log, 4).bytes, 0U);
}

TEST(Recording, aProbeSaysWhatItSawAndHowManyReceivesWereBefore) {
  const RankLog log =
      logOf(record(kRecordEvents, {.arrivals = {{1, 5}, {.source = 2, .tag = 6}}}, [] {
        receiveAny();
        MPI_Probe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }));
  const ProbeHit& hit = log.history.probes.at(0);
  EXPECT_EQ(hit.event, 3U);
  EXPECT_EQ(hit.wantedSource, kAnySource);
  EXPECT_EQ(hit.wantedTag, 6);
  EXPECT_EQ(hit.source, 2);
  EXPECT_EQ(hit.tag, 6);
  EXPECT_EQ(hit.postsBefore, 1U);
}

TEST(Recording, collectivesSayAlongWhichWayKnowledgeFlows) {
  const RankLog log = logOf(record(kRecordEvents, {.brought = {1, 2}, .answersAfter = 1}, [] {
    int value = 0;
    int other = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Bcast(&value, 1, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Reduce(&value, &other, 1, MPI_INT, MPI_SUM, 3, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &other, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  const std::vector<CollectivePart>& parts = log.history.collectives;
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[0].flow, CollectiveFlow::FromRoot);
  EXPECT_EQ(parts[0].root, 2);
  EXPECT_EQ(parts[1].flow, CollectiveFlow::ToRoot);
  EXPECT_EQ(parts[1].root, 3);
  EXPECT_TRUE(parts[1].contributes);
  EXPECT_EQ(parts[2].flow, CollectiveFlow::AllToAll);
  EXPECT_FALSE(parts[2].contributes);
  EXPECT_FALSE(parts[2].takes);
  EXPECT_EQ(parts[2].ordinal, 2U);
  EXPECT_EQ(parts[3].event, 5U);
  EXPECT_EQ(parts[3].completion, 6U);
}

TEST(Recording, aCommunicatorHasOneKeyOnAllItsRanks) {
  const auto program = [] {
    MPI_Comm first = MPI_COMM_NULL;
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_split(first, 0, 0, &second);
  };
  const RankLog a = logOf(record(kRecordChoices, {.rank = 0}, program));
  const RankLog b = logOf(record(kRecordChoices, {.rank = 2}, program));
  ASSERT_EQ(a.communicators.size(), 4U);  // with MPI_COMM_SELF, which is another one on each
  ASSERT_EQ(b.communicators.size(), 4U);
  for (const std::size_t i : {0U, 2U, 3U}) {
    EXPECT_EQ(a.communicators[i].key, b.communicators[i].key);
    EXPECT_EQ(a.communicators[i].members, b.communicators[i].members);
  }
  EXPECT_NE(a.communicators[1].key, b.communicators[1].key);
  EXPECT_NE(a.communicators[2].key, a.communicators[3].key);
  EXPECT_EQ(a.communicators[3].members, (std::vector<Rank>{0, 2}));
}

/// By its parent, by the call, and by how many were made of that parent before.
TEST(Recording, noTwoCommunicatorsHaveTheSameKey) {
  const RankLog log = logOf(record(kRecordChoices, {}, [] {
    MPI_Comm made[4] = {};
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &made[1]);
    MPI_Comm_dup(made[0], &made[2]);
    MPI_Comm_dup(made[1], &made[3]);
  }));
  std::set<std::uint64_t> keys;
  for (const LoggedCommunicator& comm : log.communicators) {
    keys.insert(comm.key);
  }
  EXPECT_EQ(keys.size(), 6U);
}

/// A handle that MPI gives to a new communicator names another one from then on.
TEST(Recording, aHandleThatIsUsedAgainIsAnotherCommunicator) {
  const RankLog log =
      logOf(record(kRecordEvents, {.arrivals = {{.source = 1, .tag = 5, .comm = 1}}}, [] {
        int value = 0;
        MPI_Comm first = MPI_COMM_NULL;
        MPI_Comm second = MPI_COMM_NULL;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &first);
        MPI_Irecv(&value, 1, MPI_INT, 1, 5, first, &request);
        const MPI_Comm was = first;
        MPI_Comm_free(&first);
        MPI_Comm_dup(MPI_COMM_WORLD, &second);
        say("same %d", was == second ? 1 : 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 5, second);
      }));
  ASSERT_EQ(log.communicators.size(), 4U);
  EXPECT_EQ(log.history.receives.at(0).comm, 2U);
  EXPECT_EQ(log.history.sends.at(0).comm, 3U);
}

TEST(Recording, callSitesAreDefinedOnce) {
  const RankLog log = logOf(record(kRecordEvents, {}, [] {
    volatile int times = 3;  // a loop that stays one
    for (int i = 0; i < times; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }));
  const std::vector<Event>& events = log.history.events;
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[1].site, events[3].site);
  EXPECT_NE(events[1].site, events[4].site);
  EXPECT_EQ(log.sites.at(events[4].site).call, kCallBarrier);
}

TEST(Recording, contentsAreThoseOfTheBytesThatMove) {
  const auto sent = [](int gap, int value) {
    return logOf(record(kRecordEvents, {},
                        [gap, value] {
                          const int values[4] = {value, gap, value, gap};
                          MPI_Datatype everySecond = MPI_DATATYPE_NULL;
                          MPI_Type_vector(2, 1, 2, MPI_INT, &everySecond);
                          MPI_Type_commit(&everySecond);
                          MPI_Send(values, 1, everySecond, 1, 5, MPI_COMM_WORLD);
                          MPI_Type_free(&everySecond);
                        }))
        .sent;
  };
  EXPECT_FALSE(sent(1, 7).empty());
  EXPECT_EQ(sent(1, 7), sent(2, 7));
  EXPECT_NE(sent(1, 7), sent(1, 8));
}

TEST(Recording, sourcesThatTakeMoreThanAByte) {
  const Script script{
      .size = 300, .arrivals = {{127, 5}, {128, 5}, {299, 5}, {0, 5, 0, 0, fake::kWorld}, {1, 5}}};
  const RankLog log = logOf(record(kRecordChoices, script, [] {
    for (int i = 0; i < 5; ++i) {
      receiveAny();
    }
  }));
  EXPECT_EQ(wildcardsIn(log), "0:127 1:128 2:299 3:0 4:1");
}

/// In a record of choices, where they complete in the order of their posts.
TEST(Recording, aWildcardCostsAByte) {
  const auto bytesOf = [](int receives) {
    Script script;
    script.arrivals.assign(static_cast<std::size_t>(receives), {1, 5});
    return logOf(record(kRecordChoices, script,
                        [receives] {
                          for (int i = 0; i < receives; ++i) {
                            receiveAny();
                          }
                        }))
        .bytes;
  };
  EXPECT_EQ(bytesOf(12) - bytesOf(2), 10U);
}

/// Wildcards are numbered as they are posted, and logged as they complete.
TEST(Recording, wildcardsThatCompleteOutOfOrder) {
  const RankLog log = logOf(record(kRecordChoices, {.arrivals = {{1, 5}, {2, 6}, {3, 7}}}, [] {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    receiveAny();
    receiveAny();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  EXPECT_EQ(wildcardsIn(log), "0:3 1:1 2:2");
}

TEST(Recording, goesOnOverManyBlocks) {
  constexpr int kSends = 60000;
  const RankLog log = logOf(record(kRecordEvents, {}, [] {
    const int value = 7;
    for (int i = 0; i < kSends; ++i) {
      MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    }
  }));
  EXPECT_TRUE(log.complete) << log.cut;
  ASSERT_EQ(log.history.sends.size(), std::size_t{kSends});
  EXPECT_EQ(log.history.sends.back().tag, kSends - 1);
  EXPECT_GT(log.bytes, 8 * kLogBlockSize);  // more than is mapped at a time
}

TEST(Recording, aReceiveThatWasMatchedButNotWaitedFor) {
  const auto program = [] {
    static int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
  };
  const Script script{.arrivals = {{2, 5}}};
  const RankLog log = logOf(record(kRecordEvents, script, program));
  EXPECT_EQ(log.history.receives.at(0).source, 2);
  EXPECT_EQ(log.history.receives.at(0).completion, 3U);  // MPI_Finalize
  EXPECT_EQ(wildcardsIn(logOf(record(kRecordChoices, script, program))), "0:2");
}

TEST(Recording, theAgentIsToldWhereRequestsHaveTheirStatus) {
  const RankRun run = record(kRecordChoices, {}, [] {});
  EXPECT_EQ(run.requests.status, kRequestsAreObjects ? fake::placeOfStatus() : 0);
  EXPECT_NE(run.requests.entriesAt, 0U);
}

// -- records that end in the middle

TEST(Recording, failedTestsOfARankThatWasKilled) {
  for (const std::uint32_t mode : kBothModes) {
    const RankRun run = record(mode, {}, [] {
      int value = 0;
      int flag = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
      for (int i = 0; i < 5; ++i) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      }
      std::raise(SIGKILL);
    });
    const RankLog log = logOf(run);
    EXPECT_FALSE(log.complete);
    EXPECT_EQ(choicesIn(log), "Test 5-end");
    EXPECT_EQ(log.serials, 2U);
  }
}

TEST(Recording, aRankThatHangsShowsItsCall) {
  const auto program = [] {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, 1, 5, halfOfWorld(), MPI_STATUS_IGNORE);
  };
  for (const RankRun& hanging :
       {run({}, program, {.mode = kRecordChoices}), run({}, program, {.mode = kRecordEvents}),
        run({}, program, {.mode = kRecordChoices, .fast = false})}) {
    EXPECT_EQ(hanging.ending, Ending::WaitsForEver);
    EXPECT_EQ(hanging.inCall, 1U + kCallRecv);
    EXPECT_EQ(hanging.waitPeer, 2);  // as a rank of the world
    EXPECT_EQ(hanging.waitTag, 5);
    const RankLog log = logOf(hanging);
    EXPECT_TRUE(log.insideLast);
    EXPECT_EQ(log.lastCall, kCallRecv);
    EXPECT_EQ(log.serials, 3U);
  }
}

TEST(Recording, aRankThatHangsInAWaitShowsForWhom) {
  const RankRun run = record(kRecordEvents, {}, [] {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, 3, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
  EXPECT_EQ(run.inCall, 1U + kCallWait);
  EXPECT_EQ(run.waitPeer, 3);
  const RankLog log = logOf(run);
  EXPECT_TRUE(log.insideLast);
  EXPECT_EQ(log.lastCall, kCallWait);
}

/// An error handler ends the process inside MPI: which message it took is all the same known.
TEST(Recording, aMessageThatWasTooLongAndEndedTheRank) {
  const fake::Arrival tooLong{.source = 2, .tag = 6, .count = 3};
  const Script script{.arrivals = {tooLong}, .fatal = true};
  const auto blocking = [] { receiveAny(); };
  const auto byRequest = [] {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  };
  for (const Program& program : {Program(blocking), Program(byRequest)}) {
    const RankRun choices = record(kRecordChoices, script, program);
    EXPECT_EQ(choices.ending, Ending::FatalError);
    EXPECT_EQ(wildcardsIn(logOf(choices)), "0:2");
    EXPECT_EQ(receivesIn(logOf(record(kRecordEvents, script, program))), "0:2/6");
  }
}

/// The books that both paths keep: a rank that goes from one to the other loses nothing.
TEST(Recording, handlersAndFastPathCountTheSame) {
  const Script script{.arrivals = {{1, 5}, {2, 6}, {3, 7}}};
  const auto program = [] {
    const int value = 1;
    MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    receiveAny();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receiveAny();
    MPI_Barrier(MPI_COMM_WORLD);
    receiveAny();
  };
  const RankRun fast = run(script, program, {.mode = kRecordChoices});
  const RankRun handlers = run(script, program, {.mode = kRecordChoices, .fast = false});
  EXPECT_EQ(fast.events, 9U);
  EXPECT_EQ(handlers.events, 9U);
  EXPECT_EQ(wildcardsIn(logOf(fast)), "0:1 1:2 2:3");
  EXPECT_EQ(wildcardsIn(logOf(handlers)), "0:1 1:2 2:3");
}

/// Bytes of the entries, as numbers: "kind a size".
std::string entriesIn(const RankRun& run) {
  std::string text;
  for (std::size_t at = kPayloadHeaderSize; at + sizeof(PayloadEntry) <= run.payload.size();) {
    PayloadEntry entry{};
    std::memcpy(&entry, &run.payload[at], sizeof entry);
    if (entry.kind != static_cast<std::uint16_t>(PayloadKind::Datatype)) {
      text += (text.empty() ? "" : ", ") + std::to_string(entry.kind) + " " +
              std::to_string(entry.a) + " " + std::to_string(entry.size);
    }
    at += sizeof entry + payloadPadded(entry.size);
  }
  return text;
}

TEST(Recording, contentsFromOutsideOfAGroupAreKeptOnTheFastPath) {
  const Script script{.arrivals = {{1, 5}, {2, 6}, {1, 7}, {3, 8}, {2, 9}}};
  const auto program = [] {
    say("%s", g_rankOnly.fast ? "fast" : "not fast");
    int value = 1;
    const auto receive = [&value](int source, int tag) {
      MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    receive(1, 5);
    receive(2, 6);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    receive(MPI_ANY_SOURCE, 8);
    receive(2, 9);
  };
  const RunOptions ofPair{.mode = kRecordChoices | kKeepContents, .group = {4, 2, 0, 1}};
  const RankRun fast = run(script, program, ofPair);
  EXPECT_EQ(fast.said, "fast\n");
  EXPECT_EQ(entriesIn(fast), "1 2 4, 1 3 4, 1 2 4");
  RunOptions byHandlers = ofPair;
  byHandlers.fast = false;
  const RankRun handlers = run(script, program, byHandlers);
  EXPECT_EQ(handlers.said, "not fast\n");
  EXPECT_EQ(handlers.payload, fast.payload);
  RunOptions ofAll = ofPair;
  ofAll.group = {4, 4, 0, 1, 2, 3};
  EXPECT_EQ(entriesIn(run(script, program, ofAll)), "");
}

}  // namespace
}  // namespace pf::test
