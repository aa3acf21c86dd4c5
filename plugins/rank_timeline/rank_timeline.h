// SPDX-License-Identifier: MIT
// Bundled plugin: the events of one rank from first to last, with what became of each.
#pragma once

#include <optional>
#include <vector>

#include <QAbstractTableModel>

#include "plugins/bundled/view_pane.h"
#include "views/trace/analyses/event_search.h"

namespace pf::plugins {

/// What became of an event: "racing, 2 others possible", "took rank 3's", "received by rank 0 at
/// 17", "never received" …
[[nodiscard]] QString eventState(const views::TraceIndex& trace, EventRef event);

class TimelineModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    SerialColumn,
    TimeColumn,
    CallColumn,
    PeerColumn,
    TagColumn,
    BytesColumn,
    CommColumn,
    PlaceColumn,
    StateColumn,
    ColumnCount
  };
  using QAbstractTableModel::QAbstractTableModel;
  /// The events of `rank` that a search of it found (views::searchRank()); all without one.
  void show(views::TraceIndexPtr trace, Rank rank,
            const std::optional<views::EventSearch>& found = std::nullopt);
  /// Where a replay has the rank: about to do this event; 0: nowhere.
  void setNext(Serial next);
  [[nodiscard]] const QString& problem() const { return m_problem; }  ///< of the search
  [[nodiscard]] Rank rank() const { return m_rank; }
  [[nodiscard]] EventRef eventAt(int row) const;
  /// Row of the event; where it is filtered out, of the last one before it. -1: none.
  [[nodiscard]] int rowOf(Serial serial) const;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QString text(EventRef event, int column) const;

  views::TraceIndexPtr m_trace;
  Rank m_rank = 0;
  bool m_all = true;              ///< no filter: the rows are all events
  std::vector<Serial> m_serials;  ///< of the rows, where there is one
  QString m_problem;
  Serial m_next = 0;
};

/// Its entry.
[[nodiscard]] const PhotofinishPlugin* rankTimelinePlugin();

}  // namespace pf::plugins
