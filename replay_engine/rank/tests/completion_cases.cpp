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

constexpr int kMany = 40;

/// More requests at a time than a record of choices holds indices; the requests stay.
void getStatusOfMany() {
  int values[kMany] = {};
  MPI_Request requests[kMany] = {};
  for (int i = 0; i < kMany; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Status statuses[kMany] = {};
  for (int count = 0; count < kMany;) {
    int indices[kMany] = {};
    MPI_Request_get_status_some(kMany, requests, &count, indices, statuses);
    if (count > 0) {
      say("count %d, first %d, last %d", count, indices[0], indices[count - 1]);
      sayTaken(statuses[count - 1], values[indices[count - 1]]);
    }
    int flag = 0;  // time passes
    MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  int flag = 0;
  MPI_Request_get_status_all(kMany, requests, &flag, MPI_STATUSES_IGNORE);
  say("all %d", flag);
  int index = -1;
  MPI_Request_get_status_any(kMany - 35, requests + 35, &index, &flag, MPI_STATUS_IGNORE);
  say("any %d %d", flag, index);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
}

void sayStatus(const MPI_Status& status) {
  const bool empty = status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG;
  say("empty %d from %d tag %d error %d", empty ? 1 : 0, status.MPI_SOURCE, status.MPI_TAG,
      status.MPI_ERROR);
}

/// Statuses whose errors show whether they were written.
void clear(MPI_Status (&statuses)[4]) {
  for (MPI_Status& status : statuses) {
    status = {};
    status.MPI_ERROR = 77;
  }
}

/// Beside what is under way: no request, and persistent ones that have not been started, or are over.
void getStatusOfInactive() {
  int values[4] = {};
  MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                             MPI_REQUEST_NULL};
  MPI_Status statuses[4];
  MPI_Recv_init(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(&values[2], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[2]);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&requests[2]);
    MPI_Irecv(&values[3], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[3]);
    int flag = 0;
    int index = -1;
    int failed = -1;
    for (clear(statuses); flag == 0; ++failed) {
      MPI_Request_get_status_any(4, requests, &index, &flag, &statuses[0]);
    }
    say("failed %d, any %d", failed, index);
    sayStatus(statuses[0]);
    for (flag = 0, clear(statuses); flag == 0;) {
      MPI_Request_get_status_all(4, requests, &flag, statuses);
    }
    for (const MPI_Status& status : statuses) {
      sayStatus(status);
    }
    int indices[4] = {};
    int count = 0;
    clear(statuses);
    MPI_Request_get_status_some(4, requests, &count, indices, statuses);
    say("some %d: %d %d", count, indices[0], indices[1]);
    sayStatus(statuses[0]);
    sayStatus(statuses[1]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    say("took %d %d", values[2], values[3]);
  }
  int flag = 0;  // nothing is active any more
  int index = -1;
  int count = -1;
  int indices[4] = {};
  clear(statuses);
  MPI_Request_get_status_any(4, requests, &index, &flag, &statuses[0]);
  MPI_Request_get_status_some(4, requests, &count, indices, &statuses[1]);
  say("none %d %d %d", flag, index == MPI_UNDEFINED ? 1 : 0, count == MPI_UNDEFINED ? 1 : 0);
  sayStatus(statuses[0]);
  MPI_Request_free(&requests[1]);
  MPI_Request_free(&requests[2]);
}

/// Messages that are too long: what is said of them by each call, twice, and what is left of it for MPI_Wait.
void getStatusOfTruncated() {
  int values[4] = {};
  MPI_Request requests[4] = {};
  MPI_Status statuses[4];
  for (int i = 0; i < 4; ++i) {
    MPI_Irecv(&values[i], 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[i]);
  }
  for (int round = 0; round < 2; ++round) {
    int flag = 0;
    int index = -1;
    int failed = -1;
    for (clear(statuses); flag == 0; ++failed) {
      say("%d", MPI_Request_get_status_any(4, requests, &index, &flag, &statuses[0]));
    }
    say("failed %d, any %d", failed, index);
    sayStatus(statuses[0]);
    int indices[4] = {};
    int count = 0;
    for (clear(statuses), failed = 0; count < 4; ++failed) {
      say("%d", MPI_Request_get_status_some(4, requests, &count, indices, statuses));
      MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);  // time passes
    }
    say("failed %d", failed);
    for (int i = 0; i < count; ++i) {
      say("index %d", indices[i]);
      sayStatus(statuses[i]);
    }
    clear(statuses);
    say("%d", MPI_Request_get_status_all(4, requests, &flag, statuses));
    for (const MPI_Status& status : statuses) {
      sayStatus(status);
    }
  }
  for (int i = 0; i < 4; ++i) {
    say("%d", MPI_Wait(&requests[i], &statuses[i]));
    sayTaken(statuses[i], values[i]);
  }
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
        {.name = "getStatusOfMany",
         .recorded = manyMessages(38),
         .replayed = manyMessages(3),
         .program = getStatusOfMany,
         .events = nullptr,
         .receives = nullptr,
         .choices = nullptr},
        {.name = "getStatusOfInactive",
         .recorded = {.arrivals = {{3, 5, 30, 2}, {1, 5, 10, 4}, {2, 5, 20, 5}, {3, 5, 31, 8}}},
         .replayed = {.arrivals = {{1, 5, 10}, {2, 5, 20}, {3, 5, 30}, {3, 5, 31}}},
         .program = getStatusOfInactive,
         .events = nullptr,
         .receives = "0:3/5 1:1/5 2:2/5 3:3/5",
         .choices = nullptr},
        {.name = "getStatusOfTruncated",
         .recorded = {.arrivals = {{.source = 3, .tag = 5, .value = 30, .after = 1, .count = 2},
                                   {.source = 1, .tag = 5, .value = 10, .after = 2},
                                   {.source = 2, .tag = 5, .value = 20, .after = 5, .count = 3},
                                   {.source = 3, .tag = 5, .value = 31, .after = 6}}},
         .replayed = {.arrivals = {{.source = 1, .tag = 5, .value = 10},
                                   {.source = 2, .tag = 5, .value = 20, .count = 3},
                                   {.source = 3, .tag = 5, .value = 30, .count = 2},
                                   {.source = 3, .tag = 5, .value = 31}}},
         .program = getStatusOfTruncated,
         .events = nullptr,
         .receives = "0:3/5 1:1/5 2:2/5 3:3/5",
         .choices = nullptr},
#endif
  };
}

}  // namespace pf::test
