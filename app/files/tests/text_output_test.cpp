// SPDX-License-Identifier: GPL-3.0-or-later
// An export: to a file byte for byte, to a terminal so that nothing steers it.
#include "app/files/text_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "replay_engine/base/unique_fd.h"

namespace pf::app {
namespace {

TEST(TextOutput, doesNotSteerATerminal) {
  const UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(master.valid() && ::grantpt(master.get()) == 0 && ::unlockpt(master.get()) == 0);
  const std::string terminal = ::ptsname(master.get());
  const UniqueFd held(::open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  Result<TextOutput> output = TextOutput::open(terminal);
  ASSERT_TRUE(output.ok()) << output.error().text();
  output->write("a,\x1b]0;title\x07\u202e\n");
  ASSERT_TRUE(output->finish().ok());
  std::array<char, 256> read{};
  const ssize_t size = ::read(master.get(), read.data(), read.size());
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string(read.data(), static_cast<std::size_t>(size)),
            "a,\\x1b]0;title\\x07\\u202e\r\n");
}

}  // namespace
}  // namespace pf::app
