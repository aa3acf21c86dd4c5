// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/rank/tests/call_cases.h"

namespace pf::test {
namespace {

using fake::Script;

constexpr int kCount = 3;

/// Three receives, and what came of them.
struct Posted {
  int values[kCount] = {};
  MPI_Request requests[kCount] = {};
  MPI_Status statuses[kCount] = {};

  /// `source(i)`: of receive i.
  template <typename Source>
  explicit Posted(Source source) {
    for (int i = 0; i < kCount; ++i) {
      MPI_Irecv(&values[i], 1, MPI_INT, source(i), MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    }
  }
  void sayAll() const {
    for (int i = 0; i < kCount; ++i) {
      sayTaken(statuses[i], values[i]);
    }
  }
  void sayOne(int index) const {
    say("index %d", index);
    if (index != MPI_UNDEFINED) {
      sayTaken(statuses[0], values[index]);
    }
  }
  void saySome(int count, const int* indices) const {
    say("count %d", count);
    for (int i = 0; count != MPI_UNDEFINED && i < count; ++i) {
      say("index %d", indices[i]);
      sayTaken(statuses[i], values[indices[i]]);
    }
  }
};

Posted wild() {
  return Posted([](int) { return MPI_ANY_SOURCE; });
}
/// Receive i is from rank i + 1.
Posted bySource() {
  return Posted([](int i) { return i + 1; });
}

void wait() {
  Posted posted = wild();
  for (int i = kCount - 1; i >= 0; --i) {
    MPI_Wait(&posted.requests[i], &posted.statuses[i]);
    say("null %d", posted.requests[i] == MPI_REQUEST_NULL ? 1 : 0);
  }
  posted.sayAll();
  MPI_Wait(&posted.requests[0], MPI_STATUS_IGNORE);
}

void test() {
  Posted posted = wild();
  for (int i = 0; i < kCount; ++i) {
    int flag = 0;
    int failed = -1;
    for (; flag == 0; ++failed) {
      MPI_Test(&posted.requests[i], &flag, &posted.statuses[i]);
    }
    say("failed %d", failed);
  }
  posted.sayAll();
}

void waitAny() {
  Posted posted = bySource();
  int index = 0;
  while (index != MPI_UNDEFINED) {
    MPI_Waitany(kCount, posted.requests, &index, &posted.statuses[0]);
    posted.sayOne(index);
  }
}

void testAny() {
  Posted posted = bySource();
  int index = 0;
  int flag = 0;
  int failed = 0;
  while (flag == 0 || index != MPI_UNDEFINED) {
    MPI_Testany(kCount, posted.requests, &index, &flag, &posted.statuses[0]);
    if (flag == 0) {
      ++failed;
    } else {
      say("failed %d", failed);
      posted.sayOne(index);
    }
  }
}

void waitSome() {
  Posted posted = bySource();
  int count = 0;
  while (count != MPI_UNDEFINED) {
    int indices[kCount] = {};
    MPI_Waitsome(kCount, posted.requests, &count, indices, posted.statuses);
    posted.saySome(count, indices);
  }
}

void testSome() {
  Posted posted = bySource();
  int count = 0;
  int failed = 0;
  while (count != MPI_UNDEFINED) {
    int indices[kCount] = {};
    MPI_Testsome(kCount, posted.requests, &count, indices, posted.statuses);
    failed += count == 0 ? 1 : 0;
    if (count != 0) {
      say("failed %d", failed);
      posted.saySome(count, indices);
    }
  }
}

void waitAll() {
  Posted posted = wild();
  MPI_Waitall(kCount, posted.requests, posted.statuses);
  posted.sayAll();
}

/// What it took is seen by its values only.
void waitAllUnseen() {
  Posted posted = wild();
  MPI_Waitall(kCount, posted.requests, MPI_STATUSES_IGNORE);
  say("took %d %d %d", posted.values[0], posted.values[1], posted.values[2]);
}

void testAll() {
  Posted posted = wild();
  int flag = 0;
  int failed = -1;
  for (; flag == 0; ++failed) {
    MPI_Testall(kCount, posted.requests, &flag, posted.statuses);
  }
  say("failed %d", failed);
  posted.sayAll();
}

void getStatus() {
  Posted posted = wild();
  for (int i = 0; i < kCount; ++i) {
    int flag = 0;
    int failed = -1;
    for (; flag == 0; ++failed) {
      MPI_Request_get_status(posted.requests[i], &flag, &posted.statuses[i]);
    }
    say("failed %d", failed);
  }
  posted.sayAll();
  MPI_Waitall(kCount, posted.requests, posted.statuses);
  posted.sayAll();
}

/// More requests at a time than a record of choices holds indices.
void waitSomeOfMany() {
  constexpr int kMany = 40;
  int values[kMany] = {};
  MPI_Request requests[kMany] = {};
  for (int i = 0; i < kMany; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
  }
  int count = 0;
  int done = 0;
  while (done < kMany) {
    int indices[kMany] = {};
    MPI_Waitsome(kMany, requests, &count, indices, MPI_STATUSES_IGNORE);
    say("count %d, first %d, last %d", count, indices[0], indices[count - 1]);
    done += count;
  }
}

/// Message i is routed i; those before `late` come at once.
Script manyMessages(int late) {
  Script script;
  for (int i = 0; i < 40; ++i) {
    script.arrivals.push_back({1, i, i, i < late ? 0 : 2});
  }
  return script;
}

const Script kAtOnce{.arrivals = {{1, 5, 10}, {2, 6, 20}, {3, 7, 30}}};
const Script kTurnedRound{.arrivals = {{3, 7, 30}, {2, 6, 20}, {1, 5, 10}}};
/// The last one is there first.
const Script kInTime{.arrivals = {{3, 7, 30, 1}, {1, 5, 10, 4}, {2, 6, 20, 4}}};

#if PF_HAS_STATUS_OF_MANY
/// The requests stay, and are told of again by each call.
void getStatusOfAny() {
  Posted posted = bySource();
  for (int seen = 0; seen < kCount; ++seen) {
    int flag = 0;
    int index = 0;
    int failed = -1;
    for (; flag == 0; ++failed) {
      MPI_Request_get_status_any(kCount, posted.requests, &index, &flag, posted.statuses);
    }
    say("failed %d", failed);
    posted.sayOne(index);
    MPI_Wait(&posted.requests[index], MPI_STATUS_IGNORE);
  }
  int flag = 0;
  int index = 0;
  MPI_Request_get_status_any(kCount, posted.requests, &index, &flag, posted.statuses);
  say("none %d %d", flag, index == MPI_UNDEFINED ? 1 : 0);
}

void getStatusOfSome() {
  Posted posted = bySource();
  int count = 0;
  int failed = 0;
  while (count < kCount) {
    int indices[kCount] = {};
    MPI_Request_get_status_some(kCount, posted.requests, &count, indices, posted.statuses);
    failed += count == 0 ? 1 : 0;
    if (count != 0) {
      say("failed %d", failed);
      posted.saySome(count, indices);
    }
    int flag = 0;  // time passes
    MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(kCount, posted.requests, posted.statuses);
}

void getStatusOfAll() {
  Posted posted = wild();
  int flag = 0;
  int failed = -1;
  for (; flag == 0; ++failed) {
    MPI_Request_get_status_all(kCount, posted.requests, &flag, posted.statuses);
  }
  say("failed %d", failed);
  posted.sayAll();
  MPI_Waitall(kCount, posted.requests, posted.statuses);
}
#endif

}  // namespace

std::vector<CallCase> completionCases() {
  return {
    {.name = "wait",
     .recorded = kTurnedRound,
     .replayed = kAtOnce,
     .program = wait,
     .events = "Post Post Post Completion Completion Completion Completion",
     .receives = "0:3/7 1:2/6 2:1/5"},
        {.name = "test",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = test,
         .events = "Post Post Post Completion Completion Completion",
         .receives = "0:3/7 1:1/5 2:2/6",
         .choices = "Test 1- Test 3- Test 0-"},
        {.name = "waitAny",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = waitAny,
         .events = "Post Post Post Completion Completion Completion Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Waitany 0-3 Waitany 0-1 Waitany 0-2 Waitany 0-0"},
        {.name = "testAny",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = testAny,
         .events = "Post Post Post Completion Completion Completion Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Testany 1-3 Testany 3-1 Testany 0-2 Testany 0-0"},
        {.name = "waitSome",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = waitSome,
         .events = "Post Post Post Completion Completion Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Waitsome 0-2,2 Waitsome 0-3,0,1 Waitsome 0-0"},
        {.name = "testSome",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = testSome,
         .events = "Post Post Post Completion Completion Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Testsome 1-2,2 Testsome 3-3,0,1 Testsome 0-0"},
        {.name = "waitSomeOfMany",
         .recorded = manyMessages(38),
         .replayed = manyMessages(3),
         .program = waitSomeOfMany,
         .events = nullptr,
         .receives = nullptr,
         .choices = nullptr},
        {.name = "waitAll",
         .recorded = kTurnedRound,
         .replayed = kAtOnce,
         .program = waitAll,
         .events = "Post Post Post Completion",
         .receives = "0:3/7 1:2/6 2:1/5"},
        {.name = "waitAllUnseen",
         .recorded = kTurnedRound,
         .replayed = kInTime,
         .program = waitAllUnseen,
         .events = "Post Post Post Completion",
         .receives = "0:3/7 1:2/6 2:1/5"},
        {.name = "testAll",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = testAll,
         .events = "Post Post Post Completion",
         .receives = "0:3/7 1:1/5 2:2/6",
         .choices = "Testall 4-"},
        {.name = "getStatus",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = getStatus,
         .events = "Post Post Post Completion Completion Completion Completion",
         .receives = "0:3/7 1:1/5 2:2/6",
         .choices = "GetStatus 1- GetStatus 3- GetStatus 0-"},
#if PF_HAS_STATUS_OF_MANY
        {.name = "getStatusOfAny",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = getStatusOfAny,
         .events =
             "Post Post Post Completion Completion Completion Completion Completion Completion "
             "Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Testany 1-3 Testany 3-1 Testany 0-2 Testany 0-0"},
        {.name = "getStatusOfSome",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = getStatusOfSome,
         .events = "Post Post Post Completion Completion Completion Completion",
         .receives = "0:1/5 1:2/6 2:3/7",
         .choices = "Testsome 1-2,2 Testsome 0-2,2 Testsome 0-4,0,1,2 Iprobe 4-end"},
        {.name = "getStatusOfAll",
         .recorded = kInTime,
         .replayed = kAtOnce,
         .program = getStatusOfAll,
         .events = "Post Post Post Completion Completion",
         .receives = "0:3/7 1:1/5 2:2/6",
         .choices = "GetStatus 4-"},
#endif
  };
}

}  // namespace pf::test
