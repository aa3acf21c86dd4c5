// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/recording/output_tee.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "app/collation/printed_text.h"
#include "db/tests/sample.h"

namespace pf::app {
namespace {

class OutputTeeTest : public ::testing::Test {
 protected:
  int open(const char* name) const {
    return ::open(m_directory.file(name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  Result<OutputTee> start() {
    return OutputTee::start(m_directory.file(kPrintedFile), m_out.get(), m_error.get());
  }
  std::string in(const char* name) const {
    std::ifstream file(m_directory.file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void print(int fd, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
      ASSERT_GT(n, 0);
      done += static_cast<std::size_t>(n);
    }
  }

  db::Directory m_directory;
  UniqueFd m_out{open("out")};
  UniqueFd m_error{open("error")};
};

TEST_F(OutputTeeTest, GoesOnAndIsKept) {
  Result<OutputTee> tee = start();
  ASSERT_TRUE(tee.ok());
  print(tee->outputEnd(), "to the one\n");
  print(tee->errorEnd(), "to the other\n");
  tee->drain([] { return false; });
  EXPECT_EQ(in("out"), "to the one\n");
  EXPECT_EQ(in("error"), "to the other\n");
  EXPECT_EQ(printedIn(m_directory.path()),
            (std::vector<db::Printed>{{1, db::RawBytes{"to the one\n"}, 0, {}},
                                      {2, db::RawBytes{"to the other\n"}, 0, {}}}));
}

TEST_F(OutputTeeTest, OfMuchTheBeginningAndTheEnd) {
  for (const std::size_t size : {kFirstPrinted, kFirstPrinted + 1, kFirstPrinted + kLastPrinted,
                                 kFirstPrinted + kLastPrinted + 1, std::size_t{1'000'003}}) {
    std::filesystem::remove(m_directory.file(kPrintedFile));
    ASSERT_EQ(::ftruncate(m_out.get(), 0), 0);
    ASSERT_EQ(::lseek(m_out.get(), 0, SEEK_SET), 0);
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) {
      text[i] = static_cast<char>('a' + i * i % 23);
    }
    Result<OutputTee> tee = start();
    ASSERT_TRUE(tee.ok());
    print(tee->outputEnd(), text);
    tee->drain([] { return false; });
    EXPECT_EQ(in("out"), text);
    const std::vector<db::Printed> kept = printedIn(m_directory.path());
    ASSERT_EQ(kept.size(), 1U);
    const std::string end = kept[0].end ? kept[0].end->bytes : "";
    EXPECT_EQ(kept[0].beginning->bytes, text.substr(0, kFirstPrinted));
    EXPECT_EQ(end, text.substr(text.size() - end.size()));
    EXPECT_EQ(end.size(), std::min(kLastPrinted, size - kFirstPrinted));
    EXPECT_EQ(kept[0].leftOut + end.size() + kFirstPrinted, size);
  }
}

/// Who is left behind may print on; it is not waited for, and what it prints arrives.
TEST_F(OutputTeeTest, WhoStillHasAStreamIsNotWaitedFor) {
  Result<OutputTee> tee = start();
  ASSERT_TRUE(tee.ok());
  UniqueFd left(::fcntl(tee->outputEnd(), F_DUPFD_CLOEXEC, 3));
  print(left.get(), "before\n");
  const auto begun = std::chrono::steady_clock::now();
  tee->drain([] { return false; });
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_EQ(in("out"), "before\n");
  print(left.get(), "after\n");
  for (int i = 0; i < 2000 && in("out") != "before\nafter\n"; ++i) {
    ::usleep(5000);
  }
  EXPECT_EQ(in("out"), "before\nafter\n");
}

/// As Ctrl-C in a terminal reaches all of its processes: what the program says then arrives, too.
TEST_F(OutputTeeTest, OutlivesWhoHasStartedIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t recorder = ::fork();
  if (recorder == 0) {
    ::setpgid(0, 0);
    Result<OutputTee> tee = start();
    const pid_t program = tee ? ::fork() : -1;
    if (program == 0) {
      ::signal(SIGINT, SIG_IGN);
      ::signal(SIGTERM, SIG_IGN);
      const int end = ::fcntl(tee->outputEnd(), F_DUPFD, 10);
      tee->launched();
      char go = 0;
      ::close(ends[1]);
      (void)!::read(ends[0], &go, 1);
      (void)!::write(end, "still here\n", 11);
      ::_exit(0);
    }
    ::pause();
    ::_exit(1);
  }
  ::usleep(300'000);
  ::kill(-recorder, SIGINT);
  ::kill(-recorder, SIGTERM);
  ::kill(recorder, SIGKILL);
  ::waitpid(recorder, nullptr, 0);
  ::close(ends[1]);
  for (int i = 0; i < 2000 && in("out") != "still here\n"; ++i) {
    ::usleep(5000);
  }
  EXPECT_EQ(in("out"), "still here\n");
  ::close(ends[0]);
}

/// In one place both come in their order.
TEST_F(OutputTeeTest, BothToOnePlaceKeepTheirOrder) {
  UniqueFd same(::fcntl(m_out.get(), F_DUPFD_CLOEXEC, 3));
  Result<OutputTee> tee = OutputTee::start(m_directory.file(kPrintedFile), m_out.get(), same.get());
  ASSERT_TRUE(tee.ok());
  std::string all;
  for (int i = 0; i < 20; ++i) {
    const std::string line = std::to_string(i) + "\n";
    print(i % 2 == 0 ? tee->outputEnd() : tee->errorEnd(), line);
    all += line;
    for (int look = 0; look < 2000 && in("out") != all; ++look) {
      ::usleep(1000);
    }
  }
  tee->drain([] { return false; });
  EXPECT_EQ(in("out"), all);
  EXPECT_EQ(printedIn(m_directory.path()).size(), 2U);
}

/// One stream is held open, the reader of the other one has gone: there is nothing to wait for.
TEST_F(OutputTeeTest, AReaderThatHasGoneHoldsUpNobody) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Result<OutputTee> tee = OutputTee::start(m_directory.file(kPrintedFile), ends[1], m_error.get());
  ASSERT_TRUE(tee.ok());
  ::close(ends[0]);
  ::close(ends[1]);
  print(tee->outputEnd(), "x");
  UniqueFd left(::fcntl(tee->errorEnd(), F_DUPFD_CLOEXEC, 3));
  const auto begun = std::chrono::steady_clock::now();
  tee->drain([] { return false; });
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15));
}

TEST_F(OutputTeeTest, WhoDoesNotWantToWaitDoesNot) {
  Result<OutputTee> tee = start();
  ASSERT_TRUE(tee.ok());
  UniqueFd left(::fcntl(tee->outputEnd(), F_DUPFD_CLOEXEC, 3));
  int looks = 0;
  tee->drain([&looks] { return ++looks > 2; });
  EXPECT_EQ(looks, 3);
}

TEST_F(OutputTeeTest, WithoutAPlaceNothingIsBegun) {
  std::ofstream(m_directory.file(kPrintedFile)) << "there";
  EXPECT_FALSE(start().ok());
  EXPECT_EQ(in(kPrintedFile), "there");
}

TEST_F(OutputTeeTest, WhatIsNotToBeCarriedIsNot) {
  Result<OutputTee> tee = OutputTee::start(m_directory.file(kPrintedFile), -1, m_error.get());
  ASSERT_TRUE(tee.ok());
  EXPECT_LT(tee->outputEnd(), 0);
  print(tee->errorEnd(), "x");
  tee->drain([] { return false; });
  ASSERT_EQ(printedIn(m_directory.path()).size(), 1U);
}

}  // namespace
}  // namespace pf::app
