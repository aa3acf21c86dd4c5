// SPDX-License-Identifier: GPL-3.0-or-later
// Which files of a process have their debug information apart (GDB manual, "Separate Debug Files").
#pragma once

#include <string>
#include <vector>

#include "replay_engine/agent/read_context.h"

namespace pf::agent {

/// Where distributions put it.
inline constexpr const char* kDebugDirectory = "/usr/lib/debug";

/// Whether GDB may leave `debugDirectory` alone: of the code in `mappings`, only the C library's
/// own files have anything there. Its 2,000 compilation units cost each GDB 0.2 s of computing and
/// 25 MB (measured: GDB 13.1, libc6-dbg 2.36), and it is not what a user of ours debugs.
[[nodiscard]] bool onlyTheCLibraryIsThere(const std::vector<Mapping>& mappings,
                                          const std::string& debugDirectory = kDebugDirectory);

}  // namespace pf::agent
