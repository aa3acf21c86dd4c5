// SPDX-License-Identifier: GPL-3.0-or-later
// The base protocol of the Debug Adapter Protocol: "Content-Length: N", an empty line, N bytes of
// JSON. Pure: bytes in, contents out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "replay_engine/base/result.h"

namespace pf::headless {

/// Cuts a stream into contents. After an error it looks for the next "Content-Length:" that begins
/// a line.
class FrameReader {
 public:
  static constexpr std::size_t kMaxHeader = 4096;
  static constexpr std::size_t kMaxContent = std::size_t{16} << 20U;

  void feed(std::string_view bytes);
  /// The next content; an Error (Peer) for what is no frame; nothing: more bytes are needed.
  [[nodiscard]] std::optional<Result<std::string>> next();
  /// Bytes of a frame that has not come to its end.
  [[nodiscard]] bool pending() const { return m_length.has_value() || !m_bytes.empty(); }

 private:
  std::optional<Error> readHeader();
  Error lose(std::string why, std::size_t behind);

  std::string m_bytes;
  std::optional<std::size_t> m_length;  ///< of the content that is being read
  bool m_lost = false;                  ///< between an error and the next header
};

/// `content` as it goes over the wire.
[[nodiscard]] std::string frame(std::string_view content);

}  // namespace pf::headless
