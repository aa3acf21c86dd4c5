// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes and digests of what a rank gives to others: which bytes of its memory count, and whose part
// of a collective it is.
#include "replay_engine/rank/engine/contents.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/tests/rank_run.h"

namespace pf {

bool operator==(const Contents& a, const Contents& b) {
  return a.known == b.known && a.digested == b.digested && a.operation == b.operation &&
         a.bytes == b.bytes && a.digest == b.digest;
}

void PrintTo(const Contents& of, std::ostream* out) {
  *out << of.bytes << " bytes, " << (of.digested ? std::to_string(of.digest) : "not digested")
       << ", operation " << of.operation;
}

}  // namespace pf

namespace pf::test {
namespace {

/// Rank 1 of 3, which digests.
class ContentsOf : public testing::Test {
 protected:
  ContentsOf() {
    fake::begin({.rank = 1, .size = 3});
    g_engine.contents = true;
    g_engine.nowhere = MPI_COMM_SELF;
  }
  ~ContentsOf() override {
    g_engine.contents = false;
    g_engine.nowhere = MPI_Comm{};
  }

  /// `blocks` ints, each `stride` behind the one before.
  static MPI_Datatype ints(int blocks, int stride) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(blocks, 1, stride, MPI_INT, &made);
    return made;
  }
};

using Ints = std::vector<int>;

Contents contentsOfInts(const Ints& values) {
  return contentsOf({values.data(), static_cast<int>(values.size()), MPI_INT});
}

Contents sized(std::uint64_t bytes) {
  return {.known = true, .bytes = bytes};
}

// -- bytes

TEST_F(ContentsOf, equalBytesAreEqualWhereverTheyAre) {
  const Contents seven = contentsOfInts({7, 7});
  EXPECT_EQ(seven.bytes, 8U);
  EXPECT_TRUE(seven.digested);
  EXPECT_EQ(seven, contentsOfInts({7, 7}));
  EXPECT_NE(seven, contentsOfInts({7, 8}));
  EXPECT_NE(seven, contentsOfInts({7}));
  char room[12];
  const int values[2] = {7, 7};
  std::memcpy(room + 3, values, sizeof values);
  EXPECT_EQ(seven, contentsOf({room + 3, 8, MPI_BYTE}));
}

TEST_F(ContentsOf, nothingHasASizeOnly) {
  const int value = 7;
  EXPECT_EQ(contentsOf({&value, 0, MPI_INT}), sized(0));
  EXPECT_EQ(contentsOf({&value, -1, MPI_INT}), sized(0));
  EXPECT_EQ(contentsOf({nullptr, 2, MPI_INT}), sized(8));  // MPI says that it is wrong
  EXPECT_EQ(contentsOf({&value, 1, MPI_DATATYPE_NULL}), sized(0));
  g_engine.contents = false;
  EXPECT_FALSE(contentsOf({&value, 1, MPI_INT}).known);
}

/// Wherever it begins, and however much of it is looked at together.
TEST_F(ContentsOf, eachByteOfALargeMessageCounts) {
  for (const std::size_t size : {8183U, 8184U, 8185U, 8192U, 20000U, 1200001U}) {
    std::vector<unsigned char> bytes(size + 1);
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] = static_cast<unsigned char>(0x80U | (i * 7U >> 3U));  // no addresses
    }
    const auto contentsAt = [&](std::size_t offset) {
      return contentsOf({&bytes[offset], static_cast<int>(size), MPI_BYTE});
    };
    const Contents before = contentsAt(0);
    for (const std::size_t at : {std::size_t{0}, std::size_t{8183} % size, size - 1}) {
      bytes[at] ^= 1U;
      EXPECT_NE(contentsAt(0), before) << size << " at " << at;
      bytes[at] ^= 1U;
    }
    std::memmove(&bytes[1], bytes.data(), size);
    EXPECT_EQ(contentsAt(1), before) << size;
  }
}

TEST_F(ContentsOf, piecesAreAsOne) {
  Ints values(7000);
  std::iota(values.begin(), values.end(), -3000);
  Digester digester;
  for (std::size_t at = 0; at < values.size(); at += 100) {
    digester.add(&values[at], 100, MPI_INT);
  }
  EXPECT_EQ(digester.contents(), contentsOfInts(values));
}

TEST_F(ContentsOf, whatIsNotSeenHasASize) {
  const int value = 7;
  Digester digester;
  digester.add(&value, 1, MPI_INT);
  digester.addUnseen(3, MPI_INT);
  digester.addUnseen(-3, MPI_INT);
  digester.add(&value, 1, MPI_INT);
  EXPECT_EQ(digester.contents(), sized(20));
}

// -- datatypes

TEST_F(ContentsOf, gapsDoNotCount) {
  MPI_Datatype type = ints(3, 2);
  const auto with = [&](int gap) {
    const Ints values{1, gap, 2, gap, 3, gap};
    return contentsOf({values.data(), 1, type});
  };
  EXPECT_EQ(with(0), with(9));
  EXPECT_EQ(with(0), contentsOfInts({1, 2, 3}));
  MPI_Type_free(&type);
}

TEST_F(ContentsOf, elementsWithGapsBetweenThem) {
  MPI_Datatype type = ints(2, 3);  // 1 . . 2
  const Ints values{1, 0, 0, 2, 3, 0, 0, 4};
  EXPECT_EQ(contentsOf({values.data(), 2, type}), contentsOfInts({1, 2, 3, 4}));
  MPI_Type_free(&type);
}

/// More than is packed at once.
TEST_F(ContentsOf, manyElementsWithGaps) {
  constexpr int kMany = 150000;
  MPI_Datatype type = ints(2, 2);  // 1 . 2: 8 bytes of 12
  Ints values(3 * kMany);
  Ints packed;
  for (int i = 0; i < 3 * kMany; ++i) {
    values[static_cast<std::size_t>(i)] = i % 3 == 1 ? -1 : i;
    if (i % 3 != 1) {
      packed.push_back(i);
    }
  }
  EXPECT_EQ(contentsOf({values.data(), kMany, type}), contentsOfInts(packed));
  MPI_Type_free(&type);
}

/// Of 16 bytes of a long double 10 are the number.
TEST_F(ContentsOf, paddingDoesNotCount) {
  if (sizeof(long double) <= 10) {
    GTEST_SKIP() << "no padding here";
  }
  const auto with = [](long double value, int padding, MPI_Datatype type) {
    std::array<long double, 2> numbers;
    std::memset(numbers.data(), padding, sizeof numbers);
    for (long double& number : numbers) {
      std::memcpy(&number, &value, 10);
    }
    return contentsOf({numbers.data(), type == MPI_LONG_DOUBLE ? 2 : 1, type});
  };
  EXPECT_EQ(with(1.5L, 0, MPI_LONG_DOUBLE), with(1.5L, 0xFF, MPI_LONG_DOUBLE));
  EXPECT_NE(with(1.5L, 0, MPI_LONG_DOUBLE), with(2.5L, 0, MPI_LONG_DOUBLE));
  EXPECT_EQ(with(1.5L, 0, MPI_C_LONG_DOUBLE_COMPLEX), with(1.5L, 7, MPI_C_LONG_DOUBLE_COMPLEX));
  EXPECT_EQ(with(1.5L, 0, MPI_LONG_DOUBLE_INT), sized(20));  // where it lies in there is not known
}

TEST_F(ContentsOf, aTypeThatIsMadeOfPaddedNumbersHasNoDigest) {
  MPI_Datatype padded = MPI_DATATYPE_NULL;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 1, MPI_LONG_DOUBLE, &padded);
  MPI_Type_vector(2, 1, 1, MPI_INT, &whole);
  const long double numbers[2] = {};
  for (int again = 0; again < 2; ++again) {  // then it is known by the type
    EXPECT_EQ(contentsOf({numbers, 1, padded}), sized(sizeof numbers));
    EXPECT_TRUE(contentsOf({numbers, 1, whole}).digested);
  }
  MPI_Type_free(&padded);
  MPI_Type_free(&whole);
}

// -- addresses

Contents ofWords(const std::vector<std::uint64_t>& words) {
  return contentsOf({words.data(), static_cast<int>(8 * words.size()), MPI_BYTE});
}

std::uint64_t addressOf(const void* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

TEST_F(ContentsOf, whichAddressItIsDoesNotCount) {
  const int onStack = 0;
  static const int inProgram = 0;
  const Contents one = ofWords({5, addressOf(&onStack), 6});
  EXPECT_EQ(one, ofWords({5, addressOf(&inProgram), 6}));
  EXPECT_EQ(one, ofWords({5, addressOf(stdout), 6}));
  EXPECT_NE(one, ofWords({5, addressOf(&onStack), 7}));
  EXPECT_NE(one, ofWords({addressOf(&onStack), 5, 6}));
  EXPECT_NE(one, ofWords({5, 6, 6}));
}

TEST_F(ContentsOf, numbersAreNoAddresses) {
  std::uint64_t pi = 0;
  const double value = 3.14159;
  std::memcpy(&pi, &value, sizeof pi);
  for (const std::uint64_t word :
       {std::uint64_t{1} << 40, pi, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    EXPECT_NE(ofWords({word}), ofWords({word + 1})) << word;
  }
}

TEST_F(ContentsOf, manyAddresses) {
  const auto pointers = [](std::uint64_t base) {
    std::vector<std::uint64_t> words(3000);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = i % 5 == 0 ? i : base + 16 * i;
    }
    return words;
  };
  const std::uint64_t stack = addressOf(&pointers) & ~std::uint64_t{0xFFFFFF};
  EXPECT_EQ(ofWords(pointers(stack)), ofWords(pointers(stack - 0x100000)));
  std::vector<std::uint64_t> other = pointers(stack);
  other[2997] = 1;
  EXPECT_NE(ofWords(pointers(stack)), ofWords(other));
}

// -- collectives

TEST_F(ContentsOf, aReductionSaysItsOperation) {
  const int value = 7;
  const int result = 9;
  const auto reduced = [&](MPI_Op op, const void* from) {
    return givenToReduce(from, &result, 1, MPI_INT, op);
  };
  EXPECT_EQ(reduced(MPI_MAX, &value).operation, 1U);
  EXPECT_EQ(reduced(MPI_SUM, &value).operation, 3U);
  EXPECT_NE(reduced(MPI_LAND, &value), reduced(MPI_BAND, &value));
  Contents ofProgram = reduced(reinterpret_cast<MPI_Op>(const_cast<int*>(&value)), &value);
  EXPECT_EQ(ofProgram.operation, 15U);
  EXPECT_EQ(reduced(MPI_SUM, MPI_IN_PLACE).digest, contentsOfInts({9}).digest);
  EXPECT_EQ(givenToReduce(&value, nullptr, 1, MPI_INT, MPI_SUM, MPI_PROC_NULL), Contents{});
  EXPECT_EQ(givenToReduceBlock(&value, nullptr, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD).bytes, 0U);
}

TEST_F(ContentsOf, onlyARootGivesAndAllKnowTheSize) {
  const Ints values{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(givenByRoot(values.data(), 2, MPI_INT, 1, MPI_COMM_WORLD), contentsOfInts({1, 2}));
  EXPECT_EQ(givenByRoot(values.data(), 2, MPI_INT, 0, MPI_COMM_WORLD), sized(8));
  EXPECT_EQ(givenByRoot(values.data(), 2, MPI_INT, MPI_PROC_NULL, MPI_COMM_WORLD), Contents{});
  EXPECT_EQ(givenByRoot(values.data(), 2, MPI_INT, 1, MPI_COMM_NULL), Contents{});
  EXPECT_EQ(givenToScatter(values.data(), 2, MPI_INT, 1, MPI_COMM_WORLD), contentsOfInts(values));
  EXPECT_EQ(givenToScatter(values.data(), 2, MPI_INT, 2, MPI_COMM_WORLD), Contents{});
  EXPECT_EQ(givenToGather(values.data(), 2, MPI_INT, 0), contentsOfInts({1, 2}));
  EXPECT_EQ(givenToGather(MPI_IN_PLACE, 2, MPI_INT, 1), Contents{});
}

TEST_F(ContentsOf, whatIsInPlaceIsTheReceiveBuffers) {
  const Ints sent{1, 2, 3};
  const Ints room{4, 5, 6};
  const auto toAll = [&](const void* from) {
    return givenToAll(from, 1, MPI_INT, room.data(), 1, MPI_INT, MPI_COMM_WORLD);
  };
  const auto toEach = [&](const void* from) {
    return givenToEach(from, 1, MPI_INT, room.data(), 1, MPI_INT, MPI_COMM_WORLD);
  };
  EXPECT_EQ(toAll(sent.data()), contentsOfInts({1}));
  EXPECT_EQ(toAll(MPI_IN_PLACE), contentsOfInts({5}));  // this rank's part
  EXPECT_EQ(toEach(sent.data()), contentsOfInts(sent));
  EXPECT_EQ(toEach(MPI_IN_PLACE), contentsOfInts(room));
}

TEST_F(ContentsOf, piecesByDisplacements) {
  const Ints values{10, 11, 12, 13, 14, 15};
  const int counts[3] = {2, 0, 1};
  const int at[3] = {4, 0, 1};
  const int bytesAt[3] = {16, 0, 4};
  const MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
  const Contents expected = contentsOfInts({14, 15, 11});
  EXPECT_EQ(givenPieces(values.data(), counts, at, MPI_INT, 3), expected);
  EXPECT_EQ(givenTypes(values.data(), counts, bytesAt, types, 3), expected);
  EXPECT_EQ(givenToScatterOf(values.data(), counts, at, MPI_INT, 1, MPI_COMM_WORLD), expected);
  EXPECT_EQ(givenToScatterOf(values.data(), counts, at, MPI_INT, 0, MPI_COMM_WORLD), Contents{});
  EXPECT_EQ(givenToEachOf(MPI_IN_PLACE, counts, at, MPI_INT, values.data(), counts, at, MPI_INT,
                          MPI_COMM_WORLD),
            expected);
  const int mine[3] = {0, 2, 0};
  const int mineAt[3] = {0, 3, 0};
  EXPECT_EQ(
      givenToAllOf(MPI_IN_PLACE, 0, MPI_INT, values.data(), mine, mineAt, MPI_INT, MPI_COMM_WORLD),
      contentsOfInts({13, 14}));
  EXPECT_EQ(givenToReduceOf(values.data(), nullptr, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD).bytes,
            12U);
  const int* const none = nullptr;  // MPI says that it is wrong
  EXPECT_EQ(givenPieces(values.data(), none, at, MPI_INT, 3), sized(0));
  EXPECT_EQ(givenTypes(values.data(), counts, none, types, 3), sized(0));
}

TEST_F(ContentsOf, countsOfOtherRanks) {
  const int all[3] = {1, 1, 1};
  const int notMine[3] = {1, 0, 1};
  const int notOthers[3] = {1, 1, 0};
  EXPECT_TRUE(countsForAll(MPI_COMM_WORLD, all, MPI_INT));
  EXPECT_TRUE(countsForAll(MPI_COMM_WORLD, notMine, MPI_INT));
  EXPECT_FALSE(countsForAll(MPI_COMM_WORLD, notOthers, MPI_INT));
  EXPECT_EQ(countForMe(MPI_COMM_WORLD, notMine), 0);
  EXPECT_EQ(countForMe(MPI_COMM_WORLD, notOthers), 1);
  EXPECT_EQ(countForMe(MPI_COMM_NULL, notMine), 1);
}

// -- replays

TEST(ContentsInAReplay, otherGapsAreNotTold) {
  const auto program = [](int gap, int value) {
    return [gap, value] {
      const int values[4] = {value, gap, value, gap};
      MPI_Datatype type = MPI_DATATYPE_NULL;
      MPI_Type_vector(2, 1, 2, MPI_INT, &type);
      MPI_Send(values, 1, type, 1, 5, MPI_COMM_WORLD);
    };
  };
  const RankRun recorded = record(kRecordEvents, {}, program(1, 7));
  EXPECT_EQ(replay(recorded, {}, program(2, 7)).otherContentsAt, 0U);
  EXPECT_EQ(replay(recorded, {}, program(1, 8)).otherContentsAt, 2U);
}

TEST(ContentsInAReplay, whatIsGivenToAReductionIsCompared) {
  const fake::Script script{.brought = {1, 2}};
  const auto program = [](int value) {
    return [value] {
      int result = 0;
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    };
  };
  const RankRun recorded = record(kRecordEvents, script, program(7));
  EXPECT_EQ(replay(recorded, script, program(7)).otherContentsAt, 0U);
  const RankRun replayed = replay(recorded, script, program(8));
  EXPECT_EQ(replayed.otherContentsAt, 3U);
  EXPECT_EQ(replayed.ending, Ending::Finished);
}

}  // namespace
}  // namespace pf::test
