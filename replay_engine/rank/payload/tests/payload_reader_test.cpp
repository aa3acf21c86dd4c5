// SPDX-License-Identifier: GPL-3.0-or-later
// The reader of what came from outside of a group: what it makes of files that are cut, changed, or of others.
#include <algorithm>
#include <cerrno>
#include <random>

#include "replay_engine/rank/payload/tests/payload_file.h"

namespace pf::test {
namespace {

class PayloadReaderTest : public PayloadFile {
 protected:
  std::string made() {
    EXPECT_TRUE(open());
    for (unsigned i = 0; i < 12; ++i) {
      all.push_back({static_cast<PayloadKind>(1 + i % 5), static_cast<std::int32_t>(i), -2,
                     i * 7ULL, contentOf(i * 5, i)});
      put(all.back());
    }
    writer.close(true);
    return bytes();
  }
  /// Whether a reader gets nothing else of the file `name` than the first of `all`.
  testing::AssertionResult givesAPrefix(const std::string& name) {
    const char* why = nullptr;
    if (!reader.open(name.c_str(), kRank, kSize, &why)) {
      return why != nullptr && !reader.isOpen() ? testing::AssertionSuccess()
                                                : testing::AssertionFailure() << "says nothing";
    }
    got = rest(reader);
    if (got.size() > all.size() || !std::equal(got.begin(), got.end(), all.begin())) {
      return testing::AssertionFailure() << "other contents";
    }
    if (got.size() < all.size() && reader.end() != PayloadReader::End::Damaged) {
      return testing::AssertionFailure() << "an end that is none, behind " << got.size();
    }
    return testing::AssertionSuccess();
  }

  std::vector<KeptEntry> all;
  std::vector<KeptEntry> got;
};

TEST_F(PayloadReaderTest, looksAheadWithoutGoingOn) {
  made();
  const char* why = "";
  ASSERT_TRUE(reader.open(path().c_str(), kRank, kSize, &why)) << why;
  const unsigned char* content = nullptr;
  for (const KeptEntry& entry : all) {
    EXPECT_EQ(reader.peekKind(), entry.kind);
    EXPECT_EQ(reader.peekKind(), entry.kind);
    EXPECT_STREQ(reader.why(), "");
    const PayloadEntry* const next = reader.next(&content);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->serial, entry.serial);
  }
  EXPECT_EQ(reader.peekKind(), PayloadKind::None);
  EXPECT_EQ(reader.next(&content), nullptr);
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  EXPECT_STREQ(reader.why(), "what was kept ends there");
}

TEST_F(PayloadReaderTest, everyPrefix) {
  const std::string file = made();
  const std::string cut = path("cut");
  for (std::size_t size = 0; size < file.size(); ++size) {
    write(cut, std::string_view(file).substr(0, size));
    ASSERT_TRUE(givesAPrefix(cut)) << size;
    ASSERT_LT(reader.isOpen() ? got.size() : 0, all.size()) << size;
  }
}

TEST_F(PayloadReaderTest, everyFlip) {
  const std::string file = made();
  const std::string changed = path("changed");
  std::mt19937 random(1);
  const auto check = [&](std::size_t bit) {
    std::string other = file;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
    write(changed, other);
    ASSERT_TRUE(givesAPrefix(changed)) << "bit " << bit;
    if (bit / 8 >= kPayloadHeaderSize) {  // each of its bits is of an entry
      ASSERT_TRUE(reader.isOpen());
      ASSERT_LT(got.size(), all.size()) << "bit " << bit;
    }
  };
  for (std::size_t bit = 0; bit < sizeof(PayloadHeader) * 8; ++bit) {
    check(bit);
  }
  for (int i = 0; i < 4000; ++i) {
    check(kPayloadHeaderSize * 8 + random() % ((file.size() - kPayloadHeaderSize) * 8));
  }
}

/// Several bytes at a time, of whatever value, under a header that is right.
TEST_F(PayloadReaderTest, anyBytes) {
  const std::string file = made();
  const std::string changed = path("changed");
  std::mt19937 random(2);
  for (int i = 0; i < 1000; ++i) {
    std::string other = file;
    const std::size_t from = kPayloadHeaderSize + random() % (file.size() - kPayloadHeaderSize - 8);
    const unsigned many = 1 + random() % 8;
    for (unsigned k = 0; k < many; ++k) {
      other[from + k] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
    }
    write(changed, other);
    ASSERT_TRUE(givesAPrefix(changed)) << i;
  }
}

/// Sizes that run over the end of everything, under checksums that are right.
TEST_F(PayloadReaderTest, sizesThatLie) {
  const std::string file = made();
  for (const std::uint64_t size :
       {~std::uint64_t{0}, ~std::uint64_t{6}, ~std::uint64_t{31}, ~std::uint64_t{39},
        std::uint64_t{1} << 63, file.size() - kPayloadHeaderSize - sizeof(PayloadEntry) + 1}) {
    std::string other = file;
    auto& entry = *reinterpret_cast<PayloadEntry*>(other.data() + kPayloadHeaderSize);
    entry.size = size;
    entry.crc = payloadCrc(entry, payloadSeed(kSalt, kRank, 0));
    write(path("lies"), other);
    ASSERT_TRUE(givesAPrefix(path("lies")));
    EXPECT_TRUE(got.empty());
  }
  std::string other = file;
  auto& header = *reinterpret_cast<PayloadHeader*>(other.data());
  header.committed = payloadCommit(kSalt, kMostPayload);
  write(path("lies"), other);
  const char* why = "";
  ASSERT_TRUE(reader.open(path("lies").c_str(), kRank, kSize, &why)) << why;
  EXPECT_EQ(rest(reader), all);
  EXPECT_EQ(reader.end(), PayloadReader::End::Damaged);
}

/// An entry that is in another place, or was another rank's or run's.
TEST_F(PayloadReaderTest, entriesOfElsewhere) {
  ASSERT_TRUE(open());
  for (int i = 0; i < 2; ++i) {
    put({PayloadKind::Message, 1, 2, 3, "content"});
  }
  writer.close(true);
  std::string file = bytes();
  constexpr std::size_t kEntry = sizeof(PayloadEntry) + 8;
  std::memmove(file.data() + kPayloadHeaderSize + kEntry, file.data() + kPayloadHeaderSize, kEntry);
  write(path("moved"), file);
  const char* why = "";
  ASSERT_TRUE(reader.open(path("moved").c_str(), kRank, kSize, &why));
  EXPECT_EQ(rest(reader).size(), 1U);
  for (const bool ofRun : {true, false}) {
    PayloadWriter other;
    const std::string name = path(ofRun ? "run" : "rank");
    ASSERT_TRUE(other.open(name.c_str(), kSalt + (ofRun ? 1 : 0), kRank + (ofRun ? 0 : 1), kSize));
    other.begin(PayloadKind::Message, 1, 2, 3);
    other.add("content", 7);
    other.end();
    other.close(true);
    std::string mixed = bytes();
    std::ifstream in(name, std::ios::binary);
    in.seekg(kPayloadHeaderSize);
    in.read(mixed.data() + kPayloadHeaderSize, kEntry);
    write(path("mixed"), mixed);
    ASSERT_TRUE(reader.open(path("mixed").c_str(), kRank, kSize, &why));
    EXPECT_TRUE(rest(reader).empty());
    EXPECT_EQ(reader.end(), PayloadReader::End::Damaged);
  }
}

TEST_F(PayloadReaderTest, filesThatAreOthers) {
  made();
  const char* why = "";
  EXPECT_FALSE(reader.open(path().c_str(), kRank + 1, kSize, &why));
  EXPECT_STREQ(why, "it is of another rank");
  EXPECT_FALSE(reader.open(path().c_str(), kRank, kSize + 1, &why));
  EXPECT_STREQ(why, "it is of another rank");
  EXPECT_FALSE(reader.open(path("none").c_str(), kRank, kSize, &why));
  EXPECT_FALSE(reader.open("/dev/null", kRank, kSize, &why));
  EXPECT_STREQ(why, "it is no regular file");
  ASSERT_EQ(::symlink(path().c_str(), path("link").c_str()), 0);
  EXPECT_FALSE(reader.open(path("link").c_str(), kRank, kSize, &why));
  write(path("zeros"), std::string(10'000, '\0'));
  EXPECT_FALSE(reader.open(path("zeros").c_str(), kRank, kSize, &why));
  EXPECT_STREQ(why, "it holds no contents of messages");
  EXPECT_FALSE(reader.isOpen());
  const unsigned char* content = nullptr;
  EXPECT_EQ(reader.next(&content), nullptr);
}

TEST_F(PayloadReaderTest, whatWasReadNeedNotBeInMemory) {
  constexpr std::size_t kContent = 1U << 20;
  const std::string content = contentOf(kContent);
  ASSERT_TRUE(open());
  for (int i = 0; i < 64; ++i) {
    put({PayloadKind::Message, 1, 2, 3, content});
  }
  writer.close(true);
  const std::size_t before = filePages();
  const char* why = "";
  ASSERT_TRUE(reader.open(path().c_str(), kRank, kSize, &why)) << why;
  std::size_t most = 0;
  const unsigned char* at = nullptr;
  int entries = 0;
  while (reader.next(&at) != nullptr) {
    EXPECT_EQ(std::memcmp(at, content.data(), kContent), 0);
    most = std::max(most, filePages());
    ++entries;
  }
  EXPECT_EQ(entries, 64);
  EXPECT_LT(most, before + (2U << 10) + kContent / 1024);
}

}  // namespace
}  // namespace pf::test
