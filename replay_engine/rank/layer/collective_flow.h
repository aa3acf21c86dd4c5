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

// The arguments are those of the routines, with counts and displacements as `Count` and `Offset`: int and int, or those of
// MPI_X_c, MPI_Count and MPI_Aint.
template <typename Count, typename Offset>
void flowOfBcast(CollectiveFlowOf&, void* buffer, Count count, MPI_Datatype type, int root,
                 MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfGather(CollectiveFlowOf&, const void* from, Count fromCount, MPI_Datatype fromType,
                  void* to, Count count, MPI_Datatype type, int root, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfGatherv(CollectiveFlowOf&, const void* from, Count fromCount, MPI_Datatype fromType,
                   void* to, const Count* counts, const Offset* at, MPI_Datatype type, int root,
                   MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfScatter(CollectiveFlowOf&, const void* from, Count fromCount, MPI_Datatype fromType,
                   void* to, Count count, MPI_Datatype type, int root, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfScatterv(CollectiveFlowOf&, const void* from, const Count* fromCounts,
                    const Offset* fromAt, MPI_Datatype fromType, void* to, Count count,
                    MPI_Datatype type, int root, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfAllgather(CollectiveFlowOf&, const void* from, Count fromCount, MPI_Datatype fromType,
                     void* to, Count count, MPI_Datatype type, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfAllgatherv(CollectiveFlowOf&, const void* from, Count fromCount, MPI_Datatype fromType,
                      void* to, const Count* counts, const Offset* at, MPI_Datatype type,
                      MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfAlltoall(CollectiveFlowOf&, const void* from, Count fromCount, MPI_Datatype fromType,
                    void* to, Count count, MPI_Datatype type, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfAlltoallv(CollectiveFlowOf&, const void* from, const Count* fromCounts,
                     const Offset* fromAt, MPI_Datatype fromType, void* to, const Count* counts,
                     const Offset* at, MPI_Datatype type, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfAlltoallw(CollectiveFlowOf&, const void* from, const Count* fromCounts,
                     const Offset* fromAt, const MPI_Datatype* fromTypes, void* to,
                     const Count* counts, const Offset* at, const MPI_Datatype* types,
                     MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfReduce(CollectiveFlowOf&, const void* from, void* to, Count count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfAllreduce(CollectiveFlowOf&, const void* from, void* to, Count count, MPI_Datatype type,
                     MPI_Op op, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfReduce_scatter(CollectiveFlowOf&, const void* from, void* to, const Count* counts,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfReduce_scatter_block(CollectiveFlowOf&, const void* from, void* to, Count count,
                                MPI_Datatype type, MPI_Op op, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfScan(CollectiveFlowOf&, const void* from, void* to, Count count, MPI_Datatype type,
                MPI_Op op, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfExscan(CollectiveFlowOf&, const void* from, void* to, Count count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfBarrier(CollectiveFlowOf&, MPI_Comm comm);

// Of neighbours (chapter 7.6) all that is received counts as from all: who is whose neighbour twice is the library's to
// say in which order.
template <typename Count, typename Offset>
void flowOfNeighbor_allgather(CollectiveFlowOf&, const void* from, Count fromCount,
                              MPI_Datatype fromType, void* to, Count count, MPI_Datatype type,
                              MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfNeighbor_allgatherv(CollectiveFlowOf&, const void* from, Count fromCount,
                               MPI_Datatype fromType, void* to, const Count* counts,
                               const Offset* at, MPI_Datatype type, MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfNeighbor_alltoall(CollectiveFlowOf&, const void* from, Count fromCount,
                             MPI_Datatype fromType, void* to, Count count, MPI_Datatype type,
                             MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfNeighbor_alltoallv(CollectiveFlowOf&, const void* from, const Count* fromCounts,
                              const Offset* fromAt, MPI_Datatype fromType, void* to,
                              const Count* counts, const Offset* at, MPI_Datatype type,
                              MPI_Comm comm);
template <typename Count, typename Offset>
void flowOfNeighbor_alltoallw(CollectiveFlowOf&, const void* from, const Count* fromCounts,
                              const MPI_Aint* fromAt, const MPI_Datatype* fromTypes, void* to,
                              const Count* counts, const MPI_Aint* at, const MPI_Datatype* types,
                              MPI_Comm comm);

}  // namespace pf
