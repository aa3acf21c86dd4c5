// SPDX-License-Identifier: GPL-3.0-or-later
// One line of GDB/MI to one record. Total: any bytes give a record or an error with the offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mi_bridge/records.h"
#include "replay_engine/base/result.h"

namespace pf::mi {

/// Values nested deeper than this are refused.
inline constexpr int kMaxDepth = 64;

/// Parses a line without its newline. The message of an error names the offset; `errorOffset`, if
/// given, receives it.
[[nodiscard]] Result<Record> parseRecord(std::string_view line, std::size_t* errorOffset = nullptr);

/// The token of a result record, also when the rest of the line is damaged: a reply that does not
/// parse must still complete its command.
[[nodiscard]] std::optional<std::uint64_t> resultTokenOf(std::string_view line);

}  // namespace pf::mi
