// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints and cycles. Data in by set…(); what the user edits goes out by
// signals and shows at once, the application's next set…() has the last word. QtCore only.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QList>
#include <QStringList>

#include "views/values/debug_values.h"

namespace pf::views {

class BreakpointsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    PlaceColumn,
    ConditionColumn,
    IgnoreColumn,
    RanksColumn,
    StopsColumn,
    HitsColumn,
    NoteColumn,
    ColumnCount
  };

  explicit BreakpointsModel(QObject* parent = nullptr);
  void setBreakpoints(QList<Breakpoint> breakpoints);
  [[nodiscard]] const QList<Breakpoint>& breakpoints() const { return m_rows; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 Q_SIGNALS:
  void enableRequested(int id, bool enabled);
  void conditionEdited(int id, const QString& condition);
  void ignoreCountEdited(int id, int count);
  void ranksEdited(int id, const QString& ranks);
  void stopsEdited(int id, const QString& stops);  ///< as stopsText()

 private:
  [[nodiscard]] bool setStopsText(const QModelIndex& index, const QString& entered);
  [[nodiscard]] QString text(const Breakpoint& breakpoint, int column) const;
  QList<Breakpoint> m_rows;
};

/// Cycles, newest last; the stops of each as child rows.
class CyclesModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column { NumberColumn, StartedColumn, OutcomeColumn, HitsColumn, MatchColumn, ColumnCount };

  explicit CyclesModel(QObject* parent = nullptr);
  void setCycles(QList<Cycle> cycles);
  [[nodiscard]] const QList<Cycle>& cycles() const { return m_cycles; }
  [[nodiscard]] const CycleStop* stop(
      const QModelIndex& index) const;  ///< null for a cycle's own row

  [[nodiscard]] QModelIndex index(int row, int column,
                                  const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QVariant cycleData(const Cycle& cycle, int column, int role) const;
  QList<Cycle> m_cycles;
};

}  // namespace pf::views
