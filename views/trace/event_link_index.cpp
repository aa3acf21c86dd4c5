// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/trace/event_link_index.h"

#include <algorithm>

namespace pf::views {

EventLinkIndex::EventLinkIndex(const TraceEvents& events) : m_events(events) {
  if (events.pages() != nullptr) {
    lookForSynchronous();
    return;
  }
  indexMessages();
  indexReceives();
  indexCollectives();
  m_links.markFlows(events.count());
}

void EventLinkIndex::indexMessages() {
  const auto& messages = m_events.data().execution.messages;
  EventItems::Pairs sent;
  sent.reserve(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) {
    sent.emplace_back(m_events.shortId(messages[m].send), static_cast<std::uint32_t>(m));
  }
  m_links.sent = EventItems(m_events.count(), std::move(sent));
  EventItems::Pairs synced;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    const EventRef from = messages[m].send;
    if (m_events.contains(from)) {
      const auto& sends = m_events.data().execution.ranks[index(from.rank)].sends;
      if (messages[m].sendIndex < sends.size()) {
        synced.emplace_back(
            m_events.shortId({from.rank, sends[messages[m].sendIndex].syncCompletion}),
            static_cast<std::uint32_t>(m));
      }
    }
  }
  m_links.synchronousDone = EventItems(m_events.count(), std::move(synced));
}

void EventLinkIndex::indexReceives() {
  EventItems::Pairs posted;
  EventItems::Pairs completed;
  EventItems::Pairs probes;
  for (std::size_t r = 0; r < m_events.rankCount(); ++r) {
    const RankHistory& history = m_events.data().execution.ranks[r];
    const Rank rank = static_cast<Rank>(r);
    const auto id = [&](Serial serial) { return m_events.shortId({rank, serial}); };
    for (std::size_t i = 0; i < history.receives.size(); ++i) {
      posted.emplace_back(id(history.receives[i].post), static_cast<std::uint32_t>(i));
      completed.emplace_back(id(history.receives[i].completion), static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = 0; i < history.probes.size(); ++i) {
      probes.emplace_back(id(history.probes[i].event), static_cast<std::uint32_t>(i));
    }
  }
  m_links.posted = EventItems(m_events.count(), std::move(posted));
  m_links.completed = EventItems(m_events.count(), std::move(completed));
  m_links.probes = EventItems(m_events.count(), std::move(probes));
}

void EventLinkIndex::indexCollectives() {
  EventItems::Pairs done;
  for (std::size_t r = 0; r < m_events.rankCount(); ++r) {
    std::uint32_t number = 0;
    for (const CollectivePart& part : m_events.data().execution.ranks[r].collectives) {
      done.emplace_back(m_events.shortId({static_cast<Rank>(r), part.completion}), number++);
    }
  }
  m_links.collectivesDone = EventItems(m_events.count(), std::move(done));
}

void EventLinkIndex::lookForSynchronous() {
  for (std::size_t r = 0; r < m_events.rankCount(); ++r) {
    const auto chunks = m_events.pages()->chunks(static_cast<Rank>(r), ChunkStream::Send);
    m_synchronous = m_synchronous || std::ranges::any_of(chunks, [](const ChunkInfo& chunk) {
                      return chunk.lastCompletion != 0;
                    });
  }
}

LinkedItems EventLinkIndex::items(EventRef ref, const EventItems EventLinks::*which) const {
  if (!m_events.contains(ref)) {
    return {};
  }
  const ChunkCache* const pages = m_events.pages();
  if (pages == nullptr) {
    return {nullptr, (m_links.*which).at(m_events.id(ref))};
  }
  auto links = pages->links(ref.rank, pages->chunkOf<TimedEvent>(ref.serial - 1));
  const auto found = ((*links).*which).at(pages->within<TimedEvent>(ref.serial - 1));
  return {std::move(links), found};
}

LinkedItems EventLinkIndex::sentAt(EventRef ref) const {
  return items(ref, &EventLinks::sent);
}
LinkedItems EventLinkIndex::postedAt(EventRef ref) const {
  return items(ref, &EventLinks::posted);
}
LinkedItems EventLinkIndex::completedAt(EventRef ref) const {
  return items(ref, &EventLinks::completed);
}
LinkedItems EventLinkIndex::probesAt(EventRef ref) const {
  return items(ref, &EventLinks::probes);
}
LinkedItems EventLinkIndex::synchronousDoneAt(EventRef ref) const {
  return items(ref, &EventLinks::synchronousDone);
}
LinkedItems EventLinkIndex::collectivesDoneAt(EventRef ref) const {
  return items(ref, &EventLinks::collectivesDone);
}

bool EventLinkIndex::isWildcard(EventRef ref) const {
  for (const std::uint32_t r : postedAt(ref)) {
    if (m_events.execution().ranks[index(ref.rank)].receives[r].wantedSource == kAnySource) {
      return true;
    }
  }
  for (const std::uint32_t p : probesAt(ref)) {
    if (m_events.execution().ranks[index(ref.rank)].probes[p].wantedSource == kAnySource) {
      return true;
    }
  }
  return false;
}

}  // namespace pf::views
