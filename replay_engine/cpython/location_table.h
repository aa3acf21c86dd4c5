// SPDX-License-Identifier: MIT
// The line of an instruction, from a code object's location table: CPython, Objects/locations.md (PEP 626, PEP 657).
#pragma once

#include <cstdint>
#include <string_view>

namespace pf::cpython {

/// The line of the instruction that is `offset` bytes into the code; one before its beginning is on `firstLine`.
/// 0: the table has none for it. Any bytes are accepted.
[[nodiscard]] int lineAt(std::string_view table, int firstLine, std::int64_t offset);

}  // namespace pf::cpython
