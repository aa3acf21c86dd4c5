// SPDX-License-Identifier: MIT
// Persistent collectives (MPI 4.0, 6.13). Making one is an event of its own; each start is one as the call of a non-blocking
// collective is.
#pragma once

#include "replay_engine/rank/engine/wrapper_support.h"

namespace pf {

/// The call that makes one: the arguments of its starts. It may wait for the other ranks, and tells nothing of them.
class PersistentCollective {
 public:
  PersistentCollective(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow, int root,
                       bool contributes, bool takes);
  void made(int result, const MPI_Request* request);

 private:
  CollectiveEvent m_event;
  MPI_Comm m_comm;
  PersistentPart m_part;
};

/// The engine's lock is held.
bool isPersistentCollective(MPI_Request request);
/// Starts one: an event. The engine's lock is held.
int startCollective(const CallPlace& place, MPI_Request* request);

}  // namespace pf
