// SPDX-License-Identifier: GPL-3.0-or-later
// Frames: what travels on every socket of a session.
//
// 24-byte little-endian header, then the body:
//   0  u16 magic "PF"     2  u8 version    3  u8 type      4  u16 flags (0)   6  u16 stream (0)
//   8  u32 body length   12  u64 sequence (1, 2, 3 … per direction)          20  u32 CRC32C of
//   bytes 0–19 and the body
// Magic and version keep their places in every version, so that any two versions can refuse each
// other in a readable way. The length is checked before anything is allocated; a gap in the
// sequence is an error, as is a wrong checksum. An error is final: the peer is closed, never
// resynchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "replay_engine/base/result.h"

namespace pf::protocol {

inline constexpr std::uint16_t kFrameMagic = 0x4650;
inline constexpr std::uint8_t kProtocolVersion = 1;
inline constexpr std::size_t kFrameHeaderSize = 24;
inline constexpr std::size_t kMaxBody = std::size_t{1} << 20U;
/// All that a peer may send before it has shown the key: one Hello frame.
inline constexpr std::size_t kMaxHelloBytes = 96;

struct Frame {
  std::uint8_t type = 0;
  std::uint64_t sequence = 0;
  std::string body;
};

/// The bytes of one frame. `body` has at most kMaxBody bytes.
[[nodiscard]] std::string encodeFrame(std::uint8_t type, std::uint64_t sequence,
                                      std::string_view body);

/// Finds frames in a stream that arrives in pieces of any size.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::size_t maxBody = kMaxBody) : m_maxBody(maxBody) {}

  void setMaxBody(std::size_t maxBody) { m_maxBody = maxBody; }
  void feed(std::string_view bytes);

  /// The next whole frame, nothing if more bytes are needed, or what is wrong (and stays wrong).
  [[nodiscard]] Result<std::optional<Frame>> next();

  [[nodiscard]] std::size_t buffered() const { return m_buffer.size() - m_begin; }

 private:
  [[nodiscard]] Status checkHeader(const char* header) const;

  std::string m_buffer;
  std::size_t m_begin = 0;
  std::size_t m_maxBody;
  std::uint64_t m_expected = 1;
  std::optional<Error> m_error;
};

}  // namespace pf::protocol
