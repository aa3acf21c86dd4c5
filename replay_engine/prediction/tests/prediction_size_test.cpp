// SPDX-License-Identifier: GPL-3.0-or-later
// Programs of the size in the literature, 16 ranks and a thousand messages, are decided. Prints what each takes; the goal is a minute.
#include <chrono>
#include <cstdio>
#include <ctime>

#include <gtest/gtest.h>

#include "replay_engine/prediction/prediction.h"
#include "replay_engine/races/races.h"

namespace pf::prediction::test {
namespace {

/// A run written down call by call.
class Script {
 public:
  explicit Script(int ranks) {
    m_execution.ranks.resize(static_cast<std::size_t>(ranks));
    m_execution.callNames = {"MPI_Send",    "MPI_Recv",    "MPI_Irecv",
                             "MPI_Waitall", "MPI_Barrier", "MPI_Isend"};
    Communicator world{0, "MPI_COMM_WORLD", {}, {}};
    for (Rank rank = 0; rank < ranks; ++rank) {
      world.group.push_back(rank);
    }
    m_execution.communicators.push_back(world);
  }

  void send(Rank rank, Rank dest, Tag tag = 0) {
    const Serial serial = event(rank, EventKind::Send, 0);
    at(rank).sends.push_back({serial, 0, dest, tag, false, 0});
  }
  /// Standard, and not blocking.
  void sendAhead(Rank rank, Rank dest) {
    const Serial serial = event(rank, EventKind::Send, 5);
    at(rank).sends.push_back({serial, 0, dest, 0, false, 0});
  }
  void receive(Rank rank, Rank wanted, Rank source, Tag tag = 0) {
    const Serial serial = event(rank, EventKind::Receive, 1);
    at(rank).receives.push_back(
        {serial, serial, 0, wanted, tag, ReceiveState::Complete, source, tag, kNone});
  }
  void post(Rank rank, Rank wanted, Rank source, Tag tag = 0) {
    const Serial serial = event(rank, EventKind::Post, 2);
    at(rank).receives.push_back(
        {serial, 0, 0, wanted, tag, ReceiveState::Complete, source, tag, kNone});
  }
  /// Completes all that was posted.
  void waitAll(Rank rank) {
    const Serial serial = event(rank, EventKind::Completion, 3);
    for (PostedReceive& receive : at(rank).receives) {
      receive.completion = receive.completion == 0 ? serial : receive.completion;
    }
  }
  void barrier(std::uint32_t ordinal) {
    for (std::size_t rank = 0; rank < m_execution.ranks.size(); ++rank) {
      CollectivePart part;
      part.event = part.completion = event(static_cast<Rank>(rank), EventKind::Collective, 4);
      part.comm = 0;
      part.ordinal = ordinal;
      part.flow = CollectiveFlow::AllToAll;
      at(static_cast<Rank>(rank)).collectives.push_back(part);
    }
  }

  std::size_t predicted(const char* what) {
    matchMessages(m_execution);
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t used = std::clock();
    PredictionFacts facts;
    facts.cut.assign(m_execution.ranks.size(), false);
    PredictionLimits limits;
    limits.time = std::chrono::minutes(5);  // with sanitizers, beside other work
    const auto predictions = predict(m_execution, facts, limits);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(predictions.ok()) << predictions.error().text();
    if (!predictions) {
      return 0;
    }
    std::printf(
        "%s: %zu ranks, %zu messages, %zu possible matches: %zu predicted in %.2f s (of the "
        "processor: %.2f s)%s\n",
        what, m_execution.ranks.size(), predictions->messages, predictions->matches,
        predictions->found.size(), took.count(),
        static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC,
        predictions->decided ? "" : ", not decided");
    EXPECT_TRUE(predictions->decided) << what;
    return predictions->found.size();
  }

 private:
  RankHistory& at(Rank rank) { return m_execution.ranks[index(rank)]; }
  Serial event(Rank rank, EventKind kind, std::uint16_t call) {
    Event made;
    made.kind = kind;
    made.call = call;
    made.comm = 0;
    made.site = call;
    at(rank).events.push_back(made);
    return at(rank).events.size();
  }

  Execution m_execution;
};

constexpr int kRanks = 16;

TEST(PredictionSize, AllToOneByWildcards) {
  Script script(kRanks);
  for (int round = 0; round < 1000 / (kRanks - 1); ++round) {
    for (Rank rank = 1; rank < kRanks; ++rank) {
      script.send(rank, 0);
      script.receive(0, kAnySource, rank);
    }
  }
  EXPECT_EQ(script.predicted("all to one"), 0U);
}

/// 300 messages: to one rank, where some receives are named, a thousand may take longer.
TEST(PredictionSize, AllToOneAndThenANamedReceive) {
  Script script(kRanks);
  for (int round = 0; round < 300 / (kRanks - 1); ++round) {
    for (Rank rank = 1; rank < kRanks; ++rank) {
      script.send(rank, 0);
      script.receive(0, rank == 8 ? 8 : kAnySource, rank);
    }
  }
  EXPECT_GE(script.predicted("all to one, every 15th receive named"), 1U);
}

TEST(PredictionSize, MasterAndWorkers) {
  Script script(kRanks);
  for (int task = 0; task < 500; ++task) {
    const Rank worker = 1 + (task * 7) % (kRanks - 1);
    script.send(worker, 0);
    script.receive(0, kAnySource, worker);
    script.send(0, worker, 1);
    script.receive(worker, 0, 0, 1);
  }
  (void)script.predicted("master and workers");
}

TEST(PredictionSize, PostedAheadInRounds) {
  Script script(kRanks);
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (Rank other = 0; other < kRanks; ++other) {
        if (other != rank) {
          script.post(rank, kAnySource, other);
        }
      }
    }
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (Rank other = 0; other < kRanks; ++other) {
        if (other != rank) {
          script.send(rank, other);
        }
      }
    }
    for (Rank rank = 0; rank < kRanks; ++rank) {
      script.waitAll(rank);
    }
    script.barrier(round);
  }
  EXPECT_EQ(script.predicted("each to each, posted ahead, barriers"), 0U);
}

TEST(PredictionSize, PostedAheadInRoundsWithoutBarriers) {
  Script script(kRanks);
  for (int round = 0; round < 4; ++round) {
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (Rank other = 0; other < kRanks; ++other) {
        if (other != rank) {
          script.post(rank, kAnySource, other);
        }
      }
    }
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (Rank other = 0; other < kRanks; ++other) {
        if (other != rank) {
          script.sendAhead(rank, other);
        }
      }
    }
    for (Rank rank = 0; rank < kRanks; ++rank) {
      script.waitAll(rank);
    }
  }
  EXPECT_EQ(script.predicted("each to each, posted ahead, no barriers"), 0U);
}

TEST(PredictionSize, RingOfWildcards) {
  Script script(kRanks);
  for (int round = 0; round < 60; ++round) {
    for (Rank rank = 0; rank < kRanks; ++rank) {
      script.send(rank, (rank + 1) % kRanks);
    }
    for (Rank rank = 0; rank < kRanks; ++rank) {
      script.receive(rank, kAnySource, (rank + kRanks - 1) % kRanks);
    }
  }
  EXPECT_GE(script.predicted("ring"), 1U) << "all send first, which MPI may not buffer";
}

}  // namespace
}  // namespace pf::prediction::test
