// SPDX-License-Identifier: MIT
// What the handlers of receives have in common: numbers, posting, the record of what was taken.
#pragma once

#include "replay_engine/rank/engine/records.h"

namespace pf {

/// What a receive was asked for, and the numbers that it got.
struct Posted {
  std::uint32_t post = 0;
  std::uint32_t wildNumber = 0;
  bool wild = false;
  int source = 0;  ///< to give to MPI
  const ScheduleRoute* routed = nullptr;
};

Posted takeNumbers(int source);
/// Posts a receive whose source may be forced, or that must never match.
int postReceive(const Posted& posted, void* buffer, int count, MPI_Datatype datatype, int tag,
                MPI_Comm comm, MPI_Request* request);
void logPost(const CallPlace& place, int source, int tag, MPI_Comm comm);
/// The end of a blocking receive whose post was an event of its own.
void endReceive(const CallPlace& place, const Posted& posted, int source, int tag, MPI_Comm comm,
                const MPI_Status* status, int result);
/// What a blocking receive took, in a log without events. `status` counts where the receive did not
/// say all itself.
void logTaken(const Posted& posted, int source, int tag, MPI_Comm comm, const MPI_Status* status);

}  // namespace pf
