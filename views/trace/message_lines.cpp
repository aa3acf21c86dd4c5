// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/message_lines.h"

#include <algorithm>
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

bool lineMeets(std::uint32_t departs, std::uint32_t arrives, double from, double to) {
  return static_cast<double>(departs) <= to &&
         static_cast<double>(std::max(arrives, departs + 1)) >= from;
}

}  // namespace

MessageLines::MessageLines(const TraceEvents& events, const TraceTimes& times)
    : m_events(events), m_times(times) {
  if (events.pages() != nullptr) {
    return;
  }
  const auto& messages = events.data().execution.messages;
  m_byDeparture = inOrderOf(messages.size(), times.last(),
                            [&](std::size_t m) { return times.departure(messages[m]); });
  for (std::size_t i = 0; i < m_byDeparture.size(); ++i) {
    if (i % kBlock == 0) {
      m_blockEnd.push_back(0);
    }
    const Message& message = messages[m_byDeparture[i]];
    const std::uint32_t end = std::max(times.at(arrival(message)), times.departure(message) + 1);
    m_blockEnd.back() = std::max(m_blockEnd.back(), end);
  }
}

EventRef MessageLines::arrival(const Message& message) const {
  if (message.completion != 0) {
    return {message.dest, message.completion};
  }
  if (message.post == kNone || message.dest < 0 || index(message.dest) >= m_events.rankCount()) {
    return {};
  }
  const auto& receives = m_events.execution().ranks[index(message.dest)].receives;
  return message.post < receives.size() ? EventRef{message.dest, receives[message.post].post}
                                        : EventRef{};
}

void MessageLines::forEachIn(double from, double to, const Visit& visit) const {
  if (m_events.pages() != nullptr) {
    forEachOfChunks(from, to, visit);
    return;
  }
  const auto& messages = m_events.data().execution.messages;
  for (std::size_t block = 0; block < m_blockEnd.size(); ++block) {
    const Message& first = messages[m_byDeparture[block * kBlock]];
    if (static_cast<double>(m_times.departure(first)) > to) {
      return;
    }
    if (static_cast<double>(m_blockEnd[block]) >= from) {
      forEachOfBlock(block, from, to, visit);
    }
  }
}

void MessageLines::forEachOfBlock(std::size_t block, double from, double to,
                                  const Visit& visit) const {
  const auto& messages = m_events.data().execution.messages;
  const std::size_t end = std::min((block + 1) * kBlock, m_byDeparture.size());
  for (std::size_t i = block * kBlock; i < end; ++i) {
    const Message& message = messages[m_byDeparture[i]];
    const std::uint32_t departs = m_times.departure(message);
    const std::uint32_t arrives = m_times.at(arrival(message));
    if (lineMeets(departs, arrives, from, to)) {
      visit({m_byDeparture[i], message.send.rank, message.dest, departs, arrives});
    }
  }
}

void MessageLines::forEachOfChunks(double from, double to, const Visit& visit) const {
  for (std::size_t r = 0; r < m_events.rankCount(); ++r) {
    const auto rank = static_cast<Rank>(r);
    const auto chunks = m_events.pages()->chunks(rank, ChunkStream::Send);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (static_cast<double>(chunks[i].firstStep) <= to &&
          static_cast<double>(chunks[i].lastStep) + 1 >= from) {
        forEachOfChunk(rank, i, from, to, visit);
      }
    }
  }
}

void MessageLines::forEachOfChunk(Rank rank, std::size_t ordinal, double from, double to,
                                  const Visit& visit) const {
  const ChunkCache& pages = *m_events.pages();
  const auto sends = pages.page<SendEnds>(rank, ordinal);
  const std::size_t first = pages.firstMessage(rank) + pages.firstOf<SendEnds>(ordinal);
  const EventSteps steps = m_times.of(rank);
  for (std::size_t i = 0; i < sends->size(); ++i) {
    const SendEnds& message = (*sends)[i];
    const std::uint32_t departs = steps[message.event - 1];
    const std::uint32_t arrives = message.arrival == kNone ? 0 : message.arrival;
    if (lineMeets(departs, arrives, from, to)) {
      visit({static_cast<std::uint32_t>(first + i), rank, message.dest, departs, arrives});
    }
  }
}

}  // namespace pf::views
