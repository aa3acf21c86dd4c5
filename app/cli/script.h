// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish debug --script
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::cli {

/// Records `words` (unless it is one trace), and becomes the program that carries out `script`
/// ("-": standard input) on a replay. What the recorded program prints goes to standard error, as
/// there are only answers on standard output; it gets no standard input where the script comes from
/// there. `trusted`: a trace that is given is taken over. `stallAfter`: as app::RecordOptions. Returns the program's exit
/// status if there is no trace.
Result<int> debugByScript(const std::vector<std::string>& words, const std::string& script,
                          bool trusted, std::chrono::milliseconds stallAfter);

}  // namespace pf::cli
