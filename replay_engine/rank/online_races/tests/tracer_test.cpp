// SPDX-License-Identifier: MIT
// The tracing algorithms as a rank runs them, held against core's, which look at the whole
// execution (traceWith, TracingRules::Mpi), on random executions. PF_ORACLE_RUNS=N: how many.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "replay_engine/races/races.h"
#include "replay_engine/races/tests/oracle.h"
#include "replay_engine/races/tests/random_execution.h"
#include "replay_engine/races/tracing.h"
#include "replay_engine/rank/online_races/racing.h"
#include "replay_engine/rank/online_races/window.h"

namespace pf {
namespace {

using Posts = std::set<std::uint32_t>;

constexpr std::pair<online::Algorithm, TracingAlgorithm> kAlgorithms[] = {
    {online::Algorithm::Meehan, TracingAlgorithm::Meehan},
    {online::Algorithm::NetzerMiller, TracingAlgorithm::NetzerMiller},
    {online::Algorithm::AlgorithmA, TracingAlgorithm::AlgorithmA},
    {online::Algorithm::AlgorithmB, TracingAlgorithm::AlgorithmB},
};

/// A rank as its interposer sees it: what was posted, completed, seen, in this order.
class OnlineRank {
 public:
  OnlineRank(const Execution& execution, Rank rank, online::Algorithm algorithm)
      : m_history(execution.ranks[static_cast<std::size_t>(rank)]),
        m_tracer(algorithm, static_cast<std::uint32_t>(execution.ranks.size())) {}
  /// With decisions delayed by `window`.
  OnlineRank(const Execution& execution, Rank rank, std::uint32_t window)
      : OnlineRank(execution, rank, online::Algorithm::Naive) {
    m_window.emplace(window);
  }

  Posts run(const std::vector<tracing::Delivery>& deliveries) {
    auto next = deliveries.begin();
    std::uint32_t posted = 0;
    for (Serial now = 1; now <= m_history.events.size(); ++now) {
      for (; posted < m_history.receives.size() && m_history.receives[posted].post == now;
           ++posted) {
        const PostedReceive& receive = m_history.receives[posted];
        if (receive.completion != now) {
          post(posted, receive);
        }
      }
      for (std::uint32_t i = 0; i < posted; ++i) {
        const PostedReceive& receive = m_history.receives[i];
        if (receive.completion == now && receive.state != ReceiveState::Complete) {
          m_open.pending.remove(i);
        }
      }
      for (; next != deliveries.end() && next->completion == now; ++next) {
        deliver(*next, posted);
      }
    }
    if (m_window) {
      m_window->end(m_open);
      takeDecisions();
      return m_traced;
    }
    for (std::uint32_t wild = 0; wild < m_postOfWild.size(); ++wild) {
      if (m_tracer.kept().kept(wild)) {
        m_traced.insert(m_postOfWild[wild]);
      }
    }
    return m_traced;
  }

 private:
  void post(std::uint32_t number, const PostedReceive& receive) {
    m_open.pending.add({number,
                        receive.comm & 0x3FFFFFFFU,
                        true,
                        false,
                        receive.wantedSource,
                        receive.wantedTag,
                        {online::kNobody, online::kNobody},
                        nullptr});
  }

  /// Completions of wildcards that had finished by this event.
  [[nodiscard]] std::uint32_t ticks(Serial event) const {
    return static_cast<std::uint32_t>(
        std::ranges::count_if(m_ticks, [&](Serial at) { return at <= event; }));
  }

  void deliver(const tracing::Delivery& delivery, std::uint32_t posted) {
    online::Delivery now{};
    now.post = delivery.probe ? posted : delivery.index;
    now.comm = delivery.comm;
    now.source = delivery.source;
    now.from = static_cast<std::uint32_t>(delivery.source);
    now.tag = delivery.tag;
    now.wantedTag = delivery.wantedTag;
    now.wild = delivery.wildcard();
    now.known = ticks(delivery.known);
    now.wildNumber = online::kUndecided;
    if (now.wild) {
      m_ticks.push_back(delivery.completion);
      now.completion = static_cast<std::uint32_t>(m_ticks.size());
    }
    if (delivery.probe) {
      m_tracer.probed(now);
      return;
    }
    if (now.wild) {
      now.wildNumber = static_cast<std::uint32_t>(m_postOfWild.size());
      m_postOfWild.push_back(delivery.index);
    }
    std::int32_t hits[2] = {online::kNobody, online::kNobody};
    if (const online::PendingReceive* pending = m_open.pending.find(delivery.index)) {
      std::copy_n(pending->hits, 2, hits);
    }
    m_open.pending.remove(delivery.index);
    if (m_window) {
      m_window->delivered(now, delivery.index, m_open);
      takeDecisions();
    } else if (m_tracer.delivered(now, hits, m_open)) {
      m_traced.insert(delivery.index);
    }
  }

  void takeDecisions() {
    for (std::uint32_t i = 0; i < m_window->traced().size(); ++i) {
      ASSERT_TRUE(m_traced.insert(m_window->traced()[i].number).second);
    }
  }

  const RankHistory& m_history;
  online::Tracer m_tracer;
  std::optional<online::Window> m_window;
  online::OpenReceives m_open;
  std::vector<Serial> m_ticks;
  std::vector<std::uint32_t> m_postOfWild;
  Posts m_traced;
};

/// A message that nobody received is only known after the end: such ranks are not compared.
bool receivedAll(const Execution& execution, std::size_t rank) {
  return std::ranges::all_of(execution.messages, [&](const Message& message) {
    return message.dest != static_cast<Rank>(rank) || message.completion != 0;
  });
}

std::string textOf(const Posts& posts) {
  std::string text;
  for (const std::uint32_t post : posts) {
    text += " " + std::to_string(post);
  }
  return text;
}

/// What `trace` lists of each rank, probes apart.
std::vector<Posts> byRank(const std::vector<TracedReceive>& trace, std::size_t ranks) {
  std::vector<Posts> posts(ranks);
  for (const TracedReceive& each : trace) {
    if (!each.probe) {
      posts[static_cast<std::size_t>(each.rank)].insert(each.receive);
    }
  }
  return posts;
}

/// On random executions, for each way of `ways`: `online(execution, rank, way)` traces what
/// `offline(way, execution)` lists. Until `wanted` ranks were compared; how many deliveries they
/// traced.
template <typename Ways, typename Online, typename Offline>
void compare(std::uint64_t wanted, const Ways& ways, Online online, Offline offline,
             std::uint64_t* traced) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; compared < wanted && seed < 20 * wanted; ++seed) {
    oracle::RandomOptions options;
    options.eventsAtMost = 20 + static_cast<int>(seed % 60);
    Execution execution = oracle::randomExecution(seed, options).execution;
    matchMessages(execution);
    const auto deliveries = tracing::observedDeliveries(execution);
    for (const auto& way : ways) {
      const std::vector<Posts> expected = byRank(offline(way, execution), execution.ranks.size());
      for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
        if (receivedAll(execution, rank) && !deliveries[rank].empty()) {
          const Posts found = online(way, execution, static_cast<Rank>(rank)).run(deliveries[rank]);
          ASSERT_EQ(textOf(found), textOf(expected[rank]))
              << "seed " << seed << ", rank " << rank << ", way " << &way - std::begin(ways);
          ++compared;
          *traced += found.size();
        }
      }
    }
  }
  EXPECT_GE(compared, wanted);
}

TEST(Tracer, TracesWhatTheWholeExecutionSays) {
  using Way = std::pair<online::Algorithm, TracingAlgorithm>;
  const std::uint64_t wanted = oracle::runs(20000);
  std::uint64_t traced = 0;
  compare(
      wanted, kAlgorithms,
      [](const Way& way, const Execution& execution, Rank rank) {
        return OnlineRank(execution, rank, way.first);
      },
      [](const Way& way, const Execution& execution) {
        return traceWith(way.second, TracingRules::Mpi, execution);
      },
      &traced);
  EXPECT_GT(traced, wanted / 10);
}

TEST(Window, DecidesAsOneThatHasTheWholeExecution) {
  constexpr std::uint32_t kWindows[] = {1, 3, 16};
  const std::uint64_t wanted = oracle::runs(4000);
  std::uint64_t traced = 0;
  compare(
      wanted, kWindows,
      [](std::uint32_t window, const Execution& execution, Rank rank) {
        return OnlineRank(execution, rank, window);
      },
      traceWithWindow, &traced);
  EXPECT_GT(traced, wanted / 10);
}

online::Delivery wildFrom(std::int32_t source, std::uint32_t number, std::uint32_t known) {
  return {number, 0,          source, static_cast<std::uint32_t>(source), 7, 7, true,
          number, number + 1, known};
}

// A consumer whose producers never hear of it: memory and time stay bounded, and what is no longer
// remembered is traced.
TEST(Tracer, ForgetsTheOldestOfMany) {
  online::Tracer tracer(online::Algorithm::Meehan, 3);
  online::OpenReceives open;
  const std::int32_t hits[2] = {online::kNobody, online::kNobody};
  const std::uint32_t many = 3 * online::Tracer::kRemembered;
  for (std::uint32_t i = 0; i < many; ++i) {
    tracer.delivered(wildFrom(1, i, 0), hits, open);
  }
  EXPECT_EQ(tracer.found(), 0U) << "one source alone races with nobody";
  EXPECT_TRUE(tracer.kept().kept(0));
  EXPECT_FALSE(tracer.kept().kept(many - 1));
  tracer.delivered(wildFrom(2, many, 0), hits, open);
  EXPECT_TRUE(tracer.kept().kept(many - 1));
  EXPECT_FALSE(tracer.kept().kept(many));
}

// What all ranks know of is forgotten, and never traced.
TEST(Tracer, ForgetsWhatAllKnow) {
  online::Tracer tracer(online::Algorithm::Meehan, 2);
  online::OpenReceives open;
  const std::int32_t hits[2] = {online::kNobody, online::kNobody};
  const std::uint32_t many = 3 * online::Tracer::kRemembered;
  for (std::uint32_t i = 0; i < many; ++i) {
    tracer.delivered(wildFrom(static_cast<std::int32_t>(i % 2), i, i), hits, open);
  }
  for (std::uint32_t i = 0; i < many; ++i) {
    ASSERT_FALSE(tracer.kept().kept(i)) << i;
  }
}

}  // namespace
}  // namespace pf
