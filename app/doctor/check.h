// SPDX-License-Identifier: GPL-3.0-or-later
// What was found of one thing that Photofinish uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pf::app {

enum class CheckState : std::uint8_t {
  Works,
  Limited,  ///< works, but less well, or not for everything: `found` says for what
  Missing   ///< does not work
};

struct Check {
  std::string name;  ///< of the thing, as JSON has it: "gdb", "mpi-library" …
  CheckState state = CheckState::Works;
  bool needed = false;       ///< to record, replay and debug: without it, doctor's exit status is 1
  std::string found;         ///< in words
  std::string remedy;        ///< what to do; empty where it works
  std::string path = {};     ///< of a file or directory, where it is one
  std::string version = {};  ///< as it says it
};

using Checks = std::vector<Check>;

}  // namespace pf::app
