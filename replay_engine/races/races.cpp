// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/races.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/prerequisites.h"
#include "replay_engine/causality/vector_clocks.h"
#include "replay_engine/execution/record_checks.h"
#include "replay_engine/races/race_candidates.h"
#include "replay_engine/races/synchronous_exits.h"

namespace pf {
namespace {

/// A wildcard receive or probe that took, or saw, a message.
struct Choice {
  bool probe;
  std::uint32_t index;
  std::uint32_t limit;  ///< messages of receives posted before this one are out of question
  std::uint32_t comm;
  Rank source;
  Tag tag;
  std::uint32_t taken;
  Serial event;           ///< post of the receive, or the probe
  std::uint32_t shownAt;  ///< first event of this rank that follows from the choice
};

std::vector<Choice> choicesOf(const Execution& execution, const Chains& chains, std::uint32_t rank,
                              const DeliveryOrder& order) {
  const RankHistory& history = execution.ranks[rank];
  std::vector<Choice> choices;
  const std::size_t messages = execution.messages.size();
  // One by source has a choice if threads of that source may send at once.
  const auto chooses = [&](Rank source) {
    return source == kAnySource ||
           (isRank(execution, source) && chains.several(static_cast<std::uint32_t>(source)));
  };
  for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
    const PostedReceive& r = history.receives[i];
    if (chooses(r.wantedSource) && r.message < messages && isCompleted(history, r)) {
      choices.push_back({false, i, i, r.comm, r.wantedSource, r.wantedTag, r.message, r.post,
                         order.shownAt(r.message)});
    }
  }
  for (std::uint32_t i = 0; i < history.probes.size(); ++i) {
    const ProbeHit& p = history.probes[i];
    if (chooses(p.wantedSource) && p.message < messages && isEvent(history, p.event)) {
      choices.push_back({true, i, p.postsBefore, p.comm, p.wantedSource, p.wantedTag, p.message,
                         p.event,
                         chains.several(rank) ? kNone : static_cast<std::uint32_t>(p.event)});
    }
  }
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    return std::tie(a.limit, a.event) < std::tie(b.limit, b.event);
  });
  return choices;
}

/// Indices of messages by destination, and within one by (rank, serial) of their sends.
class MessagesByDestination {
 public:
  explicit MessagesByDestination(const Execution& execution)
      : m_end(execution.ranks.size() + 1, 0) {
    const auto forEach = [&](auto&& visit) {
      for (std::uint32_t i = 0; i < execution.messages.size(); ++i) {
        if (const Rank dest = execution.messages[i].dest; isRank(execution, dest)) {
          visit(i, static_cast<std::size_t>(dest));
        }
      }
    };
    forEach([this](std::uint32_t, std::size_t dest) { ++m_end[dest + 1]; });
    std::partial_sum(m_end.begin(), m_end.end(), m_end.begin());
    m_messages = largeVector(m_end.back(), std::uint32_t{0});
    forEach([this](std::uint32_t i, std::size_t dest) { m_messages[m_end[dest]++] = i; });
  }

  [[nodiscard]] std::span<const std::uint32_t> to(std::uint32_t rank) const {
    const std::size_t begin = rank == 0 ? 0 : m_end[rank - 1];
    return std::span(m_messages).subspan(begin, m_end[rank] - begin);
  }

 private:
  std::vector<std::size_t> m_end;  ///< by destination
  std::vector<std::uint32_t> m_messages;
};

/// For each message how many events of its destination are known to have finished before it is
/// sent, and before it is delivered. (A destination with threads: of its first chain, which
/// nobody asks for.)
class KnownToDestination final : public ClockObserver {
 public:
  KnownToDestination(const Execution& execution, const Chains& chains)
      : m_execution(execution),
        m_chains(chains),
        m_atSend(largeVector(execution.messages.size(), std::uint32_t{0})),
        m_atDelivery(largeVector(execution.messages.size(), std::uint32_t{0})) {}

  [[nodiscard]] std::uint32_t atSend(std::uint32_t message) const { return m_atSend[message]; }
  [[nodiscard]] std::uint32_t atDelivery(std::uint32_t message) const {
    return m_atDelivery[message];
  }

  void onSend(std::uint32_t message, const Knowledge& known) override {
    const Rank dest = m_execution.messages[message].dest;
    m_atSend[message] =
        isRank(m_execution, dest) ? known.of(m_chains.first(static_cast<std::uint32_t>(dest))) : 0;
  }
  void onDelivery(std::uint32_t message, const Knowledge& known) override {
    m_atDelivery[message] =
        known.of(m_chains.first(static_cast<std::uint32_t>(m_execution.messages[message].dest)));
  }
  void onLeave(Place /*place*/, const Knowledge& /*known*/) override {}

 private:
  const Execution& m_execution;
  const Chains& m_chains;
  std::vector<std::uint32_t> m_atSend;
  std::vector<std::uint32_t> m_atDelivery;
};

/// Finds the races of one rank, by rules 1 to 3 and what of rule 4 follows from events of that rank
/// itself; the rest of rule 4 it puts to `questions`.
class RankRaces {
 public:
  RankRaces(const Execution& execution, const Chains& chains, const SendOrder& sends,
            const DeliveryOrder& order, const KnownToDestination& known, std::uint32_t rank,
            SynchronousExits& questions)
      : m_execution(execution),
        m_chains(chains),
        m_sends(sends),
        m_order(order),
        m_known(known),
        m_rank(rank),
        m_earlier(execution, chains, sends, rank),
        m_questions(questions) {}

  std::vector<Race> find(std::span<const std::uint32_t> messages) {
    const std::vector<Choice> choices = choicesOf(m_execution, m_chains, m_rank, m_order);
    std::vector<std::pair<Serial, Race>> found;
    if (choices.empty()) {
      return {};
    }
    const auto asksAnyTag = [](const Choice& choice) { return choice.tag == kAnyTag; };
    RaceCandidates candidates(
        m_execution, m_chains, m_sends, messages,
        {!std::ranges::all_of(choices, asksAnyTag), std::ranges::any_of(choices, asksAnyTag)});
    for (const Choice& choice : choices) {
      Race race = raceOf(choice, candidates);
      if (!race.alternatives.empty()) {
        found.emplace_back(choice.event, std::move(race));
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Race> races;
    races.reserve(found.size());
    for (auto& [event, race] : found) {
      races.push_back(std::move(race));
    }
    return races;
  }

 private:
  /// By MPI's order of matching alone: it is of a source that is asked for, and was not sent before
  /// or after the message taken.
  [[nodiscard]] bool isOther(const Choice& choice, std::uint32_t other) const {
    const Rank source = m_execution.messages[other].send.rank;
    const Rank taken = m_execution.messages[choice.taken].send.rank;
    if (source != taken) {
      return choice.source == kAnySource || choice.source == source;
    }
    return m_chains.several(static_cast<std::uint32_t>(source)) && other != choice.taken &&
           !m_sends.before(choice.taken, other) && !m_sends.before(other, choice.taken);
  }

  Race raceOf(const Choice& choice, RaceCandidates& candidates) {
    Race race{static_cast<Rank>(m_rank), choice.probe, choice.index, choice.taken, {}};
    m_earlier.advance(choice.limit, choice.event);
    for (const std::uint32_t other :
         candidates.firstOfEachSource(choice.comm, choice.tag, choice.limit)) {
      if (!isOther(choice, other) || m_known.atSend(other) >= choice.shownAt) {
        continue;
      }
      const Prerequisites& needed = m_earlier.of(other, choice.tag == kAnyTag);
      if (needed.cancel < choice.shownAt &&
          std::ranges::none_of(needed.deliveries, [&](std::uint32_t delivery) {
            return m_known.atDelivery(delivery) >= choice.shownAt;
          })) {
        race.alternatives.push_back(other);
        if (!choice.probe || m_chains.several(m_rank)) {
          m_questions.ask(race, other, needed);
        }
      }
    }
    return race;
  }

  const Execution& m_execution;
  const Chains& m_chains;
  const SendOrder& m_sends;
  const DeliveryOrder& m_order;
  const KnownToDestination& m_known;
  std::uint32_t m_rank;
  EarlierPosts m_earlier;
  SynchronousExits& m_questions;
};

}  // namespace

std::vector<Race> findRaces(const Execution& execution) {
  const Chains chains(execution);
  const SendOrder sends(execution, chains);
  const DeliveryOrder order(execution, chains, sends);
  const EventGraph graph(execution, &order);
  KnownToDestination known(execution, chains);
  VectorClocks(execution, chains, graph, order, known).run();

  std::vector<Race> races;
  SynchronousExits questions(execution, chains, order);
  const MessagesByDestination messages(execution);
  for (std::uint32_t rank = 0; rank < execution.ranks.size(); ++rank) {
    std::vector<Race> here =
        RankRaces(execution, chains, sends, order, known, rank, questions).find(messages.to(rank));
    races.insert(races.end(), std::make_move_iterator(here.begin()),
                 std::make_move_iterator(here.end()));
  }
  questions.drop(graph, races);
  return races;
}

}  // namespace pf
