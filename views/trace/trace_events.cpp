// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/trace_events.h"

#include <utility>

namespace pf::views {

static std::shared_ptr<const ChunkCache> pagesOf(const TraceData& data) {
  return data.chunks == nullptr
             ? nullptr
             : std::make_shared<const ChunkCache>(data.chunks, data.execution.ranks.size());
}

TraceEvents::TraceEvents(TraceDataPtr data)
    : m_data(std::move(data)),
      m_pages(pagesOf(*m_data)),
      m_view(m_pages == nullptr ? ExecutionView(m_data->execution)
                                : ExecutionView(*m_pages, m_data->execution)) {
  m_firstIds.reserve(rankCount());
  for (const RankView& rank : m_view.ranks) {
    m_firstIds.push_back(m_count);
    m_count += rank.events.size();
  }
}

Event TraceEvents::event(EventRef ref) const {
  return contains(ref) ? m_view.ranks[index(ref.rank)].events[ref.serial - 1] : Event{};
}

std::optional<EventTime> TraceEvents::clockTime(EventRef ref) const {
  return contains(ref) && hasClockTimes()
             ? std::optional(m_view.ranks[index(ref.rank)].times[ref.serial - 1])
             : std::nullopt;
}

Rank TraceEvents::senderOf(std::uint32_t message) const {
  return m_pages != nullptr ? m_pages->senderOf(message)
                            : m_data->execution.messages[message].send.rank;
}

}  // namespace pf::views
