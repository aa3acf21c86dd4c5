// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded event in words.
#pragma once

#include <string>

#include "replay_engine/execution/execution.h"

namespace pf::app {

/// "rank 2 event 17"
std::string eventName(EventRef event);

/// "MPI_Recv from any source, tag 3 at main.c:57"; "the end of its record" where there is no such event.
std::string eventText(const Execution& execution, EventRef event);

/// "rank 2 event 17 MPI_Recv from any source, tag 3 at main.c:57"
std::string eventLine(const Execution& execution, EventRef event);

/// "MPI_Recv at main.c:57". There is such an event.
std::string callText(const Execution& execution, EventRef event);

}  // namespace pf::app
