// SPDX-License-Identifier: GPL-3.0-or-later
// malloc and its like, mmap and sbrk as the program, MPI and libc call them: under other names
// (CMakeLists.txt), so that the test itself has its memory from libc.
#include <sys/mman.h>
#include <sys/shm.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/fixed_heap/tests/test_thread.h"

extern "C" {
void* pf_memory_malloc(std::size_t size);
void pf_memory_free(void* block);
void* pf_memory_calloc(std::size_t count, std::size_t each);
void* pf_memory_realloc(void* block, std::size_t size);
void* pf_memory_reallocarray(void* block, std::size_t count, std::size_t each);
void* pf_memory_memalign(std::size_t alignment, std::size_t size);
void* pf_memory_aligned_alloc(std::size_t alignment, std::size_t size);
int pf_memory_posix_memalign(void** out, std::size_t alignment, std::size_t size);
void* pf_memory_valloc(std::size_t size);
void* pf_memory_pvalloc(std::size_t size);
std::size_t pf_memory_malloc_usable_size(void* block);
void* pf_memory_mmap(void* wish, std::size_t size, int protection, int flags, int fd, off_t at);
void* pf_memory_shmat(int segment, const void* wish, int flags);
int pf_memory_brk(void* to);
void* pf_memory_sbrk(std::intptr_t by);
}

namespace pf::memory::test {
namespace {

constexpr std::size_t kHuge = SIZE_MAX - 100;

bool holds(const void* block, const char* text) {
  return std::strcmp(static_cast<const char*>(block), text) == 0;
}

void* holding(void* block, const char* text) {
  std::strcpy(static_cast<char*>(block), text);
  return block;
}

// -- the program's blocks

TEST(MemoryCalls, callocClearsWhatIsUsedAgain) {
  TestThread thread;
  const Calls program(&thread);
  void* const block = pf_memory_malloc(64);
  std::memset(block, 0xFF, 64);
  pf_memory_free(block);
  const auto* const again = static_cast<const char*>(pf_memory_calloc(8, 8));
  EXPECT_EQ(again, block);
  EXPECT_EQ(std::count(again, again + 64, 0), 64);
}

TEST(MemoryCalls, whatCannotBeIsRefused) {
  TestThread thread;
  const Calls program(&thread);
  void* const block = holding(pf_memory_malloc(32), "stays");
  const auto refuses = [](void* made) {
    const bool said = errno == ENOMEM;
    errno = 0;
    return made == nullptr && said;
  };
  errno = 0;
  EXPECT_TRUE(refuses(pf_memory_malloc(kHuge)));
  EXPECT_TRUE(refuses(pf_memory_calloc(SIZE_MAX / 2, 3)));
  EXPECT_TRUE(refuses(pf_memory_realloc(block, kHuge)));
  EXPECT_TRUE(refuses(pf_memory_reallocarray(block, SIZE_MAX / 2, 3)));
  EXPECT_TRUE(refuses(pf_memory_memalign(64, kHuge)));
  EXPECT_TRUE(refuses(pf_memory_aligned_alloc(4096, kHuge)));
  EXPECT_TRUE(refuses(pf_memory_valloc(kHuge)));
  EXPECT_TRUE(refuses(pf_memory_pvalloc(kHuge)));
  EXPECT_TRUE(holds(block, "stays"));
}

TEST(MemoryCalls, reallocKeepsTheContents) {
  TestThread thread;
  const Calls program(&thread);
  void* const small = holding(pf_memory_realloc(nullptr, 20), "contents");
  EXPECT_EQ(pf_memory_realloc(small, 32), small);  // there is room
  void* const large = pf_memory_reallocarray(small, 100, 100);
  EXPECT_NE(large, small);
  EXPECT_TRUE(holds(large, "contents"));
  EXPECT_EQ(pf_memory_realloc(large, 6000), large);
  void* const less = pf_memory_realloc(large, 100);  // would waste most of it
  EXPECT_NE(less, large);
  EXPECT_TRUE(holds(less, "contents"));
  EXPECT_EQ(pf_memory_malloc(10000), large);
  EXPECT_EQ(pf_memory_malloc(20), small);
}

TEST(MemoryCalls, reallocToNothingFrees) {
  TestThread thread;
  const Calls program(&thread);
  void* const block = pf_memory_malloc(48);
  EXPECT_EQ(pf_memory_realloc(block, 0), nullptr);
  EXPECT_EQ(pf_memory_malloc(48), block);
}

TEST(MemoryCalls, alignments) {
  TestThread thread;
  const Calls program(&thread);
  void* block = nullptr;
  errno = 7;
  EXPECT_EQ(pf_memory_posix_memalign(&block, 256, 10), 0);
  EXPECT_EQ(addressOf(block) % 256, 0U);
  void* const was = block;
  for (const std::size_t alignment : {0U, 4U, 24U, 40U}) {
    EXPECT_EQ(pf_memory_posix_memalign(&block, alignment, 10), EINVAL) << alignment;
  }
  EXPECT_EQ(pf_memory_posix_memalign(&block, 4096, kHuge), ENOMEM);
  EXPECT_EQ(block, was);
  EXPECT_EQ(errno, 7);  // it says all by what it returns
  EXPECT_EQ(addressOf(pf_memory_memalign(48, 10)) % 64, 0U);
  EXPECT_EQ(addressOf(pf_memory_aligned_alloc(1024, 10)) % 1024, 0U);
  EXPECT_EQ(addressOf(pf_memory_valloc(10)) % kPage, 0U);
  void* const pages = pf_memory_pvalloc(kPage + 1);
  EXPECT_EQ(addressOf(pages) % kPage, 0U);
  EXPECT_GE(pf_memory_malloc_usable_size(pages), 2 * kPage);
  EXPECT_EQ(pf_memory_malloc_usable_size(nullptr), 0U);
}

// -- blocks of others

TEST(MemoryCalls, whatMpiAsksForComesFromLibc) {
  const Calls mpi(nullptr);
  std::vector<void*> blocks{pf_memory_malloc(10), pf_memory_calloc(1, 10),
                            pf_memory_realloc(nullptr, 10)};
#ifndef __SANITIZE_ADDRESS__  // which stands in for __libc_memalign, and not for __libc_free
  blocks.push_back(pf_memory_memalign(64, 10));
#endif
  for (void* block : blocks) {
    ASSERT_NE(block, nullptr);
    EXPECT_FALSE(isPrograms(block));
    pf_memory_free(block);
  }
}

TEST(MemoryCalls, libcHasAHeapOfItsOwnForTheProgram) {
  TestThread thread;
  void* copy = nullptr;
  {
    const Calls libc(&thread, Calls::As::Libc);
    copy = pf_memory_malloc(100);
  }
  const Calls program(&thread);
  void* const block = pf_memory_malloc(100);
  EXPECT_TRUE(isPrograms(copy));
  EXPECT_EQ(kindOf(copy), HeapKind::Libc);
  EXPECT_EQ(kindOf(block), HeapKind::Program);
  pf_memory_free(copy);
  EXPECT_NE(pf_memory_malloc(100), copy);
  const Calls libc(&thread, Calls::As::Libc);
  EXPECT_EQ(pf_memory_malloc(100), copy);
}

TEST(MemoryCalls, aStreamsBufferIsNoneOfTheProgram) {
  TestThread thread;
  const Calls stream(&thread, Calls::As::StreamBuffer);
  void* const buffer = pf_memory_malloc(4096);
  EXPECT_FALSE(isPrograms(buffer));
  pf_memory_free(buffer);
}

/// When MPI does so may differ between runs.
TEST(MemoryCalls, whatMpiFreesOfTheProgramIsNotUsedAgain) {
  TestThread thread;
  const Calls program(&thread);
  void* const block = pf_memory_malloc(100);
  {
    const Calls mpi(nullptr);
    pf_memory_free(block);
  }
  EXPECT_NE(pf_memory_malloc(100), block);
}

TEST(MemoryCalls, mpiReallocatesABlockOfTheProgram) {
  TestThread thread;
  void* block = nullptr;
  {
    const Calls program(&thread);
    block = holding(pf_memory_malloc(100), "handed over");
  }
  const Calls mpi(nullptr);
  void* const made = pf_memory_realloc(block, 5000);
  EXPECT_FALSE(isPrograms(made));
  EXPECT_TRUE(holds(made, "handed over"));
  pf_memory_free(made);
}

TEST(MemoryCalls, theProgramReallocatesABlockOfMpi) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer is asked for the size of a block of libc's";
#endif
  void* block = nullptr;
  {
    const Calls mpi(nullptr);
    block = holding(pf_memory_malloc(100), "handed over");
  }
  TestThread thread;
  const Calls program(&thread);
  void* const made = pf_memory_realloc(block, 20);
  EXPECT_TRUE(isPrograms(made));
  EXPECT_TRUE(holds(made, "handed over"));
}

TEST(MemoryCallsDeathTest, theProgramFreesTwice) {
  TestThread thread;
  const Calls program(&thread);
  void* const block = pf_memory_malloc(100);
  pf_memory_free(nullptr);
  pf_memory_free(block);
  EXPECT_DEATH(pf_memory_free(block), "frees memory twice");
  EXPECT_DEATH(pf_memory_realloc(block, 10), "frees memory twice");
}

// -- mappings

void* mapped(std::size_t size, void* wish = nullptr, int more = 0) {
  return pf_memory_mmap(wish, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1,
                        0);
}

TEST(MappingCalls, theProgramsLieOneBehindTheOther) {
  TestThread thread;
  const std::uintptr_t begin = thread.maps.at;
  const Calls program(&thread);
  EXPECT_EQ(addressOf(mapped(10)), begin);
  EXPECT_EQ(addressOf(mapped(kMapStep)), begin + kMapStep);
  EXPECT_EQ(addressOf(mapped(kPage)),
            begin + 3 * kMapStep);  // the kernel made one of two without a gap
}

TEST(MappingCalls, othersDoNotShiftThem) {
  TestThread thread;
  const std::uintptr_t begin = thread.maps.at;
  {
    const Calls mpi(nullptr);
    const std::uintptr_t guest = addressOf(mapped(kMapStep));
    EXPECT_GE(guest, kGuestsBegin);
    EXPECT_LT(guest, kGuestsEnd);
  }
  const Calls program(&thread);
  EXPECT_EQ(addressOf(mapped(10)), begin);
}

TEST(MappingCalls, aPlaceThatTheProgramNamesIsTaken) {
  TestThread thread;
  const Calls program(&thread);
  void* const wish = reinterpret_cast<void*>(thread.maps.at + 100 * kMapStep);
  EXPECT_EQ(mapped(kPage, wish), wish);
  EXPECT_EQ(holding(mapped(kPage, wish, MAP_FIXED), "over it"), wish);
  errno = 0;
  EXPECT_EQ(mapped(0), MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
}

/// The kernel finds another place than the one that is taken.
TEST(MappingCalls, aPlaceThatIsTaken) {
  TestThread thread;
  void* const begin = reinterpret_cast<void*>(thread.maps.at);
  ASSERT_EQ(
      ::mmap(begin, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
      begin);
  holding(begin, "of another");
  const Calls program(&thread);
  void* const made = mapped(kPage);
  EXPECT_NE(made, MAP_FAILED);
  EXPECT_NE(made, begin);
  EXPECT_TRUE(holds(begin, "of another"));
}

TEST(MappingCalls, moreThanItsRangeIsMappedInSlots) {
  TestThread thread;
  thread.maps.end = thread.maps.at + kMapStep;
  const Calls program(&thread);
  const std::uintptr_t place = addressOf(pf_memory_mmap(
      nullptr, 2 * kMapStep, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  EXPECT_GE(place, kThreadsBegin);
  EXPECT_EQ(place % kSlotSize, 0U);
}

TEST(MappingCalls, sharedSegmentsToo) {
  const int segment = ::shmget(IPC_PRIVATE, kPage, 0600);
  if (segment < 0) {
    GTEST_SKIP() << "this system has no shared segments";
  }
  TestThread thread;
  const std::uintptr_t begin = thread.maps.at;
  const Calls program(&thread);
  void* const place = pf_memory_shmat(segment, nullptr, 0);
  EXPECT_EQ(addressOf(place), begin);
  ::shmdt(place);
  ::shmctl(segment, IPC_RMID, nullptr);
}

TEST(MappingCalls, theBreakGrowsAndIsZeroWhereItGrowsAgain) {
  TestThread thread;
  const Calls program(&thread);
  auto* const begin = static_cast<char*>(pf_memory_sbrk(0));
  EXPECT_EQ(addressOf(begin), kBreakBegin);
  EXPECT_EQ(pf_memory_sbrk(5 * kPage), begin);
  std::memset(begin, 1, 5 * kPage);
  EXPECT_EQ(pf_memory_brk(begin + kPage), 0);
  EXPECT_EQ(pf_memory_sbrk(4 * kPage), begin + kPage);
  EXPECT_EQ(begin[kPage - 1], 1);
  EXPECT_EQ(std::count(begin + kPage, begin + 5 * kPage, 0), 4 * std::ptrdiff_t{kPage});
  errno = 0;
  EXPECT_EQ(pf_memory_brk(begin - 1), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(pf_memory_sbrk(PTRDIFF_MAX), reinterpret_cast<void*>(-1));
  EXPECT_EQ(pf_memory_sbrk(-5 * std::ptrdiff_t{kPage}), begin + 5 * kPage);
  EXPECT_EQ(pf_memory_sbrk(0), begin);
}

// -- what all this is for

/// Places of a program that does the same in each run; in between, MPI asks for `guests` blocks and
/// mappings, and libc, for the program, for `copies`.
std::vector<std::uintptr_t> places(int guests, int copies) {
  return inAProcess([guests, copies] {
    TestThread thread;
    std::mt19937 random(3);
    std::vector<std::uintptr_t> places;
    std::vector<void*> blocks(50);
    for (int i = 0; i < 500; ++i) {
      for (int n = 0; n < std::max(guests, copies); ++n) {
        const Calls other(n < guests ? nullptr : &thread, Calls::As::Libc);
        pf_memory_malloc(random.max() % 1000 + static_cast<unsigned>(n));
        if (n < guests) {
          mapped(kPage);
        }
      }
      const Calls program(&thread);
      void*& block = blocks[random() % blocks.size()];
      block = i % 3 == 0 ? pf_memory_realloc(block, random() % 9000 + 1)
                         : (pf_memory_free(block), pf_memory_calloc(1, random() % 300));
      places.push_back(addressOf(block));
      places.push_back(i % 50 == 0 ? addressOf(mapped(random() % kStep + 1)) : 0);
    }
    return places;
  });
}

TEST(SameAddresses, whateverMpiAndLibcAskForInBetween) {
  const std::vector<std::uintptr_t> alone = places(0, 0);
  ASSERT_EQ(alone.size(), 1000U);
  EXPECT_EQ(places(0, 0), alone);
  EXPECT_EQ(places(3, 0), alone);
  EXPECT_EQ(places(0, 4), alone);
}

}  // namespace
}  // namespace pf::memory::test
