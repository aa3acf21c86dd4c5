// SPDX-License-Identifier: MIT
#include "replay_engine/rank/engine/given.h"

#include <climits>

#include "replay_engine/rank/engine/real_calls.h"

namespace pf {
namespace {

/// Which of the predefined operations, from 1; those of the program are one kind.
std::uint32_t numberOf(MPI_Op op) {
  const MPI_Op all[] = {MPI_MAX,    MPI_MIN,    MPI_SUM,     MPI_PROD, MPI_LAND,
                        MPI_BAND,   MPI_LOR,    MPI_BOR,     MPI_LXOR, MPI_BXOR,
                        MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP};
  std::uint32_t number = 1;
  for (const MPI_Op each : all) {
    if (op == each) {
      return number;
    }
    ++number;
  }
  return number;
}

}  // namespace

bool isInter(MPI_Comm comm) {
  int inter = 0;
  return PF_REAL(Comm_test_inter)(comm, &inter) == MPI_SUCCESS && inter != 0;
}

int membersOf(MPI_Comm comm) {
  int members = 0;
  return comm != MPI_COMM_NULL && PF_REAL(Comm_size)(comm, &members) == MPI_SUCCESS ? members : 0;
}

int peersOf(MPI_Comm comm) {
  int peers = 0;
  if (comm == MPI_COMM_NULL || !isInter(comm)) {
    return membersOf(comm);
  }
  return PF_REAL(Comm_remote_size)(comm, &peers) == MPI_SUCCESS ? peers : 0;
}

int rankIn(MPI_Comm comm) {
  int rank = -1;
  return comm != MPI_COMM_NULL && PF_REAL(Comm_rank)(comm, &rank) == MPI_SUCCESS ? rank : -1;
}

int selfIn(MPI_Comm comm) {
  return comm == MPI_COMM_NULL || isInter(comm) ? -1 : rankIn(comm);
}

bool gives(int root, MPI_Comm comm) {
  return comm != MPI_COMM_NULL &&
         (root == MPI_ROOT || (root >= 0 && rankIn(comm) == root && !isInter(comm)));
}

bool holdsBytes(MPI_Comm comm, MPI_Datatype type) {
  int size = 0;
  return comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL || isInter(comm) ||
         PF_REAL(Type_size)(type, &size) != MPI_SUCCESS || size != 0;
}

int neighboursOf(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  int count = 0;
  if (comm == MPI_COMM_NULL || PF_REAL(Topo_test)(comm, &topology) != MPI_SUCCESS) {
    return 0;
  }
  if (topology == MPI_CART) {
    return PF_REAL(Cartdim_get)(comm, &count) == MPI_SUCCESS ? 2 * count : 0;
  }
  if (topology == MPI_GRAPH) {
    return PF_REAL(Graph_neighbors_count)(comm, rankIn(comm), &count) == MPI_SUCCESS ? count : 0;
  }
  int from = 0;
  int weighted = 0;
  return topology == MPI_DIST_GRAPH &&
                 PF_REAL(Dist_graph_neighbors_count)(comm, &from, &count, &weighted) == MPI_SUCCESS
             ? count
             : 0;
}

const void* byteAt(const void* buffer, long long offset) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                       static_cast<std::uintptr_t>(offset));
}

const void* elementAt(const void* buffer, long long index, MPI_Datatype type) {
  MPI_Aint bound = 0;
  MPI_Aint extent = 0;
  PF_REAL(Type_get_extent)(type, &bound, &extent);
  return byteAt(buffer, index * extent);
}

Contents given(const void* buffer, long long count, MPI_Datatype type) {
  const StateLock lock;
  if (count <= INT_MAX && t_takesPieces == nullptr) {
    return digestOf({buffer, static_cast<int>(count), type});
  }
  Digester digester;
  digester.add(buffer, count, type);
  return digester.contents();
}

Contents givenToGather(const void* buffer, long long count, MPI_Datatype type, int root) {
  return buffer == MPI_IN_PLACE || root < 0 ? Contents{} : given(buffer, count, type);
}

Contents givenByRoot(const void* buffer, long long count, MPI_Datatype type, int root,
                     MPI_Comm comm) {
  if (root == MPI_PROC_NULL || comm == MPI_COMM_NULL) {
    return {};
  }
  if (gives(root, comm)) {
    return given(buffer, count, type);
  }
  const StateLock lock;
  Digester digester;
  digester.addUnseen(count, type);
  return digester.contents();
}

Contents givenToScatter(const void* buffer, long long count, MPI_Datatype type, int root,
                        MPI_Comm comm) {
  return gives(root, comm) ? given(buffer, count * peersOf(comm), type) : Contents{};
}

Contents givenToReduce(const void* from, const void* to, long long count, MPI_Datatype type,
                       MPI_Op op, int root) {
  if (root < 0) {
    return {};
  }
  Contents contents = given(from == MPI_IN_PLACE ? to : from, count, type);
  contents.operation = numberOf(op);
  return contents;
}

Contents givenToReduceBlock(const void* from, const void* to, long long count, MPI_Datatype type,
                            MPI_Op op, MPI_Comm comm) {
  return givenToReduce(from, to, count * membersOf(comm), type, op);
}

Contents givenToEach(const void* from, long long fromCount, MPI_Datatype fromType, const void* to,
                     long long count, MPI_Datatype type, MPI_Comm comm) {
  const int peers = peersOf(comm);
  return from == MPI_IN_PLACE ? given(to, count * peers, type)
                              : given(from, fromCount * peers, fromType);
}

Contents givenToAll(const void* from, long long fromCount, MPI_Datatype fromType, const void* to,
                    long long count, MPI_Datatype type, MPI_Comm comm) {
  if (from != MPI_IN_PLACE) {
    return given(from, fromCount, fromType);
  }
  const int rank = rankIn(comm);
  return rank < 0 ? Contents{} : given(elementAt(to, rank * count, type), count, type);
}

Contents givenToNeighbours(const void* buffer, long long count, MPI_Datatype type, MPI_Comm comm) {
  return given(buffer, count * neighboursOf(comm), type);
}

}  // namespace pf
