// SPDX-License-Identifier: GPL-3.0-or-later
// The launcher's command as the user typed it, with our agent put in front of the program.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"

namespace pf::app {

struct LaunchCommand {
  std::vector<std::string> words;  ///< as typed
  std::string launcher;  ///< resolved path, or empty: the program is started by itself (one rank)
  std::vector<std::size_t>
      programs;  ///< indexes into words of the programs (several with ':' contexts)
  [[nodiscard]] const std::string& program() const { return words[programs.front()]; }
  /// What people call it: the program's name, or, where that runs a script, the script's: "pipeline" of "python3 -u pipeline.py".
  [[nodiscard]] std::string title() const;
  /// Words with those of the agent and `--` in front of each program, and `extra` launcher options
  /// behind the launcher.
  [[nodiscard]] std::vector<std::string> withAgent(
      const std::vector<std::string>& agent, const std::vector<std::string>& extra = {}) const;
};

/// Finds launcher and program. Knows mpirun, mpiexec, orterun, prterun, srun and their variants;
/// any other first word is the program itself. Errors (NotFound, Usage) say what is missing and
/// what to do.
Result<LaunchCommand> parseLaunch(const std::vector<std::string>& words);

/// Path of `name` as execvp would find it; empty if there is none.
std::string findInPath(const std::string& name);

/// The words of one of its programs (LaunchCommand::programs), from its name to its last argument.
std::vector<std::string> wordsOfProgram(const LaunchCommand& command, std::size_t which);

/// What stands before its name: the launcher's options of this part of the job.
std::vector<std::string> optionsOfProgram(const LaunchCommand& command, std::size_t which);

/// One program of `command` by itself, without a launcher.
LaunchCommand alone(const LaunchCommand& command, std::size_t which = 0);

/// So many processes of one of a command's programs.
struct SoMany {
  std::size_t which = 0;
  std::size_t processes = 0;
};
/// As `command`, but these processes, in this order, on this host. Of the launcher's options those stay that say what a program
/// gets (variables, --mca).
LaunchCommand ofSo(const LaunchCommand& command, const std::vector<SoMany>& parts);

}  // namespace pf::app
