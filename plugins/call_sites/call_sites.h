// SPDX-License-Identifier: MIT
// Bundled plugin: what each place in the program that calls MPI did in this run.
#pragma once

#include <cstdint>
#include <vector>

#include <QAbstractTableModel>

#include "plugins/bundled/view_pane.h"

namespace pf::plugins {

/// One call site with one MPI routine.
struct SiteUse {
  std::uint32_t site = kNone;  ///< index into Execution::sites; kNone = not known
  std::uint16_t call = 0;      ///< index into Execution::callNames
  std::uint64_t calls = 0;
  std::vector<Rank> ranks;      ///< ascending
  std::uint64_t messages = 0;   ///< sent here
  std::uint64_t bytes = 0;      ///< of these
  std::uint64_t wildcards = 0;  ///< receives posted and probes done here for MPI_ANY_SOURCE
  std::uint64_t racing = 0;     ///< of these, those that raced
  EventRef first;               ///< smallest rank, then serial
};

/// By calls, the most first.
[[nodiscard]] std::vector<SiteUse> siteUses(const views::TraceIndex& trace);
/// The call there that comes after `event` (rank, then serial), or the first one again.
[[nodiscard]] EventRef nextUse(const views::TraceIndex& trace, const SiteUse& use, EventRef event);

class SitesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    PlaceColumn,
    FunctionColumn,
    CallColumn,
    CallsColumn,
    RanksColumn,
    MessagesColumn,
    BytesColumn,
    WildcardsColumn,
    RacingColumn,
    ColumnCount
  };
  using QAbstractTableModel::QAbstractTableModel;
  /// `uses`: what siteUses() says of it.
  void setTrace(views::TraceIndexPtr trace, std::vector<SiteUse> uses);
  [[nodiscard]] const std::vector<SiteUse>& uses() const { return m_uses; }
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QVariant value(const SiteUse& use, int column, bool sort) const;
  views::TraceIndexPtr m_trace;
  std::vector<SiteUse> m_uses;
};

/// Its entry.
[[nodiscard]] const PhotofinishPlugin* callSitesPlugin();

}  // namespace pf::plugins
