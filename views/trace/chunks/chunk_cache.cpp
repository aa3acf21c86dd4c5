// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/chunks/chunk_cache.h"

#include <algorithm>
#include <numeric>

namespace pf::views {

EventItems::EventItems(std::size_t events, Pairs pairs) {
  std::erase_if(pairs, [events](const auto& pair) { return pair.first >= events; });
  m_first.assign(events / kEvents + 2, 0);
  for (const auto& [event, item] : pairs) {
    ++m_first[event / kEvents + 1];
  }
  std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
  m_items.resize(pairs.size());
  m_within.resize(pairs.size());
  std::vector<std::uint32_t> end(m_first.begin(), m_first.end() - 1);
  for (const auto& [event, item] : pairs) {  // in their order at each event
    const std::size_t block = event / kEvents;
    const auto within = static_cast<std::uint8_t>(event % kEvents);
    std::uint32_t at = end[block]++;
    for (; at > m_first[block] && m_within[at - 1] > within; --at) {
      m_items[at] = m_items[at - 1];
      m_within[at] = m_within[at - 1];
    }
    m_items[at] = item;
    m_within[at] = within;
  }
}

std::span<const std::uint32_t> EventItems::at(std::size_t event) const {
  const std::size_t block = event / kEvents;
  if (block + 1 >= m_first.size()) {
    return {};
  }
  const auto wanted = static_cast<std::uint8_t>(event % kEvents);
  std::uint32_t from = m_first[block];
  const std::uint32_t last = m_first[block + 1];
  while (from < last && m_within[from] < wanted) {
    ++from;
  }
  std::uint32_t to = from;
  while (to < last && m_within[to] == wanted) {
    ++to;
  }
  return std::span<const std::uint32_t>(m_items).subspan(from, to - from);
}

void EventItems::mark(std::vector<bool>& events) const {
  std::size_t block = 0;
  for (std::size_t i = 0; i < m_items.size(); ++i) {
    while (m_first[block + 1] <= i) {
      ++block;
    }
    events[block * kEvents + m_within[i]] = true;
  }
}

std::size_t EventItems::bytes() const {
  return (m_first.capacity() + m_items.capacity()) * sizeof(std::uint32_t) + m_within.capacity();
}

void EventLinks::markFlows(std::size_t events) {
  takes.assign(events, false);
  gives.assign(events, false);
  for (const EventItems* each : {&completed, &synchronousDone, &collectivesDone}) {
    each->mark(takes);
  }
  for (const EventItems* each : {&sent, &posted}) {
    each->mark(gives);
  }
}

std::size_t EventLinks::bytes() const {
  return sent.bytes() + posted.bytes() + completed.bytes() + probes.bytes() +
         synchronousDone.bytes() + collectivesDone.bytes() + (takes.size() + gives.size()) / 8;
}

void CacheBudget::added(void* shelf, Drop drop, Rank rank, std::size_t ordinal, std::size_t bytes) {
  const std::lock_guard lock(m_mutex);
  m_entries.push_back({shelf, drop, rank, ordinal, bytes});
  m_bytes += bytes;
  // Each is passed over once at most: then it counts as not used.
  for (std::size_t tries = 2 * m_entries.size(); m_bytes > m_most && tries > 0; --tries) {
    const Entry oldest = m_entries.front();
    m_entries.pop_front();
    if (oldest.drop(oldest.shelf, oldest.rank, oldest.ordinal)) {
      m_bytes -= oldest.bytes;
    } else {
      m_entries.push_back(oldest);
    }
  }
}

std::size_t CacheBudget::bytes() const {
  const std::lock_guard lock(m_mutex);
  return m_bytes;
}

ChunkCache::ChunkCache(std::shared_ptr<const ExecutionChunks> source, std::size_t ranks,
                       std::size_t mostBytes)
    : m_source(std::move(source)),
      m_firstMessage(ranks + 1, 0),
      m_budget(mostBytes),
      m_events(m_budget, ranks),
      m_receives(m_budget, ranks),
      m_probes(m_budget, ranks),
      m_sends(m_budget, ranks),
      m_collectives(m_budget, ranks),
      m_times(m_budget, ranks),
      m_steps(m_budget, ranks),
      m_sendEnds(m_budget, ranks),
      m_receiveEnds(m_budget, ranks),
      m_links(m_budget, ranks) {
  for (std::size_t stream = 0; stream < kChunkStreams; ++stream) {
    m_shift[stream] = m_source->shift(static_cast<ChunkStream>(stream));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      m_reach[stream].push_back(
          reachOf(chunks(static_cast<Rank>(rank), static_cast<ChunkStream>(stream))));
    }
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    m_firstMessage[rank + 1] = m_firstMessage[rank] + count<SentHere>(static_cast<Rank>(rank));
  }
}

std::vector<ChunkCache::Reach> ChunkCache::reachOf(std::span<const ChunkInfo> chunks) {
  std::vector<Reach> all;
  all.reserve(chunks.size());
  Serial last = 0;
  for (const ChunkInfo& chunk : chunks) {
    last = std::max({last, chunk.lastSerial, chunk.lastCompletion});
    all.push_back({last, chunk.firstCompletion == 0
                             ? chunk.firstSerial
                             : std::min(chunk.firstSerial, chunk.firstCompletion)});
  }
  for (std::size_t i = all.size(); i > 1; --i) {
    all[i - 2].first = std::min(all[i - 2].first, all[i - 1].first);
  }
  return all;
}

std::pair<std::size_t, std::size_t> ChunkCache::chunksAt(Rank rank, ChunkStream stream,
                                                         Serial first, Serial last) const {
  const std::vector<Reach>& all =
      m_reach[static_cast<std::size_t>(stream)][static_cast<std::size_t>(rank)];
  const auto begin = std::ranges::lower_bound(all, first, {}, &Reach::last);
  const auto end = std::ranges::upper_bound(begin, all.end(), last, {}, &Reach::first);
  return {begin - all.begin(), end - all.begin()};
}

std::uint32_t ChunkCache::step(Rank rank, std::size_t i) const {
  std::uint32_t out = kNone;
  const auto take = [&](const std::vector<EventStep>& values) {
    const std::size_t at = within<EventStep>(i);
    out = at < values.size() ? values[at].step : kNone;
  };
  if (!m_steps.with(rank, chunkOf<EventStep>(i), take)) {
    take(*page<EventStep>(rank, chunkOf<EventStep>(i)));
  }
  return out != kNone ? out : chunks(rank, ChunkStream::Event)[chunkOf<EventStep>(i)].firstStep;
}

Rank ChunkCache::senderOf(std::size_t m) const {
  const auto above = std::upper_bound(m_firstMessage.begin(), m_firstMessage.end(), m);
  return static_cast<Rank>(above - m_firstMessage.begin()) - 1;
}

std::shared_ptr<const EventLinks> ChunkCache::links(Rank rank, std::size_t ordinal) const {
  return m_links.get(rank, ordinal, [&] {
    auto made = std::make_shared<const EventLinks>(makeLinks(rank, ordinal));
    const std::size_t bytes = made->bytes();
    return std::pair(std::move(made), bytes);
  });
}

namespace {

/// The events of a chunk.
struct Span {
  Serial first = 0;
  Serial last = 0;
  [[nodiscard]] bool has(Serial serial) const { return serial >= first && serial <= last; }
  [[nodiscard]] bool meets(Serial from, Serial to) const { return from <= last && to >= first; }
  void add(EventItems::Pairs& pairs, Serial serial, std::size_t item) const {
    if (has(serial)) {
      pairs.emplace_back(static_cast<std::uint32_t>(serial - first),
                         static_cast<std::uint32_t>(item));
    }
  }
};

}  // namespace

EventLinks ChunkCache::makeLinks(Rank rank, std::size_t ordinal) const {
  const ChunkInfo chunk = chunks(rank, ChunkStream::Event)[ordinal];
  const Span span{chunk.firstSerial, chunk.lastSerial};
  const auto meets = [&](const ChunkInfo& other) {
    return span.meets(other.firstSerial, other.lastSerial) ||
           (other.lastCompletion != 0 && span.meets(other.firstCompletion, other.lastCompletion));
  };
  EventItems::Pairs sent;
  EventItems::Pairs synchronousDone;
  forEach<SendEnds>(rank, span.first, span.last, meets, [&](const SendEnds& value, std::size_t i) {
    span.add(sent, value.event, firstMessage(rank) + i);
    span.add(synchronousDone, value.syncCompletion, firstMessage(rank) + i);
  });
  EventItems::Pairs posted;
  EventItems::Pairs completed;
  forEach<ReceiveEnds>(rank, span.first, span.last, meets,
                       [&](const ReceiveEnds& value, std::size_t i) {
                         span.add(posted, value.post, i);
                         span.add(completed, value.completion, i);
                       });
  EventItems::Pairs probes;
  forEach<ProbeHit>(rank, span.first, span.last, meets, [&](const ProbeHit& value, std::size_t i) {
    span.add(probes, value.event, i);
  });
  EventItems::Pairs collectivesDone;
  forEach<CollectivePart>(rank, span.first, span.last, meets,
                          [&](const CollectivePart& value, std::size_t i) {
                            span.add(collectivesDone, value.completion, i);
                          });
  EventLinks out;
  out.sent = EventItems(chunk.values, std::move(sent));
  out.synchronousDone = EventItems(chunk.values, std::move(synchronousDone));
  out.posted = EventItems(chunk.values, std::move(posted));
  out.completed = EventItems(chunk.values, std::move(completed));
  out.probes = EventItems(chunk.values, std::move(probes));
  out.collectivesDone = EventItems(chunk.values, std::move(collectivesDone));
  out.markFlows(chunk.values);
  return out;
}

}  // namespace pf::views
