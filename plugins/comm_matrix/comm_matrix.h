// SPDX-License-Identifier: MIT
// Bundled plugin: who sends how much to whom, rank by rank. Racing pairs are outlined; a click
// selects the pair's messages one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/api/api.h"

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

class CommMatrixPlugin : public ViewPlugin {
 public:
  [[nodiscard]] QString id() const override;
  [[nodiscard]] QString title() const override;
  [[nodiscard]] ViewWidget* createWidget(QWidget* parent) override;
};

}  // namespace pf::plugins
