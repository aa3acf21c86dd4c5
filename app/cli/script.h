// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish debug --script
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/replaying/part_of_job.h"
#include "replay_engine/base/result.h"

namespace pf::cli {

struct ScriptOptions {
  std::string script;                       ///< "-": standard input
  bool trusted = false;                     ///< a trace that is given is taken over
  std::chrono::milliseconds stallAfter{0};  ///< as app::RecordOptions
  app::PartOfJob part;                      ///< of a trace: which ranks run
  bool force = false;                       ///< as app::ReplayOptions
  bool keepGoing = false;                   ///< after a command that fails, too
};

/// Records `words` (unless it is one trace), and becomes the program that carries out the script
/// on a replay. What the recorded program prints goes to standard error, as there are only answers
/// on standard output; it gets no standard input where the script comes from there. Returns the
/// program's exit status if there is no trace.
Result<int> debugByScript(const std::vector<std::string>& words, const ScriptOptions& options);

}  // namespace pf::cli
