// SPDX-License-Identifier: GPL-3.0-or-later
// What a program reads from /dev/urandom and /dev/random, by each way to read: recorded and given
// back, but of no other file.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "replay_engine/rank/tests/rank_run.h"
#include "replay_engine/rank/tests/recorded_inputs.h"

PF_PROGRAMS(int, open, const char* path, int flags, ...);
PF_PROGRAMS(std::FILE*, fopen, const char* path, const char* mode);
PF_PROGRAMS(std::FILE*, fdopen, int fd, const char* mode);
PF_PROGRAMS(int, fileno, std::FILE* file);
PF_PROGRAMS(ssize_t, read, int fd, void* to, std::size_t size);
PF_PROGRAMS(ssize_t, pread, int fd, void* to, std::size_t size, off_t at);
PF_PROGRAMS(ssize_t, readv, int fd, const iovec* parts, int count);
PF_PROGRAMS(int, dup2, int fd, int to);
PF_PROGRAMS(int, fcntl, int fd, int command, ...);

namespace pf::test {
namespace {

struct Bytes {
  unsigned char all[400] = {};
  void tell(ssize_t size) const {
    std::string text;
    for (const unsigned char byte : all) {
      text += std::to_string(byte) + " ";
    }
    say("%zd: %s", size, text.c_str());
  }
};

int device() {
  return pf_open("/dev/urandom", O_RDONLY);
}

void readAll(int fd) {
  Bytes bytes;
  const ssize_t size = pf_read(fd, bytes.all, sizeof bytes.all);
  bytes.tell(size);
}

/// A stream asks for more than the program does.
void readStream(std::FILE* file) {
  Bytes bytes;
  const std::size_t size = std::fread(bytes.all, 1, 100, file);
  bytes.tell(static_cast<ssize_t>(size));
  std::fclose(file);
}

struct Way {
  const char* name;
  void (*read)();
};

void PrintTo(const Way& of, std::ostream* out) {
  *out << of.name;
}

const Way kWays[] = {
    {"read", [] { readAll(device()); }},
    {"otherDevice", [] { readAll(pf_open("/dev/random", O_RDONLY)); }},
    {"readWrite", [] { readAll(pf_open("/dev/urandom", O_RDWR)); }},
    {"pread",
     [] {
       Bytes bytes;
       const ssize_t size = pf_pread(device(), bytes.all, 50, 7);
       bytes.tell(size);
     }},
    {"readv",
     [] {
       Bytes bytes;
       const iovec parts[2] = {{bytes.all, 40}, {bytes.all + 40, 40}};
       const ssize_t size = pf_readv(device(), parts, 2);
       bytes.tell(size);
     }},
    {"dup2", [] { readAll(pf_dup2(device(), 99)); }},
    {"fcntl", [] { readAll(pf_fcntl(device(), F_DUPFD_CLOEXEC, 50)); }},
    {"fopen", [] { readStream(pf_fopen("/dev/urandom", "rb")); }},
    {"fdopen", [] { readStream(pf_fdopen(device(), "r")); }},
    {"streamsDescriptor",
     [] {
       std::FILE* const file = pf_fopen("/dev/urandom", "r");
       readAll(pf_fileno(file));
       std::fclose(file);
     }},
    {"link",
     [] {
       const std::string link = testing::TempDir() + "random_link_" + std::to_string(::getpid());
       std::filesystem::create_symlink("/dev/urandom", link);
       readAll(pf_open(link.c_str(), O_RDONLY));
       readStream(pf_fopen(link.c_str(), "r"));
       std::filesystem::remove(link);
     }},
};

class RandomFiles : public testing::TestWithParam<Way> {};

TEST_P(RandomFiles, areGivenBack) {
  const auto program = [] {
    GetParam().read();
    GetParam().read();
  };
  const RankRun recorded = record(kRecordChoices, {}, program);
  ASSERT_EQ(recorded.ending, Ending::Finished);
  EXPECT_NE(run({}, program, {}).said, recorded.said);
  EXPECT_EQ(replay(recorded, {}, program).said, recorded.said);
}

INSTANTIATE_TEST_SUITE_P(By, RandomFiles, testing::ValuesIn(kWays),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(RandomStreams, areReadInPiecesThatAReplayReadsAgain) {
  const RankRun recorded =
      record(kRecordChoices, {}, [] { readStream(pf_fopen("/dev/urandom", "r")); });
  EXPECT_LE(valuesIn(logOf(recorded), ValueKind::Urandom).size(), 2 * 65U);  // not a buffer's 4096
}

TEST(RandomStreams, mayBeManyAtOnce) {
  const auto program = [] {
    std::FILE* files[40] = {};
    for (std::FILE*& file : files) {
      file = pf_fopen("/dev/urandom", "r");
    }
    for (std::FILE* const file : files) {
      say("%d", file != nullptr && std::fgetc(file) != EOF && pf_fileno(file) >= 0 ? 1 : 0);
      std::fclose(file);
    }
    readStream(pf_fopen("/dev/urandom", "r"));  // there is room again
  };
  const RankRun recorded = record(kRecordChoices, {}, program);
  EXPECT_EQ(recorded.said.substr(0, 80).find('0'), std::string::npos);
  EXPECT_EQ(replay(recorded, {}, program).said, recorded.said);
}

TEST(RandomDescriptors, areThatNoMoreOnceTheyAreClosed) {
  const Directory directory;
  directory.write("data", "no chance");
  const RankRun recorded = record(kRecordChoices, {}, [&] {
    const int random = device();
    ::close(random);
    const int fd = pf_open((directory / "data").c_str(), O_RDONLY);
    char text[10] = {};
    say("%d", fd == random ? 1 : 0);
    pf_read(fd, text, 9);
    say("%s", text);
  });
  EXPECT_EQ(recorded.said, "1\nno chance\n");
  EXPECT_TRUE(valuesIn(logOf(recorded), ValueKind::Urandom).empty());
}

TEST(RandomDescriptors, ofMpiAreNotTheProgramsBytes) {
  const RankRun recorded = record(kRecordChoices, {}, [] {
    const int fd = device();
    unsigned char bytes[8] = {};
    const InsideLibc insideMpi;
    pf_read(fd, bytes, sizeof bytes);
    say("%d", std::accumulate(bytes, bytes + 8, 0) > 0 ? 1 : 0);
  });
  EXPECT_EQ(recorded.said, "1\n");
  EXPECT_TRUE(valuesIn(logOf(recorded), ValueKind::Urandom).empty());
}

TEST(RandomDescriptors, areNoFilesThatMayChange) {
  const RankRun recorded = record(kRecordChoices, {}, [] { readAll(device()); });
  EXPECT_EQ(inputsIn(logOf(recorded), "/dev"), "");
}

}  // namespace
}  // namespace pf::test
