// SPDX-License-Identifier: MIT
#include "replay_engine/rank/layer/collective_flow.h"

#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/engine/given.h"
#include "replay_engine/rank/engine/real_calls.h"

namespace pf {

PieceList::~PieceList() {
  std::free(m_pieces);
}

void PieceList::add(int peer, const void* buffer, long long count, MPI_Datatype type) {
  if (m_count == m_capacity) {
    m_capacity = m_capacity == 0 ? 16 : 2 * m_capacity;
    m_pieces = static_cast<PeerPiece*>(
        std::realloc(m_pieces, static_cast<std::size_t>(m_capacity) * sizeof(PeerPiece)));
    if (m_pieces == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
  }
  m_pieces[m_count++] = {peer, {const_cast<void*>(buffer), count, type}};
}

PeerPiece* PieceList::take(int* count) {
  PeerPiece* const pieces = m_pieces;
  if (std::all_of(begin(), end(), [](const PeerPiece& each) { return bytesOf(each.piece) == 0; })) {
    *count = 0;
    return nullptr;
  }
  *count = m_count;
  for (int i = 0; i < m_count; ++i) {
    pieces[i].piece.type = keepType(pieces[i].piece.type);
  }
  m_pieces = nullptr;
  m_count = m_capacity = 0;
  return pieces;
}

void freePieces(PeerPiece* pieces, int count) {
  for (int i = 0; i < count; ++i) {
    letTypeGo(pieces[i].piece.type);
  }
  std::free(pieces);
}

namespace {

/// Who is who in a collective.
struct Roles {
  explicit Roles(MPI_Comm comm) : peers(peersOf(comm)), self(selfIn(comm)) {}
  Roles(MPI_Comm comm, int root) : Roles(comm) { isRoot = pf::gives(root, comm); }

  int peers;
  int self;             ///< among them; -1: none of them
  bool isRoot = false;  ///< this rank
};

/// Whether this rank takes part in a collective with this root at all: not the others of its group in an
/// inter-communicator.
bool takesPart(int root) {
  return root != MPI_PROC_NULL;
}

/// All of `counts`, but `self`'s where it is there already.
template <typename Count, typename Offset>
void takeEach(PieceList& takes, const Roles& roles, bool inPlace, void* to, const Count* counts,
              const Offset* at, MPI_Datatype type) {
  for (int i = 0; i < roles.peers; ++i) {
    if (!inPlace || i != roles.self) {
      takes.add(i, elementAt(to, at[i], type), counts[i], type);
    }
  }
}
void takeEach(PieceList& takes, const Roles& roles, bool inPlace, void* to, long long count,
              MPI_Datatype type) {
  for (int i = 0; i < roles.peers; ++i) {
    if (!inPlace || i != roles.self) {
      takes.add(i, elementAt(to, static_cast<long long>(i) * count, type), count, type);
    }
  }
}

/// The same element for all.
void giveAll(PieceList& gives, const Roles& roles, bool toSelf, const void* from, long long count,
             MPI_Datatype type) {
  for (int i = 0; i < roles.peers; ++i) {
    if (toSelf || i != roles.self) {
      gives.add(i, from, count, type);
    }
  }
}

}  // namespace

template <typename Count, typename Offset>
void flowOfBcast(CollectiveFlowOf& flow, void* buffer, Count count, MPI_Datatype type, int root,
                 MPI_Comm comm) {
  const Roles roles(comm, root);
  if (roles.isRoot) {
    giveAll(flow.gives, roles, false, buffer, count, type);
  } else if (takesPart(root)) {
    flow.takes.add(root, buffer, count, type);
  }
}

template <typename Count, typename Offset>
void flowOfGather(CollectiveFlowOf& flow, const void* from, Count fromCount, MPI_Datatype fromType,
                  void* to, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Roles roles(comm, root);
  const bool inPlace = from == MPI_IN_PLACE;
  if (roles.isRoot) {
    takeEach(flow.takes, roles, inPlace, to, count, type);
  }
  if (takesPart(root) && root != MPI_ROOT && !inPlace) {
    flow.gives.add(root, from, fromCount, fromType);
  }
}

template <typename Count, typename Offset>
void flowOfGatherv(CollectiveFlowOf& flow, const void* from, Count fromCount, MPI_Datatype fromType,
                   void* to, const Count* counts, const Offset* at, MPI_Datatype type, int root,
                   MPI_Comm comm) {
  const Roles roles(comm, root);
  const bool inPlace = from == MPI_IN_PLACE;
  if (roles.isRoot) {
    takeEach(flow.takes, roles, inPlace, to, counts, at, type);
  }
  if (takesPart(root) && root != MPI_ROOT && !inPlace) {
    flow.gives.add(root, from, fromCount, fromType);
  }
}

template <typename Count, typename Offset>
void flowOfScatter(CollectiveFlowOf& flow, const void* from, Count fromCount, MPI_Datatype fromType,
                   void* to, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Roles roles(comm, root);
  const bool inPlace = to == MPI_IN_PLACE;
  if (roles.isRoot) {
    for (int i = 0; i < roles.peers; ++i) {
      if (!inPlace || i != roles.self) {
        flow.gives.add(i, elementAt(from, static_cast<long long>(i) * fromCount, fromType),
                       fromCount, fromType);
      }
    }
  }
  if (takesPart(root) && root != MPI_ROOT && !inPlace) {
    flow.takes.add(root, to, count, type);
  }
}

template <typename Count, typename Offset>
void flowOfScatterv(CollectiveFlowOf& flow, const void* from, const Count* fromCounts,
                    const Offset* fromAt, MPI_Datatype fromType, void* to, Count count,
                    MPI_Datatype type, int root, MPI_Comm comm) {
  const Roles roles(comm, root);
  const bool inPlace = to == MPI_IN_PLACE;
  if (roles.isRoot) {
    for (int i = 0; i < roles.peers; ++i) {
      if (!inPlace || i != roles.self) {
        flow.gives.add(i, elementAt(from, fromAt[i], fromType), fromCounts[i], fromType);
      }
    }
  }
  if (takesPart(root) && root != MPI_ROOT && !inPlace) {
    flow.takes.add(root, to, count, type);
  }
}

template <typename Count, typename Offset>
void flowOfAllgather(CollectiveFlowOf& flow, const void* from, Count fromCount,
                     MPI_Datatype fromType, void* to, Count count, MPI_Datatype type,
                     MPI_Comm comm) {
  const Roles roles(comm);
  if (from == MPI_IN_PLACE) {
    giveAll(flow.gives, roles, false,
            elementAt(to, static_cast<long long>(roles.self) * count, type), count, type);
  } else {
    giveAll(flow.gives, roles, true, from, fromCount, fromType);
  }
  takeEach(flow.takes, roles, from == MPI_IN_PLACE, to, count, type);
}

template <typename Count, typename Offset>
void flowOfAllgatherv(CollectiveFlowOf& flow, const void* from, Count fromCount,
                      MPI_Datatype fromType, void* to, const Count* counts, const Offset* at,
                      MPI_Datatype type, MPI_Comm comm) {
  const Roles roles(comm);
  if (from == MPI_IN_PLACE) {
    giveAll(flow.gives, roles, false, elementAt(to, at[roles.self], type), counts[roles.self],
            type);
  } else {
    giveAll(flow.gives, roles, true, from, fromCount, fromType);
  }
  takeEach(flow.takes, roles, from == MPI_IN_PLACE, to, counts, at, type);
}

template <typename Count, typename Offset>
void flowOfAlltoall(CollectiveFlowOf& flow, const void* from, Count fromCount,
                    MPI_Datatype fromType, void* to, Count count, MPI_Datatype type,
                    MPI_Comm comm) {
  const Roles roles(comm);
  flow.inPlace = from == MPI_IN_PLACE;
  for (int i = 0; i < roles.peers; ++i) {
    if (!flow.inPlace) {
      flow.gives.add(i, elementAt(from, static_cast<long long>(i) * fromCount, fromType), fromCount,
                     fromType);
    } else if (i != roles.self) {
      flow.gives.add(i, elementAt(to, static_cast<long long>(i) * count, type), count, type);
    }
  }
  takeEach(flow.takes, roles, flow.inPlace, to, count, type);
}

template <typename Count, typename Offset>
void flowOfAlltoallv(CollectiveFlowOf& flow, const void* from, const Count* fromCounts,
                     const Offset* fromAt, MPI_Datatype fromType, void* to, const Count* counts,
                     const Offset* at, MPI_Datatype type, MPI_Comm comm) {
  const Roles roles(comm);
  flow.inPlace = from == MPI_IN_PLACE;
  for (int i = 0; i < roles.peers; ++i) {
    if (!flow.inPlace) {
      flow.gives.add(i, elementAt(from, fromAt[i], fromType), fromCounts[i], fromType);
    } else if (i != roles.self) {
      flow.gives.add(i, elementAt(to, at[i], type), counts[i], type);
    }
  }
  takeEach(flow.takes, roles, flow.inPlace, to, counts, at, type);
}

template <typename Count, typename Offset>
void flowOfAlltoallw(CollectiveFlowOf& flow, const void* from, const Count* fromCounts,
                     const Offset* fromAt, const MPI_Datatype* fromTypes, void* to,
                     const Count* counts, const Offset* at, const MPI_Datatype* types,
                     MPI_Comm comm) {
  const Roles roles(comm);
  flow.inPlace = from == MPI_IN_PLACE;
  for (int i = 0; i < roles.peers; ++i) {
    if (!flow.inPlace) {
      flow.gives.add(i, byteAt(from, fromAt[i]), fromCounts[i], fromTypes[i]);
    } else if (i != roles.self) {
      flow.gives.add(i, byteAt(to, at[i]), counts[i], types[i]);
    }
    if (!flow.inPlace || i != roles.self) {
      flow.takes.add(i, byteAt(to, at[i]), counts[i], types[i]);
    }
  }
}

template <typename Count, typename Offset>
void flowOfReduce(CollectiveFlowOf& flow, const void* /*from*/, void* to, Count count,
                  MPI_Datatype type, MPI_Op /*op*/, int root, MPI_Comm comm) {
  if (Roles(comm, root).isRoot) {
    flow.takes.add(kFromAll, to, count, type);
  }
}

template <typename Count, typename Offset>
void flowOfAllreduce(CollectiveFlowOf& flow, const void* /*from*/, void* to, Count count,
                     MPI_Datatype type, MPI_Op /*op*/, MPI_Comm /*comm*/) {
  flow.takes.add(kFromAll, to, count, type);
}

template <typename Count, typename Offset>
void flowOfReduce_scatter(CollectiveFlowOf& flow, const void* /*from*/, void* to,
                          const Count* counts, MPI_Datatype type, MPI_Op /*op*/, MPI_Comm comm) {
  flow.takes.add(kFromAll, to, counts[rankIn(comm)], type);
}

template <typename Count, typename Offset>
void flowOfReduce_scatter_block(CollectiveFlowOf& flow, const void* /*from*/, void* to, Count count,
                                MPI_Datatype type, MPI_Op /*op*/, MPI_Comm /*comm*/) {
  flow.takes.add(kFromAll, to, count, type);
}

template <typename Count, typename Offset>
void flowOfScan(CollectiveFlowOf& flow, const void* /*from*/, void* to, Count count,
                MPI_Datatype type, MPI_Op /*op*/, MPI_Comm /*comm*/) {
  flow.takes.add(kFromAll, to, count, type);
}

template <typename Count, typename Offset>
void flowOfExscan(CollectiveFlowOf& flow, const void* /*from*/, void* to, Count count,
                  MPI_Datatype type, MPI_Op /*op*/, MPI_Comm comm) {
  if (rankIn(comm) > 0) {
    flow.takes.add(kFromAll, to, count, type);
  }
}

template <typename Count, typename Offset>
void flowOfBarrier(CollectiveFlowOf& /*flow*/, MPI_Comm /*comm*/) {}

// -- neighbours

namespace {

/// Ranks that a neighbourhood collective takes from, in its order; MPI_PROC_NULL where there is none.
class Sources {
 public:
  explicit Sources(MPI_Comm comm) {
    int topology = MPI_UNDEFINED;
    if (PF_REAL(Topo_test)(comm, &topology) != MPI_SUCCESS) {
      return;
    }
    if (topology == MPI_CART) {
      ofGrid(comm);
    } else if (topology == MPI_GRAPH) {
      const int self = rankIn(comm);
      PF_REAL(Graph_neighbors_count)(comm, self, &m_count);
      make();
      PF_REAL(Graph_neighbors)(comm, self, m_count, m_ranks);
    } else if (topology == MPI_DIST_GRAPH) {
      int targets = 0;
      int weighted = 0;
      PF_REAL(Dist_graph_neighbors_count)(comm, &m_count, &targets, &weighted);
      make();
      // Weights, and whom it sends to, are asked for with them.
      auto* const other = static_cast<int*>(
          std::calloc(static_cast<std::size_t>(m_count) + 2 * static_cast<std::size_t>(targets) + 1,
                      sizeof(int)));
      if (other != nullptr) {
        PF_REAL(Dist_graph_neighbors)
        (comm, m_count, m_ranks, weighted != 0 ? other : MPI_UNWEIGHTED, targets, other + m_count,
         weighted != 0 ? other + m_count + targets : MPI_UNWEIGHTED);
      }
      std::free(other);
    }
  }
  ~Sources() { std::free(m_ranks); }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  [[nodiscard]] int count() const { return m_count; }
  [[nodiscard]] bool isThere(int i) const { return m_ranks[i] != MPI_PROC_NULL; }

 private:
  void make() {
    m_ranks = static_cast<int*>(std::calloc(static_cast<std::size_t>(m_count) + 1, sizeof(int)));
    if (m_ranks == nullptr) {
      std::abort();  // the program cannot go on without memory either
    }
  }
  void ofGrid(MPI_Comm comm) {
    int dimensions = 0;
    PF_REAL(Cartdim_get)(comm, &dimensions);
    m_count = 2 * dimensions;
    make();
    int* next = m_ranks;
    for (int i = 0; i < dimensions; ++i, next += 2) {
      PF_REAL(Cart_shift)(comm, i, 1, next, next + 1);
    }
  }

  int* m_ranks = nullptr;
  int m_count = 0;
};

}  // namespace

template <typename Count, typename Offset>
void flowOfNeighbor_allgather(CollectiveFlowOf& flow, const void* /*from*/, Count /*fromCount*/,
                              MPI_Datatype /*fromType*/, void* to, Count count, MPI_Datatype type,
                              MPI_Comm comm) {
  const Sources sources(comm);
  for (int i = 0; i < sources.count(); ++i) {
    if (sources.isThere(i)) {
      flow.takes.add(kFromAll, elementAt(to, static_cast<long long>(i) * count, type), count, type);
    }
  }
}

template <typename Count, typename Offset>
void flowOfNeighbor_allgatherv(CollectiveFlowOf& flow, const void* /*from*/, Count /*fromCount*/,
                               MPI_Datatype /*fromType*/, void* to, const Count* counts,
                               const Offset* at, MPI_Datatype type, MPI_Comm comm) {
  const Sources sources(comm);
  for (int i = 0; i < sources.count(); ++i) {
    if (sources.isThere(i)) {
      flow.takes.add(kFromAll, elementAt(to, at[i], type), counts[i], type);
    }
  }
}

template <typename Count, typename Offset>
void flowOfNeighbor_alltoall(CollectiveFlowOf& flow, const void* from, Count fromCount,
                             MPI_Datatype fromType, void* to, Count count, MPI_Datatype type,
                             MPI_Comm comm) {
  flowOfNeighbor_allgather<Count, Offset>(flow, from, fromCount, fromType, to, count, type, comm);
}

template <typename Count, typename Offset>
void flowOfNeighbor_alltoallv(CollectiveFlowOf& flow, const void* from, const Count* /*fromCounts*/,
                              const Offset* /*fromAt*/, MPI_Datatype fromType, void* to,
                              const Count* counts, const Offset* at, MPI_Datatype type,
                              MPI_Comm comm) {
  flowOfNeighbor_allgatherv<Count, Offset>(flow, from, 0, fromType, to, counts, at, type, comm);
}

template <typename Count, typename Offset>
void flowOfNeighbor_alltoallw(CollectiveFlowOf& flow, const void* /*from*/,
                              const Count* /*fromCounts*/, const MPI_Aint* /*fromAt*/,
                              const MPI_Datatype* /*fromTypes*/, void* to, const Count* counts,
                              const MPI_Aint* at, const MPI_Datatype* types, MPI_Comm comm) {
  const Sources sources(comm);
  for (int i = 0; i < sources.count(); ++i) {
    if (sources.isThere(i)) {
      flow.takes.add(kFromAll, byteAt(to, static_cast<long long>(at[i])), counts[i], types[i]);
    }
  }
}

// clang-format off
#define PF_FLOWS_OF(Count, Offset) \
  template void flowOfBcast<Count, Offset>(CollectiveFlowOf&, void*, Count, MPI_Datatype, int, MPI_Comm); \
  template void flowOfGather<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int, MPI_Comm); \
  template void flowOfGatherv<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, const Count*, const Offset*, MPI_Datatype, int, MPI_Comm); \
  template void flowOfScatter<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int, MPI_Comm); \
  template void flowOfScatterv<Count, Offset>(CollectiveFlowOf&, const void*, const Count*, const Offset*, MPI_Datatype, void*, Count, MPI_Datatype, int, MPI_Comm); \
  template void flowOfAllgather<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm); \
  template void flowOfAllgatherv<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, const Count*, const Offset*, MPI_Datatype, MPI_Comm); \
  template void flowOfAlltoall<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm); \
  template void flowOfAlltoallv<Count, Offset>(CollectiveFlowOf&, const void*, const Count*, const Offset*, MPI_Datatype, void*, const Count*, const Offset*, MPI_Datatype, MPI_Comm); \
  template void flowOfAlltoallw<Count, Offset>(CollectiveFlowOf&, const void*, const Count*, const Offset*, const MPI_Datatype*, void*, const Count*, const Offset*, const MPI_Datatype*, MPI_Comm); \
  template void flowOfReduce<Count, Offset>(CollectiveFlowOf&, const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm); \
  template void flowOfAllreduce<Count, Offset>(CollectiveFlowOf&, const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm); \
  template void flowOfReduce_scatter<Count, Offset>(CollectiveFlowOf&, const void*, void*, const Count*, MPI_Datatype, MPI_Op, MPI_Comm); \
  template void flowOfReduce_scatter_block<Count, Offset>(CollectiveFlowOf&, const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm); \
  template void flowOfScan<Count, Offset>(CollectiveFlowOf&, const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm); \
  template void flowOfExscan<Count, Offset>(CollectiveFlowOf&, const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm); \
  template void flowOfBarrier<Count, Offset>(CollectiveFlowOf&, MPI_Comm); \
  template void flowOfNeighbor_allgather<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm); \
  template void flowOfNeighbor_allgatherv<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, const Count*, const Offset*, MPI_Datatype, MPI_Comm); \
  template void flowOfNeighbor_alltoall<Count, Offset>(CollectiveFlowOf&, const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm); \
  template void flowOfNeighbor_alltoallv<Count, Offset>(CollectiveFlowOf&, const void*, const Count*, const Offset*, MPI_Datatype, void*, const Count*, const Offset*, MPI_Datatype, MPI_Comm); \
  template void flowOfNeighbor_alltoallw<Count, Offset>(CollectiveFlowOf&, const void*, const Count*, const MPI_Aint*, const MPI_Datatype*, void*, const Count*, const MPI_Aint*, const MPI_Datatype*, MPI_Comm);
// clang-format on
PF_FLOWS_OF(int, int)
PF_FLOWS_OF(MPI_Count, MPI_Aint)
#undef PF_FLOWS_OF

}  // namespace pf
