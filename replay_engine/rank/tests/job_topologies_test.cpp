// SPDX-License-Identifier: GPL-3.0-or-later
// Topologies of a job of which some ranks are there: words of a recording that may be anything, and
// what is refused. What right calls bring tests/partial_job holds against the MPI libraries.
#include "replay_engine/rank/partial_job/job_topologies.h"

#include <climits>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/rank/engine/real_calls.h"
#include "replay_engine/rank/tests/fake_mpi.h"

namespace pf::test {
namespace {

using Ints = std::vector<int>;

Topology g_asked;

/// MPI_COMM_SELF stands for a communicator of the job, rank 4 of 6.
class JobTopologies : public testing::Test {
 protected:
  JobTopologies() {
    fake::begin({.rank = 1, .size = 3});
    installTopologies([](MPI_Comm comm) -> const Topology* {
      return comm == MPI_COMM_SELF ? &g_asked : nullptr;
    });
    fake::programBegins();
    g_asked = noTopology(6, 4);
  }
  ~JobTopologies() override { freeTopology(&g_asked); }

  static void grid(const Ints& dims, const Ints& periods) {
    ASSERT_EQ(
        makeCartesian(6, 4, static_cast<int>(dims.size()), dims.data(), periods.data(), &g_asked),
        MPI_SUCCESS);
  }
  static bool read(const Ints& words, Topology* made) {
    // In memory of just that size, for the sanitizer.
    const std::unique_ptr<std::int32_t[]> exact(new std::int32_t[words.size()]);
    std::copy(words.begin(), words.end(), exact.get());
    return topologyFromWords(exact.get(), words.size(), 6, 4, made);
  }
  static Ints wordsOf(const Topology& topology) {
    Ints words(wordsOfTopology(topology, nullptr, 0));
    EXPECT_EQ(wordsOfTopology(topology, words.data(), words.size()), words.size());
    return words;
  }
  /// The call failed, and the error handler of its communicator was told.
  void expectRefused(int error, int expected) {
    EXPECT_EQ(error, expected);
    EXPECT_EQ(fake::calls(kCallComm_call_errhandler), ++m_refused);
  }

  const MPI_Comm m_comm = MPI_COMM_SELF;
  int m_refused = 0;
  int m_one = -99;
  int m_other = -99;
};

TEST_F(JobTopologies, WordsAndBack) {
  for (const Ints& words : {Ints{0, 0, 0}, Ints{0, 0, 3}, Ints{2, 1, 0, 5, MPI_PROC_NULL, 0},
                            Ints{2, 1, 3, 5, 0, 7, -8, 2, 9}, Ints{1, 2, 1, 3, 10, 4, 4},
                            Ints{1, 2, 2, 3, 4, 4, 10, 11}}) {
    Topology made;
    ASSERT_TRUE(read(words, &made));
    EXPECT_EQ(made.kind, TopologyKind::Distributed);
    EXPECT_EQ(made.weighted, words[2] != 0);
    EXPECT_EQ(wordsOf(made), words);
    Topology copy;
    ASSERT_TRUE(copyTopology(made, &copy));
    freeTopology(&made);
    EXPECT_EQ(wordsOf(copy), words);
    freeTopology(&copy);
  }
  EXPECT_EQ(wordsOfTopology(noTopology(6, 4), nullptr, 0), 0U);
}

TEST_F(JobTopologies, WrongWordsAreRefused) {
  for (const Ints& words :
       {Ints{}, Ints{0}, Ints{0, 0}, Ints{0, 0, 4}, Ints{0, 0, -1}, Ints{-1, 0, 0}, Ints{0, -1, 0},
        Ints{1, 0, 0}, Ints{0, 0, 0, 1}, Ints{1, 0, 1, 2}, Ints{1, 0, 0, 6}, Ints{1, 0, 0, -1},
        Ints{0, 1, 0, INT_MIN}, Ints{INT_MAX, INT_MAX, 3, 0}, Ints{INT_MAX, 1, 0, 0},
        Ints{INT_MIN, INT_MIN, 0}, Ints{2, -1, 0, 0}}) {
    Topology made;
    EXPECT_FALSE(read(words, &made));
    EXPECT_EQ(made.memory, nullptr);
  }
}

TEST_F(JobTopologies, RandomWordsAreReadOrRefused) {
  std::mt19937 random(7);
  int right = 0;
  for (int i = 0; i < 20'000; ++i) {
    Ints words(random() % 12);
    for (int& word : words) {
      word = static_cast<int>(random() % 8) - 1;
      word = random() % 40 == 0 ? static_cast<int>(random()) : word;
    }
    Topology made;
    if (read(words, &made)) {
      ++right;
      EXPECT_EQ(wordsOf(made), words);
    }
    freeTopology(&made);
  }
  EXPECT_GT(right, 0);
}

TEST_F(JobTopologies, WrongGridsAreRefused) {
  Topology made;
  const Ints huge{INT_MAX, INT_MAX, INT_MAX, INT_MAX};
  const Ints negative{2, -3};
  const Ints none{2, 0};
  EXPECT_EQ(makeCartesian(6, 4, 4, huge.data(), huge.data(), &made), MPI_ERR_ARG);
  EXPECT_EQ(makeCartesian(6, 4, 2, negative.data(), huge.data(), &made), MPI_ERR_OTHER);
  EXPECT_EQ(makeCartesian(6, 4, 2, none.data(), huge.data(), &made), MPI_ERR_OTHER);
  EXPECT_EQ(makeCartesian(6, 4, -1, huge.data(), huge.data(), &made), MPI_ERR_ARG);
  EXPECT_EQ(makeCartesian(6, 4, 1, nullptr, huge.data(), &made), MPI_ERR_ARG);
  EXPECT_EQ(makeCartesian(6, 4, 1, huge.data(), nullptr, &made), MPI_ERR_ARG);
  EXPECT_EQ(made.size, 0);
  // Rank 4 is not in it.
  const Ints four{2, 2};
  EXPECT_EQ(makeCartesian(6, 4, 2, four.data(), four.data(), &made), MPI_SUCCESS);
  EXPECT_EQ(made.size, 0);
  EXPECT_EQ(makeCartesian(6, 4, 0, nullptr, nullptr, &made), MPI_SUCCESS);
  EXPECT_EQ(made.size, 0);
  EXPECT_EQ(makeCartesian(6, 0, 0, nullptr, nullptr, &made), MPI_SUCCESS);
  EXPECT_EQ(made.size, 1);
  freeTopology(&made);
}

TEST_F(JobTopologies, WrongGraphsAreRefused) {
  Topology made;
  const Ints index{1, 3, 2};
  const Ints below{-1, 2, 2};
  const Ints right{1, 2, 2};
  const Ints edges{1, 0, 0};
  const Ints high{3, 0, 0};
  const Ints low{1, -7, 0};
  for (const GraphNodes& nodes :
       {GraphNodes{3, index.data(), edges.data()}, GraphNodes{3, below.data(), edges.data()},
        GraphNodes{3, right.data(), high.data()}, GraphNodes{3, right.data(), low.data()},
        GraphNodes{-1, right.data(), edges.data()}, GraphNodes{7, right.data(), edges.data()},
        GraphNodes{3, nullptr, edges.data()}, GraphNodes{3, right.data(), nullptr}}) {
    EXPECT_EQ(makeGraph(6, 1, nodes, &made), MPI_ERR_ARG);
  }
  EXPECT_EQ(makeGraph(6, 4, {3, right.data(), edges.data()}, &made), MPI_SUCCESS);
  EXPECT_EQ(made.size, 0);
}

TEST_F(JobTopologies, WrongNeighboursAreRefused) {
  Topology made;
  const Ints ranks{5, 6};
  const Ints weights{1, -1};
  int* const unweighted = MPI_UNWEIGHTED;
  EXPECT_EQ(makeDistributed(6, 4, {2, ranks.data(), unweighted}, {0, nullptr, unweighted}, &made),
            MPI_ERR_ARG);
  EXPECT_EQ(makeDistributed(6, 4, {0, nullptr, unweighted}, {-1, nullptr, unweighted}, &made),
            MPI_ERR_ARG);
  EXPECT_EQ(makeDistributed(6, 4, {1, nullptr, unweighted}, {0, nullptr, unweighted}, &made),
            MPI_ERR_ARG);
  EXPECT_EQ(makeDistributed(6, 4, {1, ranks.data(), nullptr}, {0, nullptr, unweighted}, &made),
            MPI_ERR_ARG);
  EXPECT_EQ(makeDistributed(6, 4, {1, ranks.data(), &weights[1]}, {0, nullptr, &weights[1]}, &made),
            MPI_ERR_ARG);
  // None at all, but weighted.
  EXPECT_EQ(makeDistributed(6, 4, {0, nullptr, MPI_WEIGHTS_EMPTY}, {0, nullptr, MPI_WEIGHTS_EMPTY},
                            &made),
            MPI_SUCCESS);
  EXPECT_TRUE(made.weighted);
  freeTopology(&made);
}

TEST_F(JobTopologies, QuestionsOfAnotherKindAreRefused) {
  int* const out = &m_one;
  expectRefused(PF_REAL(Cartdim_get)(m_comm, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Cart_get)(m_comm, 1, out, out, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Cart_rank)(m_comm, out, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Cart_coords)(m_comm, 0, 1, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Cart_shift)(m_comm, 0, 1, out, &m_other), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Graphdims_get)(m_comm, out, &m_other), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Graph_get)(m_comm, 1, 1, out, &m_other), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Graph_neighbors_count)(m_comm, 0, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Graph_neighbors)(m_comm, 0, 1, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Dist_graph_neighbors_count)(m_comm, out, out, out), MPI_ERR_TOPOLOGY);
  expectRefused(PF_REAL(Dist_graph_neighbors)(m_comm, 1, out, out, 1, out, out), MPI_ERR_TOPOLOGY);
  EXPECT_EQ(PF_REAL(Topo_test)(m_comm, out), MPI_SUCCESS);
  EXPECT_EQ(m_one, MPI_UNDEFINED);
  expectRefused(PF_REAL(Topo_test)(m_comm, nullptr), MPI_ERR_ARG);
  const int* ranks = out;
  EXPECT_EQ(neighboursIn(g_asked, &ranks), 0);
  EXPECT_EQ(neighboursOut(g_asked, &ranks), 0);
  Topology made;
  EXPECT_EQ(cartSub(g_asked, out, &m_one, &m_other, &made), MPI_ERR_TOPOLOGY);
}

TEST_F(JobTopologies, CoordinatesAndShiftsFarOutside) {
  grid({2, 3}, {1, 0});
  for (const int coordinate : {INT_MAX, INT_MIN, -1, 2}) {
    const Ints along{coordinate, 1};
    EXPECT_EQ(PF_REAL(Cart_rank)(m_comm, along.data(), &m_one), MPI_SUCCESS);
    EXPECT_EQ(m_one, (coordinate & 1) * 3 + 1);
    const Ints across{0, coordinate == 2 ? 3 : coordinate};
    expectRefused(PF_REAL(Cart_rank)(m_comm, across.data(), &m_one), MPI_ERR_ARG);
  }
  expectRefused(PF_REAL(Cart_rank)(m_comm, nullptr, &m_one), MPI_ERR_ARG);
  expectRefused(PF_REAL(Cart_coords)(m_comm, 6, 1, &m_one), MPI_ERR_RANK);
  expectRefused(PF_REAL(Cart_coords)(m_comm, INT_MIN, 1, &m_one), MPI_ERR_RANK);
  expectRefused(PF_REAL(Cart_shift)(m_comm, -1, 1, &m_one, &m_other), MPI_ERR_DIMS);
  EXPECT_EQ(PF_REAL(Cart_shift)(m_comm, 0, INT_MIN, &m_one, &m_other), MPI_SUCCESS);
  EXPECT_EQ(m_one, 4);
  EXPECT_EQ(m_other, 4);
  PF_REAL(Cart_shift)(m_comm, 0, INT_MAX, &m_one, &m_other);
  EXPECT_EQ(m_one, 1);
  EXPECT_EQ(m_other, 1);
  PF_REAL(Cart_shift)(m_comm, 1, INT_MIN, &m_one, &m_other);
  EXPECT_EQ(m_one, MPI_PROC_NULL);
  EXPECT_EQ(m_other, MPI_PROC_NULL);
}

TEST_F(JobTopologies, NeighboursOfAGrid) {
  grid({2, 3}, {1, 0});
  const int* ranks = nullptr;
  ASSERT_EQ(neighboursIn(g_asked, &ranks), 4);
  EXPECT_EQ(Ints(ranks, ranks + 4), (Ints{1, 1, 3, 5}));
  freeTopology(&g_asked);
  grid({6}, {0});
  ASSERT_EQ(neighboursOut(g_asked, &ranks), 2);
  EXPECT_EQ(Ints(ranks, ranks + 2), (Ints{3, 5}));
}

TEST_F(JobTopologies, PartsOfAGrid) {
  grid({2, 3}, {1, 0});
  const Ints columns{1, 0};
  Topology made;
  ASSERT_EQ(cartSub(g_asked, columns.data(), &m_one, &m_other, &made), MPI_SUCCESS);
  EXPECT_EQ(m_one, 1);
  EXPECT_EQ(m_other, 1);
  EXPECT_EQ(made.size, 2);
  EXPECT_EQ(made.ownRank, 1);
  ASSERT_EQ(made.ndims, 1);
  EXPECT_EQ(made.periods[0], 1);
  freeTopology(&made);
  EXPECT_EQ(cartSub(g_asked, nullptr, &m_one, &m_other, &made), MPI_ERR_ARG);
}

}  // namespace
}  // namespace pf::test
