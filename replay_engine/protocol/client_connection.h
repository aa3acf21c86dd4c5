// SPDX-License-Identifier: GPL-3.0-or-later
// How front ends and agents get to the daemon of a session.
//
// A front end polls fd() (poll loop or QSocketNotifier::Read) and calls receive() until it gives
// nothing:
//     auto connection = ClientConnection::connect(session);
//     for (;;) { auto message = connection->receive(); if (!message) lost(); if (!*message) break;
//     … }
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/protocol/framed_socket.h"
#include "replay_engine/protocol/messages.h"
#include "replay_engine/protocol/session_directory.h"

namespace pf::protocol {

/// Connects and sends Hello; does not wait for the answer. Tries again until `timeout` while there
/// is no daemon yet.
[[nodiscard]] Result<FramedSocket> dial(const SessionDirectory& session, PeerRole role,
                                        std::chrono::milliseconds timeout);

class ClientConnection {
 public:
  /// Connects within `dialWithin`, then waits for the daemon's welcome.
  [[nodiscard]] static Result<ClientConnection> connect(
      const SessionDirectory& session, PeerRole role = PeerRole::Client,
      std::chrono::milliseconds dialWithin = std::chrono::seconds(10),
      std::chrono::milliseconds welcomeWithin = std::chrono::seconds(10));

  [[nodiscard]] int fd() const { return m_socket.fd(); }
  /// RankMode bits of the session, from the daemon's welcome.
  [[nodiscard]] std::uint32_t mode() const { return m_mode; }

  /// Sends at once if the socket takes it (it does unless the daemon hangs); what is left is sent
  /// by the next send(), flush() or receive().
  Status send(const Message& message) { return m_socket.send(message); }
  Status flush() { return m_socket.flush(); }
  [[nodiscard]] bool wantsWrite() const { return m_socket.queued() > 0; }

  /// The next message, or nothing; never blocks. An error means that the daemon is gone.
  [[nodiscard]] Result<std::optional<Message>> receive();
  /// Waits for a message, at most `timeout`.
  [[nodiscard]] Result<std::optional<Message>> receiveFor(std::chrono::milliseconds timeout);

  /// The socket, for who wants to do without this class.
  [[nodiscard]] FramedSocket takeSocket() && { return std::move(m_socket); }

 private:
  explicit ClientConnection(FramedSocket socket) : m_socket(std::move(socket)) {}

  FramedSocket m_socket;
  std::uint32_t m_mode = 0;
};

}  // namespace pf::protocol
