// SPDX-License-Identifier: GPL-3.0-or-later
// GDB, by what it answers, not by its version.
#pragma once

#include <string>

#include "app/doctor/check.h"

namespace pf::app {

/// What is asked of GDB, as input of `gdb --interpreter=mi3`.
[[nodiscard]] std::string gdbQuestions();

/// `path`: of the GDB, empty where there is none; `answers`: what it said to gdbQuestions().
[[nodiscard]] Check gdbCheck(const std::string& path, const std::string& answers);

/// Starts the GDB that --gdb or PHOTOFINISH_GDB names, else the first of the search path.
[[nodiscard]] Check askGdb();

}  // namespace pf::app
