// SPDX-License-Identifier: MIT
// Any bytes as a word of printable ASCII, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pf {

/// Bytes other than printable ASCII, blanks and '%' as %XX.
[[nodiscard]] std::string percentEncoded(std::string_view bytes);
/// Nothing: it is no such text.
[[nodiscard]] std::optional<std::string> percentDecoded(std::string_view text);

}  // namespace pf
