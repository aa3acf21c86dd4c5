// SPDX-License-Identifier: GPL-3.0-or-later
// What each rank did, as sequences in which one event follows another: one a rank, more where
// several threads of it call MPI. Private to the analysis.
//
// A *chain* is a thread, or several of which each began after the one before it had ended. Events
// of two chains of a rank are ordered only by ThreadLinks. The record's serials are one order that
// agrees with all of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay_engine/causality/event_graph.h"
#include "replay_engine/execution/execution.h"

namespace pf {

/// An event, or the end of it, by its chain.
struct Step {
  std::uint32_t chain = 0;
  std::uint32_t serial = 0;
};

class Chains {
 public:
  explicit Chains(const Execution& execution);
  /// One a rank: the order of the record.
  explicit Chains(std::size_t ranks);

  /// Of all ranks.
  [[nodiscard]] std::uint32_t count() const { return m_first.back(); }
  [[nodiscard]] std::uint32_t first(std::uint32_t rank) const { return m_first[rank]; }
  [[nodiscard]] std::uint32_t end(std::uint32_t rank) const { return m_first[rank + 1]; }
  [[nodiscard]] bool several(std::uint32_t rank) const { return end(rank) - first(rank) > 1; }
  /// In any rank.
  [[nodiscard]] bool several() const { return m_first.back() >= m_first.size(); }

  [[nodiscard]] std::uint32_t of(Place place) const {
    return m_first[place.rank] +
           (several(place.rank) ? m_ranks[place.rank].chain[place.serial - 1] : 0U);
  }
  [[nodiscard]] Step at(Place place) const { return {of(place), place.serial}; }
  /// The event before it in its chain; serial 0: there is none.
  [[nodiscard]] Step before(Place place) const {
    return {of(place), several(place.rank) ? m_ranks[place.rank].previous[place.serial - 1]
                                           : place.serial - 1};
  }

  /// The links that lead to this event from other chains.
  [[nodiscard]] std::span<const ThreadLink> linksTo(Place place) const;
  /// How many links lead on from it.
  [[nodiscard]] std::uint32_t linksFrom(Place place) const {
    return several(place.rank) ? m_ranks[place.rank].uses[place.serial - 1] : 0U;
  }

 private:
  /// Of a rank with several; by serial - 1.
  struct RankChains {
    std::vector<std::uint32_t> chain;
    std::vector<std::uint32_t> previous;
    std::vector<std::uint32_t> uses;
    std::vector<ThreadLink> links;  ///< those of the record that can be
  };

  static RankChains chainsOf(const RankHistory& history, std::uint32_t& count);

  std::vector<std::uint32_t> m_first;  ///< by rank, and the count
  std::vector<RankChains> m_ranks;     ///< empty if no rank has several
};

}  // namespace pf
