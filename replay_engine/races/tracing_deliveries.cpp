// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/vector_clocks.h"
#include "replay_engine/execution/record_checks.h"
#include "replay_engine/races/tracing.h"

namespace pf::tracing {
namespace {

/// For each message how many events of its destination are known to have finished where it is sent.
class KnownAtSend final : public ClockObserver {
 public:
  explicit KnownAtSend(const Execution& execution)
      : m_execution(execution), m_known(execution.messages.size(), 0) {}

  [[nodiscard]] Serial of(std::uint32_t message) const {
    return message < m_known.size() ? m_known[message] : 0;
  }
  void onSend(std::uint32_t message, const Knowledge& known) override {
    const Rank dest = m_execution.messages[message].dest;
    m_known[message] = isRank(m_execution, dest) ? known.of(static_cast<std::uint32_t>(dest)) : 0;
  }
  void onDelivery(std::uint32_t /*message*/, const Knowledge& /*known*/) override {}
  void onLeave(Place /*place*/, const Knowledge& /*known*/) override {}

 private:
  const Execution& m_execution;
  std::vector<std::uint32_t> m_known;
};

/// Clocks without the order among deliveries, of ranks: threads are traced in the order recorded.
KnownAtSend knownAtSend(const Execution& execution) {
  const Chains chains(execution.ranks.size());
  const DeliveryOrder none(execution, NoDeliveries{});
  const EventGraph graph(execution);
  KnownAtSend known(execution);
  VectorClocks(execution, chains, graph, none, known).run();
  return known;
}

std::vector<Delivery> deliveriesOf(const RankHistory& history, const KnownAtSend& known) {
  std::vector<Delivery> found;
  for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
    const PostedReceive& r = history.receives[i];
    if (isCompleted(history, r)) {
      found.push_back({false, i, r.comm, r.wantedSource, r.wantedTag, r.source, r.tag, r.message,
                       r.completion, known.of(r.message)});
    }
  }
  for (std::uint32_t i = 0; i < history.probes.size(); ++i) {
    const ProbeHit& p = history.probes[i];
    if (p.wantedSource == kAnySource && isEvent(history, p.event)) {
      found.push_back({true, i, p.comm, p.wantedSource, p.wantedTag, p.source, p.tag, p.message,
                       p.event, known.of(p.message)});
    }
  }
  std::ranges::sort(found, {}, [](const Delivery& delivery) {
    return std::tuple(delivery.completion, delivery.probe, delivery.index);
  });
  for (std::uint32_t i = 0; i < found.size(); ++i) {
    found[i].number = i;
  }
  return found;
}

/// Finds what the wildcards of one rank race with, from the last posted to the first.
class LaterMessages {
 public:
  LaterMessages(const Execution& execution, const KnownAtSend& known,
                std::vector<std::uint32_t> messages)
      : m_execution(execution), m_known(known), m_messages(std::move(messages)) {
    std::ranges::stable_sort(m_messages, {}, [&](std::uint32_t message) {
      return execution.messages[message].post;  // none is kNone, so last
    });
  }

  void find(const RankHistory& history, std::vector<Delivery>& deliveries) {
    // Messages of receives posted before `limit` are out of question.
    std::vector<std::pair<std::uint32_t, Delivery*>> byLimit;
    for (Delivery& delivery : deliveries) {
      if (delivery.wildcard()) {
        const std::uint32_t limit =
            delivery.probe ? history.probes[delivery.index].postsBefore : delivery.index + 1;
        byLimit.emplace_back(limit, &delivery);
      }
    }
    std::ranges::stable_sort(byLimit, std::greater<>{},
                             &std::pair<std::uint32_t, Delivery*>::first);
    for (const auto& [limit, delivery] : byLimit) {
      addFrom(limit);
      delivery->racesWithInFlight = m_inFlight.race(delivery->comm, delivery->wantedTag, *delivery);
      delivery->racesWithLater = m_all.race(delivery->comm, delivery->wantedTag, *delivery);
    }
  }

 private:
  void addFrom(std::uint32_t limit) {
    for (; !m_messages.empty() && m_execution.messages[m_messages.back()].post >= limit;
         m_messages.pop_back()) {
      const Message& message = m_execution.messages[m_messages.back()];
      const Serial known = m_known.of(m_messages.back());
      for (const Tag tag : {message.tag, kAnyTag}) {
        m_all.add(message.comm, tag, message.send.rank, known);
        if (message.completion == 0) {
          m_inFlight.add(message.comm, tag, message.send.rank, known);
        }
      }
    }
  }

  const Execution& m_execution;
  const KnownAtSend& m_known;
  std::vector<std::uint32_t> m_messages;  ///< still to add
  LeastKnown m_all;
  LeastKnown m_inFlight;
};

/// Everything to come is posted after all receives before `firstOpen`: among these the order of
/// posts does not matter any more.
std::uint32_t effective(std::uint32_t index, std::uint32_t firstOpen) {
  return index < firstOpen ? 0 : index;
}

/// The tags of the receives that accept this one.
std::vector<Tag> tagsFor(Tag tag) {
  return tag == kAnyTag ? std::vector<Tag>{kAnyTag} : std::vector<Tag>{tag, kAnyTag};
}

}  // namespace

std::vector<std::vector<Delivery>> observedDeliveries(const Execution& execution) {
  const KnownAtSend known = knownAtSend(execution);
  std::vector<std::vector<std::uint32_t>> messages(execution.ranks.size());
  for (std::uint32_t i = 0; i < execution.messages.size(); ++i) {
    if (isRank(execution, execution.messages[i].dest)) {
      messages[static_cast<std::size_t>(execution.messages[i].dest)].push_back(i);
    }
  }
  std::vector<std::vector<Delivery>> byRank;
  byRank.reserve(execution.ranks.size());
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    byRank.push_back(deliveriesOf(execution.ranks[rank], known));
    LaterMessages(execution, known, std::move(messages[rank]))
        .find(execution.ranks[rank], byRank.back());
  }
  return byRank;
}

void LeastKnown::add(std::uint32_t comm, Tag tag, Rank source, Serial known) {
  std::vector<Least>& kept = m_least[{comm, tag}];
  const auto same = std::ranges::find(kept, source, &Least::source);
  if (same == kept.end()) {
    kept.push_back({known, source});
  } else {
    same->known = std::min(same->known, known);
  }
  std::ranges::sort(kept, {}, &Least::known);
  if (kept.size() > 2) {
    kept.pop_back();
  }
}

bool LeastKnown::race(std::uint32_t comm, Tag tag, const Delivery& delivery) const {
  const auto found = m_least.find({comm, tag});
  return found != m_least.end() && std::ranges::any_of(found->second, [&](const Least& least) {
           return least.source != delivery.source && least.known < delivery.completion;
         });
}

OpenReceives::OpenReceives(const RankHistory& history) : m_history(history) {
  for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
    if (history.receives[i].wantedSource == kAnySource) {
      m_queues[{history.receives[i].comm, history.receives[i].wantedTag}].posts.push_back(i);
    }
  }
}

void OpenReceives::advance(const Delivery& now) {
  m_now = now.completion;
  m_nowIndex = now.index;
  while (m_firstOpen < m_history.receives.size() && !isOpen(m_firstOpen)) {
    ++m_firstOpen;  // open ones that will never be observed count: the rank does not know them yet
  }
}

bool OpenReceives::isOpen(std::uint32_t index) const {
  const Serial completion = m_history.receives[index].completion;
  return completion == 0 || completion > m_now || (completion == m_now && index > m_nowIndex);
}

bool OpenReceives::race(const Delivery& delivery) {
  return std::ranges::any_of(tagsFor(delivery.tag), [&](Tag tag) {
    const auto found = m_queues.find({delivery.comm, tag});
    if (found == m_queues.end()) {
      return false;
    }
    Queue& queue = found->second;
    while (queue.next < queue.posts.size() && !isOpen(queue.posts[queue.next])) {
      ++queue.next;
    }
    return queue.next < queue.posts.size() && queue.posts[queue.next] < delivery.index;
  });
}

bool Memory::races(const Delivery& delivery) const {
  return std::ranges::any_of(tagsFor(delivery.tag), [&](Tag tag) {
    const auto row = m_rows.find({delivery.comm, tag});
    if (row == m_rows.end()) {
      return false;
    }
    const std::vector<Entry>& entries = row->second.entries;
    for (std::size_t i = entries.size(); i-- > 0 && entries[i].completion > delivery.known;) {
      if (entries[i].index < delivery.index && entries[i].source != delivery.source) {
        return true;
      }
    }
    return false;
  });
}

void Memory::remember(const Delivery& delivery, std::uint32_t firstOpen) {
  if (!delivery.wildcard()) {
    return;
  }
  Row& row = m_rows[{delivery.comm, delivery.wantedTag}];
  row.entries.push_back({delivery.index, delivery.source, delivery.completion, delivery.number});
  if (row.entries.size() >= row.pruneAt) {
    prune(row, firstOpen);
  }
}

/// Drops those that later ones stand for: one with the same source, or two with different ones, as
/// one of the two races with a message whatever its source.
void Memory::prune(Row& row, std::uint32_t firstOpen) {
  std::vector<Entry> kept;  // the last first
  for (std::size_t i = row.entries.size(); i-- > 0;) {
    const Entry& entry = row.entries[i];
    std::set<Rank> sources;
    for (const Entry& later : kept) {
      if (effective(later.index, firstOpen) <= effective(entry.index, firstOpen)) {
        sources.insert(later.source);
      }
      if (sources.size() > 1) {
        break;
      }
    }
    if (sources.size() < 2 && !sources.contains(entry.source)) {
      kept.push_back(entry);
    }
  }
  row.entries.assign(kept.rbegin(), kept.rend());
  row.pruneAt = 2 * row.entries.size() + 2;
}

bool Memory::covers(const Delivery& delivery, std::uint32_t firstOpen) const {
  if (!delivery.wildcard()) {
    return true;
  }
  Rank source = kUnknownRank;
  bool found = false;
  for (const Tag tag : tagsFor(delivery.wantedTag)) {
    const auto row = m_rows.find({delivery.comm, tag});
    if (row == m_rows.end()) {
      continue;
    }
    const std::vector<Entry>& entries = row->second.entries;
    for (std::size_t i = entries.size(); i-- > 0 && entries[i].number >= delivery.number;) {
      if (effective(entries[i].index, firstOpen) > effective(delivery.index, firstOpen)) {
        continue;
      }
      if (entries[i].source == delivery.source || (found && entries[i].source != source)) {
        return true;
      }
      found = true;
      source = entries[i].source;
    }
  }
  return false;
}

}  // namespace pf::tracing
