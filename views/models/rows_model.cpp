// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/rows_model.h"

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

RowsModel::RowsModel(QStringList titles, int compared, QObject* parent)
    : QAbstractTableModel(parent), m_titles(std::move(titles)), m_compared(compared) {}

void RowsModel::setRows(const QList<QStringList>& rows, int current) {
  QHash<QString, QString> before;
  for (const QStringList& row : std::as_const(m_rows)) {
    before[row.value(0)] = row.value(m_compared);
  }
  beginResetModel();
  m_rows = rows;
  m_current = current;
  m_changed.clear();
  for (const QStringList& row : rows) {
    const auto old = before.constFind(row.value(0));
    m_changed << (m_compared >= 0 && old != before.constEnd() && *old != row.value(m_compared));
  }
  endResetModel();
}

int RowsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_rows.size());
}

int RowsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_titles.size());
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const bool marked = index.column() == m_compared && changed(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return oneLine(m_rows[index.row()].value(index.column()));
    case ToneRole:
      return static_cast<int>(marked ? Tone::Changed : Tone::Normal);
    case BoldRole:
      return marked || index.row() == m_current;
    case MonospaceRole:
      return true;
    case KeyRole:
      return m_rows[index.row()].value(0);
    default:
      return {};
  }
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  return orientation == Qt::Horizontal && role == Qt::DisplayRole
             ? QVariant(m_titles.value(section))
             : QVariant();
}

QList<QStringList> memoryRows(quint64 address, const QString& digits) {
  constexpr qsizetype kBytes = 16;
  QList<QStringList> rows;
  for (qsizetype from = 0; from + 1 < digits.size(); from += 2 * kBytes) {
    QString bytes;
    QString text;
    for (qsizetype at = from; at < from + 2 * kBytes && at + 1 < digits.size(); at += 2) {
      const QString byte = digits.mid(at, 2);
      const int code = byte.toInt(nullptr, 16);
      bytes += (at == from ? QString() : at == from + kBytes ? u"  "_s : u" "_s) + byte;
      text += code >= 0x20 && code < 0x7F ? QChar(code) : QChar(u'.');
    }
    rows.append({u"0x%1"_s.arg(address + static_cast<quint64>(from / 2), 0, 16), bytes, text});
  }
  return rows;
}

}  // namespace pf::views

#include "moc_rows_model.cpp"
