// SPDX-License-Identifier: GPL-3.0-or-later
// Deliveries forced by shadow routes: which messages leave routed, and what the program is told. What receives
// and probes do with them is in the table of calls, too.
#include "mpi_calls.h"

#include <string>

#include <gtest/gtest.h>

#include "replay_engine/log/shadow_routes.h"
#include "replay_engine/rank/tests/rank_run.h"
#include "replay_engine/rank/tests/shadow_replay.h"

namespace pf::test {
namespace {

using fake::Script;

void sayWhereTo() {
  for (const fake::Sent& message : fake::sent()) {
    say("%s to %d tag %d on %d", kCallNames[message.call], message.dest, message.tag, message.comm);
  }
}

/// A schedule where message `number` to rank 2 with tag 5 is traced, for receive `post`.
std::vector<unsigned char> tracedSend(const RankRun& recorded, std::uint32_t number,
                                      std::uint32_t post) {
  RouteCollation routes(4);
  routes.add({0, 0, 2, 5, number, post, 0});
  routes.sort();
  const ShadowRoutes all = routes.finish();
  return compileSchedule(logOf(recorded), &all.ranks[0], all.lastPost);
}

std::string saidWithTracedSend(const Script& script, const Program& program, std::uint32_t number,
                               std::uint32_t post) {
  const RankRun recorded = record(kRecordChoices, script, program);
  const RankRun replayed =
      run(script, program, {.mode = kReplay, .schedule = tracedSend(recorded, number, post)});
  EXPECT_EQ(replayed.ending, Ending::Finished);
  return replayed.said;
}

TEST(TaggedSends, onlyTheTracedMessageOfItsStreamGoesTagged) {
  const auto program = [] {
    const int value = 7;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Send(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD);  // other streams
    MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Isend(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ssend(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
    sayWhereTo();
  };
  EXPECT_EQ(saidWithTracedSend({}, program, 2, 40),
            "MPI_Send to 2 tag 5 on 0\nMPI_Send to 2 tag 6 on 0\nMPI_Send to 1 tag 5 on 0\n"
            "MPI_Isend to 2 tag 40 on -1\nMPI_Ssend to 2 tag 5 on 0\n");
}

/// Posts beyond the highest tag have shadows of their own.
TEST(TaggedSends, aPostBeyondTheHighestTag) {
  const auto program = [] {
    const int value = 7;
    MPI_Send(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
    sayWhereTo();
  };
  EXPECT_EQ(saidWithTracedSend({.highestTag = 9}, program, 1, 25),
            "MPI_Send to 2 tag 5 on " + std::to_string(fake::shadow(2)) + "\n");
}

/// What did not leave does not count: the next message is the traced one.
TEST(TaggedSends, oneThatFailsIsTakenBack) {
  const auto program = [] {
    const int value = 7;
    say("%d", MPI_Send(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD));
    say("%d", MPI_Send(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD));
    say("told %d, of communicator %d", fake::toldErrors(), fake::lastToldComm());
    sayWhereTo();
  };
  const Script script{.failures = {{kCallSend, 1}}};
  EXPECT_EQ(saidWithTracedSend(script, program, 1, 3),
            "16\n0\ntold 1, of communicator 0\nMPI_Send to 2 tag 3 on -1\n");
}

TEST(TaggedSends, persistentOnesOfEachMode) {
  const auto started = [](auto init) {
    return [init] {
      int value = 7;
      MPI_Request request = MPI_REQUEST_NULL;
      init(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &request);
      for (int i = 0; i < 3; ++i) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      say("null %d", request == MPI_REQUEST_NULL ? 1 : 0);
      MPI_Request_free(&request);
      sayWhereTo();
    };
  };
  const auto expected = [](const std::string& init, const std::string& mode) {
    return "null 0\nMPI_" + init + " to 2 tag 5 on 0\nMPI_" + mode + " to 2 tag 3 on -1\nMPI_" +
           init + " to 2 tag 5 on 0\n";
  };
  EXPECT_EQ(saidWithTracedSend({}, started(MPI_Send_init), 2, 3), expected("Send_init", "Isend"));
  EXPECT_EQ(saidWithTracedSend({}, started(MPI_Bsend_init), 2, 3),
            expected("Bsend_init", "Ibsend"));
  EXPECT_EQ(saidWithTracedSend({.answersAfter = 2}, started(MPI_Ssend_init), 2, 3),
            expected("Ssend_init", "Issend"));
  EXPECT_EQ(saidWithTracedSend({}, started(MPI_Rsend_init), 2, 3),
            expected("Rsend_init", "Irsend"));
}

/// MPI_Sendrecv in two halves, where only its send is traced.
TEST(TaggedSends, halfOfAnExchange) {
  const auto program = [] {
    const int given = 7;
    int value = 0;
    MPI_Status status{};
    MPI_Sendrecv(&given, 1, MPI_INT, 2, 5, &value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &status);
    sayTaken(status, value);
    sayWhereTo();
  };
  EXPECT_EQ(saidWithTracedSend({.arrivals = {{1, 9, 10}}}, program, 1, 3),
            "took 10 from 1 tag 9\nMPI_Isend to 2 tag 3 on -1\n");
}

/// MPI_Isendrecv, which is done when its routed send is, too.
TEST(TaggedSends, halfOfAnExchangeByRequest) {
  const auto program = [] {
    const int given = 7;
    int value = 0;
    int flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    exchange(&given, 1, 2, 5, &value, 1, 9, &request);
    MPI_Iprobe(3, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("late %d", flag);
    MPI_Wait(&request, &status);
    sayTaken(status, value);
    MPI_Iprobe(3, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("late %d", flag);
    sayWhereTo();
  };
  EXPECT_EQ(saidWithTracedSend({.arrivals = {{1, 9, 10}, {3, 9, 30, 8}}, .leavesAfter = 9}, program,
                               1, 3),
            "late 0\ntook 10 from 1 tag 9\nlate 1\nMPI_Isend to 2 tag 3 on -1\n");
}

/// An untagged message with the same source and tag is not for a traced receive.
TEST(TaggedReceives, takeTheirMessageAndNoOther) {
  const auto program = [] {
    for (int i = 0; i < 2; ++i) {
      int value = 0;
      MPI_Status status{};
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
      sayTaken(status, value);
    }
  };
  const RankRun recorded = record(kRecordEvents, {.arrivals = {{2, 5, 20}, {1, 5, 10}}}, program);
  ShadowReplay routed = taggedReplay(recorded, {.arrivals = {{1, 5, 10}, {2, 5, 20}}});
  routed.script.arrivals.insert(routed.script.arrivals.begin(), {2, 5, 99});
  const RankRun replayed =
      run(routed.script, program, {.mode = kReplay, .schedule = routed.schedule});
  EXPECT_EQ(replayed.said, recorded.said);
}

/// Errors on a shadow only return: the handler of the program's communicator is called.
TEST(TaggedReceives, errorsAreToldToTheProgramsCommunicator) {
  const auto program = [] {
    int value = 0;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
    MPI_Status status{};
    say("%d", MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, half, &status));
    sayTaken(status, value);
    say("told %d", fake::toldErrors());
    if (fake::toldErrors() != 0) {
      say("of communicator %d", fake::lastToldComm());
    }
  };
  const Script script{.arrivals = {{.source = 1, .tag = 5, .value = 20, .comm = 1, .count = 2}}};
  const RankRun recorded = record(kRecordEvents, script, program);
  EXPECT_EQ(recorded.said, "15\ntook 20 from 1 tag 5\ntold 0\n");
  const ShadowReplay routed = taggedReplay(recorded, script);
  EXPECT_EQ(run(routed.script, program, {.mode = kReplay, .schedule = routed.schedule}).said,
            "15\ntook 20 from 1 tag 5\ntold 1\nof communicator 1\n");
}

}  // namespace
}  // namespace pf::test
