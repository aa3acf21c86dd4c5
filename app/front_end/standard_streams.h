// SPDX-License-Identifier: GPL-3.0-or-later
// Standard input and output for a protocol alone.
#pragma once

#include "replay_engine/base/unique_fd.h"

namespace pf::headless {

struct StandardStreams {
  UniqueFd in;
  UniqueFd out;
};

/// The protocol has these two to itself from now on: what else is printed goes to standard error, and
/// what else reads finds nothing.
[[nodiscard]] StandardStreams takeStandardStreams();

}  // namespace pf::headless
