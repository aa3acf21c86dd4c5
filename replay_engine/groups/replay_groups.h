// SPDX-License-Identifier: MIT
// Replay groups (MPIWiz, "subgroup reproducible replay"): each rank is in one group, and the ranks of a group are replayed
// together. What a rank gets from its own group is made again by the replay, what it gets from others is in the log.
//
// Groups are written as a SPEC:
//
//   each                   each rank is a group of its own: all messages are logged
//   all                    one group: none is
//   0-7,8-15               two groups; ';' separates as ',' does
//   0-3+12,4-11            '+' joins ranks and ranges to one group: 0, 1, 2, 3 and 12
//
// Ranks that a SPEC does not name are a group each. Blanks around numbers and signs are nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf {

/// Which group each rank is in. Groups are numbered from 0 by their lowest rank.
class ReplayGroups {
 public:
  /// Of `ranks` ranks, at least one. Usage: it is no SPEC of so many.
  [[nodiscard]] static Result<ReplayGroups> parse(std::string_view spec, std::int32_t ranks);
  /// Ranks of one number are one group, whatever the numbers are.
  [[nodiscard]] static ReplayGroups of(std::span<const std::uint32_t> groupOfRank);

  [[nodiscard]] std::size_t ranks() const { return m_groupOf.size(); }
  [[nodiscard]] std::size_t count() const { return m_begins.size() - 1; }
  /// Of a rank that there is.
  [[nodiscard]] std::uint32_t groupOf(Rank rank) const { return m_groupOf[index(rank)]; }
  /// In ascending order.
  [[nodiscard]] std::span<const Rank> members(std::uint32_t group) const {
    return {m_members.data() + m_begins[group], m_begins[group + 1] - m_begins[group]};
  }
  [[nodiscard]] std::size_t largest() const;
  [[nodiscard]] std::size_t smallest() const;

  /// A SPEC of these groups: "each", "all", or those of several ranks.
  [[nodiscard]] std::string text() const;

  /// Groups of which some ranks are among `some`, and others are not: those to add for `some` to be a union of groups.
  /// In ascending order; ranks that there are not count for nothing.
  [[nodiscard]] std::vector<std::uint32_t> missingForUnion(std::span<const Rank> some) const;
  [[nodiscard]] bool isUnion(std::span<const Rank> some) const {
    return missingForUnion(some).empty();
  }

  friend bool operator==(const ReplayGroups&, const ReplayGroups&) = default;

 private:
  ReplayGroups() = default;

  std::vector<std::uint32_t> m_groupOf;
  std::vector<Rank> m_members;        ///< of all groups, one behind the other
  std::vector<std::size_t> m_begins;  ///< in `m_members`; one more than groups
};

/// "0-3+12": ranks in ascending order, as a SPEC has a group.
[[nodiscard]] std::string rangesText(std::span<const Rank> ranks);

}  // namespace pf
