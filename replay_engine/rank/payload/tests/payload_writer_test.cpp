// SPDX-License-Identifier: GPL-3.0-or-later
// The writer of what comes from outside of a group: what a reader finds in its file at any moment.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include "replay_engine/rank/payload/tests/payload_file.h"

namespace pf::test {
namespace {

constexpr std::size_t kLargestWindow = std::size_t{1} << 20;

class PayloadWriterTest : public PayloadFile {
 protected:
  /// In a child, which ends in the middle of what it does.
  static int inChild(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      work();
      _exit(7);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }
  static int limited(rlim_t most, const std::function<void()>& work) {
    return inChild([&] {
      std::signal(SIGXFSZ, SIG_DFL);  // it would end the process
      const rlimit limit{most, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      work();
    });
  }
};

TEST_F(PayloadWriterTest, whatIsWrittenIsReadAgain) {
  ASSERT_TRUE(open());
  std::vector<KeptEntry> all;
  unsigned seed = 0;
  for (const PayloadKind kind : {PayloadKind::Message, PayloadKind::Probe, PayloadKind::Collective,
                                 PayloadKind::Communicator, PayloadKind::Failed}) {
    for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 31U, 4096U, 100'000U}) {
      ++seed;
      all.push_back(
          {kind, static_cast<std::int32_t>(seed), -1, seed * 1000ULL, contentOf(size, seed)});
    }
  }
  for (const KeptEntry& entry : all) {
    put(entry);
  }
  EXPECT_EQ(kept(), all);
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  writer.close(true);
  EXPECT_EQ(kept(), all);
  const std::string file = bytes();
  EXPECT_EQ(reinterpret_cast<const PayloadHeader*>(file.data())->clean.load(), kPayloadMagic);
  EXPECT_EQ(file.size() % 8, 0U);
  struct stat info {};
  ASSERT_EQ(::stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(PayloadWriterTest, contentMayBeLargerThanWindows) {
  ASSERT_TRUE(open());
  std::vector<KeptEntry> all;
  for (const std::size_t size :
       {3 * kLargestWindow + 5, std::size_t{1}, kLargestWindow, 2 * kLargestWindow + 1}) {
    all.push_back({PayloadKind::Message, 1, 2, all.size(),
                   contentOf(size, static_cast<unsigned>(all.size()))});
  }
  put(all[0]);
  put(all[1]);
  put(all[2], 4099);
  put(all[3], 1'000'003);
  EXPECT_EQ(kept(), all);
  writer.close(true);
  EXPECT_EQ(kept(), all);
}

/// Heads and ends of entries at every place around the end of a window.
TEST_F(PayloadWriterTest, entriesEndAnywhereInAWindow) {
  constexpr std::size_t kFirstEnd = (256U << 10) - kPayloadHeaderSize;
  for (std::size_t before = 0; before <= 160; before += 8) {
    PayloadWriter one;
    const std::string name = path("at" + std::to_string(before));
    ASSERT_TRUE(one.open(name.c_str(), kSalt, kRank, kSize));
    const std::string first = contentOf(kFirstEnd - sizeof(PayloadEntry) - before, 1);
    const std::string second = contentOf(100, 2);
    one.begin(PayloadKind::Message, 0, 0, 1);
    one.add(first.data(), first.size());
    one.end();
    one.begin(PayloadKind::Message, 0, 0, 2);
    one.add(second.data(), second.size());
    one.end();
    one.begin(PayloadKind::Failed, 0, 0, 3);
    one.end();
    PayloadReader again;
    const char* why = "";
    ASSERT_TRUE(again.open(name.c_str(), kRank, kSize, &why)) << why;
    EXPECT_EQ(rest(again), (std::vector<KeptEntry>{{PayloadKind::Message, 0, 0, 1, first},
                                                   {PayloadKind::Message, 0, 0, 2, second},
                                                   {PayloadKind::Failed, 0, 0, 3, ""}}))
        << before;
    one.close(false);
  }
}

TEST_F(PayloadWriterTest, anEntryCountsOnceItIsEnded) {
  ASSERT_TRUE(open());
  const KeptEntry first{PayloadKind::Message, 1, 2, 3, "first"};
  put(first);
  writer.begin(PayloadKind::Message, 1, 2, 4);
  writer.add("second", 6);
  EXPECT_EQ(kept(), std::vector{first});
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
  writer.end();
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(PayloadWriterTest, oneThatIsNotEndedIsForgotten) {
  ASSERT_TRUE(open());
  writer.begin(PayloadKind::Message, 1, 2, 3);
  writer.add("dirty dirty", 11);
  const KeptEntry small{PayloadKind::Probe, 4, 5, 6, "x"};
  put(small);
  const std::string large = contentOf(2 * kLargestWindow);
  writer.begin(PayloadKind::Message, 1, 2, 3);
  writer.add(large.data(), large.size());
  const KeptEntry other{PayloadKind::Message, 4, 5, 7, "yyy"};
  put(other);
  EXPECT_EQ(kept(), (std::vector{small, other}));
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
}

TEST_F(PayloadWriterTest, whatWasWrittenNeedNotBeInMemory) {
  const std::string content = contentOf(100'000);
  ASSERT_TRUE(open());
  const std::size_t before = filePages();
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    put({PayloadKind::Message, 1, 2, 3, content});
    most = std::max(most, filePages());
  }
  EXPECT_GT(most, before);
  EXPECT_LT(most, before + (2U << 10));
}

TEST_F(PayloadWriterTest, killedInTheMiddleOfAnEntry) {
  const KeptEntry first{PayloadKind::Message, 1, 2, 3, contentOf(1000)};
  const std::string second = contentOf(3 * kLargestWindow);
  const int status = inChild([&] {
    if (open()) {
      put(first);
      writer.begin(PayloadKind::Message, 1, 2, 4);
      writer.add(second.data(), second.size());
      ::raise(SIGKILL);
    }
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(kept(), std::vector{first});
  EXPECT_EQ(reader.end(), PayloadReader::End::Ended);
}

TEST_F(PayloadWriterTest, isNeverAFileThatIsThere) {
  write(path(), "somebody's");
  EXPECT_FALSE(open());
  EXPECT_EQ(errno, EEXIST);
  EXPECT_FALSE(writer.isOpen());
  EXPECT_FALSE(writer.open(std::string(5000, 'x').c_str(), 1, 0, 1));
  EXPECT_EQ(errno, ENAMETOOLONG);
  EXPECT_FALSE(writer.open(path("none/payload").c_str(), 1, 0, 1));
  EXPECT_EQ(errno, ENOENT);
  writer.begin(PayloadKind::Message, 0, 0, 0);  // to no avail
  writer.add("x", 1);
  writer.end();
  writer.fail(EIO);
  writer.close(true);
}

/// A disk that is full: the program goes on, what was ended stays whole, and a reader is told.
TEST_F(PayloadWriterTest, aFileThatCannotGrow) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{5000}, 3 * kLargestWindow}) {
    const std::string name = path("of" + std::to_string(size));
    const std::string content = contentOf(size);
    const int status = limited((2U << 20) + 12345, [&] {
      PayloadWriter one;
      if (!one.open(name.c_str(), kSalt, kRank, kSize)) {
        _exit(1);
      }
      for (std::uint64_t i = 1; one.keeps() && i < 1'000'000; ++i) {
        one.begin(PayloadKind::Message, 1, 2, i);
        one.add(content.data(), content.size());
        one.end();
      }
      for (int i = 0; i < 1000; ++i) {
        one.begin(PayloadKind::Message, 1, 2, 3);
        one.add(content.data(), content.size());
        one.end();
      }
      const bool told = one.isOpen() && !one.keeps();
      one.close(true);
      _exit(told ? 0 : 2);
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    const char* why = "";
    ASSERT_TRUE(reader.open(name.c_str(), kRank, kSize, &why)) << why;
    std::uint64_t expected = 0;
    for (const KeptEntry& entry : rest(reader)) {
      EXPECT_EQ(entry, (KeptEntry{PayloadKind::Message, 1, 2, ++expected, content}));
    }
    EXPECT_EQ(expected == 0, size > kLargestWindow);
    EXPECT_EQ(reader.end(), PayloadReader::End::Cut);
    EXPECT_EQ(reader.cutBy(), EFBIG);
    PayloadEntry mark{};
    std::ifstream file(name, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(kPayloadHeaderSize + reader.offset()));
    file.read(reinterpret_cast<char*>(&mark), sizeof mark);
    EXPECT_EQ(mark.kind, static_cast<std::uint32_t>(PayloadKind::Mark));
    EXPECT_EQ(mark.a, EFBIG);
  }
}

/// Without room for one window there is no Mark: the header tells.
TEST_F(PayloadWriterTest, aFileThatCannotGrowAtAll) {
  const int status = limited(kPayloadHeaderSize, [&] {
    const bool opened = open();
    put({PayloadKind::Message, 1, 2, 3, "x"});
    _exit(opened && !writer.keeps() ? 0 : 1);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(kept().empty());
  EXPECT_EQ(reader.end(), PayloadReader::End::Cut);
  EXPECT_EQ(reader.cutBy(), EFBIG);
}

TEST_F(PayloadWriterTest, whatCannotBeKeptIsMarked) {
  ASSERT_TRUE(open());
  const KeptEntry first{PayloadKind::Message, 1, 2, 3, "first"};
  put(first);
  writer.begin(PayloadKind::Message, 1, 2, 4);
  writer.add("half", 4);
  testing::internal::CaptureStderr();
  writer.fail(EOVERFLOW);
  writer.fail(EIO);
  writer.add("other half", 10);
  writer.end();
  put({PayloadKind::Message, 1, 2, 5, "third"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("photofinish: rank 3: contents of messages are no longer kept: "),
            std::string::npos);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_EQ(kept(), std::vector{first});
  EXPECT_EQ(reader.end(), PayloadReader::End::Cut);
  EXPECT_EQ(reader.cutBy(), EOVERFLOW);
}

TEST_F(PayloadWriterTest, whatIsStoppedByAnotherThreadEndsWithTheOpenEntry) {
  ASSERT_TRUE(open());
  const KeptEntry first{PayloadKind::Message, 1, 2, 3, "first"};
  writer.begin(PayloadKind::Message, 1, 2, 3);
  writer.add("fir", 3);
  std::thread([&] { writer.stop(ENOTSUP); }).join();
  writer.stop(EIO);
  EXPECT_FALSE(writer.keeps());
  writer.add("st", 2);
  writer.end();
  put({PayloadKind::Message, 1, 2, 4, "second"});
  EXPECT_EQ(kept(), std::vector{first});
  EXPECT_EQ(reader.end(), PayloadReader::End::Cut);
  EXPECT_EQ(reader.cutBy(), ENOTSUP);
}

TEST_F(PayloadWriterTest, aForkedChildLeavesItAlone) {
  ASSERT_TRUE(open());
  const KeptEntry first{PayloadKind::Message, 1, 2, 3, "first"};
  put(first);
  const int status = inChild([&] {
    writer.abandon();
    put({PayloadKind::Message, 1, 2, 4, "second"});
    writer.fail(EIO);
    writer.close(true);
    _exit(writer.isOpen() ? 1 : 0);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(kept(), std::vector{first});
  const KeptEntry second{PayloadKind::Message, 1, 2, 4, "of the parent"};
  put(second);
  EXPECT_EQ(kept(), (std::vector{first, second}));
}

}  // namespace
}  // namespace pf::test
