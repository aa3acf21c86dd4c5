// SPDX-License-Identifier: GPL-3.0-or-later
// MPI_Isendrecv: one request for a receive and a send.
#include "replay_engine/rank/tests/call_cases.h"
#include "replay_engine/rank/tests/fake_objects.h"

namespace pf::test {

namespace {

using fake::Script;

constexpr int kFromAnyone = MPI_ANY_SOURCE;

void sayWhatWasGiven() {
  for (const fake::Sent& message : fake::sent()) {
    say("sent %d to %d tag %d: %zu bytes", message.value, message.dest, message.tag, message.bytes);
  }
}

void receiveBehind(int source, int tag) {
  int value = 0;
  MPI_Status status{};
  MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status);
  sayTaken(status, value);
}

/// A message that comes before the sends are done, and behind what the receives wait for.
void sayWhetherLate() {
  int there = 0;
  MPI_Iprobe(3, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  say("there %d", there);
  receiveBehind(3, 7);
}

/// An exchange, whose message comes first, and a receive, whose message is there before what the exchange sends has left.
struct Both {
  int given = 70;
  int values[2] = {};
  MPI_Request requests[2] = {};
  MPI_Status statuses[2] = {};
  int indices[2] = {};

  Both() {
    exchange(&given, 1, 3, 9, &values[0], kFromAnyone, 5, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_INT, 2, 6, MPI_COMM_WORLD, &requests[1]);
  }
  void sayOne(int index, const MPI_Status& status) const {
    say("index %d", index);
    sayTaken(status, values[index]);
  }
};

void exchangeThenWait() {
  Both both;
  MPI_Wait(&both.requests[0], &both.statuses[0]);
  both.sayOne(0, both.statuses[0]);
  sayWhetherLate();
  MPI_Wait(&both.requests[1], MPI_STATUS_IGNORE);
  sayWhatWasGiven();
}

void exchangeThenWaitAll() {
  Both both;
  MPI_Waitall(2, both.requests, both.statuses);
  both.sayOne(0, both.statuses[0]);
  both.sayOne(1, both.statuses[1]);
  sayWhetherLate();
  say("null %d", both.requests[0] == MPI_REQUEST_NULL ? 1 : 0);
}

void exchangeThenTest() {
  Both both;
  int flag = 0;
  while (flag == 0) {
    MPI_Test(&both.requests[0], &flag, &both.statuses[0]);
  }
  both.sayOne(0, both.statuses[0]);
  sayWhetherLate();
  MPI_Wait(&both.requests[1], MPI_STATUS_IGNORE);
}

void exchangeThenTestAll() {
  Both both;
  int flag = 0;
  while (flag == 0) {
    MPI_Testall(2, both.requests, &flag, both.statuses);
  }
  both.sayOne(0, both.statuses[0]);
  both.sayOne(1, both.statuses[1]);
  sayWhetherLate();
}

void exchangeThenGetStatus() {
  Both both;
  int flag = 0;
  while (flag == 0) {
    MPI_Request_get_status(both.requests[0], &flag, &both.statuses[0]);
  }
  both.sayOne(0, both.statuses[0]);
  sayWhetherLate();
  MPI_Waitall(2, both.requests, MPI_STATUSES_IGNORE);
}

#if PF_HAS_STATUS_OF_MANY
/// What is told of is told of again.
void exchangeThenGetStatusOfMany() {
  Both both;
  int index = 0;
  int flag = 0;
  while (flag == 0 || index != 0) {
    MPI_Request_get_status_any(1, both.requests, &index, &flag, both.statuses);
  }
  both.sayOne(index, both.statuses[0]);
  sayWhetherLate();
  int count = 0;
  while (count != 2) {
    MPI_Request_get_status_some(2, both.requests, &count, both.indices, both.statuses);
    MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);  // time passes
  }
  flag = 0;
  while (flag == 0) {
    MPI_Request_get_status_all(2, both.requests, &flag, both.statuses);
  }
  both.sayOne(1, both.statuses[1]);
  MPI_Waitall(2, both.requests, MPI_STATUSES_IGNORE);
}
#endif

void exchangeThenWaitAny() {
  Both both;
  int index = 0;
  for (MPI_Waitany(2, both.requests, &index, both.statuses); index != MPI_UNDEFINED;
       MPI_Waitany(2, both.requests, &index, both.statuses)) {
    both.sayOne(index, both.statuses[0]);
  }
}

void exchangeThenTestAny() {
  Both both;
  for (int done = 0; done < 2;) {
    int index = 0;
    int flag = 0;
    MPI_Testany(2, both.requests, &index, &flag, both.statuses);
    if (flag != 0) {
      both.sayOne(index, both.statuses[0]);
      ++done;
    }
  }
}

template <typename Some>
void someUntilAll(Some some) {
  Both both;
  for (int count = 0; count != MPI_UNDEFINED;) {
    some(2, both.requests, &count, both.indices, both.statuses);
    for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) {
      both.sayOne(both.indices[i], both.statuses[i]);
    }
  }
}
void exchangeThenWaitSome() {
  someUntilAll(MPI_Waitsome);
}
void exchangeThenTestSome() {
  someUntilAll(MPI_Testsome);
}

void exchangesInPlace() {
  for (int i = 0; i < 2; ++i) {
    int value = 70 + i;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    exchangeInPlace(&value, 1, 3, 9, kFromAnyone, MPI_ANY_TAG, &request);
    MPI_Wait(&request, &status);
    sayTaken(status, value);
  }
  sayWhatWasGiven();
}

/// What it takes is told by no call.
void exchangeFreed() {
  const int given = 70;
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  exchange(&given, 1, 3, 9, &value, kFromAnyone, 5, &request);
  MPI_Request_free(&request);
  say("null %d", request == MPI_REQUEST_NULL ? 1 : 0);
  receiveBehind(kFromAnyone, 5);
  receiveBehind(kFromAnyone, 5);
}

void sayNobodys(const MPI_Status& status) {
  say("from %d tag %d: %zu bytes", status.MPI_SOURCE, status.MPI_TAG, fake::bytesIn(status));
}

/// Half of it, or all, with nobody.
void exchangeWithNobody() {
  int given = 70;
  int value = 0;
  MPI_Request requests[3] = {};
  MPI_Status statuses[3] = {};
  exchange(&given, 1, 3, 9, &value, MPI_PROC_NULL, 5, &requests[0]);
  exchange(&given, 1, MPI_PROC_NULL, 9, &value, kFromAnyone, 5, &requests[1]);
  exchangeInPlace(&given, 1, MPI_PROC_NULL, 9, MPI_PROC_NULL, 5, &requests[2]);
  MPI_Waitall(3, requests, statuses);
  sayTaken(statuses[1], value);
  sayNobodys(statuses[0]);
  sayNobodys(statuses[2]);
  exchangeInPlace(&given, 1, 3, 8, MPI_PROC_NULL, 5, &requests[0]);
  MPI_Wait(&requests[0], statuses);
  sayNobodys(statuses[0]);
  receiveBehind(kFromAnyone, 5);
  sayWhatWasGiven();
}

const Script kSentSlowly{.arrivals = {{1, 5, 10}, {2, 6, 20, 4}, {3, 7, 30, 6}}, .leavesAfter = 9};
const Script kSentAtOnce{.arrivals = {{1, 5, 10}, {2, 6, 20, 1}, {3, 7, 30, 40}}};
/// The message of the receive is last.
const Script kReceivedLast{.arrivals = {{1, 5, 10}, {2, 6, 20, 40}}};
const Script kUpward{.arrivals = {{1, 5, 10}, {2, 5, 20}, {3, 5, 30}}, .leavesAfter = 2};
const Script kDownward{.arrivals = {{3, 5, 30}, {2, 5, 20}, {1, 5, 10}}, .leavesAfter = 0};

}  // namespace

std::vector<CallCase> exchangeCases() {
  return {
    {.name = "exchangeWait",
     .recorded = kSentSlowly,
     .replayed = kSentAtOnce,
     .program = exchangeThenWait,
     .events = "Start Post Completion Probe Receive Completion",
     .receives = "0:1/5 1:2/6 2:3/7",
     .choices = "Iprobe 0-3,7",
     .sends = "3/9"},
        {.name = "exchangeWaitAll",
         .recorded = kSentSlowly,
         .replayed = kSentAtOnce,
         .program = exchangeThenWaitAll,
         .events = "Start Post Completion Probe Receive",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Iprobe 0-3,7",
         .sends = "3/9"},
        {.name = "exchangeTest",
         .recorded = kSentSlowly,
         .replayed = kSentAtOnce,
         .program = exchangeThenTest,
         .events = "Start Post Completion Probe Receive Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Test 8- Iprobe 0-3,7",
         .sends = "3/9"},
        {.name = "exchangeTestAll",
         .recorded = kSentSlowly,
         .replayed = kSentAtOnce,
         .program = exchangeThenTestAll,
         .events = "Start Post Completion Probe Receive",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Testall 8- Iprobe 0-3,7",
         .sends = "3/9"},
        {.name = "exchangeGetStatus",
         .recorded = kSentSlowly,
         .replayed = kSentAtOnce,
         .program = exchangeThenGetStatus,
         .events = "Start Post Completion Probe Receive Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Iprobe 0-3,7 GetStatus 8-",
         .sends = "3/9"},
#if PF_HAS_STATUS_OF_MANY
        {.name = "exchangeGetStatusOfMany",
         .recorded = kSentSlowly,
         .replayed = kSentAtOnce,
         .program = exchangeThenGetStatusOfMany,
         .events = "Start Post Completion Probe Receive Completion Completion Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Testany 8-1 Testsome 0-3,0,1 Iprobe 0-3,7 Iprobe 1-end GetStatus 0-",
         .sends = "3/9"},
#endif
        {.name = "exchangeWaitAny",
         .recorded = kSentSlowly,
         .replayed = kReceivedLast,
         .program = exchangeThenWaitAny,
         .events = "Start Post Completion Completion Completion",
         .receives = "0:1/5 1:2/6",
         .choices = "Waitany 0-2 Waitany 0-1 Waitany 0-0",
         .sends = "3/9"},
        {.name = "exchangeTestAny",
         .recorded = kSentSlowly,
         .replayed = kReceivedLast,
         .program = exchangeThenTestAny,
         .events = "Start Post Completion Completion",
         .receives = "0:1/5 1:2/6",
         .choices = nullptr,
         .sends = "3/9"},
        {.name = "exchangeWaitSome",
         .recorded = kSentSlowly,
         .replayed = kReceivedLast,
         .program = exchangeThenWaitSome,
         .events = "Start Post Completion Completion Completion",
         .receives = "0:1/5 1:2/6",
         .choices = "Waitsome 0-2,1 Waitsome 0-2,0 Waitsome 0-0",
         .sends = "3/9"},
        {.name = "exchangeTestSome",
         .recorded = kSentSlowly,
         .replayed = kReceivedLast,
         .program = exchangeThenTestSome,
         .events = "Start Post Completion Completion Completion",
         .receives = "0:1/5 1:2/6",
         .choices = nullptr,
         .sends = "3/9"},
        {.name = "exchangeInPlace",
         .recorded = kDownward,
         .replayed = kUpward,
         .program = exchangesInPlace,
         .events = "Start Completion Start Completion",
         .receives = "0:3/5 1:2/5",
         .sends = "3/9 3/9"},
        {.name = "exchangeFreed",
         .recorded = kUpward,
         .replayed = kDownward,
         .program = exchangeFreed,
         .events = "Start Receive Receive",
         .receives = "0:1/5 1:2/5 2:3/5",
         .sends = "3/9"},
        {.name = "exchangeWithNobody",
         .recorded = kUpward,
         .replayed = kDownward,
         .program = exchangeWithNobody,
         .events = "Start Start Start Completion Start Completion Receive",
         .receives = "0:1/5 1:2/5",
         .sends = "3/9 3/8"},
  };
}

}  // namespace pf::test
