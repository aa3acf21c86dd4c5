// SPDX-License-Identifier: GPL-3.0-or-later
// Which GDB is used: the first on the search path, or another one (cuda-gdb, rocgdb, a site's own).
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::app {

/// From now on, and for programs of ours that this process becomes: `path`, or, without a slash, what the search path has of
/// that name. Usage: it cannot be executed. Empty: GDB as it was before.
Status useGdb(const std::string& path);

/// As useGdb() was told, here or in the program that this one was before, or as the variable PHOTOFINISH_GDB says; else "gdb".
[[nodiscard]] std::string gdbProgram();
/// Usage: a GDB was named that cannot be executed.
[[nodiscard]] Status namedGdbIsThere();

}  // namespace pf::app
