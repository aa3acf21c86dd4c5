// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/breakpoints/dap_logpoint_line.h"

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

TEST(DapLogpointLine, OfTextOnlyIsComplete) {
  const LogpointLine line(logPieces("here {{}}"));
  EXPECT_EQ(line.wanted(), nullptr);
  EXPECT_EQ(line.text(), "here {}");
  EXPECT_EQ(LogpointLine().wanted(), nullptr);
}

TEST(DapLogpointLine, TakesItsValuesOneAfterAnother) {
  LogpointLine line(logPieces("{x} of {y + 1}!"));
  ASSERT_NE(line.wanted(), nullptr);
  EXPECT_EQ(*line.wanted(), "x");
  line.put(std::string("3"));
  ASSERT_NE(line.wanted(), nullptr);
  EXPECT_EQ(*line.wanted(), "y + 1");
  line.put(std::string("8"));
  EXPECT_EQ(line.wanted(), nullptr);
  EXPECT_EQ(line.text(), "3 of 8!");
}

TEST(DapLogpointLine, SaysWhyAValueIsNotThere) {
  LogpointLine line(logPieces("{nosuch} {x}"));
  line.put(Error{ErrorCode::NotFound, "No symbol", "Look elsewhere."});
  EXPECT_EQ(*line.wanted(), "x");
  line.put(std::string("{3}"));
  EXPECT_EQ(line.text(), "<No symbol> {3}");
}

}  // namespace
}  // namespace pf::headless
