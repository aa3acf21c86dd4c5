// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks with several threads: which thread is which, the order of what they do, and that a replay
// keeps to it whichever comes first.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/lanes.h"
#include "replay_engine/rank/engine/thread_order.h"
#include "replay_engine/rank/tests/log_text.h"
#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {
namespace {

const fake::Script kMultiple{.threadLevel = MPI_THREAD_MULTIPLE};

/// The engine's lock is held while MPI has it: threads may do so at once, over a library that knows
/// of no threads.
void sendTagged(int tag) {
  static const int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
}

void sayTags() {
  std::string text;
  for (const fake::Sent& message : fake::sent()) {
    text += std::to_string(message.tag) + " ";
  }
  say("%s", text.c_str());
}

/// As a mutex of the program is taken.
void takeLock(const char* who) {
  lockState();
  takeTurn(CallPlace{kCallInit_thread, nullptr, nullptr}, true);
  say("%s", who);
  unlockState();
}

void waitFor(const std::atomic<bool>& flag) {
  while (!flag) {
    std::this_thread::yield();
  }
}

bool oneWaitsForItsTurn() {
  const StateLock lock;
  for (const Lane* lane = liveThreads(); lane != nullptr; lane = lane->next) {
    if (lane->doing == Doing::WaitingForTurn) {
      return true;
    }
  }
  return false;
}

/// Until a replay holds another thread of the rank.
void waitUntilOneIsHeld() {
  while (!oneWaitsForItsTurn()) {
    std::this_thread::yield();
  }
}

/// "1/1 2/2.1": of each thread but the first its maker's lane + 1, and how-manieth it is.
std::string lanesIn(const RankLog& log) {
  std::string text;
  for (std::size_t i = 1; i < log.lanes.size(); ++i) {
    text += (text.empty() ? "" : " ") + std::to_string(log.lanes[i].parent) + "/" +
            std::to_string(log.lanes[i].ordinal);
  }
  return text;
}

/// "0:2 1:1 2L:1": of each run the lane, L for locks, and its turns.
std::string runsIn(const RankLog& log) {
  std::string text;
  for (const LaneRun& run : log.laneRuns) {
    text += (text.empty() ? "" : " ") + std::to_string(run.code / 2) +
            (run.code % 2 != 0 ? "L:" : ":") + std::to_string(run.turns);
  }
  return text;
}

// -- who is who

TEST(Lanes, areOfThreadsThatCallMpiByWhoMadeThem) {
  const RankLog log = logOf(record(kRecordChoices, kMultiple, [] {
    std::thread([] {}).join();
    std::thread second([] {
      std::thread([] { sendTagged(1); }).join();  // calls first, but is numbered behind its maker
      sendTagged(2);
    });
    second.join();
    std::thread([] { sendTagged(3); }).join();
  }));
  EXPECT_EQ(lanesIn(log), "1/2 2/1 1/3");
}

TEST(Lanes, areNotNeededWhereMpiAllowsOneThread) {
  for (const int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED}) {
    const RankLog log = logOf(record(kRecordChoices, {.threadLevel = level}, [] {
      std::thread([] {}).join();
      sendTagged(1);
    }));
    EXPECT_TRUE(log.lanes.empty());
    EXPECT_TRUE(log.laneRuns.empty());
  }
}

/// Who has made it is not known, so neither is it in a replay which one it is.
TEST(Lanes, aThreadOfUnknownOriginIsNoted) {
  const auto program = [](bool known) {
    return [known] {
      using Create = decltype(&pthread_create);
      const auto behindUs = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
      pthread_t thread{};
      (known ? &pthread_create : behindUs)(
          &thread, nullptr,
          [](void*) -> void* {
            sendTagged(1);
            return nullptr;
          },
          nullptr);
      ::pthread_join(thread, nullptr);
    };
  };
  const auto noted = [](const RankLog& log) {
    return std::any_of(log.notes.begin(), log.notes.end(), [&](std::uint32_t site) {
      return log.sites.at(site).call == kCallInit_thread;
    });
  };
  EXPECT_TRUE(noted(logOf(record(kRecordChoices, kMultiple, program(false)))));
  EXPECT_FALSE(noted(logOf(record(kRecordChoices, kMultiple, program(true)))));
}

// -- turns

/// Main thread and another one: 0 1 1 0L 1L 0.
void takeTurns() {
  std::atomic<bool> first = false;
  std::atomic<bool> second = false;
  std::atomic<bool> third = false;
  std::thread other([&] {
    waitFor(first);
    sendTagged(2);
    sendTagged(3);
    second = true;
    waitFor(third);
    takeLock("other");
  });
  sendTagged(1);
  first = true;
  waitFor(second);
  takeLock("main");
  third = true;
  other.join();
  sendTagged(4);
}

TEST(Turns, areRecordedAsRuns) {
  const RankLog log = logOf(record(kRecordChoices, kMultiple, takeTurns));
  EXPECT_EQ(runsIn(log), "0:1 1:2 0L:1 1L:1 0:2");  // the last one is MPI_Finalize
}

TEST(Turns, aThreadThatComesTooEarlyIsHeld) {
  const auto program = [](bool tempts) {
    return [tempts] {
      std::atomic<bool> sent = false;
      std::thread first([&] {
        if (tempts) {
          waitUntilOneIsHeld();
        }
        sendTagged(1);
        sent = true;
      });
      std::thread second([&] {
        if (!tempts) {
          waitFor(sent);
        }
        sendTagged(2);
      });
      first.join();
      second.join();
      sayTags();
    };
  };
  for (const std::uint32_t mode : kBothModes) {
    const RankRun recorded = record(mode, kMultiple, program(false));
    EXPECT_EQ(recorded.said, "1 2 \n");
    EXPECT_EQ(replay(recorded, kMultiple, program(true)).said, "1 2 \n");
  }
}

TEST(Turns, ofLocksAreHeldToo) {
  const auto program = [](bool tempts) {
    return [tempts] {
      std::atomic<bool> taken = false;
      std::thread first([&] {
        if (tempts) {
          waitUntilOneIsHeld();
        }
        takeLock("first");
        taken = true;
      });
      std::thread second([&] {
        if (!tempts) {
          waitFor(taken);
        }
        takeLock("second");
      });
      first.join();
      second.join();
    };
  };
  const RankRun recorded = record(kRecordChoices, kMultiple, program(false));
  EXPECT_EQ(replay(recorded, kMultiple, program(true)).said, "first\nsecond\n");
}

TEST(Turns, ofThreadsThatRaceComeBack) {
  const auto program = [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([i] {
        for (int n = 0; n < 50; ++n) {
          sendTagged(100 * i + n);
          n % 5 == 0 ? std::this_thread::yield() : void();
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    sayTags();
  };
  const RankRun recorded = record(kRecordChoices, kMultiple, program);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(replay(recorded, kMultiple, program).said, recorded.said);
  }
}

/// How often a thread takes a lock may depend on time alone.
TEST(Turns, ofLocksThatAThreadDidNotTakeAgainAreSkipped) {
  const auto program = [](int times) {
    return [times] {
      std::thread([times] {
        for (int i = 0; i < times; ++i) {
          takeLock("other");
        }
      }).join();
      takeLock("main");
    };
  };
  const RankRun recorded = record(kRecordChoices, kMultiple, program(3));
  const RankRun replayed = replay(recorded, kMultiple, program(1));
  EXPECT_EQ(replayed.ending, Ending::Finished);
  EXPECT_EQ(replayed.said, "other\nmain\n");
}

TEST(Turns, aThreadThatEndsTooSoonIsADivergence) {
  const auto program = [](int times) {
    return [times] {
      std::thread([times] {
        for (int i = 0; i < times; ++i) {
          sendTagged(i);
        }
      }).join();
      sendTagged(9);
    };
  };
  const RankRun recorded = record(kRecordChoices, kMultiple, program(3));
  const RankRun replayed = replay(recorded, kMultiple, program(2));
  EXPECT_EQ(replayed.ending, Ending::Diverged);
  EXPECT_EQ(replayed.expected, "the next call of thread 1, which has ended");
  EXPECT_EQ(replayed.got, "MPI_Isend of thread 0");
}

/// What a thread chose belongs to it, whichever number the events of others have.
TEST(Turns, choicesAreOfTheirThread) {
  const auto program = [](int value) {
    const auto test = [](int tag) {
      int taken = 0;
      int flag = 0;
      int failures = -1;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(&taken, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
      for (; flag == 0; ++failures) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      }
      say("tag %d after %d failures", tag, failures);
    };
    return [test, value] {
      std::thread([&] { test(value); }).join();
      test(7);
    };
  };
  const fake::Script late{.arrivals = {{1, 5, 0, 3}, {1, 7, 0, 8}},
                          .threadLevel = MPI_THREAD_MULTIPLE};
  const RankRun recorded = record(kRecordChoices, late, program(5));
  EXPECT_NE(recorded.said.find("tag 5 after"), std::string::npos);
  const fake::Script early{.arrivals = {{1, 5}, {1, 7}}, .threadLevel = MPI_THREAD_MULTIPLE};
  EXPECT_NE(run(early, program(5), {}).said, recorded.said);
  EXPECT_EQ(replay(recorded, early, program(5)).said, recorded.said);
}

// -- what orders threads among themselves

/// The other thread sends behind the first one, by `order`, which the program makes or does not.
std::vector<ThreadLink> linksOf(void (*before)(const void*), void (*behind)(const void*)) {
  return logOf(record(kRecordEvents, kMultiple,
                      [=] {
                        static const int object = 0;
                        std::atomic<bool> sent = false;
                        std::thread other([&] {
                          waitFor(sent);
                          behind(&object);
                          sendTagged(2);
                        });
                        sendTagged(1);
                        before(&object);
                        sent = true;
                        other.join();
                      }))
      .history.threadLinks;
}

TEST(ThreadOrder, whatIsReleasedIsKnownToWhoAcquires) {
  const auto nothing = [](const void*) {};
  const auto releasesIt = [](const void* object) { releases(object); };
  const auto acquiresIt = [](const void* object) { acquires(object); };
  const ThreadLink link{2, 3};
  const auto has = [&](const std::vector<ThreadLink>& links) {
    return std::find(links.begin(), links.end(), link) != links.end();
  };
  EXPECT_TRUE(has(linksOf(releasesIt, acquiresIt)));
  EXPECT_FALSE(has(linksOf(nothing, acquiresIt)));
  EXPECT_FALSE(has(linksOf(releasesIt, nothing)));
}

/// A thread that polls behind a lock of its own fills no log.
TEST(ThreadOrder, whatOnlyOneThreadHasHadIsLoggedOnce) {
  const auto bytes = [](int times) {
    return logOf(record(kRecordEvents, kMultiple,
                        [times] {
                          static const int object = 0;
                          std::thread([] {}).join();
                          for (int i = 0; i < times; ++i) {
                            acquires(&object);
                            releases(&object);
                          }
                        }))
        .bytes;
  };
  EXPECT_LT(bytes(100), bytes(1) + 100);  // times of events take more or less
}

}  // namespace
}  // namespace pf::test
