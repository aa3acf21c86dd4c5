// SPDX-License-Identifier: GPL-3.0-or-later
// How GDB is started: the argument vector, needed by the agent too. No dependencies.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pf::mi {

/// `gdb` ready to be given to execvp. No init file of the user or of the program runs, nothing is
/// asked over the network, and no script outside GDB's own directory is loaded. GDB only attaches.
/// The caller starts it in a session of its own, from its main thread, with PDEATHSIG = SIGTERM.
/// `separateSymbols`: whether it looks into its directory of separate debug files.
[[nodiscard]] inline std::vector<std::string> gdbCommandLine(std::string gdb = "gdb",
                                                             bool separateSymbols = true) {
  std::vector<std::string> words{std::move(gdb), "-nx",
                                 "-q",           "--interpreter=mi3",
                                 "-iex",         "set auto-load safe-path /usr/share/gdb/auto-load",
                                 "-iex",         "set auto-load local-gdbinit off",
                                 "-iex",         "set debuginfod enabled off",
                                 "-iex",         "set history save off",
                                 "-iex",         "set startup-with-shell off"};
  if (!separateSymbols) {
    words.insert(words.end(), {"-iex", "set debug-file-directory"});
  }
  return words;
}

/// The oldest GDB whose MI (version 3) this bridge speaks.
inline constexpr std::pair<int, int> kOldestGdb{9, 1};

}  // namespace pf::mi
