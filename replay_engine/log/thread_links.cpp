// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/log/thread_links.h"

#include <algorithm>

namespace pf {

ThreadLinks::Clock ThreadLinks::copy(const Clock& clock) {
  take(clock.size() * kEntry);
  return m_room > 0 ? clock : Clock();
}

void ThreadLinks::join(Clock& into, const Clock& from) {
  const std::size_t before = into.size();
  for (const auto& [lane, serial] : from) {
    Serial& known = into[lane];
    known = std::max(known, serial);
  }
  take((into.size() - before) * kEntry);
}

void ThreadLinks::learn(Lane& lane, const Clock& from) {
  for (const auto& [other, serial] : from) {
    Serial& known = lane.knows[other];
    if (known < serial) {
      take(sizeof(ThreadLink) + (known == 0 ? 2 * kEntry : 0));
      known = serial;
      lane.news[other] = serial;
    }
  }
}

bool ThreadLinks::made(std::uint32_t lane, std::uint32_t parent, std::uint32_t ordinal,
                       Serial events) {
  if (!m_several) {
    m_several = true;
    if (events != 0) {
      m_lanes[0].knows[0] = events;
    }
  }
  Lane& mine = m_lanes[lane];
  take(kEntry);
  if (parent == 0) {
    return m_room > 0;
  }
  const auto maker = m_made.find({parent - 1, ordinal});
  // A thread that had done nothing before it made this one has not logged that.
  mine.start = copy(maker != m_made.end() ? maker->second : m_lanes[parent - 1].start);
  learn(mine, mine.start);
  return m_room > 0;
}

void ThreadLinks::leave(std::uint32_t number, Barrier& barrier) {
  // The first one that leaves finds all that have arrived: none of them can have arrived again.
  if (barrier.waiting.count(number) != 0) {
    barrier.waiting.clear();
    barrier.passed = std::move(barrier.arriving);
    barrier.arriving.clear();
  }
  learn(m_lanes[number], barrier.passed);
}

bool ThreadLinks::ordered(ThreadOrdering kind, std::uint32_t number, std::uint64_t what) {
  Lane& lane = m_lanes[number];
  switch (kind) {
    case ThreadOrdering::Released:
      join(m_released[what], lane.knows);
      break;
    case ThreadOrdering::Acquired:
      if (const auto found = m_released.find(what); found != m_released.end()) {
        learn(lane, found->second);
      }
      break;
    case ThreadOrdering::Arrived:
      join(m_barriers[what].arriving, lane.knows);
      m_barriers[what].waiting.insert(number);
      break;
    case ThreadOrdering::Left:
      leave(number, m_barriers[what]);
      break;
    case ThreadOrdering::Made:
      m_made[{number, what}] = copy(lane.knows);
      break;
    case ThreadOrdering::Ended:
      m_ended[what] = copy(lane.knows);
      break;
    case ThreadOrdering::Joined:
      if (const auto found = m_ended.find(what); found != m_ended.end()) {
        learn(lane, found->second);
      }
      break;
  }
  return m_room > 0;
}

void ThreadLinks::event(std::uint32_t number, Serial serial, std::vector<ThreadLink>& links) {
  if (!m_several) {
    return;
  }
  Lane& lane = m_lanes[number];
  for (const auto& [other, before] : lane.news) {
    if (other != number) {
      links.push_back({before, serial});
    }
  }
  lane.news.clear();
  lane.knows[number] = serial;
}

}  // namespace pf
