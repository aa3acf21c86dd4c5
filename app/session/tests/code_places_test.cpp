// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses of code, by the files that they are of.
#include "app/session/inspection/code_places.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace pf::session {
namespace {

constexpr const char* kMaps =
    "55d0c8a00000-55d0c8a01000 r--p 00000000 fd:01 12 /home/u/my app\n"
    "55d0c8a01000-55d0c8a05000 r-xp 00001000 fd:01 12 /home/u/my app\n"
    "55d0c8a06000-55d0c8a08000 rw-p 00005000 fd:01 12 /home/u/my app\n"
    "7f0000000000-7f0000010000 r-xp 00000000 00:00 0 \n"
    "garbage\n"
    "7f1000000000-7f1000010000 r-xp 00002000 fd:01 99 /lib/libx.so";

TEST(CodePlaces, ThereAndBack) {
  const auto place = codePlaceOf(kMaps, 0x55d0c8a01234);
  ASSERT_TRUE(place);
  EXPECT_EQ(*place, (CodePlace{"/home/u/my app", 0x1234}));
  EXPECT_EQ(addressOf(kMaps, *place), 0x55d0c8a01234U);
  EXPECT_EQ(codePlaceOf(kMaps, 0x7f1000000001)->offset, 0x2001U);
  EXPECT_EQ(addressOf(kMaps, {"/lib/libx.so", 0x2001}), 0x7f1000000001U);
}

TEST(CodePlaces, OnlyCodeOfFiles) {
  EXPECT_FALSE(codePlaceOf(kMaps, 0x55d0c8a06010)) << "data";
  EXPECT_FALSE(codePlaceOf(kMaps, 0x7f0000000010)) << "no file's";
  EXPECT_FALSE(codePlaceOf(kMaps, 1));
  EXPECT_FALSE(codePlaceOf("", 1));
  EXPECT_FALSE(addressOf(kMaps, {"/home/u/my app", 0x100})) << "not loaded as code";
  EXPECT_FALSE(addressOf(kMaps, {"/home/u/my app", 0x5000})) << "behind it";
  EXPECT_FALSE(addressOf(kMaps, {"/home/u/other", 0x1234}));
}

TEST(CodePlaces, OfThisProcess) {
  const auto address = reinterpret_cast<std::uint64_t>(&memoryMaps);
  const std::string maps = memoryMaps(::getpid());
  const auto place = codePlaceOf(maps, address);
  ASSERT_TRUE(place);
  EXPECT_EQ(addressOf(maps, *place), address);
  EXPECT_EQ(memoryMaps(-1), "");
}

}  // namespace
}  // namespace pf::session
