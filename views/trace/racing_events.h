// SPDX-License-Identifier: MIT
// The events of all races on a time axis: by time, without repeats. QtCore only.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "views/trace/race_index.h"
#include "views/trace/trace_times.h"

namespace pf::views {

class RacingEvents {
 public:
  class Iterator;

  RacingEvents(const TraceEvents& events, const TraceTimes& times, const RaceIndex& races);

  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;
  [[nodiscard]] std::size_t size() const { return m_first.size(); }
  [[nodiscard]] bool empty() const { return m_first.empty(); }
  [[nodiscard]] EventRef operator[](std::size_t i) const { return m_races.eventOf(m_first[i]); }
  [[nodiscard]] EventRef front() const { return (*this)[0]; }
  [[nodiscard]] EventRef back() const { return (*this)[size() - 1]; }
  friend bool operator==(const RacingEvents& a, const RacingEvents& b);

  /// When they are, one by one.
  [[nodiscard]] const std::vector<std::uint32_t>& times() const { return m_when; }
  /// When a race is observed.
  [[nodiscard]] std::uint32_t observedTime(std::size_t race) const;

 private:
  struct Place;
  [[nodiscard]] std::vector<Place> places(const TraceEvents& events) const;

  const TraceTimes& m_times;
  const RaceIndex& m_races;
  bool m_tableHasTimes;                ///< of this axis
  std::vector<std::uint32_t> m_first;  ///< race of each event
  std::vector<std::uint32_t> m_when;
};

class RacingEvents::Iterator {
 public:
  using value_type = EventRef;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;  // so that a search halves
  using pointer = void;
  using reference = EventRef;

  Iterator() = default;
  Iterator(const RacingEvents& events, std::size_t at)
      : m_events(&events), m_at(static_cast<difference_type>(at)) {}
  EventRef operator*() const { return (*m_events)[static_cast<std::size_t>(m_at)]; }
  EventRef operator[](difference_type n) const { return *(*this + n); }
  Iterator& operator++() { return *this += 1; }
  Iterator operator++(int) {
    const Iterator before = *this;
    *this += 1;
    return before;
  }
  Iterator& operator--() { return *this -= 1; }
  Iterator operator--(int) {
    const Iterator before = *this;
    *this -= 1;
    return before;
  }
  Iterator& operator+=(difference_type n) {
    m_at += n;
    return *this;
  }
  Iterator& operator-=(difference_type n) {
    m_at -= n;
    return *this;
  }
  friend Iterator operator+(Iterator a, difference_type n) { return a += n; }
  friend Iterator operator+(difference_type n, Iterator a) { return a += n; }
  friend Iterator operator-(Iterator a, difference_type n) { return a -= n; }
  friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.m_at - b.m_at; }
  friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.m_at <=> b.m_at; }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_at == b.m_at; }

 private:
  const RacingEvents* m_events = nullptr;
  difference_type m_at = 0;
};

inline RacingEvents::Iterator RacingEvents::begin() const {
  return {*this, 0};
}
inline RacingEvents::Iterator RacingEvents::end() const {
  return {*this, size()};
}
inline bool operator==(const RacingEvents& a, const RacingEvents& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace pf::views
