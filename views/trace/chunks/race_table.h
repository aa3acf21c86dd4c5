// SPDX-License-Identifier: MIT
// The races of a trace as the views keep them, some 45 bytes each: a column of everything, and the
// alternatives of 64 races at a time, as successive races have most of theirs in common. What the
// race list shows is here, so that no event has to be looked at for it. QtCore only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::views {

/// Where a race is: the post of its receive, or the probe, and where it is observed.
struct RacePlace {
  Serial chosen = 0;
  Serial observed = 0;
  std::uint32_t chosenStep = 0;  ///< logical times
  std::uint32_t observedStep = 0;
};

/// A message that a racing receive took.
struct TakenMessage {
  Rank rank = kUnknownRank;  ///< that sent it
  Serial serial = 0;         ///< of the event that sent it
  Tag tag = kAnyTag;
};

/// What is said of a race when it comes into a table. A column is there if all races have it.
struct RaceFacts {
  Rank rank = kUnknownRank;  ///< as in Race
  bool probe = false;
  std::uint32_t index = kNone;
  std::uint32_t taken = kNone;
  std::span<const std::uint32_t> alternatives;
  std::optional<RacePlace> place;
  std::optional<TakenMessage> message;  ///< what it took, but for its rank
  std::uint32_t raceClass = kNone;      ///< as classesOfRaces() numbers them
};

class RaceTable {
 public:
  class Iterator;
  /// Alternatives of the races of a block: message n is one of race `first[n]` of the block and of
  /// `count[n]` - 1 races after it.
  struct Spans {
    std::span<const std::uint32_t> messages;
    std::span<const std::uint8_t> first;
    std::span<const std::uint8_t> count;
  };
  static constexpr std::size_t kBlock = 64;

  RaceTable() = default;
  RaceTable(const std::vector<Race>& races);  // NOLINT: so that what findRaces() gives will do

  void add(const RaceFacts& race);
  void push_back(const Race& race);
  /// No more will come: gives back what was kept for them.
  void finish();

  [[nodiscard]] std::size_t size() const { return m_index.size(); }
  [[nodiscard]] bool empty() const { return m_index.empty(); }
  /// With a vector of its alternatives: not for each of many.
  [[nodiscard]] Race operator[](std::size_t race) const;
  [[nodiscard]] std::vector<Race> list() const;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

  [[nodiscard]] Rank rank(std::size_t race) const;
  [[nodiscard]] bool isProbe(std::size_t race) const { return m_probe[race]; }
  [[nodiscard]] std::uint32_t index(std::size_t race) const { return m_index[race]; }
  [[nodiscard]] std::uint32_t taken(std::size_t race) const { return m_taken[race]; }
  [[nodiscard]] std::size_t alternatives(std::size_t race) const;  ///< how many
  [[nodiscard]] Spans block(std::size_t number) const;
  /// Alternatives that do not ascend are of no block; null: they are.
  [[nodiscard]] const std::vector<std::uint32_t>* oddAlternatives(std::size_t race) const;

  [[nodiscard]] bool hasPlaces() const { return isThere(m_chosen); }
  [[nodiscard]] RacePlace place(std::size_t race) const {
    return {m_chosen[race], m_observed[race], m_chosenStep[race], m_observedStep[race]};
  }
  [[nodiscard]] bool hasMessages() const { return isThere(m_sent); }
  [[nodiscard]] Serial sent(std::size_t race) const { return m_sent[race]; }
  [[nodiscard]] Tag tag(std::size_t race) const { return m_tag[race]; }
  [[nodiscard]] bool hasClasses() const { return isThere(m_class); }
  [[nodiscard]] std::uint32_t raceClass(std::size_t race) const { return m_class[race]; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Open {
    std::uint32_t message;
    std::size_t span;
  };
  template <typename T>
  [[nodiscard]] bool isThere(const std::vector<T>& column) const {
    return !empty() && column.size() == size();
  }
  template <typename T, typename V>
  void put(std::vector<T>& column, std::optional<V> value);
  void addAlternatives(std::size_t race, std::span<const std::uint32_t> messages);

  std::vector<std::uint32_t> m_firstOfRun;  ///< successive races of one rank
  std::vector<Rank> m_rankOfRun;
  std::vector<std::uint32_t> m_index;
  std::vector<bool> m_probe;
  std::vector<std::uint32_t> m_taken;
  std::vector<std::uint32_t> m_firstOfBlock;  ///< span
  std::vector<std::uint32_t> m_messages;      ///< by span
  std::vector<std::uint8_t> m_first;
  std::vector<std::uint8_t> m_count;
  std::map<std::size_t, std::vector<std::uint32_t>> m_odd;
  std::vector<std::uint32_t> m_chosen;
  std::vector<std::uint32_t> m_observed;
  std::vector<std::uint32_t> m_chosenStep;
  std::vector<std::uint32_t> m_observedStep;
  std::vector<std::uint32_t> m_sent;
  std::vector<Tag> m_tag;
  std::vector<std::uint32_t> m_class;
  std::vector<Open> m_open;  ///< of the race before, ascending
  std::vector<Open> m_next;
};

class RaceTable::Iterator {
 public:
  using value_type = Race;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using pointer = void;
  using reference = Race;

  Iterator(const RaceTable& table, std::size_t race) : m_table(&table), m_race(race) {}
  Race operator*() const { return (*m_table)[m_race]; }
  Iterator& operator++() {
    ++m_race;
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_race == b.m_race; }

 private:
  const RaceTable* m_table;
  std::size_t m_race;
};

inline RaceTable::Iterator RaceTable::begin() const {
  return {*this, 0};
}
inline RaceTable::Iterator RaceTable::end() const {
  return {*this, size()};
}

}  // namespace pf::views
