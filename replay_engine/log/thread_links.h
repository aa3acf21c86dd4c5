// SPDX-License-Identifier: GPL-3.0-or-later
// What orders the events of a rank's threads, from the records of their locks, barriers, beginnings
// and ends (RecordKind::Ordered). An event is known to a thread that has acquired what the event's
// thread has released since.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/log_format/log_format.h"

namespace pf {

class ThreadLinks {
 public:
  /// What these clocks and links may take is in proportion to the bytes of the log; the functions below
  /// say false where that is used up.
  void allow(std::size_t logBytes) { m_room = kRoom + logBytes * kRoomAByte; }
  /// `parent`: its lane + 1, 0 = none. `events`: of the rank so far, all of lane 0 if this is the
  /// first lane.
  bool made(std::uint32_t lane, std::uint32_t parent, std::uint32_t ordinal, Serial events);
  /// A record. `lane` has been made.
  bool ordered(ThreadOrdering kind, std::uint32_t lane, std::uint64_t what);
  /// An event of a rank with several threads: adds what it comes after to `links`.
  void event(std::uint32_t lane, Serial serial, std::vector<ThreadLink>& links);

 private:
  using Clock = std::map<std::uint32_t, Serial>;  ///< by lane: the last event known
  struct Lane {
    Clock start;  ///< what it was made with
    Clock knows;
    Clock news;  ///< since its last event
  };
  struct Barrier {
    Clock arriving;
    std::set<std::uint32_t> waiting;
    Clock passed;
  };

  static constexpr std::size_t kRoom = 64U << 20U;  // bytes
  static constexpr std::size_t kRoomAByte = 800;    // enough for barriers of 600 threads
  static constexpr std::size_t kEntry = 48;         // bytes of an entry of a clock

  void take(std::size_t bytes) { m_room -= std::min(m_room, bytes); }
  Clock copy(const Clock& clock);
  void join(Clock& into, const Clock& from);
  void learn(Lane& lane, const Clock& from);
  void leave(std::uint32_t number, Barrier& barrier);

  std::size_t m_room = kRoom;
  bool m_several = false;
  std::map<std::uint32_t, Lane> m_lanes;
  std::map<std::uint64_t, Clock> m_released;  ///< by object
  std::map<std::uint64_t, Barrier> m_barriers;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Clock> m_made;  ///< by maker, how-manieth
  std::map<std::uint64_t, Clock> m_ended;                           ///< by pthread_t
};

}  // namespace pf
