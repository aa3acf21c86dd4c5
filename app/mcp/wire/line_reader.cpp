// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/mcp/wire/line_reader.h"

#include <algorithm>

namespace pf::headless {

void LineReader::feed(std::string_view bytes) {
  m_bytes.erase(0, m_begin);
  m_looked -= std::min(m_looked, m_begin);
  m_begin = 0;
  m_bytes += bytes;
}

std::optional<Result<std::string>> LineReader::next() {
  while (true) {
    const std::size_t end = m_bytes.find('\n', std::max(m_begin, m_looked));
    const std::size_t length = std::min(end, m_bytes.size()) - m_begin;
    m_looked = m_bytes.size();
    const bool tooLong = !m_skipping && length > kLongest;
    if (end == std::string::npos) {
      if (tooLong || m_skipping) {
        m_skipping = true;
        m_bytes.clear();
        m_begin = m_looked = 0;
      }
      if (!tooLong) {
        return std::nullopt;
      }
    } else {
      std::string line = m_bytes.substr(m_begin, tooLong || m_skipping ? 0 : length);
      m_begin = m_looked = end + 1;
      if (m_skipping) {
        m_skipping = false;
        continue;
      }
      if (!tooLong) {
        if (!line.empty() && line.back() == '\r') {
          line.pop_back();
        }
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
          continue;
        }
        return Result<std::string>(std::move(line));
      }
    }
    return Result<std::string>(Error{ErrorCode::Peer,
                                     "a line is longer than " + std::to_string(kLongest) + " bytes",
                                     "Each message is one line of JSON."});
  }
}

}  // namespace pf::headless
