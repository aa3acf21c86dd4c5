// SPDX-License-Identifier: GPL-3.0-or-later
// 'photofinish debug --script': from the trace and the script to the exit status.
#pragma once

#include <string>

#include "app/replaying/part_of_job.h"

namespace pf::headless {

struct ScriptOptions {
  std::string trace;
  std::string script;      ///< a file, or "-" for standard input, which is read line by line
  bool trusted = false;    ///< the trace is taken over
  app::PartOfJob part;     ///< which ranks run
  bool force = false;      ///< another build than the recorded one is no reason to refuse
  bool keepGoing = false;  ///< after a command that fails, too
};

/// Returns 0, 1 if a command failed, 128 + the signal that has ended it, or what `photofinish`
/// returns for a bad file.
int runScript(const ScriptOptions& options);

/// 0 if every line of the file is a command; else says what is wrong with the others.
int checkScript(const std::string& script);

}  // namespace pf::headless
