// SPDX-License-Identifier: GPL-3.0-or-later
// A thread's heap and the slots that threads take: sizes, places, and what is used again.
#include "replay_engine/rank/fixed_heap/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "replay_engine/rank/fixed_heap/tests/test_thread.h"

namespace pf::memory::test {
namespace {

bool isAll(const void* block, std::size_t size, unsigned char value) {
  const auto* bytes = static_cast<const unsigned char*>(block);
  return std::all_of(bytes, bytes + size, [value](unsigned char byte) { return byte == value; });
}

// -- sizes

TEST(Heap, aBlockIsAsLargeAsAskedForAndHardlyLarger) {
  TestThread thread;
  for (unsigned shift = 0; shift < 30; ++shift) {
    const std::size_t power = std::size_t{1} << shift;
    for (const std::size_t size : {power - 1, power, power + 1, power + power / 2}) {
      void* const block = thread.take(size);
      ASSERT_NE(block, nullptr) << size;
      EXPECT_EQ(addressOf(block) % 16, 0U) << size;
      EXPECT_GE(usableSize(block), std::max<std::size_t>(size, 1)) << size;
      EXPECT_LE(usableSize(block), size + std::max<std::size_t>(16, size / 4)) << size;
      thread.give(block);
    }
  }
}

TEST(Heap, refusesWhatNoMachineHas) {
  TestThread thread;
  for (const std::size_t alignment : {std::size_t{16}, std::size_t{64}, kPage, kTiB}) {
    for (const std::size_t size : {kTiB, SIZE_MAX / 2, SIZE_MAX - kPage, SIZE_MAX - 8, SIZE_MAX}) {
      EXPECT_EQ(thread.take(size, alignment), nullptr) << size << " at " << alignment;
    }
  }
  EXPECT_EQ(thread.take(1, kTiB), nullptr);
}

// -- places

TEST(Heap, blocksDoNotOverlap) {
  TestThread thread;
  std::mt19937 random(7);
  struct Taken {
    std::size_t size;
    unsigned char filled;
  };
  std::map<unsigned char*, Taken> taken;
  for (int i = 0; i < 4000; ++i) {
    if (taken.size() > 200 || (!taken.empty() && random() % 3 == 0)) {
      const auto at =
          std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      ASSERT_TRUE(isAll(at->first, at->second.size, at->second.filled));
      thread.give(at->first);
      taken.erase(at);
      continue;
    }
    const std::size_t size = random() % (std::size_t{1} << random() % 17);
    auto* const block =
        static_cast<unsigned char*>(thread.take(size, std::size_t{16} << random() % 9));
    ASSERT_NE(block, nullptr);
    const std::size_t usable = usableSize(block);
    const auto filled = static_cast<unsigned char>(random());
    std::memset(block, filled, usable);
    ASSERT_TRUE(taken.emplace(block, Taken{usable, filled}).second);
  }
}

TEST(Heap, alignedBlocksLieWhereTheyShould) {
  TestThread thread;
  for (std::size_t alignment = 32; alignment <= 32 * kStep; alignment *= 2) {
    char* const block = static_cast<char*>(thread.take(100, alignment));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(addressOf(block) % alignment, 0U);
    EXPECT_GE(usableSize(block), 100U);
    block[0] = 1;
    block[usableSize(block) - 1] = 1;
    EXPECT_EQ(kindOf(block), HeapKind::Program);
  }
}

TEST(Heap, goesOnInSlotsWhereItsRangeEnds) {
  TestThread thread;
  thread.program.range.end = thread.program.range.at + kStep;
  EXPECT_LT(addressOf(thread.take(1000)), kThreadsBegin);
  const std::uintptr_t first = addressOf(thread.take(2 * kStep));
  EXPECT_GE(first, kThreadsBegin);
  EXPECT_LT(first, kHeapsEnd);
  EXPECT_EQ(first % kSlotSize, 16U);  // behind its header
  EXPECT_EQ(addressOf(thread.take(kStep)), first + 2 * kStep + 16);
  EXPECT_EQ(thread.slots, 1U);
}

TEST(Heap, maysNotTakeMemoryOfOthers) {
  TestThread thread;
  void* const others = reinterpret_cast<void*>(thread.program.range.at + kStep / 2);
  ASSERT_EQ(
      ::mmap(others, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
      others);
  std::memset(others, 5, kPage);
  errno = 0;
  EXPECT_EQ(thread.take(100), nullptr);
  EXPECT_EQ(errno, 0);  // malloc() says what is to be said
  EXPECT_TRUE(isAll(others, kPage, 5));
  ::munmap(others, kPage);
  EXPECT_NE(thread.take(100), nullptr);
}

// -- what is used again

TEST(Heap, whatWasFreedLastIsUsedFirst) {
  TestThread thread;
  void* const first = thread.take(100);
  void* const second = thread.take(100);
  void* const smaller = thread.take(50);
  thread.give(first);
  thread.give(smaller);
  thread.give(second);
  EXPECT_EQ(thread.take(97), second);
  EXPECT_EQ(thread.take(112), first);
  const void* const third = thread.take(100);
  EXPECT_GT(addressOf(third), addressOf(smaller));  // a new one: none of its size is left
  EXPECT_EQ(thread.take(64), smaller);
}

TEST(Heap, onlyNewBlocksAreZero) {
  TestThread thread;
  bool fresh = false;
  void* const block = thread.take(5000, 16, &fresh);
  EXPECT_TRUE(fresh);
  EXPECT_TRUE(isAll(block, usableSize(block), 0));
  std::memset(block, 9, usableSize(block));
  thread.give(block);
  EXPECT_EQ(thread.take(5000, 16, &fresh), block);
  EXPECT_FALSE(fresh);
}

TEST(Heap, anAlignedBlockIsUsedAgainAsAWhole) {
  TestThread thread;
  thread.take(16);  // so that the next one lies not at its alignment
  void* const block = thread.take(1000, 4096);
  thread.give(block);
  void* const whole = thread.take(5096);
  EXPECT_LT(addressOf(whole), addressOf(block));
  EXPECT_GE(addressOf(whole) + usableSize(whole), addressOf(block) + 1000);
  thread.give(whole);
  EXPECT_EQ(thread.take(1000, 4096), block);
}

TEST(Heap, theSystemGetsThePagesOfLargeBlocksBack) {
  TestThread thread;
  auto* const block = static_cast<unsigned char*>(thread.take(kStep));
  std::memset(block, 7, kStep);
  errno = 0;
  thread.give(block);
  EXPECT_EQ(errno, 0);
  auto* const begin =
      reinterpret_cast<unsigned char*>(roundUp(addressOf(block) + sizeof(void*), kPage));
  EXPECT_TRUE(isAll(begin, kStep - kPage, 0));
  void* const behind = thread.take(100);
  std::memset(behind, 1, 100);
  EXPECT_EQ(thread.take(kStep), block);
}

// -- what is no block

TEST(HeapDeathTest, aBlockThatIsFreedTwiceEndsTheProgram) {
  for (const std::size_t alignment : {16U, 4096U}) {
    TestThread thread;
    thread.take(1);
    void* const block = thread.take(100, alignment);
    thread.give(block);
    EXPECT_DEATH(kindOf(block), "frees memory twice");
  }
}

TEST(HeapDeathTest, aBlockWhoseHeaderIsOverwrittenEndsTheProgram) {
  TestThread thread;
  char* const block = static_cast<char*>(thread.take(100));
  std::memset(block - 16, 0x20, 16);
  EXPECT_DEATH(kindOf(block), "written before its begin");
  EXPECT_DEATH(kindOf(block + 16), "frees what is no memory");
}

// -- slots

TEST(Slots, areTheSameInEachRun) {
  const auto slotsOf = [](std::uint64_t key) {
    return inAProcess([key] {
      TestThread thread;
      thread.key = key;
      std::vector<std::uintptr_t> slots;
      for (const std::size_t size : {kSlotSize, std::size_t{1}, 3 * kSlotSize, kSlotSize + 1}) {
        slots.push_back(takeSlots(thread, size));
      }
      return slots;
    });
  };
  EXPECT_EQ(slotsOf(5).size(), 4U);
  EXPECT_EQ(slotsOf(5), slotsOf(5));
  EXPECT_NE(slotsOf(5), slotsOf(6));
}

TEST(Slots, areNobodyElses) {
  const std::vector<std::uintptr_t> free = inAProcess([] {
    std::map<std::uintptr_t, std::uintptr_t> taken;  // begin, end
    for (std::uint64_t key = 0; key < 1000; ++key) {
      TestThread thread;
      thread.key = key;
      const std::size_t size = (1 + key % 5) * kSlotSize;
      const std::uintptr_t begin = takeSlots(thread, size);
      taken[begin] = begin + size;
    }
    std::vector<std::uintptr_t> wrong;
    std::uintptr_t before = kThreadsBegin;
    for (const auto& [begin, end] : taken) {
      if (begin < before || end > kHeapsEnd || begin % kSlotSize != 0) {
        wrong.push_back(begin);
      }
      before = end;
    }
    wrong.push_back(taken.size());
    return wrong;
  });
  EXPECT_EQ(free, std::vector<std::uintptr_t>{1000});
}

TEST(Slots, haveAnEnd) {
  const std::vector<std::uintptr_t> taken = inAProcess([] {
    TestThread thread;
    const std::uintptr_t tooMany = takeSlots(thread, kSlots * kSlotSize);
    while (takeSlots(thread, kSlotSize) != 0) {
    }
    thread.program.range.end = thread.program.range.at;
    return std::vector<std::uintptr_t>{tooMany, thread.slots, addressOf(thread.take(1))};
  });
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0], 0U);
  EXPECT_GT(taken[1], kSlots - 100);  // tests before this one have some
  EXPECT_EQ(taken[2], 0U);
}

}  // namespace
}  // namespace pf::memory::test
