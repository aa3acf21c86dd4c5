// SPDX-License-Identifier: GPL-3.0-or-later
// The race list as it is shown: filtered and sorted. Not a QSortFilterProxyModel, which asks for
// each cell by its QVariant: a million races would take many seconds.
#pragma once

#include <vector>

#include <QAbstractProxyModel>
#include <QStringList>

#include "views/models/race_list_model.h"

namespace pf::views {

/// Filter of the race list: words that must all occur in a row, and `rank:2`, `from:1`, `tag:5`,
/// `class:probe`, `file:master.c`, `event:17`. Its source is a RaceListModel.
class RaceFilterModel : public QAbstractProxyModel {
  Q_OBJECT
 public:
  using QAbstractProxyModel::QAbstractProxyModel;
  void setSourceModel(QAbstractItemModel* source) override;
  void setFilterText(const QString& text);
  /// Only these, ascending; empty = all.
  void setRaces(std::vector<int> races);
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

  [[nodiscard]] QModelIndex mapToSource(const QModelIndex& index) const override;
  [[nodiscard]] QModelIndex mapFromSource(const QModelIndex& index) const override;
  [[nodiscard]] QModelIndex index(int row, int column,
                                  const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;

 private:
  [[nodiscard]] const RaceListModel* races() const;
  void filter();
  void order();
  void rearrange();
  [[nodiscard]] int rowOf(int race) const;  ///< -1: it is not shown

  QStringList m_words;
  std::vector<int> m_only;
  int m_column = -1;
  Qt::SortOrder m_order = Qt::AscendingOrder;
  std::vector<int> m_shown;  ///< races, by row
};

/// Races whose rows hold all words, ascending.
[[nodiscard]] std::vector<int> racesWith(const RaceListModel& model, const QStringList& words);

}  // namespace pf::views
