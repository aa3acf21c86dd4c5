// SPDX-License-Identifier: GPL-3.0-or-later
// Calls that return an error.
#include "mpi_calls.h"

#include "replay_engine/rank/tests/call_cases.h"

namespace pf::test {
namespace {

using fake::Failure;

void failedSends() {
  const int value = 7;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < 2; ++i) {
    say("%d", MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD));
    say("%d", MPI_Isend(&value, 1, MPI_INT, 2, 6, MPI_COMM_WORLD, &request));
    say("%d", MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

void failedReceives() {
  for (int i = 0; i < 2; ++i) {
    int value = 0;
    MPI_Status status{};
    say("%d", MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status));
    sayTaken(status, value);
  }
}

void failedPosts() {
  for (int i = 0; i < 2; ++i) {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    say("%d", MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request));
    MPI_Wait(&request, &status);
    sayTaken(status, value);
  }
}

void failedProbes() {
  int flag = 0;
  for (int i = 0; i < 2; ++i) {
    MPI_Status seen{};
    say("%d", MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &seen));
    say("%d", MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, &seen));
    say("from %d", seen.MPI_SOURCE);
  }
}

/// MPI refuses these arguments: nothing is chosen, and the next probe is the recorded one.
void refusedProbes() {
  for (const int tag : {-5, 5}) {
    int flag = 0;
    int value = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status seen{};
    say("%d", MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &seen));
    say("%d", MPI_Iprobe(tag < 0 ? 99 : 1, 5, MPI_COMM_WORLD, &flag, &seen));
    say("%d", MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &seen));
    say("from %d", seen.MPI_SOURCE);
    say("%d", MPI_Improbe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &message, &seen));
    if (message != MPI_MESSAGE_NULL) {
      MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    say("%d", MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &seen));
    if (message != MPI_MESSAGE_NULL) {
      MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    say("took %d", value);
  }
}

/// A message that is too long is taken.
void truncatedReceive() {
  for (int i = 0; i < 2; ++i) {
    int value = 0;
    MPI_Status status{};
    say("%d", MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    sayTaken(status, value);
  }
}

void truncatedWait() {
  for (int i = 0; i < 2; ++i) {
    int value = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    say("%d", MPI_Wait(&request, &status));
    sayTaken(status, value);
  }
}

/// Each call that completes one request, or some, of messages that are too long.
void truncatedByEachCall() {
  constexpr int kCalls = 7;
  int values[kCalls] = {};
  MPI_Request requests[kCalls] = {};
  MPI_Status statuses[kCalls] = {};
  for (int i = 0; i < kCalls; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[i]);
  }
  int flag = 0;
  int index = -1;
  say("%d", MPI_Test(&requests[0], &flag, &statuses[0]));
  say("%d", MPI_Testany(1, &requests[1], &index, &flag, &statuses[1]));
  say("%d", MPI_Waitany(1, &requests[2], &index, &statuses[2]));
  say("%d", MPI_Testsome(1, &requests[3], &flag, &index, &statuses[3]));
  say("%d", MPI_Waitsome(1, &requests[4], &flag, &index, &statuses[4]));
  say("%d", MPI_Testall(1, &requests[5], &flag, &statuses[5]));
  say("%d", MPI_Waitall(1, &requests[6], &statuses[6]));
  say("errors %d %d %d %d", statuses[3].MPI_ERROR, statuses[4].MPI_ERROR, statuses[5].MPI_ERROR,
      statuses[6].MPI_ERROR);
  for (int i = 0; i < kCalls; ++i) {
    sayTaken(statuses[i], values[i]);
  }
}

std::vector<fake::Arrival> longOnes(bool turned) {
  std::vector<fake::Arrival> messages;
  for (int i = 0; i < 7; ++i) {
    const int source = (turned ? 6 - i : i) % 3 + 1;
    messages.push_back({.source = source, .tag = 5, .value = source * 10, .count = 2});
  }
  return messages;
}

/// One of three is too long. MPI chooses which of the others are done when it gives up.
void failedWaitAll() {
  int values[3] = {};
  MPI_Request requests[3] = {};
  MPI_Status statuses[3] = {};
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 5, MPI_COMM_WORLD, &requests[i]);
  }
  say("%d", MPI_Waitall(3, requests, statuses));
  for (int i = 0; i < 3; ++i) {
    say("error %d, null %d", statuses[i].MPI_ERROR, requests[i] == MPI_REQUEST_NULL ? 1 : 0);
  }
  say("%d", MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  say("took %d %d %d", values[0], values[1], values[2]);
}

}  // namespace

std::vector<CallCase> failureCases() {
  const std::vector<fake::Arrival> ascending{{1, 5, 10}, {2, 5, 20}};
  const std::vector<fake::Arrival> descending{{2, 5, 20}, {1, 5, 10}};
  const std::vector<fake::Arrival> longFirst{{.source = 2, .tag = 5, .value = 20, .count = 3},
                                             {1, 5, 10}};
  const std::vector<fake::Arrival> longLast{{1, 5, 10},
                                            {.source = 2, .tag = 5, .value = 20, .count = 3}};
  const fake::Arrival tooLong{.source = 2, .tag = 5, .value = 20, .after = 1, .count = 3};
  return {
      {.name = "failedSends",
       .recorded = {.failures = {{kCallSend, 1}, {kCallIsend, 1}}},
       .replayed = {.failures = {{kCallSend, 1}, {kCallIsend, 1}}},
       .program = failedSends,
       .events = "Send Send Completion Send Send Completion",
       .sends = "-2/5 -2/6 1/5 2/6",  // nobody gets those that failed
       .inThreads = false,
       .tempts = false},
      {.name = "failedReceives",
       .recorded = {.arrivals = descending, .failures = {{kCallRecv, 1}}},
       .replayed = {.arrivals = ascending, .failures = {{kCallRecv, 1}}},
       .program = failedReceives,
       .events = "Receive Receive",
       .receives = "0:pending 1:2/5",
       .inThreads = false},
      {.name = "failedPosts",
       .recorded = {.arrivals = descending, .failures = {{kCallIrecv, 1}}},
       .replayed = {.arrivals = ascending, .failures = {{kCallIrecv, 1}}},
       .program = failedPosts,
       .events = "Post Completion Post Completion",
       .receives = "0:pending 1:2/5"},
      {.name = "failedProbes",
       .recorded = {.arrivals = descending, .failures = {{kCallProbe, 1}, {kCallIprobe, 1}}},
       .replayed = {.arrivals = ascending, .failures = {{kCallProbe, 1}, {kCallIprobe, 1}}},
       .program = failedProbes,
       .events = nullptr,
       .choices = nullptr,
       .inThreads = false,
       .replays = false},
      {.name = "refusedProbes",
       .recorded = {.arrivals = {{2, 5, 20}, {1, 5, 10, 3}, {3, 5, 30, 4}}},
       .replayed = {.arrivals = {{1, 5, 10}, {3, 5, 30}, {2, 5, 20}}},
       .program = refusedProbes,
       .events = nullptr,
       .receives = "0:2/5 1:1/5",
       .choices = nullptr},
      {.name = "truncatedByEachCall",
       .recorded = {.arrivals = longOnes(false)},
       .replayed = {.arrivals = longOnes(true)},
       .program = truncatedByEachCall,
       .events = nullptr,
       .receives = "0:1/5 1:2/5 2:3/5 3:1/5 4:2/5 5:3/5 6:1/5",
       .choices = nullptr},
      {.name = "truncatedReceive",
       .recorded = {.arrivals = longFirst},
       .replayed = {.arrivals = longLast},
       .program = truncatedReceive,
       .events = "Receive Receive",
       .receives = "0:2/5 1:1/5"},
      {.name = "truncatedWait",
       .recorded = {.arrivals = longFirst},
       .replayed = {.arrivals = longLast},
       .program = truncatedWait,
       .events = "Post Completion Post Completion",
       .receives = "0:2/5 1:1/5"},
      {.name = "failedWaitAll",
       .recorded = {.arrivals = {{1, 5, 10, 1}, tooLong, {3, 5, 30, 2}}},
       .replayed = {.arrivals = {{3, 5, 30, 0}, tooLong, {1, 5, 10, 2}}},
       .program = failedWaitAll,
       .events = "Post Post Post Completion Completion",
       .receives = "0:1/5 1:2/5 2:3/5"},
  };
}

}  // namespace pf::test
