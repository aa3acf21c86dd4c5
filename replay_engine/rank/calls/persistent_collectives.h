// SPDX-License-Identifier: MIT
// Persistent collectives (MPI 4.0, 6.13). Making one is an event of its own; each start is one as the call of a non-blocking
// collective is.
#pragma once

#include "replay_engine/rank/engine/contents.h"
#include "replay_engine/rank/engine/wrapper_support.h"

namespace pf {

/// The call that makes one: the arguments of its starts. It may wait for the other ranks, and tells nothing of them.
class PersistentCollective {
 public:
  PersistentCollective(const CallPlace& place, MPI_Comm comm, CollectiveFlow flow, int root,
                       bool contributes, bool takes);
  void made(int result, const MPI_Request* request);
  /// By GivenLater.
  void gives(GivenAtStarts* given) { m_part.given = given; }

 private:
  CollectiveEvent m_event;
  MPI_Comm m_comm;
  PersistentPart m_part;
};

/// What a rank gives to a persistent collective at each start, by given…() (given.h): while there is one of these, they look at
/// nothing and tell it what they would look at.
class GivenLater : TakesPieces {
 public:
  GivenLater();
  ~GivenLater();
  GivenLater(const GivenLater&) = delete;
  GivenLater& operator=(const GivenLater&) = delete;
  /// `given`: what one of them has returned. Null: nothing is given.
  GivenAtStarts* atStarts(const Contents& given);

 private:
  GivenAtStarts* m_given;
};
/// A request is freed that may be one of a persistent collective. The engine's lock is held.
void forgetGiven(Request& entry);

/// The engine's lock is held.
bool isPersistentCollective(MPI_Request request);
/// Starts one: an event. The engine's lock is held.
int startCollective(const CallPlace& place, MPI_Request* request);

}  // namespace pf
