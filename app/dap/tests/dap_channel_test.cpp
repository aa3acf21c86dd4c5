// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes on their way to an editor and back, and the port that one comes to.
#include <netinet/in.h>
#include <sys/socket.h>

#include "app/dap/dap_listener.h"
#include "app/dap/tests/dap_editor.h"

namespace pf::headless {
namespace {

class DapChannelTest : public testing::Test {
 protected:
  DapChannelTest() {
    QObject::connect(&m_editor.channel(), &ByteChannel::received,
                     [this](const QByteArray& bytes) { m_received += bytes; });
    QObject::connect(&m_editor.channel(), &ByteChannel::closed, [this] { ++m_closed; });
  }

  Editor m_editor;
  QByteArray m_received;
  int m_closed = 0;
};

TEST_F(DapChannelTest, BytesComeAsTheyAre) {
  const std::string bytes("a\0\r\n\xff", 5);
  ASSERT_EQ(::write(m_editor.sayingEnd(), bytes.data(), bytes.size()), 5);
  EXPECT_TRUE(QTest::qWaitFor([this] { return m_received.size() == 5; }, 30000));
  EXPECT_EQ(m_received.toStdString(), bytes);
}

TEST_F(DapChannelTest, TheEndIsSaidOnceAndWhatIsWrittenStillGoesOut) {
  m_editor.hangUp();
  EXPECT_TRUE(QTest::qWaitFor([this] { return m_closed > 0; }, 30000));
  m_editor.channel().write(frame("{}"));
  EXPECT_EQ(m_editor.heard().size(), 1U) << "the other direction is open";
  EXPECT_EQ(m_closed, 1);
}

TEST_F(DapChannelTest, AClientThatReadsSlowlyGetsAllInItsOrder) {
  const std::string large = "\"" + std::string(300000, 'x') + "\"";
  m_editor.channel().write(frame(large));
  m_editor.channel().write(frame("7"));
  std::vector<Json> heard;
  EXPECT_TRUE(QTest::qWaitFor(
      [&] {
        for (Json& each : m_editor.heard()) {
          heard.push_back(std::move(each));
        }
        return heard.size() == 2;
      },
      30000));
  EXPECT_EQ(heard[0].get<std::string>().size(), 300000U);
  EXPECT_EQ(heard[1], 7);
  EXPECT_EQ(m_closed, 0);
}

TEST_F(DapChannelTest, AClientThatDoesNotReadIsGivenUp) {
  const std::string piece(std::size_t{8} << 20U, 'x');
  for (int i = 0; i < 7; ++i) {
    m_editor.channel().write(piece);
  }
  EXPECT_EQ(m_closed, 0) << "it may be slow";
  m_editor.channel().write(piece);
  m_editor.channel().write(piece);
  EXPECT_EQ(m_closed, 1);
  m_editor.channel().write(piece);  // nobody reads it
  EXPECT_EQ(m_closed, 1);
}

TEST_F(DapChannelTest, AClientThatIsGoneIsNoSignal) {
  const auto former = ::signal(SIGPIPE, SIG_IGN);
  m_editor.goDeaf();
  m_editor.channel().write("x");
  EXPECT_EQ(m_closed, 1);
  m_editor.channel().write("y");
  m_editor.channel().drain(1);
  EXPECT_EQ(m_closed, 1);
  ::signal(SIGPIPE, former);
}

TEST(DapListener, APortIsOfThisHostAndOfOneServer) {
  int port = 0;
  const Result<UniqueFd> listening = listenOn(port);
  ASSERT_TRUE(listening.ok());
  EXPECT_GT(port, 0) << "the one that was free";
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(listening->get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(address.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  int same = port;
  const Result<UniqueFd> second = listenOn(same);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().advice, "Give another port with --port.");
}

TEST(DapListener, AClientOfOursIsKnown) {
  int port = 0;
  const Result<UniqueFd> listening = listenOn(port);
  ASSERT_TRUE(listening.ok());
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const UniqueFd taken(::accept4(listening->get(), nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(taken.valid());
  EXPECT_TRUE(peerIsOurUser(taken.get()));
  std::array<int, 2> pair{};
  ASSERT_EQ(::pipe(pair.data()), 0);
  const UniqueFd in(pair[0]);
  const UniqueFd out(pair[1]);
  EXPECT_FALSE(peerIsOurUser(in.get())) << "nobody is at the other end";
}

}  // namespace
}  // namespace pf::headless
