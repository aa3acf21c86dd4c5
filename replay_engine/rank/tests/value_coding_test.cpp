// SPDX-License-Identifier: GPL-3.0-or-later
// What the system told as records: what is kept comes back, of each kind in its order, and what is
// cut or damaged is not read over.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/rank_run.h"
#include "replay_engine/rank/tests/recorded_inputs.h"

PF_PROGRAMS(pid_t, getpid);

namespace pf::test {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

void sayNumber(ValueKind kind) {
  std::int64_t value = 0;
  if (recallNumber(kind, &value)) {
    say("%" PRId64, value);
  } else {
    say("none");
  }
}

std::string linesOf(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += std::to_string(number) + "\n";
  }
  return text;
}

/// Bytes that tell where they are of.
std::vector<unsigned char> bytesFrom(int first, std::size_t size) {
  std::vector<unsigned char> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>((static_cast<std::size_t>(first) + i) * 37U >> 2U);
  }
  return bytes;
}

void keepBytesFrom(int first, std::size_t size, std::size_t asked) {
  keepBytes(ValueKind::Getrandom, bytesFrom(first, size + 1).data(), size, asked);
}

/// "300 of 300": how many came, and how many of them are bytesFrom(`first`).
void sayBytes(int first, std::size_t asked) {
  std::vector<unsigned char> got(asked + 1, 0xEE);
  const std::ptrdiff_t size = recallBytes(ValueKind::Getrandom, got.data(), asked);
  const std::vector<unsigned char> expected = bytesFrom(first, asked);
  const auto wrong = std::mismatch(expected.begin(), expected.end(), got.begin()).first;
  say("%td of %td%s", wrong - expected.begin(), size, got[asked] == 0xEE ? "" : " and more");
}

/// In a recording, and what its replay sees.
RankRun replayOf(const Program& recorded, const Program& replayed, bool threads = false) {
  const RankRun run = test::run({.threadLevel = MPI_THREAD_MULTIPLE}, recorded,
                                {.mode = kRecordChoices, .threads = threads});
  EXPECT_EQ(run.ending, Ending::Finished);
  return replay(run, {.threadLevel = MPI_THREAD_MULTIPLE}, replayed);
}

// -- numbers

TEST(Values, numbersComeBackWhateverTheyAre) {
  const std::vector<std::int64_t> numbers{
      0, -1, 1, 1, kMost, kLeast, kMost, kLeast, 1'700'000'000'000'000'000, -5};
  for (const bool threads : {false, true}) {
    for (const ValueKind kind : {ValueKind::Clock, ValueKind::Getpid, ValueKind::Cycles}) {
      const RankRun replayed = replayOf(
          [&] {
            for (const std::int64_t number : numbers) {
              keepNumber(kind, number);
            }
          },
          [&] {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
              sayNumber(kind);
            }
          },
          threads);
      EXPECT_EQ(replayed.said, linesOf(numbers));
    }
  }
}

TEST(Values, eachKindIsAStreamOfItsOwn) {
  const RankRun replayed = replayOf(
      [] {
        keepNumber(ValueKind::Time, 10);
        keepNumber(ValueKind::Getpid, 20);
        keepBytesFrom(7, 3, 3);
        keepNumber(ValueKind::Time, 11);
        keepNumber(ValueKind::Time, 12);
        keepNumber(ValueKind::Getpid, 21);
      },
      [] {
        sayNumber(ValueKind::Getpid);
        sayNumber(ValueKind::Getpid);
        sayNumber(ValueKind::Time);
        sayBytes(7, 3);
        sayNumber(ValueKind::Time);
        sayNumber(ValueKind::Arc4random);
      });
  EXPECT_EQ(replayed.said, "20\n21\n10\n3 of 3\n11\nnone\n");
}

TEST(Values, aClockThatGoesOnCostsFewBytes) {
  const RankLog log = logOf(record(kRecordChoices, {}, [] {
    for (int i = 0; i < 100; ++i) {
      keepNumber(ValueKind::Clock, 1'700'000'000'000'000'000 + i * 50);
    }
  }));
  EXPECT_LT(valuesIn(log, ValueKind::Clock).size(), 210U);
}

TEST(Values, whatIsUsedUpIsAskedOfTheSystem) {
  const RankRun replayed = replayOf([] { keepNumber(ValueKind::Time, 5); },
                                    [] {
                                      double seconds = 0;
                                      sayNumber(ValueKind::Time);
                                      sayNumber(ValueKind::Time);
                                      say("%d", recallSeconds(&seconds) ? 1 : 0);
                                      sayBytes(0, 4);
                                    });
  EXPECT_EQ(replayed.said, "5\nnone\n0\n0 of -1\n");
}

// -- seconds

const std::vector<double>& someSeconds() {
  static const std::vector<double> seconds = [] {
    std::vector<double> made{0.0, -0.0,  -1.5,     1e300,     5e9, 1e-310,
                             0.1, 4.0e9, HUGE_VAL, kNoNumber, 1e-9};
    for (std::int64_t nanoseconds = 1; nanoseconds < 4'000'000'000'000'000'000;
         nanoseconds = nanoseconds * 7 + 3) {
      for (std::uint32_t form = 0; form < kSecondsBits; ++form) {
        made.push_back(secondsOf(nanoseconds, form));
      }
    }
    return made;
  }();
  return seconds;
}

std::uint64_t bitsOf(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(Values, secondsComeBackBitByBit) {
  std::string expected;
  for (const double value : someSeconds()) {
    expected += std::to_string(bitsOf(value)) + "\n";
  }
  for (const bool threads : {false, true}) {
    const RankRun replayed = replayOf(
        [] {
          for (const double value : someSeconds()) {
            keepSeconds(value);
          }
        },
        [] {
          for (std::size_t i = 0; i < someSeconds().size(); ++i) {
            double value = 0;
            recallSeconds(&value);
            say("%" PRIu64, bitsOf(value));
          }
        },
        threads);
    EXPECT_EQ(replayed.said, expected);
  }
}

TEST(Values, secondsOfAnyLibraryCostFewBytes) {
  for (std::uint32_t form = 0; form < kSecondsBits; ++form) {
    const RankLog log = logOf(record(kRecordChoices, {}, [form] {
      for (int i = 0; i < 100; ++i) {
        keepSeconds(secondsOf(123'456'000'000'000 + i * 1000, form));
      }
    }));
    EXPECT_LT(valuesIn(log, ValueKind::Wtime).size(), 210U) << form;
  }
}

// -- bytes

TEST(Values, bytesOfAnyLengthComeBack) {
  static constexpr std::size_t kSizes[] = {1, 255, 256, 257, 511, 512, 513, 5000, 2};
  const RankRun replayed = replayOf(
      [] {
        for (const std::size_t size : kSizes) {
          keepBytesFrom(static_cast<int>(size), size, size);
        }
      },
      [] {
        for (const std::size_t size : kSizes) {
          sayBytes(static_cast<int>(size), size);
        }
      });
  EXPECT_EQ(replayed.said,
            "1 of 1\n255 of 255\n256 of 256\n257 of 257\n511 of 511\n512 of 512\n513 of 513\n"
            "5000 of 5000\n2 of 2\n");
}

/// What came ends in a piece that is not full, if need be in an empty one.
TEST(Values, anAnswerThatWasShorterThanAskedFor) {
  const RankRun replayed = replayOf(
      [] {
        keepBytesFrom(1, 300, 600);
        keepBytesFrom(2, 256, 600);
        keepBytesFrom(3, 0, 600);
        keepBytesFrom(4, 512, 513);
        keepBytesFrom(5, 1, 1);
      },
      [] {
        for (const int first : {1, 2, 3, 4}) {
          sayBytes(first, first == 4 ? 513 : 600);
        }
        sayBytes(5, 1);
      });
  EXPECT_EQ(replayed.said, "300 of 300\n256 of 256\n0 of 0\n512 of 512\n1 of 1\n");
}

TEST(Values, aReplayThatAsksForLessOrMore) {
  const RankRun replayed = replayOf(
      [] {
        keepBytesFrom(1, 100, 100);
        keepBytesFrom(2, 10, 10);
        keepBytesFrom(3, 20, 20);
      },
      [] {
        sayBytes(1, 30);
        sayBytes(2, 5000);
        sayBytes(3, 20);
      });
  EXPECT_EQ(replayed.said, "30 of 30\n10 of 10\n20 of 20\n");
}

// -- from before MPI_Init

RankRun recordEarly(const Program& early, const Program& program) {
  return run({}, program, {.mode = kRecordChoices, .early = [&early] {
                             pf_getpid();  // the first question wakes the rank up
                             early();
                           }});
}

RankRun replayEarly(const RankRun& recorded, const Program& early, const Program& program) {
  return run({}, program, {.mode = kReplay, .schedule = scheduleOf(recorded), .early = [&early] {
                             pf_getpid();
                             early();
                           }});
}

TEST(EarlyValues, comeBackBeforeAndBehindMpiInit) {
  const RankRun recorded = recordEarly(
      [] {
        keepNumber(ValueKind::Time, 10);
        keepNumber(ValueKind::Time, 20);
        keepBytesFrom(1, 300, 300);
        keepSeconds(1.5);
      },
      [] {
        keepNumber(ValueKind::Time, 30);
        keepBytesFrom(2, 5, 5);
        keepSeconds(2.5);
      });
  const auto sayAll = [](int first, std::size_t size) {
    sayNumber(ValueKind::Time);
    sayBytes(first, size);
    double seconds = 0;
    recallSeconds(&seconds);
    say("%.1f", seconds);
  };
  const auto behind = [&] { sayAll(2, 5); };
  EXPECT_EQ(replayEarly(
                recorded,
                [&] {
                  sayAll(1, 300);
                  sayNumber(ValueKind::Time);
                  sayNumber(ValueKind::Time);
                },
                behind)
                .said,
            "10\n300 of 300\n1.5\n20\nnone\n30\n5 of 5\n2.5\n");
  // What it did not ask for is not given back later.
  EXPECT_EQ(replayEarly(
                recorded, [] { sayNumber(ValueKind::Time); }, behind)
                .said,
            "10\n30\n5 of 5\n2.5\n");
}

TEST(EarlyValues, mayBeMoreThanAreHeldAtFirst) {
  constexpr std::size_t kMany = 300000;  // bytes
  const RankRun recorded = recordEarly(
      [] {
        keepBytesFrom(3, kMany, kMany);
        keepSeconds(kNoNumber);
      },
      [] { keepBytesFrom(4, 8, 8); });
  const RankRun replayed = replayEarly(
      recorded, [] { sayBytes(3, kMany); }, [] { sayBytes(4, 8); });
  EXPECT_EQ(replayed.said, "300000 of 300000\n8 of 8\n");
  EXPECT_FALSE(isNoted(logOf(recorded), NotGuaranteedKind::EarlyLost));
}

TEST(EarlyValues, thatWereTooManyAreNoted) {
  const RankRun recorded = recordEarly(
      [] {
        for (int i = 0; i < 40; ++i) {
          keepBytesFrom(i, 500000, 500000);
        }
      },
      [] { keepNumber(ValueKind::Time, 1); });
  EXPECT_TRUE(isNoted(logOf(recorded), NotGuaranteedKind::EarlyLost));
  EXPECT_EQ(replay(recorded, {}, [] { sayNumber(ValueKind::Time); }).said, "1\n");
}

TEST(EarlyValues, ofALauncherThatToldNoRankAreMissed) {
  const RankRun recorded =
      recordEarly([] { keepNumber(ValueKind::Time, 10); }, [] { keepNumber(ValueKind::Time, 30); });
  testing::internal::CaptureStderr();
  EXPECT_EQ(replay(recorded, {}, [] { sayNumber(ValueKind::Time); }).said, "30\n");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("did not tell the rank before MPI_Init"),
            std::string::npos);
}

// -- bytes that are no recording

/// Recorded values that end where memory does: who reads on does not come back.
class DamagedValues : public testing::Test {
 protected:
  DamagedValues()
      : m_size(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        m_memory(static_cast<unsigned char*>(::mmap(nullptr, 2 * m_size, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(m_memory + m_size, m_size, PROT_NONE);
    g_systemValues.replay = true;
  }
  ~DamagedValues() override {
    g_systemValues.replay = false;
    ::munmap(m_memory, 2 * m_size);
  }
  ValueStream& put(ValueKind kind, const std::vector<unsigned char>& bytes) {
    unsigned char* const begin = m_memory + m_size - bytes.size();
    std::copy(bytes.begin(), bytes.end(), begin);
    ValueStream& stream = g_systemValues.streams[static_cast<std::size_t>(kind)];
    stream = ValueStream{};
    stream.at = begin;
    stream.end = m_memory + m_size;
    return stream;
  }

 private:
  std::size_t m_size;
  unsigned char* m_memory;
};

TEST_F(DamagedValues, aNumberThatIsCutIsTheLast) {
  put(ValueKind::Time, {0x04, 0x85});
  std::int64_t value = 0;
  EXPECT_TRUE(recallNumber(ValueKind::Time, &value));
  EXPECT_EQ(value, 2);
  recallNumber(ValueKind::Time, &value);
  EXPECT_FALSE(recallNumber(ValueKind::Time, &value));
}

TEST_F(DamagedValues, secondsThatAreCutAreTheLast) {
  double value = 0;
  put(ValueKind::Wtime, {kSecondsBits, 0xFF});
  recallSeconds(&value);
  EXPECT_FALSE(recallSeconds(&value));
  put(ValueKind::Wtime, {kSecondsBits});
  recallSeconds(&value);
  EXPECT_FALSE(recallSeconds(&value));
}

TEST_F(DamagedValues, bytesThatAreCutAreThoseThatThereAre) {
  unsigned char got[300] = {};
  put(ValueKind::Getrandom, {0xC8, 0x01, 'a', 'b'});  // 200 bytes
  EXPECT_EQ(recallBytes(ValueKind::Getrandom, got, sizeof got), 2);
  EXPECT_EQ(std::memcmp(got, "ab", 3), 0);
  EXPECT_EQ(recallBytes(ValueKind::Getrandom, got, sizeof got), -1);
  put(ValueKind::Getrandom, {0x03, 'a', 'b'});
  EXPECT_EQ(recallBytes(ValueKind::Getrandom, got, sizeof got), 2);
}

/// A piece says a length that no record has: no more is written than was asked for.
TEST_F(DamagedValues, bytesThatAreTooManyGoNowhereElse) {
  std::vector<unsigned char> bytes{0xE8, 0x07};  // 1000
  bytes.resize(1002, 'x');
  ValueStream& stream = put(ValueKind::Getrandom, bytes);
  unsigned char got[400] = {};
  EXPECT_LE(recallBytes(ValueKind::Getrandom, got, 300), 300);
  EXPECT_EQ(std::accumulate(got + 300, got + 400, 0), 0);
  EXPECT_EQ(stream.at, stream.end);
}

// -- clocks behind the end of the record

TEST_F(DamagedValues, aClockGoesOnWhereTheRecordEnded) {
  std::int64_t value = 0;
  put(ValueKind::Time, {0x50});  // 40
  EXPECT_TRUE(recallNumber(ValueKind::Time, &value));
  EXPECT_EQ(liveClock(ValueKind::Time, 1000), 40);
  EXPECT_EQ(liveClock(ValueKind::Time, 1007), 47);
  put(ValueKind::Time, {});
  EXPECT_EQ(liveClock(ValueKind::Time, 1007), 1007);  // it has told no time
  put(ValueKind::Wtime, {0x50 << 1 & 0xFF, 0x01});
  g_systemValues.streams[static_cast<std::size_t>(ValueKind::Wtime)].any = true;
  g_systemValues.streams[static_cast<std::size_t>(ValueKind::Wtime)].seconds = 2.0;
  EXPECT_EQ(liveSeconds(10.0), 2.0);
  EXPECT_EQ(liveSeconds(10.5), 2.5);
}

TEST(LiveClocks, areTheSystemsInARecording) {
  EXPECT_EQ(liveClock(ValueKind::Time, 1007), 1007);
  EXPECT_EQ(liveSeconds(10.5), 10.5);
}

}  // namespace
}  // namespace pf::test
