// SPDX-License-Identifier: MIT
// What a rank gives to a collective (contents.h), by the arguments of the routines: for generated wrappers, while
// Engine::contents. What others give, and what a root alone says, is not looked at. Count: int, or that of MPI_X_c.
#pragma once

#include "replay_engine/rank/engine/contents.h"

namespace pf {

/// To MPI_Neighbor_allgather and the like: `count` elements.
Contents given(const void* buffer, long long count, MPI_Datatype type);
/// To MPI_Gather: nothing that moves, where it is in place already.
Contents givenToGather(const void* buffer, long long count, MPI_Datatype type, int root);
/// To MPI_Bcast: all know its size.
Contents givenByRoot(const void* buffer, long long count, MPI_Datatype type, int root,
                     MPI_Comm comm);
/// To MPI_Scatter: `count` elements for each.
Contents givenToScatter(const void* buffer, long long count, MPI_Datatype type, int root,
                        MPI_Comm comm);
/// To MPI_Allreduce, MPI_Scan; with a root to MPI_Reduce.
Contents givenToReduce(const void* from, const void* to, long long count, MPI_Datatype type,
                       MPI_Op op, int root = 0);
/// To MPI_Reduce_scatter_block: `count` elements for each.
Contents givenToReduceBlock(const void* from, const void* to, long long count, MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm);
/// To MPI_Alltoall.
Contents givenToEach(const void* from, long long fromCount, MPI_Datatype fromType, const void* to,
                     long long count, MPI_Datatype type, MPI_Comm comm);
/// To MPI_Allgather. In place it is the part of `to` that is this rank's.
Contents givenToAll(const void* from, long long fromCount, MPI_Datatype fromType, const void* to,
                    long long count, MPI_Datatype type, MPI_Comm comm);
/// To MPI_Neighbor_alltoall.
Contents givenToNeighbours(const void* buffer, long long count, MPI_Datatype type, MPI_Comm comm);

// -- helpers of those with arrays

bool isInter(MPI_Comm comm);
/// Ranks that a collective goes to: of an inter-communicator the remote ones.
int peersOf(MPI_Comm comm);
int rankIn(MPI_Comm comm);
int membersOf(MPI_Comm comm);
bool gives(int root, MPI_Comm comm);
/// This rank among those that a collective goes to; -1: it is none of them.
int selfIn(MPI_Comm comm);
/// Neighbours that this rank sends to; none without a topology.
int neighboursOf(MPI_Comm comm);
const void* elementAt(const void* buffer, long long index, MPI_Datatype type);
const void* byteAt(const void* buffer, long long offset);

/// `pieces` arrays of elements of one type, by displacement in elements.
template <typename Count, typename Offset>
Contents givenPieces(const void* buffer, const Count* counts, const Offset* displacements,
                     MPI_Datatype type, int pieces) {
  const StateLock lock;
  Digester digester;
  for (int i = 0; i < pieces && counts != nullptr && displacements != nullptr; ++i) {
    digester.add(elementAt(buffer, displacements[i], type), counts[i], type);
  }
  return digester.contents();
}

/// The same, of a type and by a displacement in bytes each.
template <typename Count, typename Offset>
Contents givenTypes(const void* buffer, const Count* counts, const Offset* displacements,
                    const MPI_Datatype* types, int pieces) {
  const StateLock lock;
  Digester digester;
  for (int i = 0; i < pieces && counts != nullptr && displacements != nullptr && types != nullptr;
       ++i) {
    digester.add(byteAt(buffer, displacements[i]), counts[i], types[i]);
  }
  return digester.contents();
}

/// To MPI_Alltoallv, MPI_Alltoallw, of whose arrays those of `to` say it where it is done in place.
template <typename Count, typename Offset>
Contents givenToEachOf(const void* from, const Count* fromCounts, const Offset* fromAt,
                       MPI_Datatype fromType, const void* to, const Count* counts, const Offset* at,
                       MPI_Datatype type, MPI_Comm comm) {
  const int peers = peersOf(comm);
  return from == MPI_IN_PLACE ? givenPieces(to, counts, at, type, peers)
                              : givenPieces(from, fromCounts, fromAt, fromType, peers);
}
template <typename Count, typename Offset>
Contents givenToEachOf(const void* from, const Count* fromCounts, const Offset* fromAt,
                       const MPI_Datatype* fromTypes, const void* to, const Count* counts,
                       const Offset* at, const MPI_Datatype* types, MPI_Comm comm) {
  const int peers = peersOf(comm);
  return from == MPI_IN_PLACE ? givenTypes(to, counts, at, types, peers)
                              : givenTypes(from, fromCounts, fromAt, fromTypes, peers);
}

/// To MPI_Scatterv.
template <typename Count, typename Offset>
Contents givenToScatterOf(const void* buffer, const Count* counts, const Offset* displacements,
                          MPI_Datatype type, int root, MPI_Comm comm) {
  return gives(root, comm) ? givenPieces(buffer, counts, displacements, type, peersOf(comm))
                           : Contents{};
}

/// To MPI_Allgatherv.
template <typename Count, typename Offset>
Contents givenToAllOf(const void* from, long long fromCount, MPI_Datatype fromType, const void* to,
                      const Count* counts, const Offset* displacements, MPI_Datatype type,
                      MPI_Comm comm) {
  if (from != MPI_IN_PLACE) {
    return given(from, fromCount, fromType);
  }
  const int rank = rankIn(comm);
  return rank < 0 || counts == nullptr || displacements == nullptr
             ? Contents{}
             : given(elementAt(to, displacements[rank], type), counts[rank], type);
}

/// To MPI_Reduce_scatter.
template <typename Count>
Contents givenToReduceOf(const void* from, const void* to, const Count* counts, MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm) {
  long long count = 0;
  const int members = counts != nullptr ? membersOf(comm) : 0;
  for (int i = 0; i < members; ++i) {
    count += counts[i];
  }
  return givenToReduce(from, to, count, type, op);
}

/// To MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw.
template <typename Count, typename Offset>
Contents givenToNeighboursOf(const void* buffer, const Count* counts, const Offset* displacements,
                             MPI_Datatype type, MPI_Comm comm) {
  return givenPieces(buffer, counts, displacements, type, neighboursOf(comm));
}
template <typename Count, typename Offset>
Contents givenToNeighboursOf(const void* buffer, const Count* counts, const Offset* displacements,
                             const MPI_Datatype* types, MPI_Comm comm) {
  return givenTypes(buffer, counts, displacements, types, neighboursOf(comm));
}

/// Whether an element of this type is more than nothing. True also where the call's arguments do not say.
bool holdsBytes(MPI_Comm comm, MPI_Datatype type);

/// Of a collective with a count for each rank: no other rank's elements are nothing.
template <typename Count>
bool countsForAll(MPI_Comm comm, const Count* counts, MPI_Datatype type) {
  const int peers = counts == nullptr ? 0 : peersOf(comm);
  const int self = selfIn(comm);
  for (int i = 0; i < peers; ++i) {
    if (counts[i] == 0 && i != self) {
      return false;
    }
  }
  return holdsBytes(comm, type);
}
template <typename Count>
bool countsForAll(MPI_Comm comm, const Count* counts, const MPI_Datatype* types) {
  const int peers = counts == nullptr || types == nullptr ? 0 : peersOf(comm);
  const int self = selfIn(comm);
  for (int i = 0; i < peers; ++i) {
    if (i != self && (counts[i] == 0 || !holdsBytes(comm, types[i]))) {
      return false;
    }
  }
  return true;
}

/// This rank's count.
template <typename Count>
Count countForMe(MPI_Comm comm, const Count* counts) {
  const int rank = rankIn(comm);
  return rank < 0 || counts == nullptr ? Count{1} : counts[rank];
}

}  // namespace pf
