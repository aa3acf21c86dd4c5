#include "race_candidates.h"

namespace pf {
namespace {

std::uint64_t tagKey(std::uint32_t comm, Tag tag) {
  return (std::uint64_t{comm} << 32U) | static_cast<std::uint32_t>(tag);
}

}  // namespace

RaceCandidates::RaceCandidates(const Execution& execution, std::span<const std::uint32_t> messages)
    : m_execution(execution),
      m_messages(messages),
      m_nextByTag(messages.size(), kNone),
      m_nextAnyTag(messages.size(), kNone) {
  for (std::uint32_t position = 0; position < messages.size(); ++position) {
    const Message& sent = message(position);
    append(m_byTag[tagKey(sent.comm, sent.tag)], position, m_nextByTag);
    append(m_anyTag[sent.comm], position, m_nextAnyTag);
  }
}

void RaceCandidates::append(Streams& streams, std::uint32_t position,
                            std::vector<std::uint32_t>& next) {
  const Rank source = message(position).send.rank;
  if (streams.empty() || streams.back().source != source) {
    streams.push_back({source, position, position});
    return;
  }
  next[streams.back().tail] = position;
  streams.back().tail = position;
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
