// SPDX-License-Identifier: GPL-3.0-or-later
// What a program prints: all of it, or its beginning and its end; and nobody is waited for.
#include "app/recording/kept_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include <gtest/gtest.h>

namespace pf::app {
namespace {

void print(int pipe, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(pipe, text.data() + done, text.size() - done);
    ASSERT_GT(n, 0);
    done += static_cast<std::size_t>(n);
  }
}

TEST(KeptOutputTest, AllOfIt) {
  const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(1 << 20);
  ASSERT_TRUE(output);
  std::string text;
  for (int line = 0; line < 50'000; ++line) {  // more than the pipe holds
    text += std::to_string(line) + "\n";
  }
  print((*output)->writeEnd(), text);
  const Printed printed = (*output)->take();
  EXPECT_EQ(printed.beginning + printed.end, text);
  EXPECT_EQ(printed.leftOut, 0U);
}

TEST(KeptOutputTest, WhatIsInThePipeAtTheEndToo) {
  const std::string text(std::size_t{1} << 20, 'x');
  for (int i = 0; i < 20; ++i) {
    const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(2 * text.size());
    ASSERT_TRUE(output);
    fcntl((*output)->writeEnd(), F_SETPIPE_SZ, 1 << 20);
    print((*output)->writeEnd(), text);
    EXPECT_EQ((*output)->take().beginning.size(), text.size());
  }
}

TEST(KeptOutputTest, NothingWasPrinted) {
  const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(10);
  ASSERT_TRUE(output);
  const Printed printed = (*output)->take();
  EXPECT_EQ(printed.beginning + printed.end, "");
}

TEST(KeptOutputTest, OfMuchTheBeginningAndTheEnd) {
  const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(10);
  ASSERT_TRUE(output);
  print((*output)->writeEnd(), "first line" + std::string(1'000'000, 'x') + "last lines");
  const Printed printed = (*output)->take();
  EXPECT_EQ(printed.beginning, "first line");
  EXPECT_EQ(printed.leftOut, 1'000'000U);
  EXPECT_EQ(printed.end, "last lines");
}

TEST(KeptOutputTest, AProcessThatOutlivesItsRunIsNotWaitedFor) {
  const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(1 << 10);
  ASSERT_TRUE(output);
  const UniqueFd held(fcntl((*output)->writeEnd(), F_DUPFD_CLOEXEC, 10));
  print(held.get(), "one\n");
  EXPECT_EQ((*output)->take().beginning, "one\n");
}

TEST(KeptOutputTest, SignalsAreNotForItsThread) {
  static volatile std::sig_atomic_t caught = 0;
  static pthread_t catcher;
  struct sigaction note {};
  note.sa_handler = [](int) {
    catcher = pthread_self();
    caught = 1;
  };
  struct sigaction before {};
  sigaction(SIGUSR1, &note, &before);
  const Result<std::unique_ptr<KeptOutput>> output = KeptOutput::start(10);
  ASSERT_TRUE(output);
  sigset_t usr1;
  sigset_t mask;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, &mask);  // now only the other thread could
  kill(getpid(), SIGUSR1);
  usleep(50'000);
  EXPECT_EQ(caught, 0);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  EXPECT_EQ(caught, 1);
  EXPECT_TRUE(pthread_equal(catcher, pthread_self()));
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace pf::app
