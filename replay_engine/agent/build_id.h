// SPDX-License-Identifier: GPL-3.0-or-later
// The build-id that the linker put into an executable.
#pragma once

#include <string>

namespace pf::agent {

/// In hex; empty if the file has none or is no ELF file.
[[nodiscard]] std::string buildId(const std::string& path);

}  // namespace pf::agent
