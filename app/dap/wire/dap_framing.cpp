// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/wire/dap_framing.h"

#include <algorithm>
#include <charconv>

namespace pf::headless {
namespace {

constexpr std::string_view kField = "Content-Length:";
constexpr std::string_view kEnd = "\r\n\r\n";

/// The length of one header block, without the empty line. Strict: a field that we do not know is
/// no header of ours (a browser's request, for example).
std::optional<std::size_t> lengthOf(std::string_view header) {
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const std::size_t end = std::min(header.find("\r\n"), header.size());
    std::string_view line = header.substr(0, end);
    header.remove_prefix(std::min(end + 2, header.size()));
    if (line.substr(0, 13) == "Content-Type:") {
      continue;
    }
    if (line.substr(0, kField.size()) != kField || length) {
      return std::nullopt;
    }
    line.remove_prefix(kField.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::size_t value = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc() || rest != line.data() + line.size()) {
      return std::nullopt;
    }
    length = value;
  }
  return length;
}

}  // namespace

std::string frame(std::string_view content) {
  std::string out = "Content-Length: " + std::to_string(content.size());
  out += kEnd;
  return out += content;
}

void FrameReader::feed(std::string_view bytes) {
  m_bytes += bytes;
}

Error FrameReader::lose(std::string why, std::size_t behind) {
  m_bytes.erase(0, behind);
  m_lost = true;
  return {
      ErrorCode::Peer, std::move(why),
      "Each message is 'Content-Length: N', an empty line (both ended by CR LF), and N bytes of "
      "JSON."};
}

std::optional<Error> FrameReader::readHeader() {
  if (m_lost) {
    const std::size_t at = m_bytes.find(kField);
    if (at == std::string::npos) {  // its beginning may have come
      m_bytes.erase(0, m_bytes.size() - std::min(m_bytes.size(), kField.size() - 1));
      return std::nullopt;
    }
    m_bytes.erase(0, at);
    m_lost = false;
  }
  const std::size_t end = m_bytes.find(kEnd);
  if (end > kMaxHeader) {  // npos is
    return m_bytes.size() > kMaxHeader + kEnd.size()
               ? std::optional(lose("the header of a message does not end", 1))
               : std::nullopt;
  }
  const std::optional<std::size_t> length = lengthOf(std::string_view(m_bytes).substr(0, end));
  if (!length) {
    return lose("a message has no Content-Length that can be read", end + kEnd.size());
  }
  if (*length > kMaxContent) {
    return lose("a message of " + std::to_string(*length) + " bytes is too long",
                end + kEnd.size());
  }
  m_length = *length;
  m_bytes.erase(0, end + kEnd.size());
  return std::nullopt;
}

std::optional<Result<std::string>> FrameReader::next() {
  if (!m_length) {
    if (std::optional<Error> error = readHeader(); error) {
      return Result<std::string>(std::move(*error));
    }
  }
  if (!m_length || m_bytes.size() < *m_length) {
    return std::nullopt;
  }
  std::string content = m_bytes.substr(0, *m_length);
  m_bytes.erase(0, *m_length);
  m_length.reset();
  return Result<std::string>(std::move(content));
}

}  // namespace pf::headless
