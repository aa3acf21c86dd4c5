// SPDX-License-Identifier: GPL-3.0-or-later
// Where code of a process lies in the files that it was loaded from: the same in each cycle, whatever addresses it gets.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pf::session {

struct CodePlace {
  std::string file;
  std::uint64_t offset = 0;  ///< in bytes from the file's begin
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// What Linux says of a process of this host (proc(5), /proc/PID/maps). Empty: it cannot be read.
[[nodiscard]] std::string memoryMaps(pid_t pid);
/// Nothing: no file's code lies there. `maps`: memoryMaps(), of anybody.
[[nodiscard]] std::optional<CodePlace> codePlaceOf(std::string_view maps, std::uint64_t address);
/// Nothing: that code is not loaded.
[[nodiscard]] std::optional<std::uint64_t> addressOf(std::string_view maps, const CodePlace& place);

}  // namespace pf::session
