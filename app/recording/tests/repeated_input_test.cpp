// SPDX-License-Identifier: GPL-3.0-or-later
// Standard input for one recording after the other: of a file, of a pipe that ends, and of one that goes on.
#include "app/recording/repeated_input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "app/recording/input_tee.h"

namespace pf::app {
namespace {

class RepeatedInputTest : public ::testing::Test {
 protected:
  ~RepeatedInputTest() override { dup2(m_before.get(), STDIN_FILENO); }
  static void isInput(int descriptor) {
    dup2(descriptor, STDIN_FILENO);
    close(descriptor);
  }
  /// Standard input is a pipe.
  void makePipe() {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    isInput(ends[0]);
    m_typed.reset(ends[1]);
    fcntl(m_typed.get(), F_SETPIPE_SZ, 1 << 20);
  }
  void type(const std::string& text) {
    ASSERT_EQ(write(m_typed.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// At most `size` bytes, as one run that takes three at a time.
  static std::string readRun(RepeatedInput& input, std::size_t size) {
    std::string text;
    char bytes[3];
    for (ssize_t n = 1; n > 0 && text.size() < size;) {
      n = input.read(bytes, std::min(sizeof bytes, size - text.size()));
      text.append(bytes, n > 0 ? static_cast<std::size_t>(n) : 0);
    }
    return text;
  }

  UniqueFd m_before{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10)};
  UniqueFd m_typed;
};

TEST_F(RepeatedInputTest, AFileIsReadAgainFromWhereItStood) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  ASSERT_EQ(write(file, "xxone\ntwo\n", 10), 10);
  lseek(file, 2, SEEK_SET);
  isInput(file);
  Result<RepeatedInput> input = RepeatedInput::start();
  ASSERT_TRUE(input);
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(input->rewind());
    EXPECT_EQ(readRun(*input, 100), "one\ntwo\n") << run;
  }
}

TEST_F(RepeatedInputTest, APipeIsKept) {
  makePipe();
  type("one\ntwo\n");
  m_typed.reset();
  Result<RepeatedInput> input = RepeatedInput::start();
  ASSERT_TRUE(input);
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(input->rewind());
    EXPECT_EQ(readRun(*input, 100), "one\ntwo\n") << run;
  }
}

TEST_F(RepeatedInputTest, WhatARunHasNotReadComesLater) {
  makePipe();
  type("one\n");
  Result<RepeatedInput> input = RepeatedInput::start();
  ASSERT_TRUE(input);
  ASSERT_TRUE(input->rewind());
  EXPECT_EQ(input->source(), STDIN_FILENO);
  EXPECT_EQ(readRun(*input, 3), "one");
  ASSERT_TRUE(input->rewind());
  EXPECT_NE(input->source(), STDIN_FILENO) << "there is something to read without waiting";
  type("two\n");
  EXPECT_EQ(readRun(*input, 8), "one\ntwo\n");
  EXPECT_EQ(input->source(), STDIN_FILENO);
  ASSERT_TRUE(input->rewind());
  EXPECT_EQ(readRun(*input, 8), "one\ntwo\n");
}

TEST_F(RepeatedInputTest, ThereIsNoSecondRunWithoutAllOfIt) {
  makePipe();
  Result<RepeatedInput> input = RepeatedInput::start();
  ASSERT_TRUE(input);
  ASSERT_TRUE(input->rewind());
  std::string block(std::size_t{1} << 20, 'x');
  for (std::uint64_t given = 0; given <= kMostInput; given += block.size()) {
    type(block);
    for (std::size_t taken = 0; taken < block.size();) {
      taken += static_cast<std::size_t>(input->read(block.data(), block.size()));
    }
  }
  const Status status = input->rewind();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Usage);
}

}  // namespace
}  // namespace pf::app
