// SPDX-License-Identifier: GPL-3.0-or-later
// The logs of a run as one compressed piece. Private to app/branching.
#pragma once

#include <span>
#include <vector>

#include "app/branching/forced_prefix.h"

namespace pf::app {

std::vector<unsigned char> packLogs(const LogFiles& logs);
/// Damaged.
Result<LogFiles> unpackLogs(std::span<const unsigned char> packed);

}  // namespace pf::app
