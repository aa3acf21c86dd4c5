// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/race_candidates.h"

#include <algorithm>
#include <iterator>

namespace pf {
namespace {

std::uint64_t tagKey(std::uint32_t comm, Tag tag) {
  return (std::uint64_t{comm} << 32U) | static_cast<std::uint32_t>(tag);
}

}  // namespace

RaceCandidates::RaceCandidates(const Execution& execution, const Chains& chains,
                               const SendOrder& sends, std::span<const std::uint32_t> messages,
                               Tags tags)
    : m_execution(execution),
      m_chains(chains),
      m_sends(sends),
      m_messages(messages),
      m_nextByTag(tags.one ? messages.size() : 0, kNone),
      m_nextAnyTag(tags.any ? messages.size() : 0, kNone) {
  for (std::uint32_t position = 0; position < messages.size(); ++position) {
    const Message& sent = message(position);
    if (tags.one) {
      append(m_byTag[tagKey(sent.comm, sent.tag)], position, m_nextByTag);
    }
    if (tags.any) {
      append(m_anyTag[sent.comm], position, m_nextAnyTag);
    }
  }
}

void RaceCandidates::append(Streams& streams, std::uint32_t position,
                            std::vector<std::uint32_t>& next) {
  const EventRef send = message(position).send;
  const auto rank = static_cast<std::uint32_t>(send.rank);
  const std::uint32_t source = m_chains.of({rank, static_cast<std::uint32_t>(send.serial)});
  for (auto stream = streams.rbegin();
       stream != streams.rend() && stream->source >= m_chains.first(rank); ++stream) {
    if (stream->source == source) {
      next[stream->tail] = position;
      stream->tail = position;
      return;
    }
  }
  streams.push_back({source, position, position});
}

/// Keeps, of each rank with several chains, what no other message comes before.
void RaceCandidates::dropLater() {
  const auto rankOf = [this](std::uint32_t index) { return m_execution.messages[index].send.rank; };
  m_first.clear();
  for (auto begin = m_found.begin(); begin != m_found.end();) {
    const auto end = std::find_if(
        begin, m_found.end(), [&](std::uint32_t other) { return rankOf(other) != rankOf(*begin); });
    std::copy_if(begin, end, std::back_inserter(m_first), [&](std::uint32_t one) {
      return std::none_of(begin, end, [&](std::uint32_t other) {
        return other != one && m_sends.before(other, one);
      });
    });
    begin = end;
  }
  std::sort(m_first.begin(), m_first.end());  // by rank and sending order
  m_found.swap(m_first);
}

const std::vector<std::uint32_t>& RaceCandidates::firstOfEachSource(std::uint32_t comm, Tag tag,
                                                                    std::uint32_t limit) {
  m_found.clear();
  if (tag == kAnyTag) {
    if (const auto streams = m_anyTag.find(comm); streams != m_anyTag.end()) {
      collect(streams->second, m_nextAnyTag, limit);
    }
  } else if (const auto streams = m_byTag.find(tagKey(comm, tag)); streams != m_byTag.end()) {
    collect(streams->second, m_nextByTag, limit);
  }
  if (m_chains.several()) {
    dropLater();
  }
  return m_found;
}

void RaceCandidates::collect(Streams& streams, const std::vector<std::uint32_t>& next,
                             std::uint32_t limit) {
  for (Stream& stream : streams) {
    // Never received is kNone, beyond every limit.
    while (stream.head != kNone && message(stream.head).post < limit) {
      stream.head = next[stream.head];
    }
    if (stream.head != kNone) {
      m_found.push_back(m_messages[stream.head]);
    }
  }
}

}  // namespace pf
