// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/client_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace pf::protocol {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRetry(20);

Result<UniqueFd> connectOnce(const std::string& path, int& errnoOut) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size() + 1, sizeof address.sun_path));
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket interface
  if (fd.valid() &&
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return fd;
  }
  errnoOut = errno;
  Error error = systemError("cannot connect to the control daemon at " + path, errnoOut);
  error.code = ErrorCode::Peer;
  error.advice = "the session has ended or its daemon was killed: start it again";
  return error;
}

}  // namespace

Result<FramedSocket> dial(const SessionDirectory& session, PeerRole role,
                          std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    int error = 0;
    Result<UniqueFd> fd = connectOnce(session.socketPath(), error);
    if (fd) {
      FramedSocket socket(std::move(*fd));
      if (Status status = socket.send(Hello{role, session.key()}); !status) {
        return status.error();
      }
      return socket;
    }
    const bool maySucceedLater = error == ENOENT || error == ECONNREFUSED || error == EAGAIN;
    if (!maySucceedLater || Clock::now() + kRetry > deadline) {
      return fd.error();
    }
    std::this_thread::sleep_for(kRetry);
  }
}

Result<ClientConnection> ClientConnection::connect(const SessionDirectory& session, PeerRole role,
                                                   std::chrono::milliseconds dialWithin,
                                                   std::chrono::milliseconds welcomeWithin) {
  Result<FramedSocket> socket = dial(session, role, dialWithin);
  if (!socket) {
    return socket.error();
  }
  ClientConnection connection(std::move(*socket));
  Result<std::optional<Message>> answer = connection.receiveFor(welcomeWithin);
  if (!answer) {
    return answer.error();
  }
  if (!answer->has_value()) {
    return Error{ErrorCode::Peer, "the control daemon does not answer",
                 "it may be stopped or overloaded: try again"};
  }
  if (const auto* refused = std::get_if<Refused>(&**answer)) {
    return Error{ErrorCode::Peer, "the control daemon refused: " + refused->text, {}};
  }
  const auto* welcome = std::get_if<Welcome>(&**answer);
  if (welcome == nullptr) {
    return Error{ErrorCode::Peer, "the control daemon does not follow the protocol", {}};
  }
  connection.m_mode = welcome->mode;
  return connection;
}

Result<std::optional<Message>> ClientConnection::receive() {
  if (wantsWrite()) {
    static_cast<void>(m_socket.flush());  // if the daemon is gone, receive() says so
  }
  return m_socket.receive();
}

Result<std::optional<Message>> ClientConnection::receiveFor(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    Result<std::optional<Message>> message = receive();
    if (!message || message->has_value()) {
      return message;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) {
      return message;
    }
    const short events =
        wantsWrite() ? static_cast<short>(POLLIN | POLLOUT) : static_cast<short>(POLLIN);
    pollfd entry{fd(), events, 0};
    ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 1000)));
  }
}

}  // namespace pf::protocol
