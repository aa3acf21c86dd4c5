// SPDX-License-Identifier: GPL-3.0-or-later
// What a stopped rank's GDB is asked for at a breakpoint: values in the program's own frame, and
// how many events the rank has begun.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mi_bridge/gdb_session.h"
#include "replay_engine/base/noted_buffers.h"

namespace pf::mi {

using Values = std::vector<Result<std::string>>;

/// Values of the expressions in the innermost frame that is the program's (at a stop inside of MPI,
/// its caller); an error in place of a value that GDB does not give. Called once, also when the
/// program goes on first.
void valuesAtStop(GdbSession& session, const std::vector<std::string>& expressions,
                  const std::function<void(const Values&)>& done);

/// The program's frame where a rank has stopped: not ours, of a stop at an event or at a line of Python.
void frameAtStop(GdbSession& session, const Callback<Frame>& done);

/// Events that the rank has begun, from its interposer's memory. Needs the interposer's symbols.
void eventsBegun(GdbSession& session, const Callback<std::uint64_t>& done);

/// Which memory the rank's receives fill, of those posted while it had a debugger, from the
/// `from`-th noted on, in posting order.
void notedBuffers(GdbSession& session, std::uint64_t from,
                  const Callback<std::vector<NotedBuffer>>& done);

/// The variable of the interposer that points to the number of events begun (8 bytes).
inline constexpr const char* kEventsBegunSymbol = "pf_events_begun";

}  // namespace pf::mi
