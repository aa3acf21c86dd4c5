// SPDX-License-Identifier: GPL-3.0-or-later
// What GDB is never given with a breakpoint, whoever wrote it: it would leave the program that is
// debugged, and run a shell, load code or write files with the rights of the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::mi {

/// Usage for commands that are refused in a console as well (console_command.h: shell, !, |, make
/// …) and for those that run other languages or commands that are not seen here (python, source,
/// eval, alias …), or that write or load files.
Status checkCommands(const std::vector<std::string>& commands);

/// Usage for a condition, a watched expression or a logpoint that runs a shell ($_shell).
Status checkExpression(std::string_view expression);

}  // namespace pf::mi
