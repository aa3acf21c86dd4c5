// SPDX-License-Identifier: MIT
#include "replay_engine/base/large_vector.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace pf {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

/// Of the mapping that `address` lies in, as /proc/self/smaps has them (proc(5)).
std::string flagsAt(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
      here = begin <= wanted && wanted < end;
    } else if (here && line.rfind("VmFlags:", 0) == 0) {
      return line + " ";
    }
  }
  return {};
}

TEST(LargeVector, HasItsValuesAndAsksForHugePages) {
  const std::vector<std::uint32_t> values = largeVector(16 * kMebibyte, 7U);
  ASSERT_EQ(values.size(), 16 * kMebibyte);
  EXPECT_EQ(std::ranges::count(values, 7U), std::ptrdiff_t{16 * kMebibyte});
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  EXPECT_NE(flagsAt(&values[8 * kMebibyte]).find(" hg "), std::string::npos);
}

TEST(LargeVector, OfAFewBytesIsLikeAnyOther) {
  EXPECT_EQ(largeVector(3, std::uint8_t{1}), std::vector<std::uint8_t>({1, 1, 1}));
  EXPECT_TRUE(largeVector(0, 1).empty());
}

}  // namespace
}  // namespace pf
