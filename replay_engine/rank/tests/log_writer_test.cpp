// SPDX-License-Identifier: GPL-3.0-or-later
// The writer of a rank's log: what a reader finds in its file at any moment.
#include "replay_engine/rank/engine/log_writer.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/base/crc32c.h"
#include "replay_engine/log/rank_log.h"

namespace pf::test {
namespace {

class LogFile : public testing::Test {
 protected:
  ~LogFile() override {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
  }

  [[nodiscard]] std::string path() const { return m_folder + "/log"; }

  /// The records that a reader of the file gets to see, one behind the other.
  [[nodiscard]] std::vector<unsigned char> published() const {
    std::ifstream file(path(), std::ios::binary | std::ios::ate);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0).read(reinterpret_cast<char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
    std::vector<unsigned char> records;
    const Result<LogExtent> extent = checkLog(bytes);
    EXPECT_TRUE(extent.ok()) << extent.error().message;
    if (extent) {
      EXPECT_FALSE(extent->damaged) << extent->damage;
      for (const auto& block : extent->blocks) {
        records.insert(records.end(), block.begin(), block.end());
      }
    }
    return records;
  }

  void open() {
    ASSERT_TRUE(writer.open(path().c_str(), 99));
    LogHeader& header = writer.header();
    header.size = 1;
    header.headerCrc =
        crc32c(&header.salt, offsetof(LogHeader, commit) - offsetof(LogHeader, salt));
    writer.publish();
  }

  void addBytes(std::initializer_list<unsigned char> record) {
    unsigned char* const p = writer.reserve();
    std::copy(record.begin(), record.end(), p);
    writer.commit(p + record.size());
  }

  LogWriter writer;

 private:
  static std::string made() {
    std::string pattern = testing::TempDir() + "log_writer_XXXXXX";
    return ::mkdtemp(pattern.data());
  }
  std::string m_folder = made();
};

TEST_F(LogFile, holdsWhatWasPublished) {
  open();
  addBytes({1, 2, 3});
  EXPECT_TRUE(published().empty());
  writer.publish();
  addBytes({4});
  EXPECT_EQ(published(), (std::vector<unsigned char>{1, 2, 3}));
  writer.close(true);
  EXPECT_EQ(published(), (std::vector<unsigned char>{1, 2, 3, 4}));
  EXPECT_EQ(writer.header().clean.load(), kLogMagic);
}

/// Short records have ways of their own into the checksum.
TEST_F(LogFile, recordsOfAnySize) {
  open();
  std::vector<unsigned char> all;
  for (unsigned size = 1; size <= 40; ++size) {
    unsigned char* const p = writer.reserve();
    for (unsigned i = 0; i < size; ++i) {
      p[i] = static_cast<unsigned char>(size + i);
      all.push_back(p[i]);
    }
    writer.commit(p + size);
    writer.add(static_cast<unsigned char>(size));
    all.push_back(static_cast<unsigned char>(size));
    const unsigned bytes = size % 8 + 1;
    writer.addWord(0x0807060504030201U + size, bytes);
    all.push_back(static_cast<unsigned char>(1 + size));
    for (unsigned byte = 2; byte <= bytes; ++byte) {
      all.push_back(static_cast<unsigned char>(byte));
    }
  }
  writer.publish();
  EXPECT_EQ(published(), all);
}

TEST_F(LogFile, goesOnOverBlocksAndWindows) {
  open();
  std::vector<unsigned char> all;
  for (unsigned i = 0; all.size() < 20 * kLogBlockSize; ++i) {
    unsigned char* const p = writer.reserve();
    const std::size_t size = i % kMaxRecord + 1;
    std::memset(p, static_cast<int>(i % 251), size);
    all.insert(all.end(), p, p + size);
    writer.commit(p + size);
  }
  writer.publish();
  EXPECT_EQ(published(), all);
}

TEST_F(LogFile, isNeverOneThatIsThere) {
  std::ofstream(path()) << "somebody's";
  EXPECT_FALSE(writer.open(path().c_str(), 1));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_FALSE(writer.isOpen());
  EXPECT_FALSE(LogWriter{}.open(std::string(5000, 'x').c_str(), 1));
  EXPECT_EQ(errno, ENAMETOOLONG);
}

/// A disk that is full: the program goes on, and what was published before stays whole.
TEST_F(LogFile, thatCannotGrow) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{kLogHeaderSize + 12 * kLogBlockSize, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &most);
    open();
    for (std::size_t i = 0; i < 3 * kLogBlockSize; ++i) {
      addBytes({1, 2, 3, 4, 5, 6, 7, 8});
    }
    writer.close(false);
    _exit(writer.header().failed.load() == (std::uint64_t{EFBIG} << 32 | 1U) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const std::vector<unsigned char> records = published();
  EXPECT_GT(records.size(), 7 * kLogBlockSize);
  EXPECT_EQ(records.size() % 8, 0U);
}

TEST_F(LogFile, aForkedChildLeavesItAlone) {
  open();
  addBytes({1});
  writer.publish();
  writer.abandon();
  EXPECT_FALSE(writer.isOpen());
  for (std::size_t i = 0; i < kLogBlockSize; ++i) {
    addBytes({9, 9, 9});
  }
  EXPECT_EQ(published(), std::vector<unsigned char>{1});
}

}  // namespace
}  // namespace pf::test
