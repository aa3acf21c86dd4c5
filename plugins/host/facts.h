// SPDX-License-Identifier: MIT
// Values of an execution as plugins see them.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/api/plugin.h"
#include "replay_engine/execution/execution.h"

namespace pf::plugins {

inline photofinish::EventRef shownRef(const EventRef& event) {
  return event.valid() ? photofinish::EventRef{event.rank, event.serial} : photofinish::EventRef{};
}
inline EventRef eventOf(const photofinish::EventRef& event) {
  return {event.rank, event.serial};
}
/// An index of the execution; kNone is that of plugins.
inline std::uint64_t shownIndex(std::uint32_t index) {
  return index == kNone ? photofinish::kNone : index;
}

/// Without its times and races.
[[nodiscard]] photofinish::Event shownEvent(const EventRef& at, const Event& event,
                                            const std::vector<std::string>& callNames);
/// Without the post of its receive and its bytes.
[[nodiscard]] photofinish::Message shownMessage(const Message& message);
/// Of rank `rank`.
[[nodiscard]] photofinish::Receive shownReceive(Rank rank, const PostedReceive& receive);
[[nodiscard]] photofinish::Receive shownProbe(Rank rank, const ProbeHit& probe);
[[nodiscard]] photofinish::Site shownSite(const std::vector<CallSite>& sites, std::uint64_t number);
[[nodiscard]] photofinish::Communicator shownCommunicator(
    const std::vector<Communicator>& communicators, std::uint64_t number);

/// Puts values into the room that a plugin has for them.
template <typename T>
class Room {
 public:
  Room(T* values, std::uint64_t room) : m_values(values), m_room(values != nullptr ? room : 0) {}
  void put(const T& value) {
    if (m_count < m_room) {
      m_values[m_count] = value;
    }
    ++m_count;
  }
  /// Also those for which there was none.
  [[nodiscard]] std::uint64_t count() const { return m_count; }

 private:
  T* m_values;
  std::uint64_t m_room;
  std::uint64_t m_count = 0;
};

}  // namespace pf::plugins
