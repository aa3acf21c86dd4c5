// SPDX-License-Identifier: GPL-3.0-or-later
// The routines that tell a program something that is another one in each run: a replay tells what
// the recording told.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "replay_engine/rank/inputs/external_signals.h"
#include "replay_engine/rank/tests/rank_run.h"
#include "replay_engine/rank/tests/recorded_inputs.h"

PF_PROGRAMS(int, clock_gettime, clockid_t id, timespec* out);
PF_PROGRAMS(int, gettimeofday, timeval* out, void* zone);
PF_PROGRAMS(time_t, time, time_t* out);
PF_PROGRAMS(int, timespec_get, timespec* out, int base);
PF_PROGRAMS(clock_t, clock);
PF_PROGRAMS(int, getrusage, int who, rusage* out);
PF_PROGRAMS(clock_t, times, tms* out);
PF_PROGRAMS(pid_t, getpid);
PF_PROGRAMS(pid_t, gettid);
PF_PROGRAMS(int, kill, pid_t pid, int number);
PF_PROGRAMS(int, gethostname, char* name, std::size_t size);
PF_PROGRAMS(ssize_t, getrandom, void* to, std::size_t size, unsigned flags);
PF_PROGRAMS(int, getentropy, void* to, std::size_t size);
PF_PROGRAMS(void, arc4random_buf, void* to, std::size_t size);
PF_PROGRAMS(std::uint32_t, arc4random);
PF_PROGRAMS(std::uint32_t, arc4random_uniform, std::uint32_t bound);
PF_PROGRAMS(unsigned, _ZNSt13random_device9_M_getvalEv, void* device);
PF_PROGRAMS(int, sigwaitinfo, const sigset_t* set, siginfo_t* info);

namespace pf::test {
namespace {

struct Question {
  const char* name;
  void (*ask)();
};

void PrintTo(const Question& of, std::ostream* out) {
  *out << of.name;
}

template <std::size_t Size>
void sayHex(const unsigned char (&bytes)[Size]) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += std::to_string(byte) + " ";
  }
  say("%s", text.c_str());
}

template <clockid_t Id>
void askClock() {
  timespec now{};
  const int result = pf_clock_gettime(Id, &now);
  say("%d %ld %ld", result, now.tv_sec, now.tv_nsec);
}

const Question kQuestions[] = {
    {"realtime", askClock<CLOCK_REALTIME>},
    {"monotonic", askClock<CLOCK_MONOTONIC>},
    {"processTime", askClock<CLOCK_PROCESS_CPUTIME_ID>},
    {"atomicTime", askClock<CLOCK_TAI>},
    {"gettimeofday",
     [] {
       timeval now{};
       const int result = pf_gettimeofday(&now, nullptr);
       say("%d %ld %ld", result, now.tv_sec, now.tv_usec);
     }},
    {"timespecGet",
     [] {
       timespec now{};
       const int result = pf_timespec_get(&now, TIME_UTC);
       say("%d %ld %ld", result, now.tv_sec, now.tv_nsec);
     }},
    {"clock", [] { say("%ld", pf_clock()); }},
    {"rusage",
     [] {
       rusage used{};
       const int result = pf_getrusage(RUSAGE_SELF, &used);
       say("%d %ld %ld %ld", result, used.ru_utime.tv_usec, used.ru_stime.tv_usec, used.ru_minflt);
     }},
    {"pid", [] { say("%d %d", pf_getpid(), pf_gettid()); }},
    {"getrandom",
     [] {
       unsigned char bytes[700] = {};
       say("%zd", pf_getrandom(bytes, sizeof bytes, 0));
       sayHex(bytes);
     }},
    {"getentropy",
     [] {
       unsigned char bytes[256] = {};
       say("%d", pf_getentropy(bytes, sizeof bytes));
       sayHex(bytes);
     }},
    {"arc4randomBuf",
     [] {
       unsigned char bytes[20] = {};
       pf_arc4random_buf(bytes, sizeof bytes);
       sayHex(bytes);
     }},
    {"arc4random", [] { say("%u", pf_arc4random()); }},
    {"arc4randomUniform", [] { say("%u", pf_arc4random_uniform(4'000'000'000)); }},
    {"randomDevice",
     [] {
       std::random_device device;
       say("%u", pf__ZNSt13random_device9_M_getvalEv(&device));
     }},
};

class SystemCalls : public testing::TestWithParam<Question> {};

TEST_P(SystemCalls, tellAReplayWhatTheyToldTheRecording) {
  const auto program = [] {
    GetParam().ask();
    GetParam().ask();
  };
  for (const bool threads : {false, true}) {
    const fake::Script script{.threadLevel = MPI_THREAD_MULTIPLE};
    const RankRun recorded = run(script, program, {.mode = kRecordChoices, .threads = threads});
    ASSERT_EQ(recorded.ending, Ending::Finished);
    EXPECT_NE(run(script, program, {}).said,
              recorded.said);  // without a record it is told otherwise
    EXPECT_EQ(replay(recorded, script, program).said, recorded.said);
    const RankRun survey =  // what is given back is recorded again
        run(script, program, {.mode = kReplay | kRecordEvents, .schedule = scheduleOf(recorded)});
    EXPECT_EQ(survey.said, recorded.said);
    EXPECT_TRUE(std::ranges::equal(logOf(survey).values, logOf(recorded).values));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SystemCalls, testing::ValuesIn(kQuestions),
                         [](const auto& each) { return std::string(each.param.name); });

/// What changes slowly, told by a recording that makes it up.
TEST(SlowValues, areGivenBack) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    keepNumber(ValueKind::Time, 77);
    keepBytes(ValueKind::Hostname, "elsewhere", 9, 9);
    keepBytes(ValueKind::Hostname, "elsewhere", 9, 9);
    const clock_t told[5] = {11, 22, 33, 44, 55};
    keepBytes(ValueKind::Times, told, sizeof told, sizeof told);
  });
  const RankRun replayed = replay(recorded, {}, [] {
    time_t now = 0;
    const time_t told = pf_time(&now);
    say("%ld %ld", told, now);
    char name[12] = "...........";
    const int whole = pf_gethostname(name, sizeof name);
    say("%d %s", whole, name);
    std::memset(name, '.', sizeof name - 1);
    errno = 0;
    const int cut = pf_gethostname(name, 4);
    say("%d %d %s", cut, errno == ENAMETOOLONG ? 1 : 0, name);
    tms used{};
    const clock_t since = pf_times(&used);
    say("%ld %ld %ld", since, used.tms_utime, used.tms_cstime);
  });
  EXPECT_EQ(replayed.said, "77 77\n0 elsewhere\n-1 1 else.......\n11 22 55\n");
}

TEST(SlowValues, theHostsNameIsTheSystems) {
  char real[300] = {};
  ASSERT_EQ(::gethostname(real, sizeof real), 0);
  const RankRun recorded = record(kRecordChoices, {}, [] {
    char name[300] = {};
    pf_gethostname(name, sizeof name);
    say("%s", name);
  });
  EXPECT_EQ(recorded.said, real + std::string("\n"));
}

TEST(Wtime, comesBackThoughTheReplayIsFaster) {
  const auto program = [] {
    for (int i = 0; i < 3; ++i) {
      int value = 0;
      MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      say("%.3f", MPI_Wtime());
    }
  };
  for (const std::uint32_t mode : kBothModes) {
    const RankRun recorded =
        record(mode, {.arrivals = {{1, 5, 0, 100}, {1, 5, 0, 250}, {1, 5, 0, 300}}}, program);
    const fake::Script faster{.arrivals = {{1, 5}, {1, 5}, {1, 5}}};
    EXPECT_NE(run(faster, program, {}).said, recorded.said);
    EXPECT_EQ(replay(recorded, faster, program).said, recorded.said);
  }
}

// -- questions that are none

TEST(SystemCallsThatFail, fillNoRecord) {
  const RankLog log = logOf(record(kRecordChoices, {}, [] {
    timespec now{};
    rusage used{};
    unsigned char bytes[300];
    say("%d", pf_clock_gettime(10, &now));
    say("%d", pf_clock_gettime(-6, nullptr) == 0 ? 0 : -1);
    say("%d", pf_timespec_get(&now, 99));
    say("%d", pf_getrusage(77, &used));
    say("%d", pf_getentropy(bytes, sizeof bytes));
    say("%zd", pf_getrandom(bytes, 0, 0));
    say("%zd", pf_getrandom(bytes, sizeof bytes, ~0U));
  }));
  for (const std::vector<unsigned char>& values : log.values) {
    EXPECT_TRUE(values.empty());
  }
}

TEST(SystemCallsThatFail, sayTheSystemsAnswer) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    unsigned char bytes[300];
    const auto answer = [](ssize_t result) {
      const int error = errno;
      say("%zd %d", result, error);
    };
    answer(pf_getrandom(bytes, sizeof bytes, ~0U));
    answer(pf_getentropy(bytes, sizeof bytes));
    answer(pf_getrusage(77, reinterpret_cast<rusage*>(bytes)));
  });
  const auto failing = [](int error) { return "-1 " + std::to_string(error) + "\n"; };
  EXPECT_EQ(recorded.said, failing(EINVAL) + failing(EIO) + failing(EINVAL));
}

TEST(SystemCallsOfOthers, areNotRecorded) {
  const RankLog log = logOf(record(kRecordChoices, {}, [] {
    const InsideLibc inside;
    pf_arc4random();
    pf_time(nullptr);
  }));
  EXPECT_TRUE(valuesIn(log, ValueKind::Arc4random).empty());
  EXPECT_TRUE(valuesIn(log, ValueKind::Time).empty());
}

/// Only the first thread's are in an order that is known.
TEST(SystemCallsOfOthers, ofAnotherThreadAreNoted) {
  const RankLog log = logOf(record(kRecordChoices, {}, [] {
    std::thread([] { pf_arc4random(); }).join();
    pf_time(nullptr);
  }));
  EXPECT_TRUE(isNoted(log, NotGuaranteedKind::OtherThread));
  EXPECT_TRUE(isNoted(log, NotGuaranteedKind::Threads));
  EXPECT_TRUE(valuesIn(log, ValueKind::Arc4random).empty());
  EXPECT_FALSE(valuesIn(log, ValueKind::Time).empty());
}

TEST(SystemCallsOfOthers, ofAChildAreItsOwn) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    pf_getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      pf_getpid();
      _exit(0);
    }
    ::waitpid(child, nullptr, 0);
    pf_getpid();
  });
  const RankRun replayed = replay(recorded, {}, [] {
    std::int64_t pid = 0;
    for (int i = 0; i < 3; ++i) {
      say("%d", recallNumber(ValueKind::Getpid, &pid) ? 1 : 0);
    }
  });
  EXPECT_EQ(replayed.said, "1\n1\n0\n");
}

// -- where a replay asks for something else

TEST(Replays, aClockGoesOnWhereTheRecordEnds) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    keepNumber(static_cast<ValueKind>(CLOCK_REALTIME), 5'000'000'000);
    keepNumber(ValueKind::Time, 7);
    keepSeconds(9.0);
  });
  const RankRun replayed = replay(recorded, {}, [] {
    timespec now{};
    for (int i = 0; i < 3; ++i) {
      pf_clock_gettime(CLOCK_REALTIME, &now);
      const time_t seconds = pf_time(nullptr);
      const double wtime = MPI_Wtime();
      say("%d%d%d", now.tv_sec >= 5 && now.tv_sec < 60 ? 1 : 0,
          seconds >= 7 && seconds < 60 ? 1 : 0, wtime == 9.0 ? 1 : 0);
    }
  });
  EXPECT_EQ(replayed.said, "111\n111\n111\n");
}

TEST(Replays, entropyThatWasLessIsFilledUp) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    unsigned char bytes[4] = {};
    pf_getentropy(bytes, sizeof bytes);
    sayHex(bytes);
  });
  const RankRun replayed = replay(recorded, {}, [] {
    unsigned char bytes[64] = {};
    unsigned char first[4] = {};
    say("%d", pf_getentropy(bytes, sizeof bytes));
    std::memcpy(first, bytes, sizeof first);
    sayHex(first);
    say("%d", std::count(bytes + 4, bytes + 64, 0) < 30 ? 1 : 0);
  });
  EXPECT_EQ(replayed.said, "0\n" + recorded.said + "1\n");
}

TEST(Replays, aNumberIsNeverAboveItsBound) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    keepNumber(ValueKind::Arc4randomUniform, 1000);
    keepNumber(ValueKind::Arc4randomUniform, 5);
  });
  const RankRun replayed = replay(recorded, {}, [] {
    say("%d", pf_arc4random_uniform(10) < 10 ? 1 : 0);
    say("%u", pf_arc4random_uniform(10));
  });
  EXPECT_EQ(replayed.said, "1\n5\n");
}

// -- signals

TEST(Signals, reachTheProcessThatTheProgramMeans) {
  const auto program = [] {
    static volatile std::sig_atomic_t got = 0;
    std::signal(SIGUSR1, [](int) { got = got + 1; });
    say("%d", pf_kill(pf_getpid(), SIGUSR1));
    say("%d", static_cast<int>(got));
  };
  const RankRun recorded = record(kRecordChoices, {}, program);
  EXPECT_EQ(recorded.said, "0\n1\n");
  EXPECT_FALSE(isNoted(logOf(recorded), NotGuaranteedKind::SignalSent));
  EXPECT_EQ(replay(recorded, {}, program).said, "0\n1\n");  // the recorded process has gone
}

TEST(Signals, toAnotherProcessAreNoted) {
  const auto program = [](int number) { return [number] { pf_kill(::getppid(), number); }; };
  EXPECT_TRUE(
      isNoted(logOf(record(kRecordChoices, {}, program(SIGCONT))), NotGuaranteedKind::SignalSent));
  EXPECT_FALSE(isNoted(logOf(record(kRecordChoices, {}, program(0))),
                       NotGuaranteedKind::SignalSent));  // only asks whether it is there
}

volatile std::sig_atomic_t g_handled = 0;

void handles(int /*number*/) {
  g_handled = g_handled + 1;
}

int setAction(const struct sigaction* action, struct sigaction* before) {
  return programsAction([](int number, const struct sigaction* now,
                           struct sigaction* was) { return ::sigaction(number, now, was); },
                        SIGUSR1, action, before);
}

void handleUsr1() {
  struct sigaction action {};
  action.sa_handler = handles;
  setAction(&action, nullptr);
}

TEST(Signals, aHandlerIsSeenAsTheProgramSetIt) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    handleUsr1();
    struct sigaction now {};
    setAction(nullptr, &now);
    say("%d", now.sa_handler == handles && (now.sa_flags & SA_SIGINFO) == 0 ? 1 : 0);
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    setAction(&ignored, &now);
    say("%d", now.sa_handler == handles ? 1 : 0);
    setAction(nullptr, &now);
    say("%d", now.sa_handler == SIG_IGN ? 1 : 0);
  });
  EXPECT_EQ(recorded.said, "1\n1\n1\n");
}

TEST(Signals, fromOutsideAreNotedAndHandled) {
  const auto program = [](bool outside) {
    return [outside] {
      handleUsr1();
      const pid_t rank = ::getpid();
      const pid_t sender = outside ? ::fork() : 0;
      if (sender == 0) {
        ::kill(rank, SIGUSR1);
        outside ? _exit(0) : void();
      }
      if (outside) {
        ::waitpid(sender, nullptr, 0);
      }
      say("%d", static_cast<int>(g_handled));
    };
  };
  const RankRun own = record(kRecordChoices, {}, program(false));
  EXPECT_EQ(own.said, "1\n");
  EXPECT_FALSE(isNoted(logOf(own), NotGuaranteedKind::SignalGot));
  const RankRun others = record(kRecordChoices, {}, program(true));
  EXPECT_EQ(others.said, "1\n");
  EXPECT_TRUE(isNoted(logOf(others), NotGuaranteedKind::SignalGot));
}

TEST(Signals, faultsAreTheProgramsOwn) {
  for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGKILL, 0, -1, SIGRTMAX + 1}) {
    EXPECT_FALSE(isWatched(number)) << number;
  }
  for (const int number : {SIGUSR1, SIGALRM, SIGTERM, SIGRTMIN, SIGRTMAX}) {
    EXPECT_TRUE(isWatched(number)) << number;
  }
}

}  // namespace
}  // namespace pf::test
