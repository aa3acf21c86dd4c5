// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/chunks/execution_view.h"

#include <algorithm>
#include <cmath>

namespace pf::views {

Message MessageSequence::at(std::size_t m, Page& page) const {
  if (m_kept != nullptr) {
    return (*m_kept)[m];
  }
  if (m >= size()) {
    return {};
  }
  const Rank rank = page.rank >= 0 && m >= m_pages->firstMessage(page.rank) &&
                            m < m_pages->firstMessage(page.rank + 1)
                        ? page.rank
                        : m_pages->senderOf(m);
  const std::size_t i = m - m_pages->firstMessage(rank);
  const SentHere* const stored = m_pages->in(page, rank, i);
  if (stored == nullptr) {
    return {};
  }
  Message message;
  message.send = {rank, stored->send.event};
  message.sendIndex = static_cast<std::uint32_t>(i);
  message.dest = stored->send.dest;
  message.comm = stored->send.comm;
  message.tag = stored->send.tag;
  message.post = stored->post;
  message.completion = stored->completion;
  return message;
}

std::uint32_t EventSteps::operator[](std::size_t i) const {
  if (m_pages == nullptr) {
    return m_kept[i];
  }
  const EventStep* const stored = i < m_size ? m_pages->in(m_page, m_rank, i) : nullptr;
  if (stored != nullptr) {
    return stored->step;
  }
  // A chunk that cannot be read stands at its begin: the times still do not fall.
  const auto chunks = m_pages->chunks(m_rank, ChunkStream::Event);
  return i < m_size ? chunks[m_pages->chunkOf<EventStep>(i)].firstStep : 0;
}

std::uint32_t EventSteps::front() const {
  return m_pages == nullptr ? m_kept.front()
                            : m_pages->chunks(m_rank, ChunkStream::Event).front().firstStep;
}

std::uint32_t EventSteps::back() const {
  return m_pages == nullptr ? m_kept.back()
                            : m_pages->chunks(m_rank, ChunkStream::Event).back().lastStep;
}

std::size_t EventSteps::below(double time, bool orEqual) const {
  const auto isBelow = [&](std::uint32_t at) {
    return orEqual ? static_cast<double>(at) <= time : static_cast<double>(at) < time;
  };
  std::size_t first = 0;
  std::size_t last = m_size;
  if (m_pages != nullptr) {
    const auto chunks = m_pages->chunks(m_rank, ChunkStream::Event);
    const auto chunk =
        std::partition_point(chunks.begin(), chunks.end(),
                             [&](const ChunkInfo& info) { return isBelow(info.lastStep); });
    first = m_pages->firstOf<EventStep>(static_cast<std::size_t>(chunk - chunks.begin()));
    if (chunk == chunks.end() || !isBelow(chunk->firstStep)) {
      return std::min(first, m_size);
    }
    last = first + chunk->values;
  }
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    if (isBelow((*this)[middle])) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

std::size_t EventSteps::about(double from, double to, std::size_t few) const {
  if (m_pages != nullptr) {
    const auto chunks = m_pages->chunks(m_rank, ChunkStream::Event);
    double all = 0;
    const auto begin = std::partition_point(
        chunks.begin(), chunks.end(),
        [&](const ChunkInfo& info) { return static_cast<double>(info.lastStep) < from; });
    for (auto at = begin; at != chunks.end() && static_cast<double>(at->firstStep) <= to; ++at) {
      const double length = static_cast<double>(at->lastStep - at->firstStep) + 1;
      const double inside = std::min(to + 1, static_cast<double>(at->lastStep) + 1) -
                            std::max(from, static_cast<double>(at->firstStep));
      all += at->values * std::clamp(inside / length, 0.0, 1.0);
    }
    if (all > static_cast<double>(few)) {
      return static_cast<std::size_t>(all);
    }
  }
  const std::size_t first = before(from);
  return std::max(first, upTo(to)) - first;
}

ExecutionView::ExecutionView(const Execution& kept)
    : messages(kept.messages),
      communicators(kept.communicators),
      sites(kept.sites),
      callNames(kept.callNames),
      timeOrigin(kept.timeOrigin) {
  for (const RankHistory& rank : kept.ranks) {
    ranks.push_back({Sequence(rank.events), Sequence(rank.receives), Sequence(rank.probes),
                     Sequence(rank.sends), Sequence(rank.collectives), Sequence(rank.times)});
  }
}

ExecutionView::ExecutionView(const ChunkCache& pages, const Execution& rest)
    : messages(pages),
      communicators(rest.communicators),
      sites(rest.sites),
      callNames(rest.callNames),
      timeOrigin(rest.timeOrigin) {
  for (std::size_t r = 0; r < pages.rankCount(); ++r) {
    const auto rank = static_cast<Rank>(r);
    ranks.push_back({Sequence<Event>(pages, rank), Sequence<PostedReceive>(pages, rank),
                     Sequence<ProbeHit>(pages, rank), Sequence<SentMessage>(pages, rank),
                     Sequence<CollectivePart>(pages, rank), Sequence<EventTime>(pages, rank)});
  }
}

}  // namespace pf::views
