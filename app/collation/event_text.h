// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded event in words.
#pragma once

#include <string>

#include "replay_engine/execution/execution.h"

namespace pf::app {

/// "MPI_Recv from any source, tag 3 at main.c:57"; "the end of its record" where there is no such event.
std::string eventText(const Execution& execution, EventRef event);

/// "MPI_Recv at main.c:57". There is such an event.
std::string callText(const Execution& execution, EventRef event);

}  // namespace pf::app
