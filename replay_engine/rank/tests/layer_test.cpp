// SPDX-License-Identifier: MIT
// What layers below the engine are made of: handles, and who is in a group. MPI itself takes part in tests/e2e/apart_test.py.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/handle_map.h"

namespace pf {
namespace {

MPI_Request handle(std::uintptr_t number) {
  return requestOf(reinterpret_cast<void*>(0x5500'0000'0000 + number * 16));
}

TEST(HandleMap, IsAsAMapAfterManyOperations) {
  static HandleMap<int> map;  // as the layers' own, it is never freed
  std::map<std::uintptr_t, int> expected;
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  for (int i = 0; i < 200'000; ++i) {
    const std::uintptr_t number = random() % 700;
    if (random() % 3 == 0) {
      map.erase(handle(number));
      expected.erase(number);
    } else if (random() % 2 == 0) {
      map.insert(handle(number), i);
      expected[number] = i;
    }
    const int* const value = map.find(handle(number));
    const auto wanted = expected.find(number);
    ASSERT_EQ(value != nullptr, wanted != expected.end());
    if (value != nullptr) {
      ASSERT_EQ(*value, wanted->second);
    }
    ASSERT_EQ(map.count(), expected.size());
  }
}

TEST(HandleMap, HasNothingBeforeTheFirst) {
  static HandleMap<int> map;
  EXPECT_EQ(map.find(handle(1)), nullptr);
  map.erase(handle(1));
  EXPECT_EQ(map.count(), 0U);
}

class GroupFile : public ::testing::Test {
 protected:
  void SetUp() override {
    m_path =
        std::filesystem::temp_directory_path() /
        ("photofinish-group-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
         "-" + std::to_string(::getpid()));
  }
  void TearDown() override {
    std::filesystem::remove(m_path);
    static auto& kept = *new std::vector<GroupMembers*>;
    kept.push_back(&m_group);
  }

  bool read(const std::vector<std::int32_t>& numbers, std::size_t cut = 0) {
    std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4);
    bytes.resize(bytes.size() - cut);
    std::ofstream(m_path, std::ios::binary) << bytes;
    return m_group.read(m_path.c_str());
  }

  std::filesystem::path m_path;
  GroupMembers& m_group = *new GroupMembers;  // as the rank's, it is never freed
};

TEST_F(GroupFile, SaysWhoIsInIt) {
  ASSERT_TRUE(read({8, 3, 1, 4, 7}));
  EXPECT_EQ(m_group.worldSize(), 8);
  EXPECT_EQ(m_group.count(), 3);
  EXPECT_EQ(m_group.member(1), 4);
  EXPECT_EQ(m_group.placeOf(7), 2);
  EXPECT_FALSE(m_group.has(0));
  EXPECT_FALSE(m_group.has(-1));
  EXPECT_FALSE(m_group.has(8));
  EXPECT_EQ(m_group.runningCount(), 0);
  EXPECT_EQ(m_group.runningPlace(4), -1);
}

TEST_F(GroupFile, SaysWhoRuns) {
  ASSERT_TRUE(read({8, 2, 1, 4, 0, 1, 4, 6}));
  EXPECT_EQ(m_group.runningCount(), 4);
  EXPECT_EQ(m_group.running(3), 6);
  EXPECT_EQ(m_group.runningPlace(4), 2);
  EXPECT_EQ(m_group.runningPlace(5), -1);
  EXPECT_FALSE(m_group.has(6));
}

TEST_F(GroupFile, ThatCannotBeIsRefused) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read({8, 0}));
  EXPECT_FALSE(read({8, 1}));
  EXPECT_FALSE(read({8, 2, 1}));
  EXPECT_FALSE(read({8, -1, 1}));
  EXPECT_FALSE(read({8, 1, 8}));
  EXPECT_FALSE(read({8, 1, -1}));
  EXPECT_FALSE(read({8, 2, 3, 3}));
  EXPECT_FALSE(read({8, 2, 3, 2}));
  EXPECT_FALSE(read({8, 1, 3, 5, 4}));
  EXPECT_FALSE(read({8, 1, 3, 4, 5})) << "a group that does not run";
  EXPECT_FALSE(read({0, 1, 0}));
  EXPECT_FALSE(read({-5, 1, 0}));
  EXPECT_FALSE(read({1 << 30, 1, 0}));
  EXPECT_FALSE(read({8, 2, 1, 4}, 3));
  EXPECT_FALSE(m_group.read("/nowhere/at/all"));
  EXPECT_FALSE(m_group.read("/dev/zero"));
}

}  // namespace
}  // namespace pf
