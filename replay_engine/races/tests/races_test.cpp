// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/races.h"

#include <ostream>

#include <gtest/gtest.h>

#include "replay_engine/races/tests/execution_builder.h"

namespace pf::test {
namespace {

struct RaceCase {
  const char* name;
  const char* program;
  const char* races;
};

std::ostream& operator<<(std::ostream& out, const RaceCase& value) {
  return out << value.name;
}

class Races : public testing::TestWithParam<RaceCase> {};

TEST_P(Races, areThoseExpected) {
  const Execution execution = parseExecution(GetParam().program);
  EXPECT_EQ(toText(execution, findRaces(execution)), GetParam().races) << GetParam().program;
}

const RaceCase kPaperCases[] = {
    {"Figure1", R"(0: send 1
                   1: recv * = 0; recv * = 2
                   2: send 1)",
     "1@1: 0@1 | 2@1\n"},
    {"Figure3b", R"(0: send 1
                    1: recv * = 0; recv * = 2
                    2: local; recv 3; send 1
                    3: send 2)",
     "1@1: 0@1 | 2@3\n"},
    {"Figure3cReceivedBeforeTheOtherWasSent", R"(0: send 1
                    1: recv * = 0; send 2; recv * = 2
                    2: recv 1; send 1)",
     ""},
    {"Figure3cThroughAThirdRank", R"(0: send 1
                    1: recv * = 0; send 3; recv * = 2
                    2: recv 3; send 1
                    3: recv 1; send 2)",
     ""},
    {"Figure5aTransitive", R"(0: recv * = 1; recv * = 2; recv * = 3
                              1: send 0
                              2: send 0
                              3: send 0)",
     "0@1: 1@1 | 2@1 3@1\n0@2: 2@1 | 3@1\n"},
    {"Figure5bNotTransitive", R"(0: recv *:1 = 1:1; recv *:* = 3:1; recv *:2 = 4:2
                                 1: send 0:1
                                 2: local
                                 3: send 0:1
                                 4: send 0:2)",
     "0@1: 1@1 | 3@1\n0@2: 3@1 | 4@1\n"},
};
INSTANTIATE_TEST_SUITE_P(Paper, Races, testing::ValuesIn(kPaperCases));

const RaceCase kReceiveCases[] = {
    {"PrePostedWildcards", R"(0: irecv * a; irecv * b; wait a = 1; wait b = 2
                              1: send 0
                              2: send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"PrePostedWildcardsCompletedInReverse", R"(0: irecv * a; irecv * b; wait b = 2; wait a = 1
                              1: send 0
                              2: send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"ExplicitReceiveAfterPendingWildcard", R"(0: irecv * a; irecv 1 b; wait b; wait a = 2
                              1: send 0
                              2: send 0)",
     "0@1: 2@1 | 1@1\n"},
    {"ExplicitReceivePostedBeforeTheWildcard", R"(0: irecv 1 b; irecv * a; wait a = 2; wait b
                              1: send 0
                              2: send 0)",
     ""},
    {"MatchedButNotYetObserved", R"(0: irecv * a; send 2; wait a = 1; recv * = 2
                                    1: send 0
                                    2: recv 0; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"ObservedBeforeTheOtherWasSent", R"(0: irecv * a; wait a = 1; send 2; recv * = 2
                                    1: send 0
                                    2: recv 0; send 0)",
     ""},
    {"WaitallObservesBoth", R"(0: irecv * a; irecv * b; wait a = 1, b = 2; send 3; recv * = 3
                               1: send 0
                               2: send 0
                               3: recv 0; send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"OneSenderNeverRacesWithItself", R"(0: recv * = 1; recv * = 1
                                         1: send 0; send 0)",
     ""},
    {"TwoRankCommunicator", R"(comm pair: 0 1
                               0: recv *@pair = 1; recv 2; recv *@pair = 1
                               1: send 0@pair; send 0@pair
                               2: send 0)",
     ""},
    {"OnlyTheFirstOfASource", R"(0: recv * = 1; recv * = 2; recv * = 2
                                 1: send 0
                                 2: send 0; send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"TagsThatDoNotMatch", R"(0: recv *:1 = 1:1; recv *:2 = 2:2
                              1: send 0:1
                              2: send 0:2)",
     ""},
    {"AnyTagTakesTheFirstOfAnyTag", R"(0: recv *:* = 1:5; recv *:8 = 2:8; recv *:7 = 2:7
                              1: send 0:5
                              2: send 0:7; send 0:8)",
     "0@1: 1@1 | 2@1\n"},
    {"AnyTagPassesOverWhatWasTakenBefore", R"(0: recv 2:7; recv *:* = 1:5; recv 2:8
                              1: send 0:5
                              2: send 0:7; send 0:8)",
     "0@2: 1@1 | 2@2\n"},
    {"OfOneTagThoughAnotherCameFirst", R"(0: recv *:8 = 1:8; recv 2:7; recv 2:8
                              1: send 0:8
                              2: send 0:7; send 0:8)",
     "0@1: 1@1 | 2@2\n"},
    {"InFlightAtTheEnd", R"(0: recv * = 1
                            1: send 0
                            2: send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"PendingAtTheEnd", R"(0: irecv * a; local
                           1: send 0
                           2: send 0)",
     ""},
    {"CancelledReceiveTakesNothing",
     R"(0: irecv * a; local; wait a cancelled; recv * = 1; recv * = 2
                           1: send 0
                           2: send 0)",
     "0@4: 1@1 | 2@1\n"},
    {"SendMissingFromTheRecord", R"(0: recv * = 1; recv * = 2
                                    1: local
                                    2: send 0)",
     ""},
    {"SeparateCommunicators", R"(comm other: 0 1 2
                                 0: recv *@other = 1; recv * = 2; recv *@other = 2
                                 1: send 0@other
                                 2: send 0; send 0@other)",
     "0@1: 1@1 | 2@2\n"},
    {"InterCommunicator", R"(comm inter: 0 | 1 2
                             0: recv *@inter = 2; recv *@inter = 1
                             1: send 0@inter
                             2: send 0@inter)",
     "0@1: 2@1 | 1@1\n"},
    {"MessageToItself", R"(0: irecv * a; isend 0; wait a = 0; recv 1
                           1: send 0)",
     "0@1: 0@2 | 1@1\n"},
    {"MessageToItselfAfterCompletion", R"(0: recv * = 1; isend 0; recv 0
                           1: send 0)",
     ""},
    {"SendrecvExchange", R"(0: sendrecv 1 * = 1; recv 2
                            1: sendrecv 0 * = 0
                            2: send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"SendOfSendrecvDoesNotKnowItsReceive", R"(0: sendrecv 2 * = 1; recv 2
                            1: send 0
                            2: recv 0; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"SendsOnBothSidesOfAReceiveThatTellsNothing", R"(0: send 3; recv * = 1; send 2; recv * = 2
                            1: send 0
                            2: recv 0; send 0
                            3: recv 0)",
     ""},
    {"Startall", R"(0: irecv * a & irecv * b & send 1; wait a = 1, b = 2
                    1: recv 0; send 0
                    2: send 0)",
     "0@1: 1@2 | 2@1\n"},
};
INSTANTIATE_TEST_SUITE_P(Receives, Races, testing::ValuesIn(kReceiveCases));

const RaceCase kSynchronousCases[] = {
    {"StandardSendOrdersNothing", R"(0: recv * = 1; recv * = 2
                                     1: send 0; send 2
                                     2: recv 1; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"SsendOrders", R"(0: recv * = 1; recv * = 2
                       1: ssend 0; send 2
                       2: recv 1; send 0)",
     ""},
    {"SsendToPendingReceiveOrders", R"(0: irecv * a; wait a = 1; recv * = 2
                       1: ssend 0; send 2
                       2: recv 1; send 0)",
     ""},
    {"SsendToPendingReceiveOrdersOnlyWhatFollows",
     R"(0: irecv * a; wait a = 1; recv * = 2; recv * = 3
                       1: ssend 0; send 2
                       2: recv 1; send 0
                       3: send 0)",
     "0@1: 1@1 | 3@1\n0@3: 2@2 | 3@1\n"},
    {"IssendBeforeItsWait", R"(0: recv * = 1; recv * = 2
                       1: issend 0 s; send 2; wait s
                       2: recv 1; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"IssendAfterItsWait", R"(0: recv * = 1; recv * = 2
                       1: issend 0 s; wait s; send 2
                       2: recv 1; send 0)",
     ""},
    {"IssendToPendingReceiveAfterItsWait", R"(0: irecv * a; wait a = 1; recv * = 2
                       1: issend 0 s; wait s; send 2
                       2: recv 1; send 0)",
     ""},
    {"SsendTellsWhatItsReceiverKnew", R"(0: recv * = 3; send 1; recv * = 2
                       1: irecv 0 a; irecv 2:5 b; wait a; recv 2:9; wait b
                       2: ssend 1:5; ssend 1:9; send 0
                       3: send 0)",
     ""},
};
INSTANTIATE_TEST_SUITE_P(Synchronous, Races, testing::ValuesIn(kSynchronousCases));

const RaceCase kCollectiveCases[] = {
    {"BarrierSeparates", R"(0: recv * = 1; barrier; recv * = 2
                            1: send 0; barrier
                            2: barrier; send 0)",
     ""},
    {"SentBeforeTheBarrier", R"(0: recv * = 1; barrier; recv * = 2
                            1: send 0; barrier
                            2: send 0; barrier)",
     "0@1: 1@1 | 2@1\n"},
    {"BcastOrdersFromTheRoot", R"(0: recv * = 1; bcast 0; recv * = 2
                            1: send 0; bcast 0
                            2: bcast 0; send 0)",
     ""},
    {"BcastOrdersFromNoOther", R"(0: recv * = 1; bcast 1; recv * = 2
                            1: send 0; bcast 1
                            2: bcast 1; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"ReduceOrdersTheRoot", R"(0: recv * = 1; reduce 2; recv * = 2
                            1: send 0; reduce 2
                            2: reduce 2; send 0)",
     ""},
    {"ReduceOrdersNoOther", R"(0: recv * = 1; reduce 1; recv * = 2
                            1: send 0; reduce 1
                            2: reduce 1; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"ScanOrdersHigherRanks", R"(0: recv * = 1; scan; recv * = 2
                            1: send 0; scan
                            2: scan; send 0)",
     ""},
    {"ScanOrdersNoLowerRanks", R"(0: scan; send 2
                            1: send 2; scan
                            2: recv * = 1; scan; recv * = 0)",
     "2@1: 1@1 | 0@2\n"},
    {"ScanGoesByTheGroupsOrder", R"(comm turned: 2 1 0
                            0: scan @turned; send 2
                            1: send 2; scan @turned
                            2: recv * = 1; scan @turned; recv * = 0)",
     ""},
    {"ZeroCountGivesNothing", R"(0: recv * = 1; allreduce -give; recv * = 2
                            1: send 0; allreduce
                            2: allreduce; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"ZeroCountTakesNothing", R"(0: recv * = 1; allreduce; recv * = 2
                            1: send 0; allreduce
                            2: allreduce -take; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"NoFlow", R"(0: recv * = 1; free; recv * = 2
                            1: send 0; free
                            2: free; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"IbarrierAfterItsWait", R"(0: recv * = 1; ibarrier b; wait b; recv * = 2
                            1: send 0; ibarrier b; wait b
                            2: ibarrier b; wait b; send 0)",
     ""},
    {"IbarrierBeforeItsWait", R"(0: recv * = 1; ibarrier b; wait b; recv * = 2
                            1: send 0; ibarrier b; wait b
                            2: ibarrier b; send 0; wait b)",
     "0@1: 1@1 | 2@2\n"},
    {"IbarrierGivesWhatWasKnownAtItsPost", R"(0: ibarrier b; recv * = 1; wait b; recv * = 2
                            1: send 0; ibarrier b; wait b
                            2: ibarrier b; wait b; send 0)",
     "0@2: 1@1 | 2@3\n"},
    {"BarrierOfTheOthers", R"(comm pair: 1 2
                            0: recv * = 1; recv * = 2
                            1: send 0; barrier @pair
                            2: barrier @pair; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"SsendThenBarrierOfTheOthers", R"(comm pair: 1 2
                            0: irecv * a; wait a = 1; recv * = 2
                            1: ssend 0; barrier @pair
                            2: barrier @pair; send 0)",
     ""},
    {"BarrierOfAnInterCommunicator", R"(comm inter: 0 1 | 2
                            0: recv * = 1; barrier @inter; recv * = 2
                            1: send 0; barrier @inter
                            2: barrier @inter; send 0)",
     ""},
    {"BarrierThatARankDidNotReach", R"(0: recv * = 1; barrier; recv * = 2
                            1: send 0
                            2: barrier; send 0)",
     ""},
    {"SecondBarrier", R"(0: barrier; recv * = 1; barrier; recv * = 2
                            1: barrier; send 0; barrier
                            2: barrier; barrier; send 0)",
     ""},
    {"FirstBarrierOnly", R"(0: barrier; recv * = 1; barrier; recv * = 2
                            1: barrier; send 0; barrier
                            2: barrier; send 0; barrier)",
     "0@2: 1@2 | 2@2\n"},
};
INSTANTIATE_TEST_SUITE_P(Collectives, Races, testing::ValuesIn(kCollectiveCases));

const RaceCase kProbeCases[] = {
    {"WildcardProbe", R"(0: probe * = 1; recv 1; probe * = 2; recv 2
                         1: send 0
                         2: send 0)",
     "probe 0@1: 1@1 | 2@1\n"},
    {"ExplicitProbe", R"(0: probe 1; recv 1; recv 2
                         1: send 0
                         2: send 0)",
     ""},
    {"ProbeSeesNotWhatWasTaken", R"(0: recv 2; probe *:* = 1:3; recv 1:3; recv 2
                         1: send 0:3
                         2: send 0; send 0)",
     "probe 0@2: 1@1 | 2@2\n"},
    {"ProbeThatOrders", R"(0: probe * = 1; send 2; recv 1; recv 2
                         1: send 0
                         2: recv 0; send 0)",
     ""},
    {"ProbeKnowsWhatItsMessageKnew", R"(0: recv * = 1; send 2; recv * = 3
                         1: send 0
                         2: recv 0; send 3
                         3: probe 2; send 0; recv 2)",
     ""},
    {"WildcardProbeAndWildcardReceive", R"(0: probe * = 1; recv * = 1; recv 2
                         1: send 0
                         2: send 0)",
     "probe 0@1: 1@1 | 2@1\n0@2: 1@1 | 2@1\n"},
    {"ProbeCouldHaveSeenWhatTheNextReceiveTook", R"(0: probe * = 1; recv 2; recv 1
                         1: send 0
                         2: send 0)",
     "probe 0@1: 1@1 | 2@1\n"},
    {"TwoProbesOfOneMessage", R"(0: probe * = 1; probe * = 1; recv 1; recv 2
                         1: send 0
                         2: send 0)",
     "probe 0@1: 1@1 | 2@1\nprobe 0@2: 1@1 | 2@1\n"},
    {"MatchedProbe", R"(0: mprobe * = 1; mprobe * = 2
                        1: send 0
                        2: send 0)",
     "0@1: 1@1 | 2@1\n"},
    {"ByEventSerial", R"(0: irecv *:5 a; probe * = 1; recv 1; wait a = 2:5
                         1: send 0; send 0:5
                         2: send 0; send 0:5)",
     "0@1: 2@2 | 1@2\nprobe 0@2: 1@1 | 2@1\n"},
};
INSTANTIATE_TEST_SUITE_P(Probes, Races, testing::ValuesIn(kProbeCases));

/// Where the moment of a delivery matters: between post and completion. Each has a twin that races.
const RaceCase kDeliveryCases[] = {
    {"LaterReceiveOfTheSameSourceIsSeen",
     R"(0: irecv * a; irecv * b; wait b = 1; send 2; recv 2; wait a = 1
                           1: send 0; send 0
                           2: recv 0; send 0)",
     ""},
    {"LaterReceiveThatTellsNothing",
     R"(0: irecv *:5 a; irecv * b; wait b = 1; send 2; wait a = 1:5; recv 2:5
                           1: send 0:5; send 0
                           2: recv 0; send 0:5)",
     "0@1: 1@1 | 2@2\n"},
    {"LaterReceiveOfAnyTagIsSeen",
     R"(0: irecv *:5 a; irecv *:* b; wait b = 1; send 2; wait a = 1:5; recv 2:5
                           1: send 0:5; send 0
                           2: recv 0; send 0:5)",
     ""},
    {"LaterReceiveOfAnyTagThatGotAnEarlierMessage",
     R"(0: irecv *:5 a; irecv *:* b; wait b = 1; send 2; wait a = 1:5; recv 2:5
                           1: send 0; send 0:5
                           2: recv 0; send 0:5)",
     "0@1: 1@2 | 2@2\n"},
    {"ThroughReceivesInBetween",
     R"(0: irecv * a; irecv 1 b; irecv 1 c; wait c; send 2; recv 2; wait a = 1; wait b
                           1: send 0; send 0; send 0
                           2: recv 0; send 0)",
     ""},
    {"SsendToALaterReceive", R"(0: irecv * a; irecv 1 b; wait a = 1; wait b; recv 2
                           1: send 0; ssend 0; send 2
                           2: recv 1; send 0)",
     ""},
    {"SendToALaterReceive", R"(0: irecv * a; irecv 1 b; wait a = 1; wait b; recv 2
                           1: send 0; send 0; send 2
                           2: recv 1; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"SsendToAReceivePostedAfterTheCompletion", R"(0: irecv * a; wait a = 1; recv 1; recv 2
                           1: send 0; ssend 0; send 2
                           2: recv 1; send 0)",
     ""},
    {"ProbeAfterTheReceive", R"(0: irecv * a; probe 1; send 2; recv 1; wait a = 1; recv 2
                           1: send 0; send 0
                           2: recv 0; send 0)",
     ""},
    {"ProbeOfAnotherTagAfterTheReceive",
     R"(0: irecv * a; probe 1:5; send 2; recv 1:5; wait a = 1; recv 2
                           1: send 0; send 0:5
                           2: recv 0; send 0)",
     "0@1: 1@1 | 2@2\n"},
    {"EarlierReceiveGetsItsMessageTooLate",
     R"(0: irecv 2 q; irecv * a; wait a = 1; send 3; wait q; recv 2
                           1: send 0
                           2: recv 3; send 0; send 0
                           3: recv 0; send 2)",
     ""},
    {"EarlierWildcardGetsItsMessageTooLate",
     R"(0: irecv *:5 q; irecv *:* a; wait a = 1; send 3; wait q = 3:5; recv 2:5
                           1: send 0
                           2: send 0:5
                           3: recv 0; send 0:5)",
     "0@1: 3@2 | 2@1\n"},
    {"EarlierWildcardGetsItsMessageInTime",
     R"(0: irecv *:5 q; irecv *:* a; wait a = 1; wait q = 3:5; recv 2:5
                           1: send 0
                           2: send 0:5
                           3: send 0:5)",
     "0@1: 3@1 | 2@1\n0@2: 1@1 | 2@1\n"},
    {"EarlierReceiveGetsItsMessageTooLateBySsend",
     R"(0: irecv *:5 q; irecv *:* a; wait a = 1; wait q = 3:5; recv 2:5
                           1: ssend 0; send 3
                           2: send 0:5
                           3: recv 1; send 0:5)",
     "0@1: 3@2 | 2@1\n"},
    {"EarlierReceiveThatACrashLeftPending",
     R"(0: irecv 2 q; irecv * a; wait a = 1; send 3; recv 2
                           1: send 0
                           2: recv 3; send 0; send 0
                           3: recv 0; send 2)",
     ""},
    {"CancelledTooLate", R"(0: irecv *:5 q; recv *:* = 1; cancel; wait q cancelled; recv 2:5
                           1: send 0
                           2: send 0:5)",
     ""},
    {"CancelledInTime",
     R"(0: irecv *:5 q; irecv *:* a; cancel; wait a = 1; wait q cancelled; recv 2:5
                           1: send 0
                           2: send 0:5)",
     "0@2: 1@1 | 2@1\n"},
    {"CancelledTooLateBySsend", R"(comm other: 0 3
                           0: irecv *:5 q; irecv *:* a; recv 3@other; cancel; wait a = 1
                           0: wait q cancelled; recv 2:5
                           1: ssend 0; send 3
                           2: send 0:5
                           3: recv 1; send 0@other)",
     ""},
    {"CancellationThatIsNotRecorded", R"(0: irecv *:5 q; recv *:* = 1; wait q cancelled; recv 2:5
                           1: send 0
                           2: send 0:5)",
     "0@2: 1@1 | 2@1\n"},
    {"CancellationOfAnotherReceive",
     R"(0: irecv *:5 q; recv *:* = 1; wait q cancelled; cancel; recv 2:5
                           1: send 0
                           2: send 0:5)",
     "0@2: 1@1 | 2@1\n"},
    {"CancelThenDelivered",
     R"(0: irecv *:5 q; irecv 1:5 b; recv * = 3; cancel; wait q cancelled; wait b; recv * = 2
                           1: ssend 0:5; send 2
                           2: recv 1; send 0
                           3: send 0)",
     ""},
    {"ReceiveOfAnotherTagTookTheEarlierMessage",
     R"(0: irecv 2:5 q; irecv *:* a; wait a = 1; send 3; wait q; recv 2:7
                           1: send 0
                           2: recv 3; send 0:5; send 0:7
                           3: recv 0; send 2)",
     ""},
    {"LaterReceiveKnowsWhatTheEarlierMessageKnew",
     R"(0: recv * = 1; send 3; recv 2
                           1: send 0
                           2: irecv 3:5 q; irecv *:* a; wait a = 3:6; send 0; wait q
                           3: recv 0; send 2:5; send 2:6)",
     ""},
    {"FirstOfTwoSsendsCounts", R"(0: irecv * a; irecv 1 b; wait a = 1; wait b; recv 2
                           1: ssend 0; send 2; ssend 0
                           2: recv 1; send 0)",
     ""},
    {"ProbeKnowsWhatAnotherSourcesMessageKnew",
     R"(0: recv * = 1; send 3; recv 2
                           1: send 0
                           2: irecv *:5 q; probe 4:5; send 0; recv 4:5; wait q = 3:5
                           3: recv 0; send 2:5
                           4: send 2:5)",
     "2@1: 3@2 | 4@1\n"},
    {"ProbeBeforeAReceiveThatKnowsMore",
     R"(0: irecv *:5 q; irecv 1:5 b; probe *:* = 2; send 3; wait q = 3:5, b; recv *:* = 2; recv 1:7
                           1: send 0:5; send 0:7
                           2: send 0
                           3: recv 0; send 0:5)",
     "0@1: 3@2 | 1@1\n0@6: 2@1 | 1@2\n"},
    {"LaterReceiveKnowsWhatAnotherSourcesMessageKnew",
     R"(0: recv * = 1; send 3; recv 2
                           1: send 0
                           2: irecv *:5 q; irecv *:* a; wait a = 4:5; send 0; wait q = 3:5
                           3: recv 0; send 2:5
                           4: send 2:5)",
     "2@1: 3@2 | 4@1\n"},
};
INSTANTIATE_TEST_SUITE_P(Deliveries, Races, testing::ValuesIn(kDeliveryCases));

}  // namespace
}  // namespace pf::test
