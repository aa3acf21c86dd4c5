// SPDX-License-Identifier: MIT
// Text of others on its way to a terminal: what would steer the terminal, or turn the direction of
// writing, becomes visible.
#pragma once

#include <string>
#include <string_view>

namespace pf {

/// `text` with control characters (C0 but line end and tab, DEL, C1), marks and controls of the
/// direction of writing, and bytes that are no UTF-8 as \x1b, \u202e, \xff.
[[nodiscard]] std::string shown(std::string_view text);

/// "photofinish: ", `text` as shown(), and a line end, on standard error.
void tell(std::string_view text);

}  // namespace pf
