// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/framed_socket.h"

#include <sys/socket.h>

#include <array>

#include <gtest/gtest.h>

namespace pf::protocol {
namespace {

struct Pair {
  FramedSocket a;
  FramedSocket b;
};

Pair makePair() {
  std::array<int, 2> fds{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  return Pair{FramedSocket(UniqueFd(fds[0])), FramedSocket(UniqueFd(fds[1]))};
}

TEST(FramedSocket, SendsMoreThanTheSocketTakesAtOnce) {
  Pair pair = makePair();
  const Output big{0, 1, std::string(kMaxChunk, 'x'), 0};
  for (int i = 0; i < 64; ++i) {
    ASSERT_TRUE(pair.a.send(big).ok());
  }
  EXPECT_GT(pair.a.queued(), 0U);
  int received = 0;
  while (received < 64) {
    ASSERT_TRUE(pair.a.flush().ok());
    Result<std::optional<Message>> message = pair.b.receive();
    ASSERT_TRUE(message.ok());
    if (message->has_value()) {
      EXPECT_TRUE(**message == Message(big));
      ++received;
    }
  }
  EXPECT_EQ(pair.a.queued(), 0U);
  const Result<std::optional<Message>> nothing = pair.b.receive();
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
}

TEST(FramedSocket, WhatCameBeforeTheEndIsRead) {
  Pair pair = makePair();
  ASSERT_TRUE(pair.a.send(Refused{"no"}).ok());
  ASSERT_TRUE(pair.b.send(Shutdown{}).ok());  // never read: the end is a reset
  pair.a.close();
  const Result<std::optional<Message>> message = pair.b.receive();
  ASSERT_TRUE(message.ok());
  EXPECT_TRUE(message->value() == Message(Refused{"no"}));
  EXPECT_FALSE(pair.b.receive().ok());
}

TEST(FramedSocket, AStrangerGetsNoMoreThanAHello) {
  Pair pair = makePair();
  pair.b.limitToHello(true);
  const std::string header = encodeFrame(1, 1, std::string(kMaxHelloBytes - kFrameHeaderSize, 'x'));
  ASSERT_EQ(::send(pair.a.fd(), header.data(), kMaxHelloBytes - 1, 0),
            static_cast<ssize_t>(kMaxHelloBytes - 1));
  EXPECT_TRUE(pair.b.receive().ok());
  ASSERT_TRUE(pair.a.send(Output{0, 1, std::string(kMaxChunk, 'x'), 0}).ok());
  EXPECT_FALSE(pair.b.receive().ok());
}

TEST(FramedSocket, MessagesAfterTheHelloMayComeWithIt) {
  Pair pair = makePair();
  pair.b.limitToHello(true);
  const Hello hello{PeerRole::Agent, std::string(kKeySize, 'k')};
  const RankLaunched launched{0, 4, 1, 2, std::string(200, 'h'), "p", {}};
  ASSERT_TRUE(pair.a.send(hello).ok());
  ASSERT_TRUE(pair.a.send(launched).ok());
  EXPECT_TRUE(pair.b.receive().value().value() == Message(hello));
  pair.b.limitToHello(false);
  EXPECT_TRUE(pair.b.receive().value().value() == Message(launched));
}

}  // namespace
}  // namespace pf::protocol
