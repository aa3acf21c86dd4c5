// SPDX-License-Identifier: GPL-3.0-or-later
// What logpoints have written: a line each, with cycle, rank and event.
//
// LogView  in: append, clear   out: eventActivated(event)
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QWidget>

#include "views/values/debug_values.h"

class QTableView;

namespace pf::views {

/// The newest kLogLines lines.
class LogModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { CycleColumn, RankColumn, EventColumn, BreakpointColumn, TextColumn, ColumnCount };
  static constexpr int kLogLines = 20000;

  explicit LogModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void append(const LogEntry& entry);
  void clear();
  [[nodiscard]] const QList<LogEntry>& entries() const { return m_rows; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  QList<LogEntry> m_rows;
};

class LogView : public QWidget {
  Q_OBJECT
 public:
  explicit LogView(QWidget* parent = nullptr);
  void append(const LogEntry& entry);
  [[nodiscard]] LogModel* model() const { return m_model; }

 Q_SIGNALS:
  /// The event that came next when the line was written.
  void eventActivated(const pf::EventRef& event);

 private:
  LogModel* m_model;
  QTableView* m_table;
};

}  // namespace pf::views
