// SPDX-License-Identifier: MIT
// A replay with bounded buffers: sends wait at gates (replay_engine/steering/send_gates.h) for the progress of their
// destinations, which all ranks keep in memory that they share.
#pragma once

#include <cstdint>

namespace pf {

/// Takes part, if the replay is to be so; the schedule's path names the files. Null, or why not.
const char* openSendGates(const char* schedulePath, int rank, int size);

/// Event `serial` begins: waits at its gates, then tells.
void passSendGates(std::uint64_t serial);
/// The events up to `serial` are done.
void tellDone(std::uint64_t serial);

}  // namespace pf
