// SPDX-License-Identifier: GPL-3.0-or-later
// Sends and collectives: MPI chooses when they are done.
#include "replay_engine/rank/calls/persistent_collectives.h"
#include "replay_engine/rank/tests/call_cases.h"

namespace pf::test {
namespace {

using fake::Script;

void sayWhatLeft() {
  for (const fake::Sent& message : fake::sent()) {
    say("sent %d to %d tag %d: %zu bytes", message.value, message.dest, message.tag, message.bytes);
  }
}

void send() {
  const int value = 7;
  MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  MPI_Bsend(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD);
  MPI_Rsend(&value, 1, MPI_INT, 3, 7, MPI_COMM_WORLD);
  MPI_Ssend(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
  sayWhatLeft();
}

int testsUntilDone(MPI_Request* request) {
  int flag = 0;
  int failed = -1;
  for (; flag == 0; ++failed) {
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  }
  return failed;
}

void isend() {
  const int value = 7;
  MPI_Request requests[4] = {};
  MPI_Isend(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibsend(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Irsend(&value, 1, MPI_INT, 3, 7, MPI_COMM_WORLD, &requests[2]);
  MPI_Issend(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &requests[3]);
  say("failed %d", testsUntilDone(&requests[3]));
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  sayWhatLeft();
}

/// Each of the four modes of send, started twice.
void persistentSend() {
  int value = 7;
  MPI_Request requests[4] = {};
  MPI_Send_init(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Bsend_init(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Ssend_init(&value, 1, MPI_INT, 3, 7, MPI_COMM_WORLD, &requests[2]);
  MPI_Rsend_init(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &requests[3]);
  MPI_Start(&requests[2]);
  say("failed %d", testsUntilDone(&requests[2]));
  value = 8;
  MPI_Startall(4, requests);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  for (MPI_Request& request : requests) {
    MPI_Request_free(&request);
  }
  sayWhatLeft();
}

/// Handles of sends are used again by receives, and the other way round.
void sharedHandles() {
  int value = 7;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  for (int i = 0; i < 2; ++i) {
    MPI_Issend(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    sayTaken(status, value);
  }
}

void collectives() {
  int value = 7;
  int values[4] = {};
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&value, 1, MPI_INT, 2, MPI_COMM_WORLD);
  say("broadcast %d", value);
  MPI_Allreduce(&value, &values[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(&value, &values[1], 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  say("reduced to %d and %d", values[0], values[1]);
  MPI_Allgather(&value, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD);
  say("gathered %d", values[0]);
}

void postedCollectives() {
  int value = 7;
  int sum = 0;
  MPI_Request requests[2] = {};
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  say("failed %d", testsUntilDone(&requests[0]));
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  say("reduced to %d", sum);
}

/// A request of the fake's stands for what a library makes of MPI_Barrier_init.
void makePersistent(MPI_Request* request, CollectiveFlow flow, int root) {
  static int value = 7;
  const auto make = [request] {
    return PF_REAL(Ssend_init)(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, request);
  };
  if (passThrough(__builtin_frame_address(0))) {
    make();
    return;
  }
  const Inside inside;
  PersistentCollective event(PF_SITE(kCallBarrier_init), MPI_COMM_WORLD, flow, root, true, true);
  event.made(make(), request);
}

void persistentCollectives() {
  int value = 0;
  MPI_Request requests[3] = {};
  makePersistent(&requests[0], CollectiveFlow::AllToAll, kNoRoot);
  makePersistent(&requests[1], CollectiveFlow::FromRoot, 2);
  MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);  // nothing is active
  MPI_Start(&requests[1]);
  say("failed %d", testsUntilDone(&requests[1]));
  MPI_Startall(3, requests);
  for (int i = 0; i < 3; ++i) {
    int index = -1;
    MPI_Status status{};
    MPI_Waitany(3, requests, &index, &status);
    say("ended %d", index);
  }
  say("got %d", value);
  for (MPI_Request& request : requests) {
    MPI_Request_free(&request);
  }
}

void communicators() {
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm none = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_split(twin, 0, 0, &half);
  MPI_Comm_split(twin, MPI_UNDEFINED, 0, &none);
  say("none %d", none == MPI_COMM_NULL ? 1 : 0);
  const int value = 7;
  MPI_Send(&value, 1, MPI_INT, 1, 5, half);
  MPI_Barrier(half);
  sayWhatLeft();
  MPI_Comm_free(&half);
  MPI_Comm_free(&twin);
}

const Script kSlow{.brought = {1, 2, 3, 4}, .answersAfter = 3};
const Script kQuick{.brought = {1, 2, 3, 4}, .answersAfter = 0};

Script withMessages(int answersAfter, const std::vector<fake::Arrival>& arrivals) {
  return {.arrivals = arrivals, .answersAfter = answersAfter};
}

}  // namespace

std::vector<CallCase> sendCases() {
  return {
      {.name = "send",
       .recorded = kSlow,
       .replayed = kQuick,
       .program = send,
       .events = "Send Send Send Send",
       .sends = "1/5 2/6 3/7 1/8!",
       .tempts = false},
      {.name = "isend",
       .recorded = kSlow,
       .replayed = kQuick,
       .program = isend,
       .events = "Send Send Send Send Completion Completion",
       .choices = "Test 3-",
       .sends = "1/5 2/6 3/7 1/8!"},
      {.name = "persistentSend",
       .recorded = kSlow,
       .replayed = kQuick,
       .program = persistentSend,
       .events = "Start Completion Start Completion",
       .choices = "Test 3-",
       .sends = "3/7! 1/5 2/6 3/7! 1/8"},
      {.name = "sharedHandles",
       .recorded = withMessages(1, {{2, 5, 20}, {1, 5, 10}}),
       .replayed = withMessages(0, {{1, 5, 10}, {2, 5, 20}}),
       .program = sharedHandles,
       .events = "Send Completion Post Completion Send Completion Post Completion",
       .receives = "0:2/5 1:1/5",
       .sends = "1/5! 1/5!"},
  };
}

std::vector<CallCase> collectiveCases() {
  return {
      {.name = "collectives",
       .recorded = kSlow,
       .replayed = kQuick,
       .program = collectives,
       .events = "Collective Collective Collective Collective Collective",
       .tempts = false},
      {.name = "postedCollectives",
       .recorded = kSlow,
       .replayed = kQuick,
       .program = postedCollectives,
       .events = "CollectivePost CollectivePost Completion Completion",
       .choices = "Test 3-"},
      {.name = "persistentCollectives",
       .recorded = withMessages(3, {{1, 5, 10}, {2, 5, 20}}),
       .replayed = withMessages(0, {{2, 5, 20}, {1, 5, 10}}),
       .program = persistentCollectives,
       .events = "Collective Collective Completion CollectivePost Completion Start "
                 "CollectivePost CollectivePost Completion Completion Completion",
       .receives = "0:1/5",
       .choices = "Test 3- Waitany 0-3 Waitany 0-1 Waitany 0-2"},
      {.name = "communicators",
       .recorded = kSlow,
       .replayed = kQuick,
       .program = communicators,
       .events = "Collective Collective Collective Send Collective Local Local",
       .sends = "2/5",
       .tempts = false},
  };
}

}  // namespace pf::test
