// SPDX-License-Identifier: GPL-3.0-or-later
// Words for GDB that look at a program and change nothing: for a front end whose user has allowed no more. What looks like
// a change is refused, in strings, too. Calls of functions, and of operators that are functions, are no matter of words:
// Fleet::forbidCalls() keeps GDB from them.
#pragma once

#include <string_view>

#include "replay_engine/base/result.h"

namespace pf::mi {

/// Usage for an expression that assigns, counts up or down, or calls a function of GDB's own ($_shell and its like).
Status onlyLooksAt(std::string_view expression);

/// Usage for a line of the console that is none of: backtrace, print, output, ptype, whatis, x, list, info, show,
/// disassemble, help, apropos, frame N, up, down, thread N, thread apply RANGE of these; with expressions as above.
Status onlyLooks(std::string_view line);

}  // namespace pf::mi
