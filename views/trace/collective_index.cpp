// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/collective_index.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pf::views {

namespace {

struct Parts {
  std::vector<EventRef> events;
  bool joins = true;
};
using PartsOfCalls = std::map<std::pair<std::uint32_t, std::uint32_t>, Parts>;  ///< comm, ordinal

bool joinsAll(const CollectivePart& part) {
  return part.flow == CollectiveFlow::AllToAll && part.contributes && part.takes &&
         part.completion == part.event;
}

PartsOfCalls partsOfCalls(const TraceEvents& events) {
  PartsOfCalls calls;
  for (std::size_t r = 0; r < events.rankCount(); ++r) {
    for (const CollectivePart part : events.execution().ranks[r].collectives) {
      const EventRef ref{static_cast<Rank>(r), part.event};
      if (events.contains(ref)) {
        Parts& parts = calls[{part.comm, part.ordinal}];
        parts.events.push_back(ref);
        parts.joins = parts.joins && joinsAll(part);
      }
    }
  }
  return calls;
}

bool hasAllRanks(const std::vector<EventRef>& parts, std::size_t ranks) {
  bool all = parts.size() == ranks;
  for (std::size_t r = 0; all && r < ranks; ++r) {
    all = index(parts[r].rank) == r;
  }
  return all;
}

}  // namespace

CollectiveIndex::CollectiveIndex(const TraceEvents& events, const TraceTimes& times)
    : m_events(events), m_times(times) {
  group();
  for (CollectiveGroup& group : m_groups) {
    place(group);
  }
}

CollectiveIndex::CollectiveIndex(const CollectiveIndex& other, const TraceTimes& times)
    : m_events(other.m_events),
      m_times(times),
      m_groups(other.m_groups),
      m_groupAt(other.m_groupAt),
      m_allJoin(other.m_allJoin) {
  for (CollectiveGroup& group : m_groups) {
    place(group);
  }
}

void CollectiveIndex::group() {
  EventItems::Pairs grouped;
  for (auto& [call, parts] : partsOfCalls(m_events)) {
    const bool meets = parts.joins && hasAllRanks(parts.events, m_events.rankCount());
    m_allJoin = m_allJoin && parts.joins;
    for (const EventRef part : parts.events) {
      grouped.emplace_back(m_events.shortId(part), static_cast<std::uint32_t>(m_groups.size()));
    }
    m_groups.push_back(
        {call.first, call.second, 0, 0, 0, std::move(parts.events), parts.joins, meets});
  }
  m_groupAt = std::make_shared<const EventItems>(m_events.count(), std::move(grouped));
}

void CollectiveIndex::place(CollectiveGroup& group) const {
  group.firstTime = m_times.last();
  group.lastTime = 0;
  if (m_events.pages() != nullptr) {
    placeByChunk(group);
    return;
  }
  for (const EventRef part : group.parts) {
    group.firstTime = std::min(group.firstTime, m_times.at(part));
    group.lastTime = std::max(group.lastTime, m_times.at(part));
  }
  group.about = group.firstTime;
}

void CollectiveIndex::placeByChunk(CollectiveGroup& group) const {
  const ChunkCache& pages = *m_events.pages();
  group.about = m_times.last();
  for (const EventRef part : group.parts) {
    const ChunkInfo& chunk =
        pages.chunks(part.rank, ChunkStream::Event)[pages.chunkOf<TimedEvent>(part.serial - 1)];
    const double share = static_cast<double>(part.serial - chunk.firstSerial) / chunk.values;
    group.firstTime = std::min(group.firstTime, chunk.firstStep);
    group.lastTime = std::max(group.lastTime, chunk.lastStep);
    group.about = std::min(
        group.about,
        chunk.firstStep + static_cast<std::uint32_t>(share * (chunk.lastStep - chunk.firstStep)));
  }
}

std::uint32_t CollectiveIndex::firstTimeOf(const CollectiveGroup& group) const {
  if (m_events.pages() == nullptr) {
    return group.firstTime;
  }
  std::uint32_t first = m_times.last();
  for (const EventRef part : group.parts) {
    first = std::min(first, m_times.at(part));
  }
  return first;
}

}  // namespace pf::views
