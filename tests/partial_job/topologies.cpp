// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "replay_engine/rank/partial_job/job_topologies.h"
#include "tests/partial_job/comparison.h"

namespace pf::test {
namespace {

/// The communicator that is asked about now, which is the library's too, and ours of it.
MPI_Comm g_comm = MPI_COMM_NULL;
Topology g_topology;

const Topology* topologyOf(MPI_Comm comm) {
  return comm == g_comm ? &g_topology : nullptr;
}

/// Asks both. `count` numbers are written by `call`.
template <typename Call>
void ask(const char* name, const Ints& arguments, int count, const Call& call) {
  Answer answers[] = {{0, Ints(static_cast<std::size_t>(count), kNotWritten)},
                      {0, Ints(static_cast<std::size_t>(count), kNotWritten)}};
  answers[0].error = call(true, answers[0].numbers.data());
  answers[1].error = call(false, answers[1].numbers.data());
  expectSame(name, arguments, answers[0], answers[1]);
}

#define PF_ASK(Name, arguments, count, ...)                                       \
  ask(#Name, arguments, count, [&](bool library, [[maybe_unused]] int* written) { \
    return (library ? PMPI_##Name : PF_REAL(Name))(__VA_ARGS__);                  \
  })

constexpr int kMostDims = 4;

/// Where the wrong kind is asked for, or too little room given, MPICH looks at memory that is not
/// there.
bool mayBeWrong(TopologyKind kind) {
  return asOpenMpi() || g_topology.kind == kind;
}

class Topologies {
 public:
  Topologies(unsigned seed, unsigned ownSeed) : m_common(seed), m_own(ownSeed) {}

  /// One communicator, made by all, and what each asks about it.
  void step() {
    switch (m_common.from(0, 4)) {
      case 0:
      case 1:
        grid();
        break;
      case 2:
        graph();
        break;
      case 3:
        adjacent();
        break;
      default:
        world();
        break;
    }
  }

 private:
  template <typename Questions>
  void about(MPI_Comm comm, const Questions& questions) {
    g_comm = comm;
    questions();
    g_comm = MPI_COMM_NULL;
    freeTopology(&g_topology);
  }

  void world() {
    g_topology = noTopology(g_worldSize, g_worldRank);
    about(MPI_COMM_WORLD, [this] {
      for (int i = 0; i < 4; ++i) {
        askAny();
      }
    });
  }

  /// Dimensions of no more ranks than there are.
  Ints dims(Random& random) {
    Ints dims(static_cast<std::size_t>(random.from(0, kMostDims)), 1);
    int left = g_worldSize;
    for (const int i : random.permutation(sizeOf(dims))) {
      dims[static_cast<std::size_t>(i)] = random.from(1, left);
      left /= dims[static_cast<std::size_t>(i)];
    }
    return dims;
  }

  void grid() {
    Ints dims = this->dims(m_common);
    if (!dims.empty() && m_common.oneIn(12)) {  // too many
      dims.back() += g_worldSize;
    } else if (!dims.empty() && asOpenMpi() && m_common.oneIn(12)) {  // MPICH divides by it
      dims.back() = 0;
    }
    const Ints periods = m_common.some(sizeOf(dims), 0, 1);
    const Ints remain = m_common.some(sizeOf(dims), 0, 1);
    const int ndims = m_common.oneIn(30) ? -1 : sizeOf(dims);
    MPI_Comm comm = MPI_COMM_NULL;
    const int error = PMPI_Cart_create(MPI_COMM_WORLD, ndims, dims.data(), periods.data(),
                                       m_common.from(0, 1), &comm);
    const int ours =
        makeCartesian(g_worldSize, g_worldRank, ndims, dims.data(), periods.data(), &g_topology);
    Answer made[] = {{error, {comm != MPI_COMM_NULL}}, {ours, {g_topology.size > 0}}};
    expectSame("Cart_create", dims, made[0], made[1]);
    if (error != MPI_SUCCESS || comm == MPI_COMM_NULL || g_topology.size == 0) {
      freeTopology(&g_topology);
      if (error == MPI_SUCCESS && comm != MPI_COMM_NULL) {
        PMPI_Comm_free(&comm);
      }
      return;
    }
    about(comm, [&] {
      checkPlace(comm);
      exchange(comm, [&](int rank, Topology* other) {
        makeCartesian(g_worldSize, rank, ndims, dims.data(), periods.data(), other);
      });
      sub(comm, remain);
      askDuplicate(comm);
    });
    PMPI_Comm_free(&comm);
  }

  void checkPlace(MPI_Comm comm) {
    int size = 0;
    int rank = -1;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    expectNumbers("size, rank", {}, {size, rank}, {g_topology.size, g_topology.ownRank});
  }

  void askSome() {
    for (int i = 0; i < 12; ++i) {
      askAny();
    }
  }

  /// A copy answers as what it is a copy of.
  void askDuplicate(MPI_Comm comm) {
    askSome();
    MPI_Comm duplicate = MPI_COMM_NULL;
    PMPI_Comm_dup(comm, &duplicate);
    Topology copy;
    copyTopology(g_topology, &copy);
    std::swap(copy, g_topology);
    freeTopology(&copy);
    g_comm = duplicate;
    askSome();
    PMPI_Comm_free(&duplicate);
  }

  /// Blocks come from whom we say, in the order that we say.
  template <typename Make>
  void exchange(MPI_Comm comm, const Make& make) {
    const int* from = nullptr;
    const int* to = nullptr;
    const int ins = neighboursIn(g_topology, &from);
    const int outs = neighboursOut(g_topology, &to);
    if (g_topology.kind == TopologyKind::Cartesian && g_topology.ndims == 0) {
      return;
    }
    constexpr int kBlocks = 1000;
    Ints sent(static_cast<std::size_t>(outs + 1));
    std::iota(sent.begin(), sent.end(), g_topology.ownRank * kBlocks);
    Ints got(static_cast<std::size_t>(ins + 1), -1);
    Ints all(static_cast<std::size_t>(ins + 1), -1);
    PMPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
    PMPI_Neighbor_allgather(&g_topology.ownRank, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    for (int i = 0; i < ins; ++i) {
      const int block = got[static_cast<std::size_t>(i)];
      if (from[i] == MPI_PROC_NULL) {
        expectNumbers("block of nobody", {i}, {block, all[static_cast<std::size_t>(i)]},
                      Ints{-1, -1});
        continue;
      }
      expectNumbers("allgather", {i}, {all[static_cast<std::size_t>(i)]}, Ints{from[i]});
      expectNumbers("alltoall", {i}, {block / kBlocks}, Ints{from[i]});
      // As the sender numbers its blocks, that one is ours.
      Topology sender;
      make(from[i], &sender);
      const int* its = nullptr;
      const int count = neighboursOut(sender, &its);
      const int number = block % kBlocks;
      expectNumbers("block of the sender", {i, block}, {g_topology.ownRank},
                    Ints{number < count ? its[number] : -1});
      freeTopology(&sender);
    }
  }

  void sub(MPI_Comm comm, const Ints& remain) {
    MPI_Comm part = MPI_COMM_NULL;
    const int error = PMPI_Cart_sub(comm, remain.data(), &part);
    int color = 0;
    int newRank = -1;
    Topology made;
    const int ours = cartSub(g_topology, remain.data(), &color, &newRank, &made);
    expectSame("Cart_sub", remain, {error, {part != MPI_COMM_NULL}},
               {ours, {color != MPI_UNDEFINED}});
    if (part == MPI_COMM_NULL || color == MPI_UNDEFINED) {
      return;
    }
    // Ranks of the grid that are in it, in its order.
    Ints ranks(static_cast<std::size_t>(made.size), -1);
    for (int rank = 0; rank < g_topology.size; ++rank) {
      int itsColor = 0;
      int itsRank = 0;
      cartSubOf(g_topology, remain.data(), rank, &itsColor, &itsRank);
      if (itsColor == color) {
        ranks[static_cast<std::size_t>(itsRank)] = rank;
      }
    }
    int size = 0;
    PMPI_Comm_size(part, &size);
    Ints all(static_cast<std::size_t>(size));
    PMPI_Allgather(&g_topology.ownRank, 1, MPI_INT, all.data(), 1, MPI_INT, part);
    expectNumbers("ranks of Cart_sub", remain, all, ranks);
    const MPI_Comm before = g_comm;
    g_comm = part;
    std::swap(made, g_topology);
    checkPlace(part);
    askSome();
    std::swap(made, g_topology);
    g_comm = before;
    freeTopology(&made);
    PMPI_Comm_free(&part);
  }

  /// Both ways, some several times, some to itself.
  void graph() {
    const int nodes = m_common.from(1, g_worldSize);
    std::vector<Ints> beside(static_cast<std::size_t>(nodes));
    for (int i = m_common.from(0, 2 * nodes); i > 0; --i) {
      const int one = m_common.from(0, nodes - 1);
      const int other = m_common.from(0, nodes - 1);
      beside[static_cast<std::size_t>(one)].push_back(other);
      if (one != other) {
        beside[static_cast<std::size_t>(other)].push_back(one);
      }
    }
    Ints index;
    Ints edges{};
    for (Ints& ranks : beside) {
      edges.insert(edges.end(), ranks.begin(), ranks.end());
      index.push_back(sizeOf(edges));
    }
    edges.reserve(1);  // an address also of none
    const int asked = m_common.oneIn(10) ? g_worldSize + 1 : m_common.oneIn(10) ? 0 : nodes;
    MPI_Comm comm = MPI_COMM_NULL;
    const int error = PMPI_Graph_create(MPI_COMM_WORLD, asked, index.data(), edges.data(),
                                        m_common.from(0, 1), &comm);
    const GraphNodes given{asked, index.data(), edges.data()};
    const int ours = makeGraph(g_worldSize, g_worldRank, given, &g_topology);
    expectSame("Graph_create", index, {error, {comm != MPI_COMM_NULL}},
               {ours, {g_topology.size > 0}});
    if (error != MPI_SUCCESS || comm == MPI_COMM_NULL || g_topology.size == 0) {
      freeTopology(&g_topology);
      return;
    }
    about(comm, [&] {
      checkPlace(comm);
      exchange(comm,
               [&](int rank, Topology* other) { makeGraph(g_worldSize, rank, given, other); });
      askDuplicate(comm);
    });
    PMPI_Comm_free(&comm);
  }

  /// One end of each edge at `rank`, and its weight.
  struct Side {
    Ints ranks = {};
    Ints weights = {};
    [[nodiscard]] Adjacent given(bool weighted) const {
      return {sizeOf(ranks), ranks.data(), weighted ? weights.data() : MPI_UNWEIGHTED};
    }
  };

  void adjacent() {
    std::vector<Side> in(static_cast<std::size_t>(g_worldSize));
    std::vector<Side> out(static_cast<std::size_t>(g_worldSize));
    for (int i = m_common.from(0, 3 * g_worldSize); i > 0; --i) {
      const int one = m_common.from(0, g_worldSize - 1);
      const int other = m_common.from(0, g_worldSize - 1);
      // Twice the same, and it would not be said which is which.
      Side& from = out[static_cast<std::size_t>(one)];
      if (std::find(from.ranks.begin(), from.ranks.end(), other) != from.ranks.end()) {
        continue;
      }
      from.ranks.push_back(other);
      from.weights.push_back(m_common.from(0, 99));
      const int place = m_common.from(0, sizeOf(in[static_cast<std::size_t>(other)].ranks));
      Side& to = in[static_cast<std::size_t>(other)];
      to.ranks.insert(to.ranks.begin() + place, one);
      to.weights.insert(to.weights.begin() + place, from.weights.back());
    }
    for (int i = 0; i < g_worldSize; ++i) {  // an address also of none
      for (std::vector<Side>* const sides : {&in, &out}) {
        (*sides)[static_cast<std::size_t>(i)].ranks.reserve(1);
        (*sides)[static_cast<std::size_t>(i)].weights.reserve(1);
      }
    }
    const bool weighted = m_common.oneIn(2);
    const Adjacent sources = in[static_cast<std::size_t>(g_worldRank)].given(weighted);
    const Adjacent targets = out[static_cast<std::size_t>(g_worldRank)].given(weighted);
    MPI_Comm comm = MPI_COMM_NULL;
    const int error = PMPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, sources.count, sources.ranks,
                                                      sources.weights, targets.count, targets.ranks,
                                                      targets.weights, MPI_INFO_NULL, 0, &comm);
    const int ours = makeDistributed(g_worldSize, g_worldRank, sources, targets, &g_topology);
    expectSame("Dist_graph_create_adjacent", {}, {error}, {ours});
    throughWords();
    about(comm, [&] {
      checkPlace(comm);
      exchange(comm, [&](int rank, Topology* other) {
        makeDistributed(g_worldSize, rank, in[static_cast<std::size_t>(rank)].given(weighted),
                        out[static_cast<std::size_t>(rank)].given(weighted), other);
      });
      askDuplicate(comm);
    });
    PMPI_Comm_free(&comm);
  }

  /// As a recording would keep it.
  static void throughWords() {
    Ints words(wordsOfTopology(g_topology, nullptr, 0));
    wordsOfTopology(g_topology, words.data(), words.size());
    Topology read;
    const bool right =
        topologyFromWords(words.data(), words.size(), g_topology.size, g_topology.ownRank, &read);
    expectNumbers("topologyFromWords", words, Ints{1}, Ints{right});
    freeTopology(&g_topology);
    g_topology = read;
  }

  void askAny() {
    switch (m_own.from(0, 6)) {
      case 0:
        askKinds();
        break;
      case 1:
        askGet();
        break;
      case 2:
        askRank();
        break;
      case 3:
        askCoords();
        break;
      case 4:
        askShift();
        break;
      case 5:
        askMaps();
        break;
      default:
        askGraph();
        askDistributed();
        break;
    }
  }

  void askKinds() {
    PF_ASK(Topo_test, (Ints{}), 1, g_comm, written);
    PF_ASK(Cartdim_get, (Ints{}), 1, g_comm, written);
    PF_ASK(Graphdims_get, (Ints{}), 2, g_comm, written, written + 1);
    PF_ASK(Dist_graph_neighbors_count, (Ints{}), 3, g_comm, written, written + 1, written + 2);
  }

  void askGet() {
    const int room = asOpenMpi() ? m_own.from(-1, kMostDims + 1) : g_topology.ndims;
    if (mayBeWrong(TopologyKind::Cartesian)) {
      PF_ASK(Cart_get, (Ints{room}), 3 * (kMostDims + 1), g_comm, room, written,
             written + kMostDims + 1, written + 2 * (kMostDims + 1));
    }
  }

  void askRank() {
    const Ints coords = m_own.some(kMostDims, -7, 7);
    PF_ASK(Cart_rank, coords, 1, g_comm, coords.data(), written);
    // Where they are right, as most are not.
    Ints right(kMostDims);
    for (int i = 0; i < g_topology.ndims; ++i) {
      right[static_cast<std::size_t>(i)] = m_own.from(0, g_topology.dims[i] - 1);
    }
    PF_ASK(Cart_rank, right, 1, g_comm, right.data(), written);
  }

  void askCoords() {
    const int rank = m_own.from(-1, g_topology.size - 1);
    const int room = m_own.from(m_own.oneIn(8) ? -1 : 0, kMostDims + 1);
    PF_ASK(Cart_coords, (Ints{rank, room}), kMostDims + 1, g_comm, rank, room, written);
  }

  void askShift() {
    const int direction = m_own.from(m_own.oneIn(8) ? -1 : 0, g_topology.ndims + 1);
    const int displacement = m_own.from(-5, 5);
    PF_ASK(Cart_shift, (Ints{direction, displacement}), 2, g_comm, direction, displacement, written,
           written + 1);
  }

  void askMaps() {
    Ints dims = this->dims(m_own);
    if (!dims.empty() && m_own.oneIn(4)) {
      dims.back() = m_own.from(0, 1) * (g_worldSize + 1);
    }
    dims.reserve(1);
    Ints arguments = dims;
    PF_ASK(Cart_map, arguments, 1, g_comm, sizeOf(dims), dims.data(), dims.data(), written);
    const int nodes = m_own.from(0, g_worldSize + 1);
    const Ints index(static_cast<std::size_t>(nodes + 1));
    PF_ASK(Graph_map, (Ints{nodes}), 1, g_comm, nodes, index.data(), index.data(), written);
  }

  void askGraph() {
    constexpr int kRoom = 100;
    const int nodes = m_own.from(m_own.oneIn(8) ? -1 : 0, g_topology.size + 1);
    const int edges = m_own.from(m_own.oneIn(8) ? -1 : 0, g_topology.edgeCount + 1);
    PF_ASK(Graph_get, (Ints{nodes, edges}), 2 * kRoom, g_comm, nodes, edges, written,
           written + kRoom);
    const int rank = m_own.from(-1, g_topology.size - 1);
    PF_ASK(Graph_neighbors_count, (Ints{rank}), 1, g_comm, rank, written);
    const int most = asOpenMpi() ? m_own.from(-1, 9) : kRoom;
    PF_ASK(Graph_neighbors, (Ints{rank, most}), kRoom, g_comm, rank, most, written);
  }

  void askDistributed() {
    constexpr int kRoom = 100;
    const int ins = m_own.from(-1, g_topology.sourceCount + (asOpenMpi() ? 2 : 0));
    const int outs = m_own.from(-1, g_topology.destinationCount + (asOpenMpi() ? 2 : 0));
    if (m_own.oneIn(2)) {
      PF_ASK(Dist_graph_neighbors, (Ints{ins, outs}), 2 * kRoom, g_comm, ins, written,
             MPI_UNWEIGHTED, outs, written + kRoom, MPI_UNWEIGHTED);
    } else {
      PF_ASK(Dist_graph_neighbors, (Ints{ins, outs}), 4 * kRoom, g_comm, ins, written,
             written + 2 * kRoom, outs, written + kRoom, written + 3 * kRoom);
    }
  }

  Random m_common;  ///< the same in all ranks
  Random m_own;
};

}  // namespace

void compareTopologies(unsigned seed, int operations) {
  installTopologies(topologyOf);
  Topologies topologies(seed, seed * 1000 + static_cast<unsigned>(g_worldRank));
  constexpr int kQuestions = 25;  ///< about one communicator, or more
  for (int i = 0; i < operations; i += kQuestions) {
    topologies.step();
  }
}

}  // namespace pf::test
