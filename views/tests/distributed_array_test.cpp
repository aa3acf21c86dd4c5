// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of an array as one, in both orders of memory, against elements that say where they are; and every copy of a halo.
#include "views/values/distributed_array.h"

#include <array>

#include <gtest/gtest.h>

#include "views/values/text.h"

namespace pf::values {
namespace {

/// 1000 * rank + 100 * i + 10 * j + k at [i][j][k]; the halo's are those of the neighbours.
double valueAt(int rank, const ArrayValues::Places& places) {
  double value = rank * 1000.0;
  double weight = 100.0;
  for (const qint64 place : places) {
    value += weight * static_cast<double>(place);
    weight /= 10.0;
  }
  return value;
}

ArrayValues partOf(int rank, std::vector<qint64> counts, bool columnMajor, qint64 lower = 0) {
  ArrayValues out;
  out.rank = rank;
  out.type = u"double"_s;
  out.size = 8;
  out.fortran = out.columnMajor = columnMajor;
  for (const qint64 count : counts) {
    out.dims.push_back({lower, 1, count, count});
  }
  out.bytes.resize(out.total() * 8);
  auto* numbers = reinterpret_cast<double*>(out.bytes.data());
  for (qint64 index = 0; index < out.count(); ++index) {
    numbers[index] = valueAt(rank, out.placesOf(index));
  }
  return out;
}

double& element(ArrayValues& array, qint64 index) {
  return reinterpret_cast<double*>(array.bytes.data())[index];
}

class JoinedBox : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(JoinedBox, HasEachElementWhereItsRankHasIt) {
  const auto [columnMajor, along] = GetParam();
  std::vector<ArrayValues> parts;
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<qint64> counts{3, 4, 2};
    counts[static_cast<std::size_t>(along)] = 2 + rank;
    parts.push_back(partOf(rank + 5, counts, columnMajor, 1));
  }
  const auto whole = joinParts(parts, along, 0);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->count(), parts[0].count() + parts[1].count() + parts[2].count());
  EXPECT_EQ(whole->dims[static_cast<std::size_t>(along)].read, 9);
  for (qint64 index = 0; index < whole->count(); ++index) {
    ArrayValues::Places places = whole->placesOf(index);
    const auto [part, place] = whole->partAt(places);
    places[static_cast<std::size_t>(along)] = place;
    EXPECT_EQ(whole->at(index), valueAt(static_cast<int>(part) + 5, places));
    ArrayValues::Places own = places;
    EXPECT_EQ(whole->nameAt(index), u"rank %1 "_s.arg(part + 5) + parts[part].nameOf(own));
  }
  EXPECT_EQ(whole->indexText(static_cast<std::size_t>(along), 0), u"5: 1"_s);
  EXPECT_EQ(whole->indexText(static_cast<std::size_t>(along), 2), u"6: 1"_s);
  EXPECT_EQ(whole->indexText(static_cast<std::size_t>(along), 8), u"7: 4"_s);
}

INSTANTIATE_TEST_SUITE_P(Orders, JoinedBox,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0, 1, 2)));

TEST(JoinedLine, IsARowARank) {
  const auto whole = joinParts({partOf(0, {3}, false), partOf(1, {5}, false)}, 0, 1);
  ASSERT_TRUE(whole.ok());
  EXPECT_TRUE(whole->partsAreRows());
  EXPECT_EQ(whole->count(), 8);
  EXPECT_EQ(whole->nameAt(2), u"rank 0 [2]"_s);
  EXPECT_EQ(whole->nameAt(3), u"rank 1 [0]"_s);
  EXPECT_EQ(whole->at(4), 1100.0);
  EXPECT_EQ(whole->indexText(0, 1), u"rank 1"_s);
  EXPECT_EQ(whole->indexText(1, 4), u"4"_s);
  EXPECT_EQ(whole->indexOf({0, 3}), -1);
}

TEST_P(JoinedBox, AHaloIsHeldAgainstTheNeighbours) {
  const auto [columnMajor, along] = GetParam();
  const auto dimension = static_cast<std::size_t>(along);
  constexpr qint64 kHalo = 2;
  std::vector<ArrayValues> parts;
  for (int rank = 0; rank < 3; ++rank) {
    std::vector<qint64> counts{3, 4, 2};
    counts[dimension] = 6 + rank;
    parts.push_back(partOf(rank, counts, columnMajor));
  }
  auto whole = joinParts(parts, along, kHalo);
  ASSERT_TRUE(whole.ok());
  // By hand: as a neighbour sends what lies inside of its own halo.
  qint64 copies = 0;
  for (qint64 index = 0; index < whole->count(); ++index) {
    ArrayValues::Places places = whole->placesOf(index);
    const auto [part, place] = whole->partAt(places);
    const qint64 length = 6 + static_cast<qint64>(part);
    qint64 neighbour = -1;
    if (part > 0 && place < kHalo) {
      neighbour = static_cast<qint64>(part) - 1;
      places[dimension] = whole->parts[part - 1].from + (length - 1) - 2 * kHalo + place;
    } else if (part < 2 && place >= length - kHalo) {
      neighbour = static_cast<qint64>(part) + 1;
      places[dimension] = whole->parts[part + 1].from + kHalo + place - (length - kHalo);
    }
    EXPECT_EQ(originalOf(*whole, index), neighbour < 0 ? -1 : whole->indexOf(places));
    copies += neighbour < 0 ? 0 : 1;
  }
  EXPECT_EQ(staleHalo(*whole).cells, copies);
  EXPECT_EQ(staleHalo(*whole).count, copies) << "each rank has other values here";
  for (qint64 index = 0; index < whole->count(); ++index) {
    if (const qint64 original = originalOf(*whole, index); original >= 0) {
      element(*whole, index) = element(*whole, original);
    }
  }
  EXPECT_EQ(staleHalo(*whole).count, 0);
  const qint64 wrong = whole->indexOf(
      {along == 0 ? 6 : 1, along == 1 ? 6 : 1, along == 2 ? 6 : 1});  // rank 1's first
  element(*whole, wrong) += 1.0;
  const StaleHalo found = staleHalo(*whole);
  EXPECT_EQ(found.first, wrong);
  EXPECT_EQ(found.count, 1);
  EXPECT_TRUE(isStale(*whole, wrong));
  EXPECT_FALSE(isStale(*whole, originalOf(*whole, wrong)));
  EXPECT_EQ(nextStale(*whole, -1), wrong);
  EXPECT_EQ(nextStale(*whole, wrong), wrong) << "from the beginning again";
}

TEST(Halo, PartsThatAreTooShortHaveNone) {
  const auto whole = joinParts({partOf(0, {3}, false), partOf(1, {3}, false)}, 0, 2);
  ASSERT_TRUE(whole.ok());
  const ArraySummary summary(std::make_shared<ArrayValues>(*whole));
  EXPECT_EQ(summary.halo().cells, 0);
  EXPECT_TRUE(haloWords(summary).startsWith(u"Nothing is compared"_s));
  const auto alone = joinParts({partOf(0, {9}, false)}, 0, 2);
  EXPECT_EQ(staleHalo(*alone).cells, 0);
  EXPECT_EQ(originalOf(*alone, 0), -1);
}

TEST(Parts, ThatDoNotFitAreRefused) {
  const auto why = [](const std::vector<ArrayValues>& parts, int along) {
    const auto whole = joinParts(parts, along, 1);
    return whole ? std::string() : whole.error().message;
  };
  const ArrayValues box = partOf(0, {3, 4}, false);
  EXPECT_NE(why({}, 0), "");
  EXPECT_NE(why({box}, 2), "");
  EXPECT_NE(why({box}, -1), "");
  EXPECT_NE(why({box, partOf(1, {3}, false)}, 0), "");
  EXPECT_NE(why({box, partOf(1, {3, 5}, false)}, 0), "");
  EXPECT_EQ(why({box, partOf(1, {3, 5}, false)}, 1), "");
  EXPECT_NE(why({box, partOf(1, {3, 4}, true)}, 0), "");
  EXPECT_NE(why({box, partOf(1, {3, 4}, false, 1)}, 0), "") << "other bounds";
  ArrayValues cut = box;
  cut.bytes.resize(16);
  cut.dims[0].read = 0;
  EXPECT_NE(why({box, cut}, 0), "") << "not all of it has been read";
  ArrayValues other = box;
  other.kind = ElementKind::Signed;
  EXPECT_NE(why({box, other}, 0), "");
}

TEST(Halo, PaddingOfLongDoublesIsNoDifference) {
  ArrayValues part;
  part.size = 16;
  part.dims = {{0, 1, 3, 3}};
  part.bytes = QByteArray(48, '\0');
  ArrayValues other = part;
  other.rank = 1;
  for (int element = 0; element < 3; ++element) {
    other.bytes[element * 16 + 12] = 'x';
  }
  const auto whole = joinParts({part, other}, 0, 1);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(staleHalo(*whole).cells, 2);
  EXPECT_EQ(staleHalo(*whole).count, 0);
  other.bytes[16 + 9] = 'x';
  EXPECT_EQ(staleHalo(*joinParts({part, other}, 0, 1)).count, 1);
}

TEST(Words, ArePartsToo) {
  ArrayValues one;
  one.kind = ElementKind::Words;
  one.words = {u"a"_s, u"b"_s, u"c"_s, u"d"_s};
  one.dims = {{0, 1, 4, 4}};
  ArrayValues two = one;
  two.rank = 1;
  two.words = {u"c"_s, u"d"_s, u"x"_s};
  two.dims = {{0, 1, 3, 3}};
  const auto whole = joinParts({one, two}, 0, 1);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->words.size(), 7);
  const StaleHalo found = staleHalo(*whole);
  EXPECT_EQ(found.cells, 2);
  EXPECT_EQ(found.count, 0) << "[3] of the first is [1] of the second: d";
  EXPECT_EQ(nextStale(*whole, -1), -1);
}

/// Two rows of three blocks each, of several heights and widths.
class JoinedBlocks : public ::testing::TestWithParam<std::tuple<bool, int>> {
 protected:
  static constexpr qint64 kHalo = 1;
  static constexpr std::array<qint64, 2> kHeights{5, 4};
  static constexpr std::array<qint64, 3> kWidths{4, 6, 5};

  [[nodiscard]] static std::vector<ArrayValues> blocks(bool columnMajor, int along) {
    std::vector<ArrayValues> parts;
    for (int rank = 0; rank < 6; ++rank) {
      std::vector<qint64> counts{2, 2, 2};
      counts[static_cast<std::size_t>(along)] = kHeights[static_cast<std::size_t>(rank / 3)];
      counts[static_cast<std::size_t>(along) + 1] = kWidths[static_cast<std::size_t>(rank % 3)];
      parts.push_back(partOf(rank + 10, counts, columnMajor, 1));
    }
    return parts;
  }
};

TEST_P(JoinedBlocks, HasEachElementWhereItsRankHasIt) {
  const auto [columnMajor, along] = GetParam();
  const auto dimension = static_cast<std::size_t>(along);
  const auto parts = blocks(columnMajor, along);
  const auto whole = joinParts(parts, along, kHalo, 3);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->dims[dimension].read, 9);
  EXPECT_EQ(whole->dims[dimension + 1].read, 15);
  EXPECT_EQ(whole->count(), 9 * 15 * 2);
  const auto blockOf = [](qint64& place, auto lengths) {
    int block = 0;
    for (; place >= lengths[static_cast<std::size_t>(block)]; ++block) {
      place -= lengths[static_cast<std::size_t>(block)];
    }
    return block;
  };
  qint64 copies = 0;
  for (qint64 index = 0; index < whole->count(); ++index) {
    const ArrayValues::Places all = whole->placesOf(index);
    ArrayValues::Places own = all;
    const int row = blockOf(own[dimension], kHeights);
    const int column = blockOf(own[dimension + 1], kWidths);
    const int number = row * 3 + column;
    EXPECT_EQ(whole->at(index), valueAt(number + 10, own));
    EXPECT_EQ(whole->nameAt(index),
              u"rank %1 "_s.arg(number + 10) + parts[static_cast<std::size_t>(number)].nameOf(own));
    // By hand: what a neighbour has inside of its own halo, but not in corners.
    const bool up = row == 1 && own[dimension] == 0;
    const bool down = row == 0 && own[dimension] == kHeights[0] - 1;
    const bool left = column > 0 && own[dimension + 1] == 0;
    const bool right =
        column < 2 && own[dimension + 1] == kWidths[static_cast<std::size_t>(column)] - 1;
    ArrayValues::Places from = all;
    from[dimension] += up ? -2 : down ? 2 : 0;
    from[dimension + 1] += left ? -2 : right ? 2 : 0;
    const bool isCopy = (up || down) != (left || right);
    EXPECT_EQ(originalOf(*whole, index), isCopy ? whole->indexOf(from) : -1)
        << "rank " << number + 10;
    copies += isCopy ? 1 : 0;
  }
  EXPECT_EQ(staleHalo(*whole).cells, copies);
  EXPECT_EQ(staleHalo(*whole).count, copies) << "each rank has other values here";
  // A line through all of the first dimension has its place in the other one, of its ranks.
  ArrayValues::Places line(3);
  line[dimension + 1] = 5;
  EXPECT_TRUE(whole->nameOf(line, along).startsWith(u"ranks 11… "_s));
  EXPECT_TRUE(whole->nameOf(line, along).contains(columnMajor ? u"2"_s : u"[2]"_s));
  EXPECT_EQ(whole->indexText(dimension, 5), u"1: 1"_s);
  EXPECT_EQ(whole->indexText(dimension + 1, 4), u"1: 1"_s);
}

INSTANTIATE_TEST_SUITE_P(Orders, JoinedBlocks,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0, 1)));

TEST(Blocks, ThatDoNotFitAreRefused) {
  const auto why = [](const std::vector<ArrayValues>& parts, int along, int columns) {
    const auto whole = joinParts(parts, along, 1, columns);
    return whole.ok() ? std::string() : whole.error().message;
  };
  const ArrayValues one = partOf(0, {4, 4}, false);
  EXPECT_EQ(why({one, one, one}, 0, 2), "3 ranks are no rows of 2");
  EXPECT_EQ(why({one, one}, 1, 2), "it has 2 dimensions, and blocks need dimensions 2 and 3");
  EXPECT_EQ(why({one, one, one, partOf(3, {4, 5}, false)}, 0, 2),
            "the blocks of rank 0 and rank 3 stand in one column, and have other widths");
  EXPECT_NE(why({one, partOf(1, {5, 4}, false), one, one}, 0, 2), "") << "other heights in a row";
  EXPECT_EQ(why({one, one, one, one}, 0, 2), "");
}

}  // namespace
}  // namespace pf::values
