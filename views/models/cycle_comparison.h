// SPDX-License-Identifier: GPL-3.0-or-later
// Two cycles side by side: which hits of breakpoints, and which values of the watches there, differ.
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QString>

#include "views/values/debug_values.h"

namespace pf::views {

/// One thing that both cycles were asked for: how a cycle ran, the event of a hit, a watched value there. Empty: that cycle does
/// not have it.
struct ComparedRow {
  QString what;   ///< "breakpoint 2, rank 0, hit 3", "build", "stopped"
  QString value;  ///< "event", the watched expression, or empty
  QString first;
  QString second;
  EventRef event;  ///< of a hit; of the first cycle, if that has it
  [[nodiscard]] bool differs() const { return first != second; }
  friend bool operator==(const ComparedRow&, const ComparedRow&) = default;
};

/// The build, why each stopped, its divergence, its ranks; then hit by hit: the n-th hit of a breakpoint by a rank in one cycle beside
/// the n-th in the other, by breakpoint, rank and n. Of ranks that both ran.
[[nodiscard]] QList<ComparedRow> compareCycles(const Cycle& first, const Cycle& second);

class CycleComparisonModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { WhatColumn, ValueColumn, FirstColumn, SecondColumn, ColumnCount };

  explicit CycleComparisonModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setCycles(const Cycle& first, const Cycle& second);
  /// Rows that are the same are left out.
  void setOnlyDifferences(bool only);
  [[nodiscard]] const QList<ComparedRow>& rows() const { return m_shown; }
  [[nodiscard]] int differences() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  void show();

  QList<ComparedRow> m_all;
  QList<ComparedRow> m_shown;
  QString m_first;
  QString m_second;
  bool m_only = false;
};

}  // namespace pf::views
