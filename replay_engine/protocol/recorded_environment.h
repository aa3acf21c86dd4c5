// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of the environment that a rank's program is started with, and how a replay gives it
// back: the agent sets it before it starts the program. So whoever reads it gets the recorded
// values: getenv, what walks environ (Python's os.environ), Fortran, libraries before main, and
// the program's children; setenv goes on to work, and asking costs what libc takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/protocol/program_context.h"

namespace pf::protocol {

/// What a variable is for: whether its value is kept, and whether a replay sets it.
enum class VariableUse : std::uint8_t {
  Given,   ///< the program's business: kept, and given back
  Secret,  ///< by name or look: 16 bits of a checksum are kept, so that a change is told
  Todays,  ///< of user, terminal, session or scheduler: a checksum is kept, a change is told
  Unsafe,  ///< decides what code runs (neverGivenBack()): as Todays
  Unseen,  ///< of the launcher, the MPI library, or ours: belongs to one run, not kept
};
[[nodiscard]] VariableUse useOf(std::string_view name, std::string_view value = {});

/// Whether a variable of this name must never be taken from a trace, whoever recorded it: it names
/// code that would be run.
[[nodiscard]] bool neverGivenBack(std::string_view name);

/// Facts of the kinds "environ" (name, value) and "digest" (name, checksum). `environment`:
/// NAME=VALUE each.
[[nodiscard]] LaunchContext environmentFacts(const std::vector<std::string>& environment);

struct GivenEnvironment {
  std::vector<std::string> environment;  ///< for the program
  /// What differs from the recording, value: for people. Kinds: "given" (the program gets the
  /// recorded value), "other" (it does not).
  LaunchContext differences;
};

/// `recorded`: facts as environmentFacts() makes them; without any, nothing differs. `give` false:
/// the program gets what is there now, and is told in what that differs.
[[nodiscard]] GivenEnvironment giveBackEnvironment(const LaunchContext& recorded,
                                                   const std::vector<std::string>& now, bool give);

}  // namespace pf::protocol
