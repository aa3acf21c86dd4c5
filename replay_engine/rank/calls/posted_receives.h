// SPDX-License-Identifier: MIT
// What the handlers of receives have in common: numbers, posting, the record of what was taken.
#pragma once

#include "replay_engine/rank/engine/records.h"

namespace pf {

void takeNumbers(int source, Posted& posted);
/// Posts a receive whose source may be forced, or that must never match.
int postReceive(const Posted& posted, void* buffer, int count, MPI_Datatype datatype, int tag,
                MPI_Comm comm, MPI_Request* request);
/// The request of a receive that is posted.
Request* fileReceive(const Posted& posted, Envelope envelope, MPI_Request request);
/// The end of a blocking receive whose post was an event of its own.
void endReceive(const CallPlace& place, const Posted& posted, Envelope envelope,
                const MPI_Status* status, int result);

}  // namespace pf
