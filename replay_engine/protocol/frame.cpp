// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/frame.h"

#include "replay_engine/base/crc32c.h"
#include "replay_engine/protocol/little_endian.h"

namespace pf::protocol {
namespace {

constexpr std::size_t kChecksumAt = 20;

std::uint32_t checksum(const char* header, std::string_view body) {
  return crc32c(body.data(), body.size(), crc32c(header, kChecksumAt));
}

Error damaged(std::string what) {
  return Error{ErrorCode::Peer, std::move(what), {}};
}

}  // namespace

std::string encodeFrame(std::uint8_t type, std::uint64_t sequence, std::string_view body) {
  std::string out;
  out.reserve(kFrameHeaderSize + body.size());
  appendLittleEndian(out, kFrameMagic);
  appendLittleEndian(out, kProtocolVersion);
  appendLittleEndian(out, type);
  appendLittleEndian(out, std::uint32_t{0});  // flags, stream
  appendLittleEndian(out, static_cast<std::uint32_t>(body.size()));
  appendLittleEndian(out, sequence);
  appendLittleEndian(out, checksum(out.data(), body));
  out += body;
  return out;
}

void FrameDecoder::feed(std::string_view bytes) {
  if (m_error) {
    return;
  }
  if (m_begin > 0 && m_begin >= m_buffer.size() / 2) {
    m_buffer.erase(0, m_begin);
    m_begin = 0;
  }
  m_buffer += bytes;
}

Status FrameDecoder::checkHeader(const char* header) const {
  if (readLittleEndian<std::uint16_t>(header) != kFrameMagic) {
    return damaged("the other end does not speak photofinish's protocol");
  }
  const auto version = readLittleEndian<std::uint8_t>(header + 2);
  if (version != kProtocolVersion) {
    return Error{ErrorCode::Version,
                 "the other end speaks protocol version " + std::to_string(version) +
                     ", this photofinish speaks " + std::to_string(kProtocolVersion),
                 "use one version of photofinish for the whole session"};
  }
  const auto length = readLittleEndian<std::uint32_t>(header + 8);
  if (length > m_maxBody) {
    return damaged("a message of " + std::to_string(length) + " bytes is over the limit of " +
                   std::to_string(m_maxBody));
  }
  const auto sequence = readLittleEndian<std::uint64_t>(header + 12);
  if (sequence != m_expected) {
    return damaged("message " + std::to_string(m_expected) + " is missing (got " +
                   std::to_string(sequence) + ")");
  }
  return {};
}

Result<std::optional<Frame>> FrameDecoder::next() {
  if (m_error) {
    return *m_error;
  }
  if (buffered() < kFrameHeaderSize) {
    return std::optional<Frame>{};
  }
  const char* header = m_buffer.data() + m_begin;
  if (Status status = checkHeader(header); !status) {
    m_error = status.error();
    return *m_error;
  }
  const std::size_t length = readLittleEndian<std::uint32_t>(header + 8);
  if (buffered() - kFrameHeaderSize < length) {
    return std::optional<Frame>{};
  }
  const std::string_view body(header + kFrameHeaderSize, length);
  if (readLittleEndian<std::uint32_t>(header + kChecksumAt) != checksum(header, body)) {
    m_error = damaged("message " + std::to_string(m_expected) + " is damaged (checksum)");
    return *m_error;
  }
  Frame frame{readLittleEndian<std::uint8_t>(header + 3), m_expected, std::string(body)};
  m_begin += kFrameHeaderSize + length;
  ++m_expected;
  return std::optional<Frame>(std::move(frame));
}

}  // namespace pf::protocol
