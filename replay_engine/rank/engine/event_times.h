// SPDX-License-Identifier: MIT
// When events begin and end, in logs that hold events: the processor's time stamp counter where it
// runs at one speed on all processors, else CLOCK_MONOTONIC. The log has ticks, and now and then
// what the clocks show at a tick (RecordKind::Time, ::Clock); its reader makes nanoseconds of them.
#pragma once

#include <cstdint>

namespace pf {

/// Of the rank; under the engine's lock where several threads call MPI.
struct EventClock {
  bool moment = false;       ///< the last event's call does not block: its end is not worth a look
  bool counts = false;       ///< a tick is sixteen of the time stamp counter, else a nanosecond
  std::uint64_t last = 0;    ///< ticks: of the last stamp
  std::uint64_t inCall = 0;  ///< ticks that the last event took, as far as it is known
  std::uint64_t noted = 0;   ///< ticks: of the last Clock record
  std::uint64_t interval = 0;  ///< ticks until the next one
};
extern EventClock g_eventClock;

/// MPI hands messages so short over at once, but for a receiver that is far behind.
inline constexpr std::uint64_t kShortMessage = 1024;  // bytes

/// What the clocks show before MPI_Init: the longer until the next look, the better the counter's
/// speed is known.
void lookAtClocks();
/// Once the log of a rank with events is open.
void startEventTimes();
/// An event begins: behind it comes its record.
void stampBegin();
/// The call of the event that began last is over.
void stampEnd();

}  // namespace pf
