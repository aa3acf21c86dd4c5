// SPDX-License-Identifier: GPL-3.0-or-later
// Plain tables of text: registers, memory, instructions, threads. What changed since the last time
// is marked. QtCore only.
#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QList>
#include <QStringList>

namespace pf::views {

class RowsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// `compared`: the column whose text is compared with that of the row with the same first
  /// column before; -1: none.
  explicit RowsModel(QStringList titles, int compared = -1, QObject* parent = nullptr);

  /// `current`: a row to show in bold, -1 = none.
  void setRows(const QList<QStringList>& rows, int current = -1);
  [[nodiscard]] const QList<QStringList>& rows() const { return m_rows; }
  [[nodiscard]] int current() const { return m_current; }
  [[nodiscard]] bool changed(int row) const { return m_changed.value(row, false); }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  QStringList m_titles;
  int m_compared;
  QList<QStringList> m_rows;
  QList<bool> m_changed;
  int m_current = -1;
};

/// Rows of 16 bytes, "address | hexadecimal | text", of `digits` (two a byte) from `address` on.
[[nodiscard]] QList<QStringList> memoryRows(quint64 address, const QString& digits);

}  // namespace pf::views
