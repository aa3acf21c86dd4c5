// SPDX-License-Identifier: GPL-3.0-or-later
// What ranks looked at besides messages, as their logs have it.
#include "app/collation/inputs.h"

#include <cstring>

#include <gtest/gtest.h>

#include "replay_engine/log_format/system_values.h"

namespace pf::app {
namespace {

/// One rank's log of looks at files, as the rank writes them.
class Looks {
 public:
  explicit Looks(Rank rank) { m_log.rank = rank; }
  Looks& at(InputState state, const std::string& name, std::uint64_t size = 0) {
    const InputFile file{pathHash(name.c_str()), size, 5};
    std::string value(sizeof file, '\0');
    std::memcpy(value.data(), &file, sizeof file);
    value += static_cast<char>(state);
    put(value + name);
    return *this;
  }
  /// In pieces of kValueBytes, the last of which is shorter.
  void put(const std::string& value) {
    auto& bytes = m_log.values[static_cast<std::size_t>(ValueKind::Input)];
    for (std::size_t from = 0; from <= value.size(); from += kValueBytes) {
      const std::string piece = value.substr(from, kValueBytes);
      for (std::size_t left = piece.size(); left >= 0x80; left = 0) {
        bytes.push_back(static_cast<unsigned char>(left & 0x7F) | 0x80);
        bytes.push_back(static_cast<unsigned char>(left >> 7));
      }
      if (piece.size() < 0x80) {
        bytes.push_back(static_cast<unsigned char>(piece.size()));
      }
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
  }
  [[nodiscard]] const RankLog& log() const { return m_log; }
  RankLog& log() { return m_log; }

 private:
  RankLog m_log;
};

std::vector<std::string> textOf(const std::vector<db::SeenInput>& seen) {
  std::vector<std::string> lines;
  for (const db::SeenInput& input : seen) {
    lines.push_back(std::to_string(input.rank) + " " + input.kind + " " + input.name);
  }
  return lines;
}
using Lines = std::vector<std::string>;

TEST(SeenInputsTest, EachOnceAsItWasFirst) {
  Looks zero(0);
  zero.at(InputState::File, "/a", 7).at(InputState::File, "/a", 9).at(InputState::Variable, "TZ");
  Looks one(1);
  one.at(InputState::File, "/./a", 9).at(InputState::Absent, "/b").at(InputState::Variable, "TZ");
  const std::vector<db::SeenInput> seen = seenInputs({zero.log(), one.log()});
  EXPECT_EQ(textOf(seen), (Lines{"0 file /a", "0 variable TZ", "1 absent /b"}));
  EXPECT_EQ(seen[0].size, 7);
  EXPECT_EQ(seen[0].stamp, 5);
}

TEST(SeenInputsTest, WhoAsksWhetherItIsThereReadsItNext) {
  Looks zero(0);
  zero.at(InputState::Exists, "/a").at(InputState::File, "/a", 7);
  EXPECT_EQ(textOf(seenInputs({zero.log()})), Lines{"0 file /a"});
  Looks gone(0);
  gone.at(InputState::Exists, "/a").at(InputState::Absent, "/a");
  EXPECT_EQ(textOf(seenInputs({gone.log()})), Lines{"0 exists /a"}) << "the rank removed it";
  Looks one(1);
  one.at(InputState::Absent, "/a");
  EXPECT_EQ(textOf(seenInputs({Looks(0).at(InputState::Exists, "/a").log(), one.log()})),
            Lines{"1 absent /a"})
      << "somebody in the run made it";
}

TEST(SeenInputsTest, WhatTheRankWroteIsNoInput) {
  Looks zero(0);
  zero.at(InputState::Written, "/a").at(InputState::Exists, "/a").at(InputState::Young, "/b");
  EXPECT_TRUE(seenInputs({zero.log()}).empty());
}

TEST(SeenInputsTest, ALinkBesidesTheFileThatItLeadsTo) {
  Looks zero(0);
  zero.at(InputState::Link, "/a").at(InputState::File, "/a");
  EXPECT_EQ(textOf(seenInputs({zero.log()})), (Lines{"0 link /a", "0 file /a"}));
}

TEST(SeenInputsTest, LongNamesAreInPieces) {
  for (const std::size_t length : {100U, 231U, 232U, 487U, 1000U}) {
    const std::string name = "/" + std::string(length, 'x');
    Looks zero(0);
    zero.at(InputState::File, name).at(InputState::Absent, "/b");
    EXPECT_EQ(textOf(seenInputs({zero.log()})), (Lines{"0 file " + name, "0 absent /b"})) << length;
  }
}

/// A log is hostile until shown otherwise.
TEST(SeenInputsTest, WhatIsNoLookEndsTheListing) {
  Looks whole(0);
  whole.at(InputState::File, "/a").at(InputState::File, "/b");
  const auto input = static_cast<std::size_t>(ValueKind::Input);
  const std::vector<unsigned char> bytes = whole.log().values[input];
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    RankLog log;
    log.rank = 0;
    log.values[input].assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(seenInputs({log}).size(), length < bytes.size() / 2 ? 0U : 1U) << length;
  }
  RankLog log;
  log.values[input].assign(64, 0xFF);
  EXPECT_TRUE(seenInputs({log}).empty());
  Looks unknown(0);
  unknown.at(static_cast<InputState>(99), "/a").at(InputState::File, "/b");
  EXPECT_EQ(textOf(seenInputs({unknown.log()})), Lines{"0 file /b"}) << "of a later version";
}

TEST(FilesOfOthersTest, YoungerThanTheRunAndWrittenByNoRank) {
  Looks zero(0);
  zero.at(InputState::Young, "/w/made").at(InputState::Young, "/w/from-outside");
  Looks one(1);
  one.at(InputState::Written, "/w/./made").at(InputState::Young, "/w/from-outside");
  const std::vector<std::pair<Rank, std::string>> outside{{0, "/w/from-outside"}};
  EXPECT_EQ(filesOfOthers({zero.log(), one.log()}), outside);
}

TEST(FirstOfTest, AFewAreNamedAndTheOthersCounted) {
  EXPECT_EQ(firstOf({}), "");
  EXPECT_EQ(firstOf({"a", "b"}), "a, b");
  EXPECT_EQ(firstOf({"a", "b", "c"}, 2), "a, b and 1 more");
}

}  // namespace
}  // namespace pf::app
