// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/messages.h"

#include <set>

#include <gtest/gtest.h>

#include "replay_engine/protocol/body.h"
#include "replay_engine/protocol/tests/sample_messages.h"

namespace pf::protocol {
namespace {

Frame frameOf(const Message& message) {
  FrameDecoder decoder;
  decoder.feed(encodeMessage(message, 1).value());
  return decoder.next().value().value();
}

TEST(Messages, SampleHasEveryKindOnce) {
  std::set<std::size_t> kinds;
  for (const Message& message : sampleMessages()) {
    kinds.insert(message.index());
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Message>);
  EXPECT_EQ(sampleMessages().size(), std::variant_size_v<Message>);
}

TEST(Messages, ComeBackAsTheyWereSent) {
  for (const Message& message : sampleMessages()) {
    const Result<Message> back = decodeMessage(frameOf(message));
    ASSERT_TRUE(back.ok()) << message.index() << ": " << back.error().text();
    EXPECT_TRUE(*back == message) << message.index();
  }
}

TEST(Messages, NoPrefixOfABodyIsReadAsSomethingElse) {
  for (const Message& message : sampleMessages()) {
    Frame frame = frameOf(message);
    const std::string whole = frame.body;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      frame.body = whole.substr(0, size);
      const Result<Message> back = decodeMessage(frame);
      EXPECT_TRUE(!back.ok() || !(*back == message)) << message.index() << " cut at " << size;
    }
  }
}

TEST(Messages, HelloFitsInWhatAStrangerMaySend) {
  const Hello hello{PeerRole::Client, std::string(kKeySize, 'k')};
  EXPECT_LE(encodeMessage(hello, 1)->size(), kMaxHelloBytes);
}

TEST(Messages, TooLargeIsAnErrorNotAFrame) {
  EXPECT_FALSE(encodeMessage(Output{0, 1, std::string(kMaxBody, 'x'), 0}, 1).ok());
}

TEST(Messages, UnknownTypeIsRefused) {
  EXPECT_FALSE(decodeMessage(Frame{200, 1, ""}).ok());
}

Frame setStop(BodyWriter& body) {
  return Frame{static_cast<std::uint8_t>(MessageType::SetStop), 1, body.take()};
}

TEST(Body, MissingFieldKeepsItsDefault) {
  BodyWriter body;
  body(2, std::uint64_t{9});
  EXPECT_TRUE(decodeMessage(setStop(body)).value() == Message(SetStop{-1, 9}));
}

TEST(Body, UnknownOptionalFieldIsSkippedUnknownMandatoryRefused) {
  BodyWriter optional;
  optional(1, std::int32_t{1});
  optional(2, std::uint64_t{9});
  optional(3 | kOptionalField, std::string("new"));
  EXPECT_TRUE(decodeMessage(setStop(optional)).value() == Message(SetStop{1, 9}));
  BodyWriter mandatory;
  mandatory(1, std::int32_t{1});
  mandatory(3, std::string("new"));
  EXPECT_FALSE(decodeMessage(setStop(mandatory)).ok());
}

TEST(Body, FieldsTwiceOrOutOfOrderAreRefused) {
  BodyWriter twice;
  twice(1, std::int32_t{1});
  twice(1, std::int32_t{2});
  EXPECT_FALSE(decodeMessage(setStop(twice)).ok());
  BodyWriter again;
  again(1, std::int32_t{1});
  again(1 | kOptionalField, std::int32_t{2});
  EXPECT_FALSE(decodeMessage(setStop(again)).ok());
  BodyWriter swapped;
  swapped(2, std::uint64_t{1});
  swapped(1, std::int32_t{2});
  EXPECT_FALSE(decodeMessage(setStop(swapped)).ok());
}

TEST(Body, WrongSizeAndUnknownEnumAreRefused) {
  BodyWriter size;
  size(1, std::int64_t{1});
  EXPECT_FALSE(decodeMessage(setStop(size)).ok());
  BodyWriter kind;
  kind(1, std::uint8_t{200});
  EXPECT_FALSE(
      decodeMessage(Frame{static_cast<std::uint8_t>(MessageType::Verdict), 1, kind.take()}).ok());
}

TEST(LaunchContext, FactsAreLinesOfPlainText) {
  for (const ContextFact& fact :
       {ContextFact{"argument", "2", "100 %\n\xc3\xa9"}, ContextFact{"variable", "TZ", ""},
        ContextFact{"program", "", "build-id 00ff"}}) {
    const std::string line = factText(fact);
    for (const char each : line) {
      EXPECT_TRUE(each >= ' ' && each < 0x7F);
    }
    ContextFact read;
    ASSERT_TRUE(factFromText(line, read));
    EXPECT_EQ(read, fact);
  }
  for (const char* none :
       {"", "argument", "argument 2", " 2 x", "argument 2 %4", "argument 2 %zz"}) {
    ContextFact read;
    EXPECT_FALSE(factFromText(none, read)) << none;
  }
}

}  // namespace
}  // namespace pf::protocol
