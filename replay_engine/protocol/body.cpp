// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/body.h"

namespace pf::protocol {
namespace {
constexpr std::size_t kFieldHeader = 5;
}

void BodyReader::fail(std::string what) {
  if (!m_error) {
    m_error = Error{ErrorCode::Peer, "a message cannot be read: " + std::move(what), {}};
  }
}

std::optional<std::string_view> BodyReader::field(std::uint8_t tag) {
  while (!m_error && !m_rest.empty()) {
    if (m_rest.size() < kFieldHeader) {
      fail("it ends inside a field");
      break;
    }
    const auto rawTag = static_cast<std::uint8_t>(m_rest[0]);
    const auto number = static_cast<std::uint8_t>(rawTag & ~kOptionalField);
    if (number > tag) {
      break;  // this field is not there
    }
    const std::size_t length = readLittleEndian<std::uint32_t>(m_rest.data() + 1);
    if (length > m_rest.size() - kFieldHeader) {
      fail("field " + std::to_string(number) + " is longer than the message");
      break;
    }
    if (number <= m_lastTag) {
      fail("field " + std::to_string(number) + " is out of order");
      break;
    }
    m_lastTag = number;
    const std::string_view value = m_rest.substr(kFieldHeader, length);
    m_rest.remove_prefix(kFieldHeader + length);
    if (number == tag) {
      return value;
    }
    if ((rawTag & kOptionalField) == 0) {
      fail("field " + std::to_string(number) + " is unknown and may not be skipped");
    }
  }
  return std::nullopt;
}

Status BodyReader::finish() {
  // One more than any tag: walks over what is left, which must be fields that may be skipped.
  static_cast<void>(field(kOptionalField));
  return m_error ? Status(*m_error) : Status();
}

}  // namespace pf::protocol
