// SPDX-License-Identifier: MIT
// The communicators of a job of which few ranks run.
#pragma once

#include <cstdint>

#include "replay_engine/rank/engine/mpi_header.h"
#include "replay_engine/rank/layer/group_members.h"
#include "replay_engine/rank/layer/handle_map.h"
#include "replay_engine/rank/layer/one_thread.h"
#include "replay_engine/rank/layer/under.h"
#include "replay_engine/rank/partial_job/job_topologies.h"

namespace pf {

struct RankList {
  int* world = nullptr;  ///< ranks of the recorded MPI_COMM_WORLD
  int count = 0;

  void make(int size);
  void release();
  [[nodiscard]] int find(int rank) const;
};

struct JobComm {
  RankList local;
  RankList remote;  ///< of an inter-communicator
  bool inter = false;
  bool wide =
      false;  ///< the carrier has the ranks of other groups that run, too: MPI_COMM_WORLD's, and duplicates
  bool whole = false;            ///< all of its ranks run, and the carrier has them in their order
  MPI_Comm own = MPI_COMM_NULL;  ///< for messages of ours; null: not made yet
  Topology topology{};           ///< that the carrier does not have
  int* toCarrier = nullptr;      ///< rank in the carrier of each peer, -1: it does not run
  int carrierSize = 0;
  int* fromCarrier = nullptr;  ///< peer of each rank of the carrier, -1: none
  int users = 0;       ///< requests and matched messages under way that know it (with LayerLock)
  bool freed = false;  ///< by the program: it goes with the last of them

  [[nodiscard]] const RankList& peers() const { return inter ? remote : local; }
  /// Rank in the carrier; -1: outside of the group, even if it runs.
  [[nodiscard]] int carrierRank(int peer) const {
    return peer >= 0 && peer < peers().count ? toCarrier[peer] : -1;
  }
  /// Rank in ownComm(), or -1.
  [[nodiscard]] int placeInOwn(int peer) const {
    return wide && runs(peer) ? g_group.placeOf(peers().world[peer]) : carrierRank(peer);
  }
  [[nodiscard]] bool runs(int peer) const { return carrierRank(peer) >= 0; }
  [[nodiscard]] bool isPeer(int peer) const { return peer >= 0 && peer < peers().count; }
};

/// Null for MPI_COMM_NULL.
JobComm* jobComm(MPI_Comm comm);
/// Of one that is not whole, else null: then MPI does what is asked. Also null for what MPI itself calls.
JobComm* partialComm(MPI_Comm comm);
/// Its communicator for messages of ours: all ranks of it that run call this.
MPI_Comm ownComm(MPI_Comm comm, JobComm& job);

/// A request or matched message knows it, and does no more. With LayerLock; null: nothing.
void holdComm(JobComm* job);
void releaseComm(JobComm* job);

void startComms();
void putCommsOver();

}  // namespace pf
