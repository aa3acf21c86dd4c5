// SPDX-License-Identifier: GPL-3.0-or-later
// A non-blocking socket that carries messages. Not thread-safe: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "replay_engine/base/result.h"
#include "replay_engine/base/unique_fd.h"
#include "replay_engine/protocol/messages.h"

namespace pf::protocol {

class FramedSocket {
 public:
  FramedSocket() = default;
  /// Takes over a connected stream socket and makes it non-blocking.
  explicit FramedSocket(UniqueFd fd);

  [[nodiscard]] bool valid() const { return m_fd.valid(); }
  [[nodiscard]] int fd() const { return m_fd.get(); }
  void close() { m_fd.reset(); }

  /// Reads at most kMaxHelloBytes in all, until called with false.
  void limitToHello(bool limited);

  /// Queues the message and writes what the socket takes now. An error means that the peer is gone;
  /// what it said before can still be received, and then receive() tells.
  Status send(const Message& message);
  /// Writes what is queued, as far as the socket takes it now.
  Status flush();
  [[nodiscard]] std::size_t queued() const { return m_out.size() - m_outBegin; }

  /// The next message, nothing if there is none yet, or an error: Peer (gone, or talks nonsense) or
  /// Version. Never blocks.
  [[nodiscard]] Result<std::optional<Message>> receive();

 private:
  [[nodiscard]] Result<bool> readSome();

  UniqueFd m_fd;
  FrameDecoder m_decoder;
  std::uint64_t m_sequence = 0;
  std::string m_out;
  std::size_t m_outBegin = 0;
  bool m_sendBroken = false;
  std::optional<std::size_t> m_helloBytesLeft;
};

}  // namespace pf::protocol
