// SPDX-License-Identifier: GPL-3.0-or-later
// Who gets in at the daemon's door: our own uid with the key, in spite of any number of others.
#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/protocol/client_connection.h"
#include "replay_engine/protocol/rank_page.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::daemon {
namespace {

using namespace protocol;  // NOLINT(google-build-using-namespace): messages
using Clock = std::chrono::steady_clock;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitised = true;
#else
constexpr bool kSanitised = false;
#endif
#elif defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitised = true;
#else
constexpr bool kSanitised = false;
#endif
using std::chrono::milliseconds;

class Door : public testing::Test {
 protected:
  void SetUp() override {
    SessionConfig config;
    config.mode = kRecordChoices;
    config.logDirectory = "/tmp";
    Result<SessionDirectory> session = SessionDirectory::create(config, "/tmp");
    ASSERT_TRUE(session.ok()) << session.error().text();
    m_session.emplace(std::move(*session));
    m_daemon = ::fork();
    if (m_daemon == 0) {
      ::execl(TEST_DAEMON, TEST_DAEMON, m_session->path().c_str(), "0", nullptr);
      ::_exit(99);
    }
    Result<ClientConnection> client = ClientConnection::connect(*m_session);
    ASSERT_TRUE(client.ok()) << client.error().text();
    m_client.emplace(std::move(*client));
  }
  void TearDown() override {
    EXPECT_TRUE(m_client->send(Shutdown{}).ok());
    int status = -1;
    ::waitpid(m_daemon, &status, 0);
    EXPECT_EQ(status, 0);
    const std::string path = m_session->path();
    m_session.reset();
    EXPECT_FALSE(std::filesystem::exists(path));
  }

  [[nodiscard]] UniqueFd knock() const {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = m_session->socketPath();
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket interface
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fd.reset();
    }
    return fd;
  }
  /// True once the daemon has closed `fd`, waiting at most `most`.
  static bool isClosed(const UniqueFd& fd, milliseconds most) {
    const timeval timeout{most.count() / 1000, (most.count() % 1000) * 1000};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    char byte = 0;
    ssize_t n = 0;
    while ((n = ::recv(fd.get(), &byte, 1, 0)) > 0) {
    }
    return n == 0 || errno == ECONNRESET;
  }
  void honestPeerGetsIn() const {
    Result<ClientConnection> honest = ClientConnection::connect(*m_session);
    EXPECT_TRUE(honest.ok()) << honest.error().text();
  }
  [[nodiscard]] long residentKiB() const {
    std::ifstream status("/proc/" + std::to_string(m_daemon) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("VmRSS:", 0) == 0) {
        return std::stol(line.substr(6));
      }
    }
    return 0;
  }

  std::optional<SessionDirectory> m_session;
  std::optional<ClientConnection> m_client;
  pid_t m_daemon = -1;
};

TEST_F(Door, SocketIsPrivate) {
  struct stat info {};
  ASSERT_EQ(::stat(m_session->socketPath().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(Door, WrongKeyAndGarbageAreShutOut) {
  const std::vector<std::string> hellos{
      encodeMessage(Hello{PeerRole::Client, std::string(kKeySize, 'x')}, 1).value(),
      encodeMessage(Hello{PeerRole::Client, ""}, 1).value(),
      encodeMessage(Hello{PeerRole::Client, m_session->key().substr(0, 31)}, 1).value(),
      encodeMessage(Kill{}, 1).value(),
      "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: scanner/1.0 (something long "
      "enough)\r\n\r\n",
      std::string(5000, '\0'),
      std::string(5000, '\xff'),
  };
  for (const std::string& hello : hellos) {
    const UniqueFd fd = knock();
    ASSERT_TRUE(fd.valid());
    ::send(fd.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
    EXPECT_TRUE(isClosed(fd, milliseconds(1'900))) << hello.substr(0, 30);
  }
  honestPeerGetsIn();
}

TEST_F(Door, WhoSaysNothingIsShutOutAfterTwoSeconds) {
  const auto start = Clock::now();
  const UniqueFd silent = knock();
  const UniqueFd slow = knock();
  const std::string hello = encodeMessage(Hello{PeerRole::Client, m_session->key()}, 1).value();
  ::send(slow.get(), hello.data(), 10, MSG_NOSIGNAL);
  EXPECT_TRUE(isClosed(silent, milliseconds(20'000)));
  EXPECT_GE(Clock::now() - start, milliseconds(1'900));
  EXPECT_TRUE(isClosed(slow, milliseconds(20'000)));
}

TEST_F(Door, OtherVersionIsToldWhy) {
  std::string hello = encodeMessage(Hello{PeerRole::Client, m_session->key()}, 1).value();
  hello[2] = 9;
  FramedSocket socket(knock());
  ::send(socket.fd(), hello.data(), hello.size(), MSG_NOSIGNAL);
  std::optional<Message> answer;
  for (int i = 0; i < 200 && !answer; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
    Result<std::optional<Message>> message = socket.receive();
    ASSERT_TRUE(message.ok());
    answer = *message;
  }
  ASSERT_TRUE(answer && std::holds_alternative<Refused>(*answer));
  EXPECT_NE(std::get<Refused>(*answer).text.find("protocol version 9"), std::string::npos);
}

TEST_F(Door, NonsenseAfterTheKeyClosesOnlyThatPeer) {
  const UniqueFd fd = knock();
  const std::string bytes =
      encodeMessage(Hello{PeerRole::Agent, m_session->key()}, 1).value() + std::string(200, 'z');
  ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(isClosed(fd, milliseconds(1'900)));
  honestPeerGetsIn();
}

TEST_F(Door, FloodDoesNotKeepHonestPeersOut) {
  const long before = residentKiB();
  const pid_t flood = ::fork();
  if (flood == 0) {
    std::vector<UniqueFd> open;
    for (unsigned i = 0;; ++i) {
      UniqueFd fd = knock();
      if (i % 3 == 0 && fd.valid()) {
        ::send(fd.get(), "garbage garbage garbage garbage garbage", 39, MSG_NOSIGNAL);
      }
      open.push_back(std::move(fd));
      if (open.size() > 300) {
        open.clear();
      }
    }
  }
  milliseconds slowest(0);
  for (int i = 0; i < 40; ++i) {
    const auto start = Clock::now();
    honestPeerGetsIn();
    slowest = std::max(slowest, std::chrono::duration_cast<milliseconds>(Clock::now() - start));
    std::this_thread::sleep_for(milliseconds(20));
  }
  const long after = residentKiB();
  ::kill(flood, SIGKILL);
  ::waitpid(flood, nullptr, 0);
  EXPECT_LT(slowest, milliseconds(2000));
  if (!kSanitised) {  // freed memory is kept there
    EXPECT_LT(after - before, 8192) << "KiB more";
  }
}

TEST_F(Door, OtherUserIsRefused) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root to become another user";
  }
  // Even if the directory and the socket were open to all.
  ::chmod(m_session->path().c_str(), 0777);
  ::chmod(m_session->socketPath().c_str(), 0777);
  const std::string hello = encodeMessage(Hello{PeerRole::Client, m_session->key()}, 1).value();
  const pid_t other = ::fork();
  if (other == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0) {
      ::_exit(3);
    }
    const UniqueFd fd = knock();
    ::send(fd.get(), hello.data(), hello.size(), MSG_NOSIGNAL);
    char byte = 0;
    ::_exit(::recv(fd.get(), &byte, 1, 0) > 0 ? 1 : 0);
  }
  int status = -1;
  ::waitpid(other, &status, 0);
  ::chmod(m_session->path().c_str(), 0700);
  EXPECT_EQ(status, 0) << "another user was welcomed";
  honestPeerGetsIn();
}

TEST_F(Door, KeyIsNowhereToBeSeen) {
  std::string hex;
  for (const char byte : m_session->key()) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(byte)));
    hex += text;
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    for (const char* name : {"/cmdline", "/environ"}) {
      std::ifstream in(entry.path().string() + name, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
      EXPECT_EQ(text.find(m_session->key()), std::string::npos);
      EXPECT_EQ(text.find(hex), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace pf::daemon
