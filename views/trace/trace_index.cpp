// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/trace_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace pf::views {

namespace {

constexpr std::size_t kBlock = 256;

/// 0 … count - 1 by key, which is at most `last`; equal keys stay in their order.
template <typename Key>
std::vector<std::uint32_t> inOrderOf(std::size_t count, std::uint32_t last, Key&& key) {
  std::vector<std::uint32_t> order(count);
  if (last / 8 > count + 4096) {  // more keys than it is worth to count them
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    return order;
  }
  std::vector<std::uint32_t> next(std::size_t{last} + 2, 0);
  for (std::size_t i = 0; i < count; ++i) {
    ++next[std::size_t{key(i)} + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < count; ++i) {
    order[next[key(i)]++] = static_cast<std::uint32_t>(i);
  }
  return order;
}

}  // namespace

static std::shared_ptr<const ChunkCache> pagesOf(const TraceData& data) {
  return data.chunks == nullptr
             ? nullptr
             : std::make_shared<const ChunkCache>(data.chunks, data.execution.ranks.size());
}

TraceIndex::TraceIndex(TraceDataPtr data)
    : m_data(std::move(data)),
      m_pages(pagesOf(*m_data)),
      m_view(m_pages == nullptr ? ExecutionView(m_data->execution)
                                : ExecutionView(*m_pages, m_data->execution)),
      m_links(std::make_shared<Links>()) {
  m_base.reserve(rankCount());
  for (const RankView& rank : execution().ranks) {
    m_base.push_back(m_total);
    m_total += rank.events.size();
  }
  indexTimes();
  if (m_pages == nullptr) {
    indexMessages();
    indexReceives();
  }
  for (std::size_t r = 0; m_pages != nullptr && r < rankCount(); ++r) {
    for (const ChunkInfo& chunk : m_pages->chunks(static_cast<Rank>(r), ChunkStream::Send)) {
      m_synchronous = m_synchronous || chunk.lastCompletion != 0;
    }
  }
  indexRaces();
  indexCollectives();
  m_links->events.markFlows(m_pages == nullptr ? m_total : 0);
}

Serial TraceIndex::lastSerial(Rank rank) const {
  return rank >= 0 && index(rank) < rankCount()
             ? Serial{execution().ranks[index(rank)].events.size()}
             : 0;
}

bool TraceIndex::contains(EventRef ref) const {
  return ref.serial != 0 && ref.serial <= lastSerial(ref.rank);
}

Event TraceIndex::event(EventRef ref) const {
  return contains(ref) ? execution().ranks[index(ref.rank)].events[ref.serial - 1] : Event{};
}

std::size_t TraceIndex::id(EventRef ref) const {
  return contains(ref) ? m_base[index(ref.rank)] + (ref.serial - 1) : m_total;
}

LinkedItems TraceIndex::items(EventRef ref, const EventItems EventLinks::*which) const {
  if (!contains(ref)) {
    return {};
  }
  if (m_pages == nullptr) {
    return {nullptr, (m_links->events.*which).at(id(ref))};
  }
  auto links = m_pages->links(ref.rank, m_pages->chunkOf<TimedEvent>(ref.serial - 1));
  const auto found = ((*links).*which).at(m_pages->within<TimedEvent>(ref.serial - 1));
  return {std::move(links), found};
}

// Times that are missing or do not grow along a rank are replaced by serials, so that searches stay
// valid.
void TraceIndex::indexTimes() {
  const std::vector<RankHistory>& ranks = data().execution.ranks;
  bool good = m_pages != nullptr || data().logicalTimes.size() == rankCount();
  for (std::size_t r = 0; good && m_pages == nullptr && r < rankCount(); ++r) {
    const auto& times = data().logicalTimes[r];
    good = times.size() == ranks[r].events.size() && std::is_sorted(times.begin(), times.end());
  }
  if (!good) {
    m_links->fallbackTimes.resize(rankCount());
    for (std::size_t r = 0; r < rankCount(); ++r) {
      m_links->fallbackTimes[r].resize(ranks[r].events.size());
      std::iota(m_links->fallbackTimes[r].begin(), m_links->fallbackTimes[r].end(), 1U);
    }
  }
  m_lastTime = hasEvents() ? 1 : data().outline->lastTime;
  for (std::size_t r = 0; r < rankCount(); ++r) {
    const EventSteps t = times(static_cast<Rank>(r));
    m_lastTime = std::max(m_lastTime, t.empty() ? 1U : t.back());
  }
}

EventSteps TraceIndex::times(Rank rank) const {
  if (rank < 0 || index(rank) >= rankCount()) {
    return {};
  }
  if (m_axis == TimeAxis::Physical) {
    return EventSteps(m_physicalTimes[index(rank)]);
  }
  if (m_pages != nullptr) {
    return {*m_pages, rank};
  }
  return EventSteps(m_links->fallbackTimes.empty() ? data().logicalTimes[index(rank)]
                                                   : m_links->fallbackTimes[index(rank)]);
}

std::uint32_t TraceIndex::time(EventRef ref) const {
  if (m_pages != nullptr && contains(ref)) {
    return m_pages->step(ref.rank, ref.serial - 1);
  }
  return contains(ref) ? times(ref.rank)[ref.serial - 1] : 0;
}

std::pair<Serial, Serial> TraceIndex::serialsIn(Rank rank, double from, double to) const {
  const EventSteps t = times(rank);
  const std::size_t lower = t.before(from);
  return {lower + 1, std::max(lower, t.upTo(to)) + 1};
}

EventRef TraceIndex::nearest(Rank rank, std::uint32_t time) const {
  const EventSteps t = times(rank);
  if (t.empty()) {
    return {};
  }
  std::size_t at = t.before(time);
  if (at == t.size() || (at != 0 && time - t[at - 1] < t[at] - time)) {
    --at;
  }
  return {rank, at + 1};
}

EventRef TraceIndex::arrival(const Message& message) const {
  if (message.completion != 0) {
    return {message.dest, message.completion};
  }
  if (message.post == kNone || message.dest < 0 || index(message.dest) >= rankCount()) {
    return {};
  }
  const auto& receives = execution().ranks[index(message.dest)].receives;
  return message.post < receives.size() ? EventRef{message.dest, receives[message.post].post}
                                        : EventRef{};
}

void TraceIndex::indexMessages() {
  const auto& messages = data().execution.messages;
  EventItems::Pairs sent;
  sent.reserve(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) {
    sent.emplace_back(shortId(messages[m].send), static_cast<std::uint32_t>(m));
  }
  m_links->events.sent = EventItems(m_total, std::move(sent));
  EventItems::Pairs synced;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const EventRef from = messages[m].send;
    if (contains(from)) {
      const auto& sends = data().execution.ranks[index(from.rank)].sends;
      if (messages[m].sendIndex < sends.size()) {
        synced.emplace_back(shortId({from.rank, sends[messages[m].sendIndex].syncCompletion}),
                            static_cast<std::uint32_t>(m));
      }
    }
  }
  m_links->events.synchronousDone = EventItems(m_total, std::move(synced));
  orderMessages();
}

void TraceIndex::orderMessages() {
  const auto& messages = data().execution.messages;
  m_bySendTime =
      inOrderOf(messages.size(), m_lastTime, [&](std::size_t m) { return departure(messages[m]); });
  m_blockEnd.clear();
  for (std::size_t i = 0; i < m_bySendTime.size(); ++i) {
    if (i % kBlock == 0) {
      m_blockEnd.push_back(0);
    }
    const Message& message = messages[m_bySendTime[i]];
    const std::uint32_t end = std::max(time(arrival(message)), departure(message) + 1);
    m_blockEnd.back() = std::max(m_blockEnd.back(), end);
  }
}

void TraceIndex::forMessagesIn(double from, double to,
                               const std::function<void(const MessageLine&)>& visit) const {
  for (std::size_t r = 0; m_pages != nullptr && r < rankCount(); ++r) {
    const auto rank = static_cast<Rank>(r);
    const auto chunks = m_pages->chunks(rank, ChunkStream::Send);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (static_cast<double>(chunks[i].firstStep) <= to &&
          static_cast<double>(chunks[i].lastStep) + 1 >= from) {
        forMessagesOfChunk(rank, i, from, to, visit);
      }
    }
  }
  const auto& messages = data().execution.messages;
  for (std::size_t block = 0; block < m_blockEnd.size(); ++block) {
    const std::size_t begin = block * kBlock;
    if (static_cast<double>(departure(messages[m_bySendTime[begin]])) > to) {
      return;
    }
    if (static_cast<double>(m_blockEnd[block]) < from) {
      continue;
    }
    const std::size_t end = std::min(begin + kBlock, m_bySendTime.size());
    for (std::size_t i = begin; i < end; ++i) {
      const Message& message = messages[m_bySendTime[i]];
      const std::uint32_t sent = departure(message);
      const std::uint32_t arrives = time(arrival(message));
      if (static_cast<double>(sent) <= to &&
          static_cast<double>(std::max(arrives, sent + 1)) >= from) {
        visit({m_bySendTime[i], message.send.rank, message.dest, sent, arrives});
      }
    }
  }
}

void TraceIndex::forMessagesOfChunk(Rank rank, std::size_t ordinal, double from, double to,
                                    const std::function<void(const MessageLine&)>& visit) const {
  const auto sends = m_pages->page<SendEnds>(rank, ordinal);
  const std::size_t first = m_pages->firstMessage(rank) + m_pages->firstOf<SendEnds>(ordinal);
  const EventSteps steps = times(rank);
  for (std::size_t i = 0; i < sends->size(); ++i) {
    const SendEnds& message = (*sends)[i];
    const std::uint32_t sent = steps[message.event - 1];
    const std::uint32_t arrives = message.arrival == kNone ? 0 : message.arrival;
    if (static_cast<double>(sent) <= to &&
        static_cast<double>(std::max(arrives, sent + 1)) >= from) {
      visit({static_cast<std::uint32_t>(first + i), rank, message.dest, sent, arrives});
    }
  }
}

void TraceIndex::indexReceives() {
  EventItems::Pairs posted;
  EventItems::Pairs completed;
  EventItems::Pairs probes;
  for (std::size_t r = 0; r < rankCount(); ++r) {
    const RankHistory& history = data().execution.ranks[r];
    const Rank rank = static_cast<Rank>(r);
    for (std::size_t i = 0; i < history.receives.size(); ++i) {
      posted.emplace_back(shortId({rank, history.receives[i].post}), static_cast<std::uint32_t>(i));
      completed.emplace_back(shortId({rank, history.receives[i].completion}),
                             static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < history.probes.size(); ++i) {
      probes.emplace_back(shortId({rank, history.probes[i].event}), static_cast<std::uint32_t>(i));
    }
  }
  m_links->events.posted = EventItems(m_total, std::move(posted));
  m_links->events.completed = EventItems(m_total, std::move(completed));
  m_links->events.probes = EventItems(m_total, std::move(probes));
}

void TraceIndex::indexCollectives() {
  struct Parts {
    std::vector<EventRef> events;
    bool joins = true;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Parts> groups;
  EventItems::Pairs done;
  for (std::size_t r = 0; r < rankCount(); ++r) {
    std::uint32_t number = 0;
    for (const CollectivePart part : execution().ranks[r].collectives) {
      const EventRef ref{static_cast<Rank>(r), part.event};
      if (m_pages == nullptr) {
        done.emplace_back(shortId({static_cast<Rank>(r), part.completion}), number++);
      }
      if (contains(ref)) {
        Parts& parts = groups[{part.comm, part.ordinal}];
        parts.events.push_back(ref);
        parts.joins = parts.joins && part.flow == CollectiveFlow::AllToAll && part.contributes &&
                      part.takes && part.completion == part.event;
      }
    }
  }
  m_links->events.collectivesDone = EventItems(m_pages == nullptr ? m_total : 0, std::move(done));
  EventItems::Pairs grouped;
  for (auto& [key, parts] : groups) {
    CollectiveGroup group{key.first,   key.second, 0, 0, 0, std::move(parts.events),
                          parts.joins, false};
    group.meets = group.joins && group.parts.size() == rankCount();
    for (std::size_t r = 0; r < group.parts.size(); ++r) {
      group.meets = group.meets && index(group.parts[r].rank) == r;
    }
    placeGroup(group);
    m_onlyJoins = m_onlyJoins && group.joins;
    for (const EventRef part : group.parts) {
      grouped.emplace_back(shortId(part), static_cast<std::uint32_t>(m_groups.size()));
    }
    m_groups.push_back(std::move(group));
  }
  m_links->groupAt = EventItems(m_total, std::move(grouped));
}

void TraceIndex::placeGroup(CollectiveGroup& group) const {
  group.firstTime = group.about = m_lastTime;
  group.lastTime = 0;
  for (const EventRef part : group.parts) {
    if (m_pages == nullptr) {
      group.firstTime = std::min(group.firstTime, time(part));
      group.lastTime = std::max(group.lastTime, time(part));
      continue;
    }
    const ChunkInfo& chunk = m_pages->chunks(
        part.rank, ChunkStream::Event)[m_pages->chunkOf<TimedEvent>(part.serial - 1)];
    const double share = static_cast<double>(part.serial - chunk.firstSerial) / chunk.values;
    group.firstTime = std::min(group.firstTime, chunk.firstStep);
    group.lastTime = std::max(group.lastTime, chunk.lastStep);
    group.about = std::min(
        group.about,
        chunk.firstStep + static_cast<std::uint32_t>(share * (chunk.lastStep - chunk.firstStep)));
  }
  group.about = m_pages == nullptr ? group.firstTime : group.about;
}

std::uint32_t TraceIndex::firstTimeOf(const CollectiveGroup& group) const {
  if (m_pages == nullptr) {
    return group.firstTime;
  }
  std::uint32_t first = m_lastTime;
  for (const EventRef part : group.parts) {
    first = std::min(first, time(part));
  }
  return first;
}

std::uint32_t TraceIndex::collectiveAt(EventRef ref) const {
  const auto group = m_links->groupAt.at(id(ref));
  return contains(ref) && !group.empty() ? group.front() : kNone;
}

LinkedItems TraceIndex::sentAt(EventRef ref) const {
  return items(ref, &EventLinks::sent);
}
LinkedItems TraceIndex::postedAt(EventRef ref) const {
  return items(ref, &EventLinks::posted);
}
LinkedItems TraceIndex::completedAt(EventRef ref) const {
  return items(ref, &EventLinks::completed);
}
LinkedItems TraceIndex::synchronousDoneAt(EventRef ref) const {
  return items(ref, &EventLinks::synchronousDone);
}
LinkedItems TraceIndex::collectivesDoneAt(EventRef ref) const {
  return items(ref, &EventLinks::collectivesDone);
}
LinkedItems TraceIndex::probesAt(EventRef ref) const {
  return items(ref, &EventLinks::probes);
}
bool TraceIndex::isWildcard(EventRef ref) const {
  for (const std::uint32_t r : postedAt(ref)) {
    if (execution().ranks[index(ref.rank)].receives[r].wantedSource == kAnySource) {
      return true;
    }
  }
  for (const std::uint32_t p : probesAt(ref)) {
    if (execution().ranks[index(ref.rank)].probes[p].wantedSource == kAnySource) {
      return true;
    }
  }
  return false;
}

std::uint32_t TraceIndex::messageCount() const {
  return static_cast<std::uint32_t>(execution().messages.size());
}

TraceIndexPtr makeIndex(TraceDataPtr data) {
  return data ? std::make_shared<const TraceIndex>(std::move(data)) : nullptr;
}

}  // namespace pf::views
