// SPDX-License-Identifier: MIT
// Virtual topologies of a job of which only some ranks are there (MPI 3.1, chapter 7): who is where,
// and beside whom, is arithmetic over the arguments that the communicator was made with. Neither
// library gives ranks other numbers where it may (`reorder`), but for distributed graphs, of which
// the recording has to tell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay_engine/rank/engine/mpi_header.h"

namespace pf {

enum class TopologyKind : std::uint8_t { None, Cartesian, Graph, Distributed };

/// Of a communicator. A plain value; all zero has no topology.
struct Topology {
  TopologyKind kind = TopologyKind::None;
  int size = 0;  ///< ranks in the communicator
  int ownRank = 0;

  int ndims = 0;  ///< Cartesian
  const int* dims = nullptr;
  const int* periods = nullptr;  ///< as they were given
  const int* around = nullptr;   ///< of each dimension the rank before and the rank behind

  int edgeCount = 0;  ///< Graph; its nodes are the ranks
  const int* index = nullptr;
  const int* edges = nullptr;

  bool weighted = false;  ///< Distributed: what this rank knows of it
  int sourceCount = 0;
  int destinationCount = 0;
  const int* sources = nullptr;
  const int* sourceWeights = nullptr;  ///< null: they have none
  const int* destinations = nullptr;
  const int* destinationWeights = nullptr;

  int* memory = nullptr;  ///< in which these lie
};

// Makers return MPI_SUCCESS or the class of an error, and tell no error handler. `size`, `ownRank`
// are those of the communicator that the new one is made from. What `made` held before is not freed.
// Where this rank is not in the new communicator (MPI_COMM_NULL), `made` has no topology and no size.

/// Of a communicator without a topology: Cart_map and Graph_map ask for them.
Topology noTopology(int size, int ownRank);
/// From the arguments of MPI_Cart_create; the new ranks are the old ones.
int makeCartesian(int size, int ownRank, int ndims, const int* dims, const int* periods,
                  Topology* made);

/// From the arguments of MPI_Graph_create; the new ranks are the old ones.
struct GraphNodes {
  int count;
  const int* index;
  const int* edges;
};
int makeGraph(int size, int ownRank, const GraphNodes& nodes, Topology* made);

/// From the arguments of MPI_Dist_graph_create_adjacent; `weights` may be MPI_UNWEIGHTED.
struct Adjacent {
  int count;
  const int* ranks;
  const int* weights;
};
int makeDistributed(int size, int ownRank, const Adjacent& sources, const Adjacent& destinations,
                    Topology* made);

/// A distributed graph as a recording keeps it: how many sources and destinations, which of them
/// have weights (1, 2), the sources, their weights, the destinations, their weights. Ranks are the
/// library's numbers, MPI_PROC_NULL too. `size`, `ownRank` are those of the graph's communicator.
/// False: the words are wrong, or there is no memory.
bool topologyFromWords(const std::int32_t* words, std::size_t count, int size, int ownRank,
                       Topology* made);
/// How many words there are; they are written if `room` is enough. 0: not a distributed graph.
std::size_t wordsOfTopology(const Topology& topology, std::int32_t* words, std::size_t room);

/// As MPI_Comm_dup.
bool copyTopology(const Topology& of, Topology* made);
void freeTopology(Topology* topology);

/// In which sub-communicator of MPI_Cart_sub rank `rank` of the communicator comes, and as which
/// rank. Colour MPI_UNDEFINED: in none (MPICH, where no dimension remains).
void cartSubOf(const Topology& topology, const int* remainDims, int rank, int* color, int* newRank);
/// MPI_Cart_sub for this rank: the same, and the topology of the sub-communicator.
int cartSub(const Topology& topology, const int* remainDims, int* color, int* newRank,
            Topology* made);

/// From whom, and to whom, MPI_Neighbor_… brings blocks, in the order of the blocks;
/// MPI_PROC_NULL where there is nobody. How many; 0 without a topology.
int neighboursIn(const Topology& topology, const int** ranks);
int neighboursOut(const Topology& topology, const int** ranks);

/// MPI's questions about topologies are answered from these from now on. `of`: null for a
/// communicator of the library, which is asked then.
void installTopologies(const Topology* (*of)(MPI_Comm));

}  // namespace pf
