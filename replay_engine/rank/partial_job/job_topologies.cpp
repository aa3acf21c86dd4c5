// SPDX-License-Identifier: MIT
#include "replay_engine/rank/partial_job/job_topologies.h"

#include <algorithm>
#include <cstdlib>

#include "replay_engine/rank/layer/under.h"
#include "replay_engine/rank/partial_job/job_errors.h"

namespace pf {
namespace {

static_assert(sizeof(int) == sizeof(std::int32_t));

const int* unweighted() {
  return MPI_UNWEIGHTED;
}

// -- ranks of a grid

/// How many ranks there are to a step in dimension `dim`.
int strideOf(const Topology& grid, int dim) {
  int stride = 1;
  for (int i = dim + 1; i < grid.ndims; ++i) {
    stride *= grid.dims[i];
  }
  return stride;
}

int coordinate(const Topology& grid, int rank, int dim) {
  return rank / strideOf(grid, dim) % grid.dims[dim];
}

/// False: outside of a dimension that is not periodic.
bool wrapCoordinate(const Topology& grid, int dim, std::int64_t* coordinate) {
  const std::int64_t extent = grid.dims[dim];
  if (*coordinate >= 0 && *coordinate < extent) {
    return true;
  }
  *coordinate %= extent;
  *coordinate += *coordinate < 0 ? extent : 0;
  return grid.periods[dim] != 0;
}

int shifted(const Topology& grid, int dim, std::int64_t displacement) {
  const int own = coordinate(grid, grid.ownRank, dim);
  std::int64_t there = own + displacement;
  return wrapCoordinate(grid, dim, &there)
             ? grid.ownRank + (static_cast<int>(there) - own) * strideOf(grid, dim)
             : MPI_PROC_NULL;
}

/// How many ranks a grid has; more than `most` are told as `most + 1`. 0: not a grid.
std::int64_t ranksOfGrid(int ndims, const int* dims, int most) {
  std::int64_t ranks = 1;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] <= 0) {
      return 0;
    }
    ranks = std::min<std::int64_t>(ranks * dims[i], std::int64_t{most} + 1);
  }
  return ranks;
}

// -- memory

/// TopologyArrays one behind another, in memory that the topology owns.
class TopologyArrays {
 public:
  explicit TopologyArrays(std::size_t words)
      : m_next(static_cast<int*>(std::malloc(std::max<std::size_t>(words, 1) * sizeof(int)))) {}
  [[nodiscard]] bool lacks() const { return m_next == nullptr; }
  int* copy(const int* from, int count) {
    int* const to = m_next;
    std::copy_n(from, count, to);
    m_next += count;
    return to;
  }
  int* room(int count) {
    int* const to = m_next;
    m_next += count;
    return to;
  }

 private:
  int* m_next;
};

std::size_t wordCount(int count) {
  return static_cast<std::size_t>(count);
}

int fillCartesian(const Topology& basic, const int* dims, const int* periods, Topology* made) {
  TopologyArrays arrays(4 * wordCount(basic.ndims));
  if (arrays.lacks()) {
    return MPI_ERR_NO_MEM;
  }
  *made = basic;
  made->kind = TopologyKind::Cartesian;
  made->memory = arrays.room(0);
  made->dims = arrays.copy(dims, basic.ndims);
  made->periods = arrays.copy(periods, basic.ndims);
  int* const around = arrays.room(2 * basic.ndims);
  made->around = around;
  int* next = around;
  for (int i = 0; i < basic.ndims; ++i) {
    *next++ = shifted(*made, i, -1);
    *next++ = shifted(*made, i, 1);
  }
  return MPI_SUCCESS;
}

bool areRanks(const int* ranks, int count, int size) {
  return std::all_of(ranks, ranks + count, [size](int rank) {
    return rank == MPI_PROC_NULL || (rank >= 0 && rank < size);
  });
}

struct GivenWeights {
  bool ofSources;
  bool ofDestinations;
};

int fillDistributed(int size, int ownRank, const Adjacent& in, const Adjacent& out,
                    const GivenWeights& have, Topology* made) {
  TopologyArrays arrays(2 * wordCount(in.count) + 2 * wordCount(out.count));
  if (arrays.lacks()) {
    return MPI_ERR_NO_MEM;
  }
  *made = noTopology(size, ownRank);
  made->kind = TopologyKind::Distributed;
  made->weighted = have.ofSources || have.ofDestinations;
  made->memory = arrays.room(0);
  made->sourceCount = in.count;
  made->destinationCount = out.count;
  made->sources = arrays.copy(in.ranks, in.count);
  made->sourceWeights = have.ofSources ? arrays.copy(in.weights, in.count) : nullptr;
  made->destinations = arrays.copy(out.ranks, out.count);
  made->destinationWeights = have.ofDestinations ? arrays.copy(out.weights, out.count) : nullptr;
  return MPI_SUCCESS;
}

}  // namespace

// -- makers

Topology noTopology(int size, int ownRank) {
  Topology made;
  made.size = size;
  made.ownRank = ownRank;
  return made;
}

int makeCartesian(int size, int ownRank, int ndims, const int* dims, const int* periods,
                  Topology* made) {
  *made = {};
  if (ndims < 0 || (ndims > 0 && (dims == nullptr || periods == nullptr))) {
    return MPI_ERR_ARG;
  }
  const std::int64_t ranks = ranksOfGrid(ndims, dims, size);
  if (ranks == 0 || ranks > size) {
    return ranks > size ? MPI_ERR_ARG : asOpenMpi() ? MPI_ERR_OTHER : MPI_ERR_DIMS;
  }
  if (ownRank >= ranks) {
    return MPI_SUCCESS;
  }
  Topology basic = noTopology(static_cast<int>(ranks), ownRank);
  basic.ndims = ndims;
  return fillCartesian(basic, dims, periods, made);
}

int makeGraph(int size, int ownRank, const GraphNodes& nodes, Topology* made) {
  *made = {};
  if (nodes.count < 0 || nodes.count > size ||
      (nodes.count > 0 && (nodes.index == nullptr || nodes.edges == nullptr))) {
    return MPI_ERR_ARG;
  }
  if (nodes.count == 0) {
    return MPI_SUCCESS;
  }
  if (nodes.index[0] < 0 || !std::is_sorted(nodes.index, nodes.index + nodes.count)) {
    return MPI_ERR_ARG;
  }
  const int edgeCount = nodes.index[nodes.count - 1];
  // MPI_PROC_NULL is for Open MPI to take.
  if (!areRanks(nodes.edges, edgeCount, nodes.count) ||
      (!asOpenMpi() && std::count(nodes.edges, nodes.edges + edgeCount, MPI_PROC_NULL) > 0)) {
    return MPI_ERR_ARG;
  }
  if (ownRank >= nodes.count) {
    return MPI_SUCCESS;
  }
  TopologyArrays arrays(wordCount(nodes.count) + wordCount(edgeCount));
  if (arrays.lacks()) {
    return MPI_ERR_NO_MEM;
  }
  *made = noTopology(nodes.count, ownRank);
  made->kind = TopologyKind::Graph;
  made->memory = arrays.room(0);
  made->edgeCount = edgeCount;
  made->index = arrays.copy(nodes.index, nodes.count);
  made->edges = arrays.copy(nodes.edges, edgeCount);
  return MPI_SUCCESS;
}

int makeDistributed(int size, int ownRank, const Adjacent& sources, const Adjacent& destinations,
                    Topology* made) {
  *made = {};
  for (const Adjacent& side : {sources, destinations}) {
    if (side.count < 0 || (side.count > 0 && (side.ranks == nullptr || side.weights == nullptr ||
                                              !areRanks(side.ranks, side.count, size)))) {
      return MPI_ERR_ARG;
    }
  }
  const GivenWeights have{sources.weights != unweighted(), destinations.weights != unweighted()};
  if (!asOpenMpi() && have.ofSources != have.ofDestinations &&
      sources.count + std::int64_t{destinations.count} > 0) {
    return MPI_ERR_TOPOLOGY;
  }
  const auto anyNegative = [](const Adjacent& side, bool has) {
    return has && std::any_of(side.weights, side.weights + side.count,
                              [](int weight) { return weight < 0; });
  };
  if (asOpenMpi() &&
      (anyNegative(sources, have.ofSources) || anyNegative(destinations, have.ofDestinations))) {
    return MPI_ERR_ARG;
  }
  return fillDistributed(size, ownRank, sources, destinations, have, made);
}

namespace {
constexpr int kTopologyWords = 3;  ///< before the arrays
constexpr std::int32_t kSourcesHaveWeights = 1;
constexpr std::int32_t kDestinationsHaveWeights = 2;
}  // namespace

bool topologyFromWords(const std::int32_t* words, std::size_t count, int size, int ownRank,
                       Topology* made) {
  *made = {};
  if (count < kTopologyWords || words[0] < 0 || words[1] < 0 || words[2] < 0 ||
      words[2] > (kSourcesHaveWeights | kDestinationsHaveWeights)) {
    return false;
  }
  const GivenWeights have{(words[2] & kSourcesHaveWeights) != 0,
                          (words[2] & kDestinationsHaveWeights) != 0};
  const std::size_t ofSources = wordCount(words[0]) * (have.ofSources ? 2 : 1);
  const std::size_t ofDestinations = wordCount(words[1]) * (have.ofDestinations ? 2 : 1);
  if (count - kTopologyWords != ofSources + ofDestinations) {
    return false;
  }
  const std::int32_t* const from = words + kTopologyWords;
  const std::int32_t* const to = from + ofSources;
  return areRanks(from, words[0], size) && areRanks(to, words[1], size) &&
         fillDistributed(size, ownRank, {words[0], from, from + words[0]},
                         {words[1], to, to + words[1]}, have, made) == MPI_SUCCESS;
}

std::size_t wordsOfTopology(const Topology& topology, std::int32_t* words, std::size_t room) {
  if (topology.kind != TopologyKind::Distributed) {
    return 0;
  }
  const bool ofSources = topology.sourceWeights != nullptr;
  const bool ofDestinations = topology.destinationWeights != nullptr;
  const int in = topology.sourceCount;
  const int out = topology.destinationCount;
  const std::size_t count = kTopologyWords + wordCount(in) * (ofSources ? 2 : 1) +
                            wordCount(out) * (ofDestinations ? 2 : 1);
  if (room < count) {
    return count;
  }
  words[0] = in;
  words[1] = out;
  words[2] =
      (ofSources ? kSourcesHaveWeights : 0) | (ofDestinations ? kDestinationsHaveWeights : 0);
  std::int32_t* next = std::copy_n(topology.sources, in, words + kTopologyWords);
  next = ofSources ? std::copy_n(topology.sourceWeights, in, next) : next;
  next = std::copy_n(topology.destinations, out, next);
  if (ofDestinations) {
    std::copy_n(topology.destinationWeights, out, next);
  }
  return count;
}

bool copyTopology(const Topology& of, Topology* made) {
  *made = {};
  switch (of.kind) {
    case TopologyKind::None:
      *made = of;
      return true;
    case TopologyKind::Cartesian: {
      Topology basic = noTopology(of.size, of.ownRank);
      basic.ndims = of.ndims;
      return fillCartesian(basic, of.dims, of.periods, made) == MPI_SUCCESS;
    }
    case TopologyKind::Graph:
      return makeGraph(of.size, of.ownRank, {of.size, of.index, of.edges}, made) == MPI_SUCCESS;
    case TopologyKind::Distributed:
      return fillDistributed(of.size, of.ownRank, {of.sourceCount, of.sources, of.sourceWeights},
                             {of.destinationCount, of.destinations, of.destinationWeights},
                             {of.sourceWeights != nullptr, of.destinationWeights != nullptr},
                             made) == MPI_SUCCESS;
  }
  return false;
}

void freeTopology(Topology* topology) {
  std::free(topology->memory);
  *topology = {};
}

// -- parts of a grid

void cartSubOf(const Topology& topology, const int* remainDims, int rank, int* color,
               int* newRank) {
  *color = 0;
  *newRank = 0;
  bool anyRemains = false;
  for (int i = 0; i < topology.ndims; ++i) {
    int* const number = remainDims[i] != 0 ? newRank : color;
    *number = *number * topology.dims[i] + coordinate(topology, rank, i);
    anyRemains = anyRemains || remainDims[i] != 0;
  }
  // Each rank should have a grid of its own then: in MPICH before version 5 rank 0 alone gets one.
  if (asMpich4() && !anyRemains && rank != 0) {
    *color = MPI_UNDEFINED;
  }
}

int cartSub(const Topology& topology, const int* remainDims, int* color, int* newRank,
            Topology* made) {
  *made = {};
  if (topology.kind != TopologyKind::Cartesian) {
    return MPI_ERR_TOPOLOGY;
  }
  if (topology.ndims > 0 && remainDims == nullptr) {
    return MPI_ERR_ARG;
  }
  cartSubOf(topology, remainDims, topology.ownRank, color, newRank);
  if (*color == MPI_UNDEFINED) {
    return MPI_SUCCESS;
  }
  TopologyArrays kept(2 * wordCount(topology.ndims));
  if (kept.lacks()) {
    return MPI_ERR_NO_MEM;
  }
  Topology basic = noTopology(1, *newRank);
  int* const dims = kept.room(topology.ndims);
  int* const periods = kept.room(topology.ndims);
  for (int i = 0; i < topology.ndims; ++i) {
    if (remainDims[i] != 0) {
      dims[basic.ndims] = topology.dims[i];
      periods[basic.ndims++] = topology.periods[i];
      basic.size *= topology.dims[i];
    }
  }
  const int error = fillCartesian(basic, dims, periods, made);
  std::free(dims);
  return error;
}

// -- neighbours

namespace {
/// In MPI_Graph_create's arrays.
int neighboursInGraph(const Topology& graph, int rank, const int** ranks) {
  const int before = rank == 0 ? 0 : graph.index[rank - 1];
  *ranks = graph.edges + before;
  return graph.index[rank] - before;
}
}  // namespace

int neighboursIn(const Topology& topology, const int** ranks) {
  switch (topology.kind) {
    case TopologyKind::None:
      break;
    case TopologyKind::Cartesian:
      *ranks = topology.around;
      return 2 * topology.ndims;
    case TopologyKind::Graph:
      return neighboursInGraph(topology, topology.ownRank, ranks);
    case TopologyKind::Distributed:
      *ranks = topology.sources;
      return topology.sourceCount;
  }
  *ranks = nullptr;
  return 0;
}

int neighboursOut(const Topology& topology, const int** ranks) {
  if (topology.kind != TopologyKind::Distributed) {
    return neighboursIn(topology, ranks);
  }
  *ranks = topology.destinations;
  return topology.destinationCount;
}

// -- what a program asks

namespace {

const Topology* (*g_topologyOf)(MPI_Comm);

int jobTopoTest(MPI_Comm comm, int* status) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Topo_test)(comm, status);
  }
  if (status == nullptr) {
    return jobError(comm, MPI_ERR_ARG);
  }
  switch (topology->kind) {
    case TopologyKind::None:
      *status = MPI_UNDEFINED;
      break;
    case TopologyKind::Cartesian:
      *status = MPI_CART;
      break;
    case TopologyKind::Graph:
      *status = MPI_GRAPH;
      break;
    case TopologyKind::Distributed:
      *status = MPI_DIST_GRAPH;
      break;
  }
  return MPI_SUCCESS;
}

/// MPI_SUCCESS: it is of this kind, and what else the call is given is right.
int questionError(const Topology& topology, TopologyKind kind, bool right) {
  return !right ? MPI_ERR_ARG : topology.kind != kind ? MPI_ERR_TOPOLOGY : MPI_SUCCESS;
}

int jobCartdimGet(MPI_Comm comm, int* ndims) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Cartdim_get)(comm, ndims);
  }
  if (const int error = questionError(*topology, TopologyKind::Cartesian, ndims != nullptr);
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  *ndims = topology->ndims;
  return MPI_SUCCESS;
}

/// MPICH looks at no `maxdims` here; no more than the program has room for is written all the same.
int jobCartGet(MPI_Comm comm, int maxdims, int* dims, int* periods, int* coords) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Cart_get)(comm, maxdims, dims, periods, coords);
  }
  const bool hasRoom = dims != nullptr && periods != nullptr && coords != nullptr;
  if (const int error = questionError(*topology, TopologyKind::Cartesian,
                                      maxdims == 0 || (maxdims > 0 && hasRoom));
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  for (int i = 0; i < std::min(maxdims, topology->ndims); ++i) {
    dims[i] = topology->dims[i];
    periods[i] = topology->periods[i];
    coords[i] = coordinate(*topology, topology->ownRank, i);
  }
  return MPI_SUCCESS;
}

int jobCartRank(MPI_Comm comm, const int* coords, int* rank) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Cart_rank)(comm, coords, rank);
  }
  if (topology->kind != TopologyKind::Cartesian) {
    return jobError(comm, MPI_ERR_TOPOLOGY);
  }
  if (rank == nullptr || (coords == nullptr && topology->ndims > 0)) {
    return jobError(comm, MPI_ERR_ARG);
  }
  int found = 0;
  for (int i = 0; i < topology->ndims; ++i) {
    std::int64_t there = coords[i];
    if (!wrapCoordinate(*topology, i, &there)) {
      return jobError(comm, MPI_ERR_ARG);
    }
    found = found * topology->dims[i] + static_cast<int>(there);
  }
  *rank = found;
  return MPI_SUCCESS;
}

int jobCartCoords(MPI_Comm comm, int rank, int maxdims, int* coords) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Cart_coords)(comm, rank, maxdims, coords);
  }
  const bool wrongRank = rank < 0 || rank >= topology->size;
  const bool wrongRoom = maxdims < 0 || (maxdims > 0 && coords == nullptr);
  if (wrongRank || wrongRoom) {
    const bool rankFirst = wrongRank && (!asOpenMpi() || !wrongRoom);
    return jobError(comm, rankFirst ? MPI_ERR_RANK : MPI_ERR_ARG);
  }
  if (const int error = questionError(*topology, TopologyKind::Cartesian,
                                      asOpenMpi() || maxdims >= topology->ndims);
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  for (int i = 0; i < std::min(maxdims, topology->ndims); ++i) {
    coords[i] = coordinate(*topology, rank, i);
  }
  return MPI_SUCCESS;
}

/// What is wrong with a shift. Open MPI takes the last dimension for those that are too high.
int shiftError(const Topology& topology, int direction) {
  if (direction < 0) {
    return asOpenMpi() ? MPI_ERR_DIMS : MPI_ERR_ARG;
  }
  if (topology.kind != TopologyKind::Cartesian || (!asOpenMpi() && topology.ndims == 0)) {
    return MPI_ERR_TOPOLOGY;
  }
  return asOpenMpi() || direction < topology.ndims ? MPI_SUCCESS : MPI_ERR_ARG;
}

int jobCartShift(MPI_Comm comm, int direction, int displacement, int* source, int* destination) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Cart_shift)(comm, direction, displacement, source, destination);
  }
  if (direction >= 0 && (source == nullptr || destination == nullptr)) {
    return jobError(comm, MPI_ERR_ARG);
  }
  if (const int error = shiftError(*topology, direction); error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  if (displacement == 0 || topology->ndims == 0) {
    *source = displacement == 0 ? topology->ownRank : MPI_PROC_NULL;
    *destination = *source;
    return MPI_SUCCESS;
  }
  const int dim = std::min(direction, topology->ndims - 1);
  *source = shifted(*topology, dim, -std::int64_t{displacement});
  *destination = shifted(*topology, dim, displacement);
  return MPI_SUCCESS;
}

int ownRankBelow(const Topology& topology, std::int64_t ranks) {
  return topology.ownRank < ranks ? topology.ownRank : MPI_UNDEFINED;
}

/// Open MPI looks at the arguments only where the communicator is a grid itself.
int jobCartMap(MPI_Comm comm, int ndims, const int* dims, const int* periods, int* newRank) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Cart_map)(comm, ndims, dims, periods, newRank);
  }
  const bool lacks = dims == nullptr || periods == nullptr;
  if (newRank == nullptr || (lacks && (asOpenMpi() || ndims > 0)) || (!asOpenMpi() && ndims < 0)) {
    return jobError(comm, MPI_ERR_ARG);
  }
  if (asOpenMpi() && topology->kind != TopologyKind::Cartesian) {
    *newRank = topology->ownRank;
    return MPI_SUCCESS;
  }
  const std::int64_t ranks = ranksOfGrid(ndims, dims, topology->size);
  if (ranks > topology->size || (asOpenMpi() && ranks == 0)) {
    return jobError(comm, MPI_ERR_DIMS);
  }
  *newRank = ownRankBelow(*topology, ranks);
  return MPI_SUCCESS;
}

int jobGraphdimsGet(MPI_Comm comm, int* nodes, int* edges) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Graphdims_get)(comm, nodes, edges);
  }
  if (const int error =
          questionError(*topology, TopologyKind::Graph, nodes != nullptr && edges != nullptr);
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  *nodes = topology->size;
  *edges = topology->edgeCount;
  return MPI_SUCCESS;
}

int jobGraphGet(MPI_Comm comm, int maxindex, int maxedges, int* index, int* edges) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Graph_get)(comm, maxindex, maxedges, index, edges);
  }
  const bool enough = asOpenMpi() || topology->kind != TopologyKind::Graph ||
                      (maxindex >= topology->size && maxedges >= topology->edgeCount);
  if (const int error = questionError(
          *topology, TopologyKind::Graph,
          maxindex >= 0 && maxedges >= 0 && index != nullptr && edges != nullptr && enough);
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  std::copy_n(topology->index, std::min(maxindex, topology->size), index);
  std::copy_n(topology->edges, std::min(maxedges, topology->edgeCount), edges);
  return MPI_SUCCESS;
}

/// As jobCartMap.
int jobGraphMap(MPI_Comm comm, int nodes, const int* index, const int* edges, int* newRank) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Graph_map)(comm, nodes, index, edges, newRank);
  }
  if (nodes < (asOpenMpi() ? 1 : 0) || index == nullptr || edges == nullptr || newRank == nullptr ||
      (!asOpenMpi() && nodes > topology->size)) {
    return jobError(comm, MPI_ERR_ARG);
  }
  *newRank = asOpenMpi() && topology->kind != TopologyKind::Graph ? topology->ownRank
                                                                  : ownRankBelow(*topology, nodes);
  return MPI_SUCCESS;
}

/// Whether rank `rank` of a graph can be asked for.
int nodeError(const Topology& topology, int rank) {
  return rank < 0 || rank >= topology.size ? MPI_ERR_RANK
                                           : questionError(topology, TopologyKind::Graph, true);
}

int jobGraphNeighborsCount(MPI_Comm comm, int rank, int* count) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Graph_neighbors_count)(comm, rank, count);
  }
  if (count == nullptr) {
    return jobError(comm, MPI_ERR_ARG);
  }
  if (const int error = nodeError(*topology, rank); error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  const int* ranks = nullptr;
  *count = neighboursInGraph(*topology, rank, &ranks);
  return MPI_SUCCESS;
}

int jobGraphNeighbors(MPI_Comm comm, int rank, int maxneighbors, int* neighbors) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Graph_neighbors)(comm, rank, maxneighbors, neighbors);
  }
  if (maxneighbors < 0 || (maxneighbors > 0 && neighbors == nullptr)) {
    return jobError(comm, MPI_ERR_ARG);
  }
  if (const int error = nodeError(*topology, rank); error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  const int* ranks = nullptr;
  const int count = neighboursInGraph(*topology, rank, &ranks);
  std::copy_n(ranks, std::min(count, maxneighbors), neighbors);
  return MPI_SUCCESS;
}

int jobDistGraphNeighborsCount(MPI_Comm comm, int* sources, int* destinations, int* weighted) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Dist_graph_neighbors_count)(comm, sources, destinations, weighted);
  }
  if (const int error =
          questionError(*topology, TopologyKind::Distributed,
                        sources != nullptr && destinations != nullptr && weighted != nullptr);
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  *sources = topology->sourceCount;
  *destinations = topology->destinationCount;
  *weighted = topology->weighted ? 1 : 0;
  return MPI_SUCCESS;
}

/// What a program has room for.
struct NeighbourRoom {
  int most;
  int* ranks;
  int* weights;
  [[nodiscard]] bool right() const {
    return most == 0 || (most > 0 && ranks != nullptr && (weights != nullptr || !asOpenMpi()));
  }
  void fill(const int* fromRanks, const int* fromWeights, int count) const {
    std::copy_n(fromRanks, std::min(most, count), ranks);
    if (fromWeights != nullptr && weights != unweighted() && weights != nullptr) {
      std::copy_n(fromWeights, std::min(most, count), weights);
    }
  }
};

int jobDistGraphNeighbors(MPI_Comm comm, int maxindegree, int* sources, int* sourceWeights,
                          int maxoutdegree, int* destinations, int* destinationWeights) {
  const Topology* const topology = g_topologyOf(comm);
  if (topology == nullptr) {
    return PF_UNDER(Dist_graph_neighbors)(comm, maxindegree, sources, sourceWeights, maxoutdegree,
                                          destinations, destinationWeights);
  }
  const NeighbourRoom in{maxindegree, sources, sourceWeights};
  const NeighbourRoom out{maxoutdegree, destinations, destinationWeights};
  const bool kindFirst = !asOpenMpi() && topology->kind != TopologyKind::Distributed;
  const bool enough =
      asOpenMpi() || (in.most >= topology->sourceCount && out.most >= topology->destinationCount);
  if (const int error = questionError(*topology, TopologyKind::Distributed,
                                      kindFirst || (in.right() && out.right() && enough));
      error != MPI_SUCCESS) {
    return jobError(comm, error);
  }
  in.fill(topology->sources, topology->sourceWeights, topology->sourceCount);
  out.fill(topology->destinations, topology->destinationWeights, topology->destinationCount);
  return MPI_SUCCESS;
}

}  // namespace

void installTopologies(const Topology* (*of)(MPI_Comm)) {
  g_topologyOf = of;
  PF_PUT_OVER(Topo_test, jobTopoTest);
  PF_PUT_OVER(Cartdim_get, jobCartdimGet);
  PF_PUT_OVER(Cart_get, jobCartGet);
  PF_PUT_OVER(Cart_rank, jobCartRank);
  PF_PUT_OVER(Cart_coords, jobCartCoords);
  PF_PUT_OVER(Cart_shift, jobCartShift);
  PF_PUT_OVER(Cart_map, jobCartMap);
  PF_PUT_OVER(Graphdims_get, jobGraphdimsGet);
  PF_PUT_OVER(Graph_get, jobGraphGet);
  PF_PUT_OVER(Graph_map, jobGraphMap);
  PF_PUT_OVER(Graph_neighbors_count, jobGraphNeighborsCount);
  PF_PUT_OVER(Graph_neighbors, jobGraphNeighbors);
  PF_PUT_OVER(Dist_graph_neighbors_count, jobDistGraphNeighborsCount);
  PF_PUT_OVER(Dist_graph_neighbors, jobDistGraphNeighbors);
}

}  // namespace pf
