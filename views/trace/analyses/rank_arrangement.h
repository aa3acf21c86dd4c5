// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks the space-time diagram shows, in which order, and which of them share one row.
// QtCore only.
#pragma once

#include <memory>
#include <vector>

#include <QList>
#include <QString>

#include "views/trace/trace_index.h"
#include "views/values/rank_groups.h"

namespace pf::views {

enum class RankOrder { Number, Waiting, Racing, Host };

/// What the user has chosen; without any of it, each rank has a row, by number.
struct RankArrangement {
  QList<int> hidden;            ///< ascending
  QList<RankGroup> sharedRows;  ///< each drawn as one row; no rank is in two of them
  RankOrder order = RankOrder::Number;

  [[nodiscard]] bool isPlain() const {
    return hidden.isEmpty() && sharedRows.isEmpty() && order == RankOrder::Number;
  }
  void hide(const QList<int>& ranks);
  void showOnly(const QList<int>& ranks, int rankCount);
  void collapse(const RankGroup& group);  ///< its ranks leave other shared rows, and are shown
  void expand(const QString& sharedRow);
  friend bool operator==(const RankArrangement&, const RankArrangement&) = default;
};

/// One row of the diagram.
struct RankRow {
  QString sharedRow;        ///< empty: a single rank
  std::vector<Rank> ranks;  ///< ascending
};

/// Rows from top to bottom. Immutable, shared between threads.
class RankRows {
 public:
  RankRows(std::vector<RankRow> rows, std::size_t rankCount);
  [[nodiscard]] const std::vector<RankRow>& rows() const { return m_rows; }
  /// Row of a rank; -1: it is hidden.
  [[nodiscard]] int rowOf(Rank rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < m_rowOf.size()
               ? m_rowOf[static_cast<std::size_t>(rank)]
               : -1;
  }

 private:
  std::vector<RankRow> m_rows;
  std::vector<int> m_rowOf;
};
using RankRowsPtr = std::shared_ptr<const RankRows>;

/// Null for a plain arrangement. A shared row stands where the first of its ranks would. O(events) for
/// the order by waiting.
[[nodiscard]] RankRowsPtr arrangedRows(const TraceIndex& trace, const RankArrangement& arrangement);

/// Steps of logical time that each rank stood still, waiting for what others did.
[[nodiscard]] std::vector<std::uint64_t> stepsWaited(const TraceIndex& trace);
/// Racing receives and probes of each rank.
[[nodiscard]] std::vector<std::uint64_t> racesOfRanks(const TraceIndex& trace);

[[nodiscard]] QString rowOrderText(RankOrder order);  ///< "number", "waiting", "racing", "host"
/// From texts as a trace has them (db::RankArrangement); what cannot be read is left out, as are
/// ranks that there are not. `sharedRows`: name and ranks of each.
[[nodiscard]] RankArrangement arrangementFrom(const QString& hidden,
                                              const QList<std::pair<QString, QString>>& sharedRows,
                                              const QString& order, int rankCount);
/// For a session file, and back by arrangementFrom().
[[nodiscard]] QString arrangementText(const RankArrangement& arrangement);
[[nodiscard]] RankArrangement arrangementOf(const QString& text, int rankCount);

}  // namespace pf::views
