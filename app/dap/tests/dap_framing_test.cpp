// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_framing.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pf::headless {
namespace {

/// Contents and "!" for each error, however the bytes are cut.
std::vector<std::string> read(const std::string& bytes, std::size_t piece) {
  FrameReader reader;
  std::vector<std::string> out;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    reader.feed(std::string_view(bytes).substr(i, piece));
    while (const auto next = reader.next()) {
      out.push_back(next->ok() ? **next : "!");
    }
  }
  return out;
}

void expectAtAnyCut(const std::string& bytes, const std::vector<std::string>& wanted) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
    EXPECT_EQ(read(bytes, piece), wanted) << "pieces of " << piece;
  }
}

TEST(DapFraming, FramesComeBack) {
  expectAtAnyCut(frame("{}") + frame("") + frame("{\"a\": \"é\\r\\n\"}"),
                 {"{}", "", "{\"a\": \"é\\r\\n\"}"});
}

TEST(DapFraming, LengthCountsBytes) {
  EXPECT_EQ(frame("é"), "Content-Length: 2\r\n\r\né");
}

TEST(DapFraming, AContentTypeIsNoNews) {
  expectAtAnyCut("Content-Type: utf-8\r\nContent-Length: 1\r\n\r\nx", {"x"});
}

TEST(DapFraming, NoiseIsOneErrorAndTheNextFrameIsRead) {
  for (const char* noise : {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "Content-Length: x\r\n\r\n",
                            "Content-Length: -1\r\n\r\n", "Content-Length: 3 \r\n\r\n",
                            "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
                            "Content-Length: 99999999999999999999\r\n\r\n",
                            "Content-Length: 16777217\r\n\r\n", "\r\n\r\n"}) {
    SCOPED_TRACE(noise);
    expectAtAnyCut(noise + frame("{}"), {"!", "{}"});
  }
}

/// What a browser sends to a port is no request, though there is a Content-Length in it.
TEST(DapFraming, ABrowsersRequestIsRefusedAsAWhole) {
  expectAtAnyCut("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", {"!"});
}

TEST(DapFraming, WhatIsCutIsPending) {
  FrameReader reader;
  EXPECT_FALSE(reader.pending());
  for (const char byte : frame("{}")) {
    reader.feed({&byte, 1});
    if (byte != '}') {
      EXPECT_FALSE(reader.next().has_value());
      EXPECT_TRUE(reader.pending());
    }
  }
  EXPECT_EQ(**reader.next(), "{}");
  EXPECT_FALSE(reader.pending());
}

TEST(DapFraming, TheLongestMessageIsReadAndNoLongerOne) {
  const std::string longest(FrameReader::kMaxContent, ' ');
  FrameReader reader;
  reader.feed(frame(longest));
  EXPECT_EQ((**reader.next()).size(), longest.size());
  reader.feed("Content-Length: 16777217\r\n\r\n");
  const auto next = reader.next();
  ASSERT_TRUE(next.has_value());
  EXPECT_NE(next->error().message.find("16777217 bytes is too long"), std::string::npos);
}

TEST(DapFraming, AHeaderWithoutEndIsGivenUp) {
  FrameReader reader;
  reader.feed(std::string(FrameReader::kMaxHeader + 5, 'a'));
  const auto next = reader.next();
  ASSERT_TRUE(next.has_value());
  EXPECT_FALSE(next->ok());
  reader.feed(frame("1"));
  EXPECT_EQ(**reader.next(), "1");
}

}  // namespace
}  // namespace pf::headless
