// SPDX-License-Identifier: MIT
// What a rank gets in a collective, from whom, and what it gives to whom (MPI 3.1, chapter 5; MPIWiz, 3.2): by the
// arguments of the routines. A recording keeps what comes from outside of the group; a replay of the group takes that from
// the record, and sends the rest from rank to rank (MPIWiz, Figure 2).
#pragma once

#include "replay_engine/rank/layer/pieces.h"

namespace pf {

/// Of the rank `peer` of the communicator; of an inter-communicator, of its remote group.
struct PeerPiece {
  int peer;
  Piece piece;
};
/// What comes has to do with all of the communicator's ranks: results of reductions.
inline constexpr int kFromAll = -1;

/// In the order of peers. Frees what it has.
class PieceList {
 public:
  PieceList() = default;
  ~PieceList();
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;

  void add(int peer, const void* buffer, long long count, MPI_Datatype type);
  [[nodiscard]] const PeerPiece* begin() const { return m_pieces; }
  [[nodiscard]] const PeerPiece* end() const { return m_pieces + m_count; }
  /// Null, where they are no bytes at all. Else its pieces, which are then the caller's to free(), as are their types: copies of ours where the program may free them.
  PeerPiece* take(int* count);

 private:
  PeerPiece* m_pieces = nullptr;
  int m_count = 0;
  int m_capacity = 0;
};
void freePieces(PeerPiece* pieces, int count);

struct CollectiveFlowOf {
  PieceList takes;
  PieceList gives;
  bool inPlace = false;  ///< what is given lies where what is taken comes
};

// The arguments are those of the routines; `ranks`: of whom arrays have an element (peersOf()).
void flowOfBcast(CollectiveFlowOf&, void* buffer, int count, MPI_Datatype type, int root,
                 MPI_Comm comm);
void flowOfGather(CollectiveFlowOf&, const void* from, int fromCount, MPI_Datatype fromType,
                  void* to, int count, MPI_Datatype type, int root, MPI_Comm comm);
void flowOfGatherv(CollectiveFlowOf&, const void* from, int fromCount, MPI_Datatype fromType,
                   void* to, const int* counts, const int* at, MPI_Datatype type, int root,
                   MPI_Comm comm);
void flowOfScatter(CollectiveFlowOf&, const void* from, int fromCount, MPI_Datatype fromType,
                   void* to, int count, MPI_Datatype type, int root, MPI_Comm comm);
void flowOfScatterv(CollectiveFlowOf&, const void* from, const int* fromCounts, const int* fromAt,
                    MPI_Datatype fromType, void* to, int count, MPI_Datatype type, int root,
                    MPI_Comm comm);
void flowOfAllgather(CollectiveFlowOf&, const void* from, int fromCount, MPI_Datatype fromType,
                     void* to, int count, MPI_Datatype type, MPI_Comm comm);
void flowOfAllgatherv(CollectiveFlowOf&, const void* from, int fromCount, MPI_Datatype fromType,
                      void* to, const int* counts, const int* at, MPI_Datatype type, MPI_Comm comm);
void flowOfAlltoall(CollectiveFlowOf&, const void* from, int fromCount, MPI_Datatype fromType,
                    void* to, int count, MPI_Datatype type, MPI_Comm comm);
void flowOfAlltoallv(CollectiveFlowOf&, const void* from, const int* fromCounts, const int* fromAt,
                     MPI_Datatype fromType, void* to, const int* counts, const int* at,
                     MPI_Datatype type, MPI_Comm comm);
void flowOfAlltoallw(CollectiveFlowOf&, const void* from, const int* fromCounts, const int* fromAt,
                     const MPI_Datatype* fromTypes, void* to, const int* counts, const int* at,
                     const MPI_Datatype* types, MPI_Comm comm);
void flowOfReduce(CollectiveFlowOf&, const void* from, void* to, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm);
void flowOfAllreduce(CollectiveFlowOf&, const void* from, void* to, int count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm);
void flowOfReduce_scatter(CollectiveFlowOf&, const void* from, void* to, const int* counts,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void flowOfReduce_scatter_block(CollectiveFlowOf&, const void* from, void* to, int count,
                                MPI_Datatype type, MPI_Op op, MPI_Comm comm);
void flowOfScan(CollectiveFlowOf&, const void* from, void* to, int count, MPI_Datatype type,
                MPI_Op op, MPI_Comm comm);
void flowOfExscan(CollectiveFlowOf&, const void* from, void* to, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm);
void flowOfBarrier(CollectiveFlowOf&, MPI_Comm comm);

// Of neighbours (chapter 7.6) all that is received counts as from all: who is whose neighbour twice is the library's to
// say in which order.
void flowOfNeighbor_allgather(CollectiveFlowOf&, const void* from, int fromCount,
                              MPI_Datatype fromType, void* to, int count, MPI_Datatype type,
                              MPI_Comm comm);
void flowOfNeighbor_allgatherv(CollectiveFlowOf&, const void* from, int fromCount,
                               MPI_Datatype fromType, void* to, const int* counts, const int* at,
                               MPI_Datatype type, MPI_Comm comm);
void flowOfNeighbor_alltoall(CollectiveFlowOf&, const void* from, int fromCount,
                             MPI_Datatype fromType, void* to, int count, MPI_Datatype type,
                             MPI_Comm comm);
void flowOfNeighbor_alltoallv(CollectiveFlowOf&, const void* from, const int* fromCounts,
                              const int* fromAt, MPI_Datatype fromType, void* to, const int* counts,
                              const int* at, MPI_Datatype type, MPI_Comm comm);
void flowOfNeighbor_alltoallw(CollectiveFlowOf&, const void* from, const int* fromCounts,
                              const MPI_Aint* fromAt, const MPI_Datatype* fromTypes, void* to,
                              const int* counts, const MPI_Aint* at, const MPI_Datatype* types,
                              MPI_Comm comm);

}  // namespace pf
