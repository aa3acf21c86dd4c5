// SPDX-License-Identifier: GPL-3.0-or-later
// From a command to the window, and whose trace it is that is opened.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace pf::cli {

/// Becomes the window, on `words` (a trace with options before it, or nothing). Returns an exit status if it cannot.
int openWindow(const std::vector<std::string>& words);
/// What is asked of a trace of somebody else with --trust; says what that was. Not 0: an exit status.
int trust(const std::string& trace);
int recordAndOpen(const std::vector<std::string>& command,
                  std::chrono::milliseconds stallAfter = {});

/// --stall-after
std::chrono::milliseconds stallTime(double seconds);

}  // namespace pf::cli
