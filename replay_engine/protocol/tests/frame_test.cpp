// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/frame.h"

#include <gtest/gtest.h>

namespace pf::protocol {
namespace {

std::string twoFrames() {
  return encodeFrame(7, 1, "hello") + encodeFrame(8, 2, "");
}

/// Types and bodies of the frames found in `bytes`, and "!" if the decoder refused.
std::string decodeAll(FrameDecoder& decoder) {
  std::string out;
  for (;;) {
    Result<std::optional<Frame>> frame = decoder.next();
    if (!frame) {
      return out + "!";
    }
    if (!frame->has_value()) {
      return out;
    }
    out += std::to_string((*frame)->type) + ":" + (*frame)->body + ";";
  }
}

TEST(FrameDecoder, FindsFramesHoweverTheyAreCut) {
  const std::string bytes = twoFrames();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameDecoder decoder;
    decoder.feed(std::string_view(bytes).substr(0, cut));
    std::string found = decodeAll(decoder);
    decoder.feed(std::string_view(bytes).substr(cut));
    found += decodeAll(decoder);
    EXPECT_EQ(found, "7:hello;8:;") << "cut at " << cut;
  }
}

TEST(FrameDecoder, EveryFlippedBitIsFound) {
  const std::string bytes = twoFrames();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ static_cast<char>(1U << (bit % 8)));
    FrameDecoder decoder;
    decoder.feed(damaged);
    // A longer length may also wait for bytes that never come: no frame is made of damaged bytes.
    const std::string found = decodeAll(decoder);
    EXPECT_NE(found, "7:hello;8:;") << "bit " << bit;
    EXPECT_TRUE(found.empty() || found == "!" || found == "7:hello;" || found == "7:hello;!")
        << found;
  }
}

TEST(FrameDecoder, ChecksTheLengthBeforeTheBodyIsThere) {
  std::string header = encodeFrame(1, 1, std::string(100, 'x')).substr(0, kFrameHeaderSize);
  FrameDecoder small(99);
  small.feed(header);
  EXPECT_FALSE(small.next().ok());
  FrameDecoder enough(100);
  enough.feed(header);
  EXPECT_TRUE(enough.next().ok());
}

TEST(FrameDecoder, RefusesGapsAndRepetitions) {
  FrameDecoder gap;
  gap.feed(encodeFrame(1, 2, ""));
  EXPECT_FALSE(gap.next().ok());
  FrameDecoder repeated;
  repeated.feed(encodeFrame(1, 1, "") + encodeFrame(1, 1, ""));
  EXPECT_EQ(decodeAll(repeated), "1:;!");
}

TEST(FrameDecoder, OtherVersionIsNamed) {
  std::string bytes = encodeFrame(1, 1, "");
  bytes[2] = 9;
  FrameDecoder decoder;
  decoder.feed(bytes);
  const Result<std::optional<Frame>> frame = decoder.next();
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(frame.error().code, ErrorCode::Version);
  EXPECT_NE(frame.error().message.find("version 9"), std::string::npos);
}

TEST(FrameDecoder, AnErrorIsFinal) {
  FrameDecoder decoder;
  decoder.feed("GET / HTTP/1.1\r\nHost: example\r\n");
  EXPECT_FALSE(decoder.next().ok());
  decoder.feed(encodeFrame(1, 1, ""));
  EXPECT_FALSE(decoder.next().ok());
}

}  // namespace
}  // namespace pf::protocol
