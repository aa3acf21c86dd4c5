// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/causality/clock_checkpoints.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "replay_engine/base/large_vector.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/raise.h"
#include "replay_engine/causality/traversal.h"

namespace pf {
namespace {

constexpr std::size_t kMostRanks = 4096;
constexpr std::size_t kMostPool = std::size_t{1} << 28U;  // numbers in clocks that are kept
constexpr std::uint32_t kBeyond = std::numeric_limits<std::uint32_t>::max();

/// Moments of ranks one after another: an entry, an exit, the next entry …
struct Run {
  std::uint32_t rank;
  std::uint32_t moments;
};

/// A clock for each rank, and copies of them that are still needed.
class ClockRows {
 public:
  explicit ClockRows(std::size_t ranks) : m_ranks(ranks), m_rows(ranks * ranks, 0) {
    m_current.assign(ranks, kNone);
  }

  [[nodiscard]] std::span<std::uint32_t> row(std::uint32_t rank) {
    return std::span(m_rows).subspan(rank * m_ranks, m_ranks);
  }
  [[nodiscard]] std::span<std::uint32_t> copy(std::uint32_t id) {
    return std::span(m_pool).subspan(id * m_ranks, m_ranks);
  }
  /// The rank's clock as it is now but for its own component, for `uses` readers.
  std::uint32_t hold(std::uint32_t rank, std::uint32_t uses) {
    std::uint32_t& id = m_current[rank];
    if (id == kNone) {
      id = allocate();
      std::ranges::copy(row(rank), copy(id).begin());
      m_holders[id] = 1;
    }
    m_holders[id] += uses;
    return id;
  }
  void release(std::uint32_t id) {
    if (id != kNone && --m_holders[id] == 0) {
      m_free.push_back(id);
    }
  }
  /// A copy of nothing, with one holder.
  std::uint32_t empty() {
    const std::uint32_t id = allocate();
    std::ranges::fill(copy(id), 0U);
    m_holders[id] = 1;
    return id;
  }
  /// `from` was at `value` when `id` was held.
  void join(std::uint32_t rank, std::uint32_t id, std::uint32_t from, std::uint32_t value) {
    if (row(rank)[from] >= value) {
      return;  // and so all that it knew
    }
    raise(row(rank), copy(id));
    row(rank)[from] = value;
    changed(rank);
  }
  void changed(std::uint32_t rank) { release(std::exchange(m_current[rank], kNone)); }
  [[nodiscard]] bool tooMany() const { return m_pool.size() > kMostPool; }

 private:
  std::uint32_t allocate() {
    if (m_free.empty()) {
      m_free.push_back(static_cast<std::uint32_t>(m_holders.size()));
      m_holders.push_back(0);
      m_pool.resize(m_pool.size() + m_ranks);
    }
    const std::uint32_t id = m_free.back();
    m_free.pop_back();
    return id;
  }

  std::size_t m_ranks;
  std::vector<std::uint32_t> m_rows;
  std::vector<std::uint32_t> m_pool;
  std::vector<std::uint32_t> m_holders;
  std::vector<std::uint32_t> m_free;
  std::vector<std::uint32_t> m_current;  ///< by rank: copy equal to its clock, kNone if changed
};

/// What both directions have in common: something leaves at one moment of an event and is taken at
/// a moment of another. Backward, exits give what entries take; a component counts from the end
/// then, so that more is later in both.
class CheckpointPass {
 public:
  CheckpointPass(const Execution& execution, const EventGraph& graph)
      : m_execution(execution),
        m_graph(graph),
        m_clocks(graph.rankCount()),
        m_sent(largeVector(execution.messages.size(), kNone)),
        m_members(graph.members().size(), kNone),
        m_joined(graph.instances().size(), kNone),
        m_left(graph.instances().size(), 0) {}

 protected:
  [[nodiscard]] const Message& message(Link link) const { return m_execution.messages[link.index]; }
  /// Not a probe that saw it.
  [[nodiscard]] bool completes(Place place, Link link) const {
    return message(link).completion == place.serial &&
           message(link).dest == static_cast<Rank>(place.rank);
  }
  [[nodiscard]] Place syncCompletion(Link link) const {
    const EventRef send = message(link).send;
    const RankHistory& sender = m_execution.ranks[static_cast<std::size_t>(send.rank)];
    return {static_cast<std::uint32_t>(send.rank),
            static_cast<std::uint32_t>(sender.sends[message(link).sendIndex].syncCompletion)};
  }
  void take(std::uint32_t rank, std::uint32_t& held, std::uint32_t from, std::uint32_t value) {
    if (held != kNone) {
      m_clocks.join(rank, held, from, value);
      m_clocks.release(std::exchange(held, kNone));
    }
  }
  /// Of meetings that are no scans: what all givers know goes to all takers.
  void giveAll(std::uint32_t rank, std::uint32_t instance, std::uint32_t takers) {
    if (m_joined[instance] == kNone) {
      m_joined[instance] = m_clocks.empty();
      m_left[instance] = takers;
    }
    raise(m_clocks.copy(m_joined[instance]), m_clocks.row(rank));
  }
  void takeAll(std::uint32_t rank, std::uint32_t instance) {
    if (m_joined[instance] == kNone) {
      return;
    }
    if (raise(m_clocks.row(rank), m_clocks.copy(m_joined[instance]))) {
      m_clocks.changed(rank);
    }
    if (--m_left[instance] == 0) {
      m_clocks.release(std::exchange(m_joined[instance], kNone));
    }
  }
  [[nodiscard]] std::uint32_t& posted(std::uint32_t message) {
    if (m_posted.empty()) {
      m_posted.assign(m_execution.messages.size(), kNone);
    }
    return m_posted[message];
  }

  const Execution& m_execution;
  const EventGraph& m_graph;
  ClockRows m_clocks;
  std::vector<std::uint32_t> m_sent;     ///< by message
  std::vector<std::uint32_t> m_members;  ///< by member, in scans
  std::vector<std::uint32_t> m_joined;   ///< by instance
  std::vector<std::uint32_t> m_left;     ///< by instance: who will still take

 private:
  std::vector<std::uint32_t> m_posted;  ///< by message
};

class ForwardClocks : public CheckpointPass {
 public:
  ForwardClocks(const Execution& execution, const EventGraph& graph, ClockCheckpoints& out)
      : CheckpointPass(execution, graph), m_out(out), m_ready(graph.rankCount(), 0) {
    for (const CollectiveInstance& instance : graph.instances()) {
      m_missing.push_back(instance.contributors);
    }
  }

  /// False: the record is damaged, or too much is on its way at once.
  bool run() {
    Traversal<ForwardClocks>(m_graph, m_progress, *this).run();
    return !m_failed;
  }
  [[nodiscard]] const std::vector<Run>& runs() const { return m_runs; }

  bool tryEnter(Place place) {
    m_ready[place.rank] = 0;
    if (!m_failed) {
      m_clocks.row(place.rank)[place.rank] = place.serial;
      for (const Link link : m_graph.outgoing(place)) {
        give(place, link);
      }
      moved(place.rank);
      m_failed = m_clocks.tooMany();
    }
    return true;
  }

  bool tryLeave(Place place) {
    const auto incoming = m_graph.incoming(place);
    for (std::size_t& ready = m_ready[place.rank]; !m_failed && ready < incoming.size(); ++ready) {
      if (!isReady(incoming[ready])) {
        return false;
      }
    }
    if (!m_failed) {
      for (const Link link : incoming) {
        follow(place, link);
      }
      moved(place.rank);
      if (place.serial % m_out.every == 0) {
        const auto row = m_clocks.row(place.rank);
        m_out.past[place.rank].insert(m_out.past[place.rank].end(), row.begin(), row.end());
      }
    }
    return true;
  }

  /// From here on all events are passed over.
  void resolveStall(const std::vector<std::uint32_t>& /*ranks*/) { m_failed = true; }

 private:
  void moved(std::uint32_t rank) {
    if (m_runs.empty() || m_runs.back().rank != rank) {
      m_runs.push_back({rank, 0});
    }
    ++m_runs.back().moments;
  }

  [[nodiscard]] bool isReady(Link link) const {
    return pf::isReady(m_graph, m_progress, m_missing, link);
  }

  void give(Place place, Link link) {
    if (link.kind == LinkKind::Message) {
      if (message(link).completion != 0) {
        m_sent[link.index] = m_clocks.hold(place.rank, 1);
      }
    } else if (link.kind == LinkKind::Synchronous) {
      posted(link.index) = m_clocks.hold(place.rank, 1);
    } else {
      const std::uint32_t number = m_graph.members()[link.index].instance;
      const CollectiveInstance& instance = m_graph.instances()[number];
      --m_missing[number];
      if (instance.flow == CollectiveFlow::FromLower) {
        m_members[link.index] = m_clocks.hold(place.rank, 1);
      } else if (instance.takers > 0) {
        giveAll(place.rank, number, instance.takers);
      }
    }
  }

  void follow(Place place, Link link) {
    if (link.kind == LinkKind::Collective) {
      const std::uint32_t number = m_graph.members()[link.index].instance;
      const CollectiveInstance& instance = m_graph.instances()[number];
      if (instance.flow != CollectiveFlow::FromLower) {
        takeAll(place.rank, number);
        return;
      }
      for (std::uint32_t i = instance.begin; i < m_graph.sourcesEnd(link.index); ++i) {
        if (m_members[i] != kNone) {
          const Place from = m_graph.members()[i].entry;
          m_clocks.join(place.rank, m_members[i], from.rank, from.serial);
        }
      }
      return;
    }
    const Place from = m_graph.origin(link);
    if (link.kind == LinkKind::Synchronous) {
      take(place.rank, posted(link.index), from.rank, from.serial);
    } else if (completes(place, link)) {
      take(place.rank, m_sent[link.index], from.rank, from.serial);
    }
  }

  ClockCheckpoints& m_out;
  Progress m_progress;
  std::vector<std::size_t> m_ready;      ///< by rank: incoming links of its event found ready
  std::vector<std::uint32_t> m_missing;  ///< by instance: contributors that have not entered
  std::vector<Run> m_runs;
  bool m_failed = false;
};

class BackwardClocks : public CheckpointPass {
 public:
  BackwardClocks(const Execution& execution, const EventGraph& graph, ClockCheckpoints& out)
      : CheckpointPass(execution, graph), m_out(out) {}

  /// The same moments the other way. False: too much is on its way at once.
  bool run(const std::vector<Run>& runs) {
    std::vector<Place> next;  // by rank: the event whose exit or entry comes next
    for (std::uint32_t rank = 0; rank < m_graph.rankCount(); ++rank) {
      next.push_back({rank, m_graph.eventCount(rank)});
      m_out.future[rank].resize(m_out.past[rank].size());
    }
    std::vector<bool> inside(next.size(), false);
    for (auto run = runs.rbegin(); run != runs.rend() && !m_clocks.tooMany(); ++run) {
      Place& place = next[run->rank];
      for (std::uint32_t i = 0; i < run->moments; ++i) {
        if (inside[run->rank]) {
          enter(place);
          --place.serial;
        } else {
          leave(place);
        }
        inside[run->rank] = !inside[run->rank];
      }
    }
    return !m_clocks.tooMany();
  }

 private:
  void leave(Place place) {
    m_clocks.row(place.rank)[place.rank] = kBeyond - place.serial;
    for (const Link link : m_graph.incoming(place)) {
      if (link.kind == LinkKind::Synchronous) {
        posted(link.index) = m_clocks.hold(place.rank, 1);
      } else if (link.kind == LinkKind::Collective) {
        const std::uint32_t number = m_graph.members()[link.index].instance;
        const CollectiveInstance& instance = m_graph.instances()[number];
        if (instance.flow == CollectiveFlow::FromLower) {
          m_members[link.index] = m_clocks.hold(place.rank, 1);
        } else if (instance.contributors > 0) {
          giveAll(place.rank, number, instance.contributors);
        }
      } else if (completes(place, link) && m_sent[link.index] == kNone) {
        m_sent[link.index] = m_clocks.hold(place.rank, 1);
      }
    }
  }

  void enter(Place place) {
    for (const Link link : m_graph.outgoing(place)) {
      if (link.kind == LinkKind::Synchronous) {
        const Place to = syncCompletion(link);
        take(place.rank, posted(link.index), to.rank, kBeyond - to.serial);
      } else if (link.kind == LinkKind::Message) {
        take(place.rank, m_sent[link.index], static_cast<std::uint32_t>(message(link).dest),
             kBeyond - static_cast<std::uint32_t>(message(link).completion));
      } else {
        takeCollective(place, link.index);
      }
    }
    if (place.serial % m_out.every == 0) {
      const std::size_t n = place.serial / m_out.every - 1;
      const auto row = m_clocks.row(place.rank);
      std::ranges::transform(
          row, m_out.future[place.rank].begin() + static_cast<std::ptrdiff_t>(n * m_out.ranks),
          [](std::uint32_t value) { return value == 0 ? 0 : kBeyond - value; });
    }
  }

  void takeCollective(Place place, std::uint32_t member) {
    const std::uint32_t number = m_graph.members()[member].instance;
    const CollectiveInstance& instance = m_graph.instances()[number];
    if (instance.flow != CollectiveFlow::FromLower) {
      takeAll(place.rank, number);
      return;
    }
    for (std::uint32_t i = member + 1; i < instance.end; ++i) {
      if (m_members[i] != kNone) {
        const CollectiveMember& taker = m_graph.members()[i];
        m_clocks.join(place.rank, m_members[i], taker.entry.rank, kBeyond - taker.completion);
      }
    }
  }

  ClockCheckpoints& m_out;
};

}  // namespace

std::uint32_t checkpointDistance(std::size_t ranks, std::size_t events) {
  constexpr std::size_t kMany = 2'000'000;  // whose clocks would take much memory
  std::uint32_t every = events < kMany ? 512 : 2048;
  while (every < 4096 && every < 8 * ranks) {
    every *= 2;
  }
  return every;
}

ClockCheckpoints clockCheckpoints(const Execution& execution, std::uint32_t every) {
  ClockCheckpoints out;
  out.ranks = execution.ranks.size();
  std::size_t events = 0;
  for (const RankHistory& rank : execution.ranks) {
    events += rank.events.size();
  }
  out.every = every == 0 ? checkpointDistance(out.ranks, events) : every;
  const auto isLong = [&](const RankHistory& rank) { return rank.events.size() >= out.every; };
  if (out.ranks > kMostRanks || std::ranges::none_of(execution.ranks, isLong)) {
    return {};
  }
  out.past.resize(out.ranks);
  out.future.resize(out.ranks);
  const EventGraph graph(execution);
  std::vector<Run> runs;
  {
    ForwardClocks forward(execution, graph, out);
    if (!forward.run()) {
      return {};
    }
    runs = forward.runs();
  }
  return BackwardClocks(execution, graph, out).run(runs) ? out : ClockCheckpoints();
}

}  // namespace pf
