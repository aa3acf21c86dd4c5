// SPDX-License-Identifier: GPL-3.0-or-later
// Where two recordings send something else though their calls are the same. Private to app/replaying.
#pragma once

#include <string>
#include <vector>

#include "app/replaying/compared_trace.h"
#include "replay_engine/base/result.h"

namespace pf::app {

/// Of each rank the first message, or part in a collective, that holds something else; the earliest one of A first. Only among
/// calls that are the same, and as far as both recordings know (mode all, or surveyed).
Result<std::vector<EventRef>> otherContents(ComparedTraces& traces, const Comparison& comparison);

/// Of these events, a line of the report; empty where there is none.
std::string otherContentsText(const Execution& execution, const std::vector<EventRef>& events);

}  // namespace pf::app
