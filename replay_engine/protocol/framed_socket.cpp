// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/framed_socket.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace pf::protocol {
namespace {
constexpr std::size_t kReadSize = std::size_t{64} << 10U;

Error gone() {
  return Error{ErrorCode::Peer, "the connection was closed by the other end", {}};
}
}  // namespace

FramedSocket::FramedSocket(UniqueFd fd) : m_fd(std::move(fd)) {
  const int flags = ::fcntl(m_fd.get(), F_GETFL);
  ::fcntl(m_fd.get(), F_SETFL, flags | O_NONBLOCK);
}

void FramedSocket::limitToHello(bool limited) {
  if (limited) {
    m_helloBytesLeft = kMaxHelloBytes;
    m_decoder.setMaxBody(kMaxHelloBytes - kFrameHeaderSize);
  } else {
    m_helloBytesLeft.reset();
    m_decoder.setMaxBody(kMaxBody);
  }
}

Status FramedSocket::send(const Message& message) {
  if (!valid() || m_sendBroken) {
    return gone();
  }
  Result<std::string> frame = encodeMessage(message, m_sequence + 1);
  if (!frame) {
    return frame.error();
  }
  ++m_sequence;
  m_out += *frame;
  return flush();
}

Status FramedSocket::flush() {
  while (valid() && queued() > 0) {
    const ssize_t n =
        ::send(m_fd.get(), m_out.data() + m_outBegin, queued(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      m_outBegin += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else if (n < 0 && errno == EAGAIN) {
      break;
    } else {
      m_sendBroken = true;
      m_out.clear();
      m_outBegin = 0;
      return gone();
    }
  }
  if (queued() == 0) {
    m_out.clear();
    m_outBegin = 0;
  } else if (m_outBegin > m_out.size() / 2) {
    m_out.erase(0, m_outBegin);
    m_outBegin = 0;
  }
  return {};
}

/// True if bytes came.
Result<bool> FramedSocket::readSome() {
  std::array<char, kReadSize> bytes;
  const std::size_t most = std::min(bytes.size(), m_helloBytesLeft.value_or(bytes.size()));
  if (most == 0) {
    return Error{ErrorCode::Peer, "the other end did not say hello", {}};
  }
  for (;;) {
    const ssize_t n = ::recv(m_fd.get(), bytes.data(), most, MSG_DONTWAIT);
    if (n > 0) {
      m_decoder.feed({bytes.data(), static_cast<std::size_t>(n)});
      if (m_helloBytesLeft) {
        *m_helloBytesLeft -= static_cast<std::size_t>(n);
      }
      return true;
    }
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0 && errno == EAGAIN) {
      return false;
    }
    return gone();
  }
}

Result<std::optional<Message>> FramedSocket::receive() {
  for (;;) {
    Result<std::optional<Frame>> frame = m_decoder.next();
    if (!frame) {
      return frame.error();
    }
    if (frame->has_value()) {
      Result<Message> message = decodeMessage(**frame);
      if (!message) {
        return message.error();
      }
      return std::optional<Message>(std::move(*message));
    }
    if (!valid()) {
      return gone();
    }
    Result<bool> more = readSome();
    if (!more) {
      return more.error();
    }
    if (!*more) {
      return std::optional<Message>{};
    }
  }
}

}  // namespace pf::protocol
