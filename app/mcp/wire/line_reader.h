// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of a stream, as the Model Context Protocol has them on standard input: each is a message. Pure: bytes in, lines out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "replay_engine/base/result.h"

namespace pf::headless {

class LineReader {
 public:
  static constexpr std::size_t kLongest = std::size_t{1} << 20U;  ///< bytes of a line

  void feed(std::string_view bytes);
  /// The next line, without its end (LF, or CR LF), and not blank. Peer: one that was too long, of which nothing is kept.
  /// Nothing: more bytes are needed.
  [[nodiscard]] std::optional<Result<std::string>> next();

 private:
  std::string m_bytes;
  std::size_t m_begin = 0;   ///< of what has not been given out
  std::size_t m_looked = 0;  ///< no end of a line is before this
  bool m_skipping = false;   ///< the rest of a line that was too long
};

}  // namespace pf::headless
