// SPDX-License-Identifier: GPL-3.0-or-later
// An array of which each rank has a part, with a halo: copies of what its neighbours have. The parts are one array here, side
// by side in the order of the ranks, and the halo is held against what it is a copy of. QtCore only.
#pragma once

#include <memory>
#include <vector>

#include "replay_engine/base/result.h"
#include "views/values/array_values.h"

namespace pf::values {

/// How an array lies in ranks.
struct Distribution {
  QList<int> ranks;  ///< in the order of their parts; empty: one rank's own
  int along = 0;     ///< the dimension that is distributed, from 0
  qint64 halo = 0;   ///< elements at each inner end of a part that are copies
  /// More than one: blocks, so many ranks in a row of them, which is distributed in the next dimension.
  int columns = 1;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// The parts, in the order of their ranks, as one: in dimension `along`, or, of one dimension, each rank's as a row; or blocks
/// in `along` and the next dimension, `columns` of them in each row. Usage with a sentence where they do not fit together.
[[nodiscard]] Result<ArrayValues> joinParts(const std::vector<ArrayValues>& parts, int along,
                                            qint64 halo, int columns = 1);

/// What an element of the halo is a copy of, by its index; -1: it is none, or lies in a corner of a block, which not every
/// exchange fills.
[[nodiscard]] qint64 originalOf(const ArrayValues& array, qint64 index);

/// "rank 1 [0] = 3, a copy of rank 0 [8] = 4".
[[nodiscard]] QString elementWords(const ArrayValues& array, qint64 index);
/// What is wrong with the halo, and where first, as a sentence; empty: the array has none.
[[nodiscard]] QString haloWords(const ArraySummary& array);

/// It is a copy, and not what it is a copy of.
[[nodiscard]] bool isStale(const ArrayValues& array, qint64 index);
/// The first one behind `after`, and from the beginning again; -1: there is none.
[[nodiscard]] qint64 nextStale(const ArrayValues& array, qint64 after);

/// Holds the halo against what it is a copy of.
[[nodiscard]] StaleHalo staleHalo(const ArrayValues& array);

}  // namespace pf::values
