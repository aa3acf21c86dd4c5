// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/cpython/location_table.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace pf::cpython {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) {
    out += static_cast<char>(value);
  }
  return out;
}

int head(int kind, int units) {
  return 0x80 | kind << 3 | (units - 1);
}

TEST(LocationTable, EachKindOfEntryMovesTheLine) {
  // Lines 10 (short form), 11 and 13 (one line), 13 - 3 (no columns), none, 10 + 40 (long form, 2 bytes of a number).
  const std::string table =
      bytes({head(0, 1), 0x12, head(11, 2), 1, 2, head(12, 1), 1, 2, head(13, 1), 7, head(15, 3),
             head(14, 8), 0x40 | (80 & 63), 80 >> 6, 0, 1, 2});
  EXPECT_EQ(lineAt(table, 10, 0), 10);
  EXPECT_EQ(lineAt(table, 10, 1), 10);
  EXPECT_EQ(lineAt(table, 10, 2), 11);
  EXPECT_EQ(lineAt(table, 10, 5), 11);
  EXPECT_EQ(lineAt(table, 10, 6), 13);
  EXPECT_EQ(lineAt(table, 10, 8), 10);
  EXPECT_EQ(lineAt(table, 10, 10), 0) << "an instruction without a line";
  EXPECT_EQ(lineAt(table, 10, 16), 50);
  EXPECT_EQ(lineAt(table, 10, 31), 50);
  EXPECT_EQ(lineAt(table, 10, 32), 0) << "behind the code";
}

TEST(LocationTable, AFrameThatHasNotBegunIsOnItsFirstLine) {
  EXPECT_EQ(lineAt(bytes({head(11, 1), 1, 2}), 7, -2), 7);
}

TEST(LocationTable, AnyBytesAreAccepted) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 20000; ++turn) {
    std::string table(random() % 40, '\0');
    for (char& byte : table) {
      byte = static_cast<char>(random());
    }
    EXPECT_GE(
        lineAt(table, static_cast<int>(random() >> 1U), static_cast<std::int64_t>(random() % 200)),
        0);
  }
}

}  // namespace
}  // namespace pf::cpython
