// SPDX-License-Identifier: GPL-3.0-or-later
// What the agent does so that a program's memory is where it was (--same-addresses).
#pragma once

#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::agent {

/// Programs that this process starts get no random addresses.
[[nodiscard]] Status stopRandomAddresses();

/// The program's variables before the launcher's and ours, which differ in length from run to run,
/// and behind them so many more that number and bytes of all are the same in each run: the stack
/// begins below them.
[[nodiscard]] std::vector<std::string> padEnvironment(std::vector<std::string> environment);

}  // namespace pf::agent
