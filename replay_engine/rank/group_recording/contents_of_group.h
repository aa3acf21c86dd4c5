// SPDX-License-Identifier: MIT
// Keeps the contents of what this rank receives from ranks outside of its group, so that the group can be replayed alone
// (MPIWiz, 3.2 and 6.1): a layer below the engine (under.h). One entry of the payload for each message, successful probe
// and collective with such contents and each communicator that ranks outside helped to make, in the order in which the
// program is told.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

/// Of a recording with groups, once the log is open and communicators are not yet known. False: why.
bool startKeepingContents(const RankPage& page, const char** why);
/// MPI_Finalize.
void endKeepingContents();
/// A child of fork().
void abandonContents();

}  // namespace pf
