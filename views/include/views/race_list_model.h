// The race list: one row per racing receive, the ones most likely to matter first, and its filter.
// Data in: setTrace(). Nothing out. QtCore only.
#pragma once

#include <vector>

#include <QAbstractTableModel>
#include <QList>
#include <QSortFilterProxyModel>

#include "views/trace_index.h"

namespace pf::views {

class RaceListModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    Severity,
    Receiver,
    EventSerial,
    Call,
    Location,
    Taken,
    TakenTag,
    Alternatives,
    FromRanks,
    Class,
    ColumnCount
  };

  explicit RaceListModel(QObject* parent = nullptr);

  void setTrace(TraceIndexPtr trace);
  [[nodiscard]] const TraceIndexPtr& trace() const { return m_trace; }

  /// 0 = last racing receive of the failing rank before it failed, 1 = in the causal past of the
  /// failure, 2 = other.
  [[nodiscard]] int severity(int race) const;
  [[nodiscard]] QString severityText(int race) const;
  [[nodiscard]] const std::vector<int>& severities() const { return m_severity; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QString text(std::size_t race, int column) const;
  [[nodiscard]] QVariant sortKey(std::size_t race, int column) const;
  void rate();

  TraceIndexPtr m_trace;
  std::vector<int> m_severity;
};

/// Filter of the race list: words that must all occur in a row, and `rank:2`, `from:1`, `tag:5`,
/// `class:probe`, `file:master.c`, `event:17`.
class RaceFilterModel : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit RaceFilterModel(QObject* parent = nullptr);
  void setFilterText(const QString& text);
  /// Only these, ascending; empty = all.
  void setRaces(QList<int> races);

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  [[nodiscard]] bool matches(int row, const QString& word) const;
  QStringList m_words;
  QList<int> m_races;
};

}  // namespace pf::views
