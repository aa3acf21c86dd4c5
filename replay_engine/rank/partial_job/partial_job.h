// SPDX-License-Identifier: MIT
// A few ranks of a recorded job, replayed without the others (MPIWiz, 3.3): a layer below the engine (../layer/under.h),
// by which they see the whole job. The processes that run are ranks of a smaller job of MPI's. A communicator of the
// program is one of MPI's over those of its ranks that run, its *carrier*, whose handle the program has; how many ranks it
// has, who they are, and its topology are worked out here. Messages between ranks that run are sent. What comes from others
// is in the payload of the recording; what goes to others goes nowhere.
#pragma once

#include "replay_engine/rank/engine/engine.h"

namespace pf {

/// Once MPI_Init has returned, before anything is asked of MPI: for a rank whose page says kReplayGroup. False: why.
bool startPartialJob(const RankPage& page, const char** why);
/// Opens the payload, once the agent has said where the schedule is. False: why.
bool openPartialPayload(const RankPage& page, const char** why);

}  // namespace pf
