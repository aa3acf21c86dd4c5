// SPDX-License-Identifier: MIT
// MPI_Waitall and MPI_Testall that fail. MPI chooses which of the other requests are done by then
// (MPI_ERR_PENDING says which are not), and the program sees it: recorded, and the same in a
// replay.
#pragma once

#include "replay_engine/rank/calls/request_batch.h"

namespace pf {

/// Names the call that it is made in, once its event has begun (completionKey()).
class CompletionName {
 public:
  /// Before the call.
  CompletionName();
  [[nodiscard]] std::uint64_t key() const;

 private:
  std::uint64_t m_ofThread = 0;
};

/// Behind a call that returned `result`: what it left pending, if it failed that way. `persistent`:
/// a request that keeps its handle when it is done.
bool isUnfinished(int result, MPI_Request request, const MPI_Status* status, bool persistent);
void logUnfinished(std::uint64_t key, int result, Batch& batch, int count,
                   const MPI_Status* statuses);

/// Replay: makes the call as MPI_Waitall would, where the recorded one succeeded or was not seen;
/// else completes what that one did, and nothing else.
int waitForAll(const CallPlace& place, std::uint64_t key, Batch& batch, int count,
               MPI_Status* statuses);

/// What MPI has written of `count` statuses, where they began as surviveAs() makes them.
void copyWritten(MPI_Status* to, const MPI_Status* from, int count);

}  // namespace pf
