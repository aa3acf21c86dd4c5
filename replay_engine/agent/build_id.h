// SPDX-License-Identifier: GPL-3.0-or-later
// The build-id that the linker put into an executable.
#pragma once

#include <string>

namespace pf::agent {

/// In hex; empty if the file has none or is not a 64-bit ELF file.
[[nodiscard]] std::string buildId(const std::string& path);

}  // namespace pf::agent
