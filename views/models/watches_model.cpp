// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/watches_model.h"

#include <utility>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

/// "5 → 6" of what has changed since the stop before; a long value stands alone.
QString watchText(const WatchValue& cell) {
  constexpr qsizetype kLongest = 40;
  const QString now = oneLine(cell.value);
  return cell.before.isEmpty() || cell.before.size() > kLongest
             ? now
             : u"%1 → %2"_s.arg(oneLine(cell.before), now);
}

QString watchTip(const QString& expression, const WatchValue& cell) {
  constexpr qsizetype kMost = 2000;
  const QString title = WatchesModel::tr("%1 on rank %2:").arg(expression).arg(cell.rank);
  if (!cell.error.isEmpty()) {
    return title + u'\n' + cell.error;
  }
  return title + u'\n' + cell.value.left(kMost) +
         (cell.before.isEmpty()
              ? QString()
              : u'\n' + WatchesModel::tr("at the stop before:") + u'\n' + cell.before.left(kMost));
}

bool isKnown(const WatchValue& cell) {
  return !cell.value.isEmpty() || !cell.error.isEmpty();
}

}  // namespace

WatchValue WatchesModel::cell(const QString& expression) const {
  return m_cells.value(expression).value(m_rank);
}

Variable WatchesModel::rowOf(const QString& expression) {
  QString& path = m_paths[expression];
  if (path.isEmpty()) {
    path = u"w/%1"_s.arg(++m_added);
  }
  const WatchValue now = cell(expression);
  Variable row;
  row.path = path;
  row.name = expression;
  row.value = now.value;
  row.hasChildren = now.hasParts;
  row.editable = false;
  return row;
}

void WatchesModel::showAll() {
  QList<Variable> rows;
  for (const QString& expression : std::as_const(m_expressions)) {
    rows << rowOf(expression);
  }
  clear();  // what is open is of another rank
  setVariables(u"watches"_s, rows);
}

void WatchesModel::forgetValues() {
  if (!m_cells.isEmpty()) {
    m_cells.clear();
    showAll();
  }
}

void WatchesModel::setRank(int rank) {
  if (rank != m_rank) {
    m_rank = rank;
    Q_EMIT headerDataChanged(Qt::Horizontal, ValueColumn, ValueColumn);
    showAll();
  }
}

void WatchesModel::setExpressions(const QStringList& expressions) {
  if (expressions == m_expressions) {
    return;
  }
  m_expressions = expressions;
  m_expressions.removeDuplicates();
  const auto gone = [this](auto it) { return !m_expressions.contains(it.key()); };
  m_cells.removeIf(gone);
  m_paths.removeIf(gone);
  m_opening.clear();
  showAll();
  Q_EMIT expressionsChanged(m_expressions);
}

void WatchesModel::setValues(const QString& expression, const QList<WatchValue>& values) {
  const int row = toInt(m_expressions.indexOf(expression));
  if (row < 0) {
    return;
  }
  bool shown = false;
  for (const WatchValue& value : values) {
    m_cells[expression].insert(value.rank, value);
    shown = shown || value.rank == m_rank;
  }
  if (shown) {
    setVariable(row, rowOf(expression));
    if (m_opening.remove(expression)) {
      open(row);
    }
  }
}

bool WatchesModel::addExpression(const QString& expression) {
  const QString text = expression.trimmed();
  if (text.isEmpty() || m_expressions.contains(text)) {
    return false;
  }
  m_expressions << text;
  appendVariable(rowOf(text));
  Q_EMIT expressionsChanged(m_expressions);
  return true;
}

void WatchesModel::removeExpression(int row) {
  if (row < 0 || row >= m_expressions.size()) {
    return;
  }
  const QString gone = m_expressions.takeAt(row);
  m_opening.remove(gone);
  m_cells.remove(gone);
  m_paths.remove(gone);
  removeVariable(row);
  Q_EMIT expressionsChanged(m_expressions);
}

bool WatchesModel::replaceExpression(const QString& expression, const QString& by) {
  const int row = toInt(m_expressions.indexOf(expression));
  if (row < 0 || m_expressions.contains(by)) {
    return false;
  }
  if (isOpen(row)) {
    m_opening.insert(by);
  }
  m_expressions[row] = by;
  m_cells.remove(expression);
  m_paths.remove(expression);
  setVariable(row, rowOf(by));
  Q_EMIT expressionsChanged(m_expressions);
  return true;
}

QString WatchesModel::expressionOf(const QString& path) const {
  return m_paths.key(path);
}

QVariant WatchesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.parent().isValid() || index.row() >= m_expressions.size()) {
    return VariablesModel::data(index, role);
  }
  const QString& expression = m_expressions[index.row()];
  if (index.column() != ValueColumn) {
    return role == Qt::EditRole && index.column() == NameColumn ? QVariant(expression)
           : role == Qt::ToolTipRole                            ? QVariant()
                                                                : VariablesModel::data(index, role);
  }
  const WatchValue value = cell(expression);
  if (!isKnown(value)) {
    return role == Qt::DisplayRole ? QVariant(u"–"_s)
           : role == ToneRole      ? QVariant(static_cast<int>(Tone::Muted))
                                   : QVariant();
  }
  const bool failed = !value.error.isEmpty();
  const bool changed = !failed && !value.before.isEmpty();
  switch (role) {
    case Qt::DisplayRole:
      return failed ? oneLine(value.error) : watchText(value);
    case Qt::ToolTipRole:
      return watchTip(expression, value);
    case ToneRole:
      return static_cast<int>(failed ? Tone::Muted : changed ? Tone::Changed : Tone::Normal);
    case BoldRole:
      return changed;
    case MonospaceRole:
      return !failed;
    default:
      return {};
  }
}

bool WatchesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (index.parent().isValid()) {
    return VariablesModel::setData(index, value, role);
  }
  const QString text = value.toString().trimmed();
  if (!index.isValid() || index.column() != NameColumn || role != Qt::EditRole || text.isEmpty() ||
      index.row() >= m_expressions.size()) {
    return false;
  }
  return replaceExpression(m_expressions[index.row()], text);
}

Qt::ItemFlags WatchesModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags base = VariablesModel::flags(index);
  return index.isValid() && !index.parent().isValid() && index.column() == NameColumn
             ? base | Qt::ItemIsEditable
             : base;
}

QVariant WatchesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Horizontal && role == Qt::DisplayRole && section == NameColumn) {
    return u"Expression"_s;
  }
  if (orientation == Qt::Horizontal && role == Qt::DisplayRole && section == ValueColumn) {
    return u"Rank %1"_s.arg(m_rank);
  }
  return VariablesModel::headerData(section, orientation, role);
}

}  // namespace pf::views

#include "moc_watches_model.cpp"
