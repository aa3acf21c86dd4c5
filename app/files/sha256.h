// SPDX-License-Identifier: GPL-3.0-or-later
// SHA-256 (FIPS 180-4): what is as it was, also where somebody wants it not to be seen.
#pragma once

#include <string>
#include <string_view>

namespace pf::app {

/// 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace pf::app
