// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/trace_index.h"

#include <utility>

namespace pf::views {

TraceIndex::TraceIndex(TraceDataPtr data)
    : m_events(std::make_shared<const TraceEvents>(std::move(data))),
      m_links(std::make_shared<const EventLinkIndex>(*m_events)),
      m_races(std::make_shared<const RaceIndex>(*m_events)),
      m_logical(std::make_shared<const TraceTimes>(*m_events)),
      m_times(m_logical),
      m_racing(*m_events, *m_times, *m_races),
      m_messages(*m_events, *m_times),
      m_collectives(*m_events, *m_times) {}

TraceIndex::TraceIndex(const TraceIndex& logical, const PyramidMaker& pyramid)
    : m_events(logical.m_events),
      m_links(logical.m_links),
      m_races(logical.m_races),
      m_logical(logical.m_logical),
      m_times(std::make_shared<const TraceTimes>(*m_events, pyramid)),
      m_racing(*m_events, *m_times, *m_races),
      m_messages(*m_events, *m_times),
      m_collectives(logical.m_collectives, *m_times) {}

TraceIndexPtr TraceIndex::onPhysicalAxis(const TraceIndex& logical, const PyramidMaker& pyramid) {
  if (logical.pages() != nullptr && logical.hasPhysicalTimes() && logical.data().whole) {
    TraceDataPtr whole = logical.data().whole();
    return whole != nullptr ? onPhysicalAxis(TraceIndex(std::move(whole)), pyramid) : nullptr;
  }
  return logical.hasPhysicalTimes() && logical.pages() == nullptr
             ? TraceIndexPtr(new TraceIndex(logical, pyramid))
             : nullptr;
}

TraceIndexPtr makeIndex(TraceDataPtr data) {
  return data ? std::make_shared<const TraceIndex>(std::move(data)) : nullptr;
}

}  // namespace pf::views
