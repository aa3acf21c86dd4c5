// SPDX-License-Identifier: GPL-3.0-or-later
// Races in the column store, and back: a stream of races of each rank, and a stream of their
// alternatives. Successive races of a rank have most of their alternatives in common, so that a
// message is there once, with the races that it is an alternative of.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "db/columns/column_store.h"
#include "db/schema/trace_types.h"
#include "db/sqlite/database.h"
#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::db {

/// All races of an execution, in the order of ranks. `classes`: race_class.id of each, kNone: it
/// has none; may be empty.
struct RaceList {
  const std::vector<Race>& races;
  const std::vector<std::uint32_t>& classes;
};

/// Who sent which message.
class MessageOwners {
 public:
  /// `sends`: number of each rank's.
  explicit MessageOwners(const std::vector<std::uint64_t>& sends);
  /// kUnknownRank if there is no such message.
  [[nodiscard]] Rank of(std::uint32_t message) const;
  [[nodiscard]] bool owns(Rank source, std::uint32_t message) const {
    const auto rank = static_cast<std::size_t>(source);
    return source >= 0 && rank + 1 < m_first.size() && message >= m_first[rank] &&
           message < m_first[rank + 1];
  }

 private:
  std::vector<std::uint64_t> m_first;  ///< message of each rank; of one rank more: how many
};
[[nodiscard]] MessageOwners messageOwners(const Execution& execution);

/// A race as it is written.
struct RaceRow {
  RaceValue value;
  const std::vector<std::uint32_t>* alternatives = nullptr;  ///< ascending
  std::uint32_t firstStep = kNone;                           ///< of value.chosen
  std::uint32_t lastStep = kNone;                            ///< of value.serial
};

/// All of `race` but chosen, serial and raceClass.
[[nodiscard]] RaceValue raceValue(const Race& race, const MessageOwners& owners);

/// Writes both streams of a rank.
Status writeRaces(ColumnWriter& writer, Rank rank, const std::vector<RaceRow>& races,
                  const MessageOwners& owners);

/// Gives the alternatives of one race after the other.
class AlternativeSweep {
 public:
  /// `spans` as they are in the stream, from one that begins at race `first`, or later. They must
  /// outlive this.
  AlternativeSweep(std::span<const AlternativeSpan> spans, const MessageOwners& owners,
                   std::uint32_t first)
      : m_spans(spans), m_owners(owners), m_race(first) {}

  /// Those of the next race, ascending, good until the next call; false: the spans make no sense.
  [[nodiscard]] bool next(std::span<const std::uint32_t>& messages);
  /// Nothing goes on beyond so many races.
  [[nodiscard]] bool ended(std::size_t races) const;
  /// Number of the span that is next.
  [[nodiscard]] std::size_t at() const { return m_at; }

 private:
  void dropEnded();
  [[nodiscard]] bool takeNew();

  std::span<const AlternativeSpan> m_spans;
  const MessageOwners& m_owners;
  std::uint32_t m_race;
  std::size_t m_at = 0;
  std::uint32_t m_firstEnd = kNone;       ///< of m_ends
  std::vector<std::uint32_t> m_messages;  ///< of this race
  std::vector<std::uint32_t> m_ends;      ///< race at which each is no alternative any more
};

/// The races of one chunk of a rank with their alternatives, for reading here and there.
struct RaceBlock {
  std::vector<RaceValue> races;
  std::vector<std::uint32_t> messages;  ///< of all races, one after another
  std::vector<std::size_t> first;       ///< of messages, by race; one more at the end

  [[nodiscard]] std::span<const std::uint32_t> alternatives(std::size_t race) const {
    return std::span(messages).subspan(first[race], first[race + 1] - first[race]);
  }
  /// Chunk `ordinal` of the stream of races. Damaged where it does not verify.
  Status load(ColumnReader& reader, const MessageOwners& owners, Rank rank, std::size_t ordinal);
};

/// Calls `visit` with all races of a trace of `ranks`, in the order of ranks, whose classes are
/// numbers below `classes`, or kNone. What they name is there. Needs an open transaction.
Status forEachRaceColumn(Database& database, std::size_t ranks, std::size_t classes,
                         const std::function<void(const RaceRecord&)>& visit);
/// The same as they are wanted most; `classes`: texts of race_class. What
/// they name is there. Needs an open transaction.
[[nodiscard]] Result<std::vector<StoredRace>> readRaceColumns(
    Database& database, std::size_t ranks, const std::vector<std::string>& classes);

[[nodiscard]] MessageOwners messageOwners(const ColumnReader& reader, std::size_t ranks);

}  // namespace pf::db
