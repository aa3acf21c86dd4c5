// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/call_cases.h"

namespace pf::test {
namespace {

using fake::Script;

constexpr int kAny = MPI_ANY_SOURCE;

void receive(int source, int tag, MPI_Comm comm = MPI_COMM_WORLD) {
  int value = 0;
  MPI_Status status{};
  MPI_Recv(&value, 1, MPI_INT, source, tag, comm, &status);
  sayTaken(status, value);
}

void receiveBySource() {
  receive(1, 5);
  receive(2, 5);
}

void receiveWild() {
  for (int i = 0; i < 3; ++i) {
    receive(kAny, MPI_ANY_TAG);
  }
}

/// The program does not look at the status, so the record has to.
void receiveWildUnseen() {
  for (int i = 0; i < 3; ++i) {
    int value = 0;
    MPI_Recv(&value, 1, MPI_INT, kAny, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("took %d", value);
  }
}

void receiveAnyTag() {
  receive(1, MPI_ANY_TAG);
  receive(1, MPI_ANY_TAG);
}

/// Of any source on a communicator where ranks have other numbers.
void receiveOnCommunicator() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &half);
  receive(kAny, 5, half);
  receive(kAny, 5, half);
  receive(kAny, 5, half);
  MPI_Comm_free(&half);
}

void sendReceive() {
  for (int i = 0; i < 2; ++i) {
    const int given = 70 + i;
    int value = 0;
    MPI_Status status{};
    MPI_Sendrecv(&given, 1, MPI_INT, 3, 9, &value, 1, MPI_INT, kAny, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
    sayTaken(status, value);
  }
}

void sendReceiveReplace() {
  for (int i = 0; i < 2; ++i) {
    int value = 70 + i;
    MPI_Status status{};
    MPI_Sendrecv_replace(&value, 1, MPI_INT, 3, 9, kAny, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    sayTaken(status, value);
  }
}

void persistentReceive() {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Recv_init(&value, 1, MPI_INT, kAny, 5, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Status status{};
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    sayTaken(status, value);
  }
  MPI_Request_free(&request);
}

void startAll() {
  int values[2] = {};
  MPI_Request requests[2] = {};
  MPI_Recv_init(&values[0], 1, MPI_INT, kAny, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&values[1], 1, MPI_INT, 3, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  for (int i = 0; i < 2; ++i) {
    int index = 0;
    MPI_Status status{};
    MPI_Waitany(2, requests, &index, &status);
    say("index %d", index);
    sayTaken(status, values[index]);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

/// MPI_Cancel of a receive that nothing has matched, or that something has.
void cancel() {
  int values[2] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  MPI_Irecv(&values[0], 1, MPI_INT, kAny, 5, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  int cancelled = 0;
  MPI_Test_cancelled(&status, &cancelled);
  say("cancelled %d", cancelled);
  receive(kAny, 5);
}

/// A receive by source is known by its post number alone in a record of choices.
void cancelBySource() {
  receive(1, 5);
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  MPI_Irecv(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  int cancelled = 0;
  MPI_Test_cancelled(&status, &cancelled);
  say("cancelled %d", cancelled);
  receive(2, 5);
}

void nobody() {
  int value = 7;
  int flag = 0;
  MPI_Status status{};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
  receive(MPI_PROC_NULL, 5);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  MPI_Iprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &flag, &status);
  say("flag %d from %d", flag, status.MPI_SOURCE);
  MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, &value, 1, MPI_INT, MPI_PROC_NULL, 5,
               MPI_COMM_WORLD, &status);
  say("from %d", status.MPI_SOURCE);
  receive(kAny, 5);
}

/// A receive that is freed takes its message all the same.
void freed() {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&value, 1, MPI_INT, kAny, 5, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  receive(kAny, 5);
  receive(kAny, 5);
}

const Script kAscending{.arrivals = {{1, 5, 10}, {2, 5, 20}, {3, 5, 30}}};
const Script kDescending{.arrivals = {{3, 5, 30}, {2, 5, 20}, {1, 5, 10}}};
/// In time for a receive that is posted first.
const Script kLate{.arrivals = {{1, 5, 10, 2}, {2, 5, 20, 3}, {3, 5, 30, 4}}};

}  // namespace

std::vector<CallCase> receiveCases() {
  return {
      {.name = "receiveBySource",
       .recorded = kAscending,
       .replayed = kDescending,
       .program = receiveBySource,
       .events = "Receive Receive",
       .receives = "0:1/5 1:2/5",
       .tempts = false},
      {.name = "receiveWild",
       .recorded = kAscending,
       .replayed = kDescending,
       .program = receiveWild,
       .events = "Receive Receive Receive",
       .receives = "0:1/5 1:2/5 2:3/5"},
      {.name = "receiveWildUnseen",
       .recorded = kDescending,
       .replayed = kLate,
       .program = receiveWildUnseen,
       .events = "Receive Receive Receive",
       .receives = "0:3/5 1:2/5 2:1/5"},
      {.name = "receiveAnyTag",
       .recorded = {.arrivals = {{1, 6, 10}, {1, 5, 11}}},
       .replayed = {.arrivals = {{1, 6, 10, 3}, {1, 5, 11, 4}}},
       .program = receiveAnyTag,
       .events = "Receive Receive",
       .receives = "0:1/6 1:1/5",
       .tempts = false},
      {.name = "receiveOnCommunicator",
       .recorded = {.size = 6, .arrivals = {{2, 5, 40, 0, 1}, {1, 5, 20, 0, 1}, {2, 5, 41, 0, 1}}},
       .replayed = {.size = 6, .arrivals = {{1, 5, 20, 0, 1}, {2, 5, 40, 0, 1}, {2, 5, 41, 0, 1}}},
       .program = receiveOnCommunicator,
       .events = "Collective Receive Receive Receive Local",
       .receives = "0:4/5 1:2/5 2:4/5"},
      {.name = "sendReceive",
       .recorded = {.arrivals = {{2, 6, 20}, {1, 5, 10}}},
       .replayed = {.arrivals = {{1, 5, 10}, {2, 6, 20}}},
       .program = sendReceive,
       .events = "SendReceive SendReceive",
       .receives = "0:2/6 1:1/5",
       .sends = "3/9 3/9"},
      {.name = "sendReceiveReplace",
       .recorded = {.arrivals = {{2, 6, 20}, {1, 5, 10}}},
       .replayed = {.arrivals = {{1, 5, 10}, {2, 6, 20}}},
       .program = sendReceiveReplace,
       .events = "SendReceive SendReceive",
       .receives = "0:2/6 1:1/5",
       .sends = "3/9 3/9"},
      {.name = "persistentReceive",
       .recorded = kDescending,
       .replayed = kAscending,
       .program = persistentReceive,
       .events = "Start Completion Start Completion",
       .receives = "0:3/5 1:2/5"},
      {.name = "startAll",
       .recorded = {.arrivals = {{3, 5, 30, 0}, {3, 5, 31, 1}}},
       .replayed = {.arrivals = {{2, 5, 20, 0}, {3, 5, 30, 2}, {3, 5, 31, 3}}},
       .program = startAll,
       .events = "Start Completion Completion",
       .receives = "0:3/5 1:3/5",
       .choices = "Waitany 0-1 Waitany 0-2"},
      {.name = "cancelled",
       .recorded = kLate,
       .replayed = kAscending,
       .program = cancel,
       .events = "Post Local Completion Receive",
       .receives = "0:cancelled 1:1/5"},
      {.name = "cancelledTooLate",
       .recorded = kAscending,
       .replayed = kLate,
       .program = cancel,
       .events = "Post Local Completion Receive",
       .receives = "0:1/5 1:2/5"},
      {.name = "cancelledBySource",
       .recorded = kLate,
       .replayed = kAscending,
       .program = cancelBySource,
       .events = "Receive Post Local Completion Receive",
       .receives = "0:1/5 1:cancelled 2:2/5"},
      {.name = "nobody",
       .recorded = kAscending,
       .replayed = kDescending,
       .program = nobody,
       .events = "Local Local Local Local Completion SendReceive Receive",
       .receives = "0:1/5"},
      {.name = "freedWhilePending",
       .recorded = kLate,
       .replayed = kDescending,
       .program = freed,
       .events = "Post Receive Receive",
       .receives = "0:1/5 1:2/5 2:3/5"},
      {.name = "freed",
       .recorded = kAscending,
       .replayed = kDescending,
       .program = freed,
       .events = "Post Receive Receive",
       .receives = "0:1/5 1:2/5 2:3/5"},
  };
}

}  // namespace pf::test
