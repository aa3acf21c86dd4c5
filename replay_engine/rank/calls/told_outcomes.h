// SPDX-License-Identifier: MIT
// What a call that tests requests has told the program, recorded and looked up.
#pragma once

#include "replay_engine/rank/calls/offered_requests.h"
#include "replay_engine/rank/engine/choice_stream.h"

namespace pf {

/// What the recording says of a test; begins the event of a success.
NextChoice replayTest(const CallPlace& place, ChoiceKind kind);
/// A test that MPI decided: files a failure, or begins the event of a success and starts its
/// record.
bool recordTest(const CallPlace& place, ChoiceKind kind, NextChoice next, bool success);

void logTest(const CallPlace& place, ChoiceKind kind);
/// `index`: that MPI chose, or MPI_UNDEFINED.
void logIndex(const CallPlace& place, ChoiceKind kind, int index, const OfferedRequests& offered);
/// `count`: how many MPI chose, or MPI_UNDEFINED.
void logSome(const CallPlace& place, ChoiceKind kind, int count, const int* indices,
             const OfferedRequests& offered);

}  // namespace pf
