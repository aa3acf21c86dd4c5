// SPDX-License-Identifier: MIT
// Bundled plugin: who sends how much to whom, rank by rank. Racing pairs are outlined; a click
// selects the pair's messages one after the other. Groups of ranks lie together and are framed.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/bundled/view_pane.h"

namespace pf::plugins {

/// Counts of one (source, destination).
struct MatrixCell {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t racing = 0;  ///< taken in a race, or an alternative of one
};

/// Row = source, column = destination.
class CommMatrix {
 public:
  CommMatrix() = default;
  explicit CommMatrix(const views::TraceIndex& trace);
  [[nodiscard]] int ranks() const { return m_ranks; }
  [[nodiscard]] const MatrixCell& at(Rank source, Rank dest) const;
  [[nodiscard]] std::uint64_t most(bool bytes) const;

 private:
  int m_ranks = 0;
  std::vector<MatrixCell> m_cells;
};

/// The order in which ranks stand in a matrix, so that the ranks of a group lie together.
class MatrixOrder {
 public:
  /// By number.
  explicit MatrixOrder(int ranks = 0) : MatrixOrder(ranks, {}) {}
  /// Ranks that are in none of the groups, or in one again, or are not there at all, do no harm: each rank has one place.
  MatrixOrder(int ranks, const std::vector<std::vector<Rank>>& groups);

  [[nodiscard]] int ranks() const { return static_cast<int>(m_rankAt.size()); }
  /// Of a rank that is there, from 0.
  [[nodiscard]] int placeOf(Rank rank) const { return m_placeOf[index(rank)]; }
  [[nodiscard]] Rank rankAt(int place) const { return m_rankAt[static_cast<std::size_t>(place)]; }
  /// Places of a group of several ranks.
  struct Frame {
    int first = 0;
    int count = 0;
  };
  [[nodiscard]] const std::vector<Frame>& frames() const { return m_frames; }
  /// Ranks of the frame that both are in, ascending; empty: there is none.
  [[nodiscard]] std::vector<Rank> groupOf(Rank source, Rank dest) const;

 private:
  std::vector<Rank> m_rankAt;
  std::vector<int> m_placeOf;
  std::vector<Frame> m_frames;
};

/// Its entry.
[[nodiscard]] const PhotofinishPlugin* commMatrixPlugin();

}  // namespace pf::plugins
