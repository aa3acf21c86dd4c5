// SPDX-License-Identifier: GPL-3.0-or-later
// Words for where a rank is, and why it has stopped. Functions of values: they ask nobody.
#pragma once

#include <vector>

#include <QString>

#include "mi_bridge/records.h"
#include "views/values/debug_values.h"

namespace pf::headless {

/// "main() at sum.c:18": the innermost frame that is the program's. There is a frame.
[[nodiscard]] QString userPlaceText(const std::vector<mi::Frame>& frames);

/// "#1 main() at sum.c:18".
[[nodiscard]] QString frameText(const values::StackFrame& frame, bool withLevel);

/// "watch total: was 1, is 3", "end of step"; else these `words`; of a breakpoint that is known breakpointStopText().
[[nodiscard]] QString stopReasonText(const mi::StopEvent& stop, const std::string& words);

/// "breakpoint 1 (sum.c:18)"; of a catchpoint with what it has caught, which is `detail` of the
/// rank's state.
[[nodiscard]] QString breakpointStopText(int number, const values::Breakpoint& breakpoint,
                                         const QString& detail);

/// "MPI_Recv from any source, tag 7 at sum.c:18".
[[nodiscard]] QString eventText(const Execution& execution, const EventRef& event);

/// "rank 1 event 3, MPI_Send to 0, tag 7".
[[nodiscard]] QString eventOfRankText(const Execution& execution, const EventRef& event);

/// Why the recording has no such event; empty: it has.
[[nodiscard]] QString eventProblem(const Execution& execution, const EventRef& event);

/// "before event 3: MPI_Recv from any source, tag 7".
[[nodiscard]] QString beforeEventText(const Execution& execution, const EventRef& event);

/// Of a rank that no GDB has stopped. `gone`: its process is no more.
[[nodiscard]] QString rankStateText(const values::RankState& state, bool gone,
                                    const Execution& execution);

}  // namespace pf::headless
