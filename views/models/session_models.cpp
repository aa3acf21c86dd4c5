// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/session_models.h"

#include <algorithm>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

/// State and remarks, then what it does besides stopping.
QString noteText(const Breakpoint& breakpoint) {
  const QString state = breakpoint.state == BreakpointState::Set       ? QString()
                        : breakpoint.state == BreakpointState::Pending ? u"pending"_s
                                                                       : u"failed"_s;
  QStringList parts;
  parts << (state.isEmpty() || breakpoint.note.isEmpty()
                ? state + oneLine(breakpoint.note)
                : u"%1: %2"_s.arg(state, oneLine(breakpoint.note)));
  parts << (breakpoint.log.isEmpty() ? QString() : u"logs %1"_s.arg(oneLine(breakpoint.log)));
  parts << (breakpoint.temporary ? u"temporary"_s : QString());
  parts << (breakpoint.commands.isEmpty()
                ? QString()
                : u"runs %1"_s.arg(oneLine(breakpoint.commands.join(u"; "_s))));
  parts.removeAll(QString());
  return parts.join(u" · "_s);
}

}  // namespace

BreakpointsModel::BreakpointsModel(QObject* parent) : QAbstractTableModel(parent) {}

void BreakpointsModel::setBreakpoints(QList<Breakpoint> breakpoints) {
  const bool sameRows =
      std::equal(breakpoints.begin(), breakpoints.end(), m_rows.begin(), m_rows.end(),
                 [](const Breakpoint& a, const Breakpoint& b) { return a.id == b.id; });
  if (!sameRows) {
    beginResetModel();
    m_rows = std::move(breakpoints);
    endResetModel();
    return;
  }
  for (int row = 0; row < rowCount(); ++row) {
    if (!(m_rows[row] == breakpoints[row])) {
      m_rows[row] = breakpoints[row];
      Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
    }
  }
}

int BreakpointsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_rows.size());
}

int BreakpointsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QString BreakpointsModel::text(const Breakpoint& breakpoint, int column) const {
  switch (column) {
    case PlaceColumn:
      return breakpointPlace(breakpoint);
    case ConditionColumn:
      return oneLine(breakpoint.condition);
    case IgnoreColumn:
      return breakpoint.ignoreCount == 0 ? QString() : QString::number(breakpoint.ignoreCount);
    case RanksColumn:
      return breakpoint.ranks.isEmpty() ? u"all"_s : oneLine(breakpoint.ranks);
    case StopsColumn:
      return breakpoint.log.isEmpty() ? stopsText(breakpoint) : u"nobody"_s;
    case HitsColumn: {
      QStringList parts;
      for (const CycleHits& hits : breakpoint.hits) {
        parts << u"%1 in cycle %2"_s.arg(hits.hits).arg(hits.cycle);
      }
      return parts.join(u", "_s);
    }
    default: {
      return noteText(breakpoint);
    }
  }
}

QVariant BreakpointsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const Breakpoint& breakpoint = m_rows[index.row()];
  switch (role) {
    case Qt::DisplayRole:
      return text(breakpoint, index.column());
    case Qt::EditRole:
      return index.column() == IgnoreColumn  ? QVariant(breakpoint.ignoreCount)
             : index.column() == RanksColumn ? QVariant(breakpoint.ranks)
             : index.column() == StopsColumn ? QVariant(stopsText(breakpoint))
                                             : QVariant(breakpoint.condition);
    case Qt::CheckStateRole:
      return index.column() == PlaceColumn
                 ? QVariant(breakpoint.enabled ? Qt::Checked : Qt::Unchecked)
                 : QVariant();
    case Qt::ToolTipRole:
      return breakpoint.file.isEmpty()
                 ? text(breakpoint, PlaceColumn)
                 : u"%1:%2\n%3"_s.arg(breakpoint.file).arg(breakpoint.line).arg(breakpoint.note);
    case ToneRole:
      return static_cast<int>(
          breakpoint.state == BreakpointState::Failed && index.column() == NoteColumn ? Tone::Bad
          : !breakpoint.enabled || index.column() == HitsColumn || index.column() == NoteColumn
              ? Tone::Muted
              : Tone::Normal);
    case MonospaceRole:
      return index.column() == ConditionColumn;
    case KeyRole:
      return breakpoint.id;
    default:
      return {};
  }
}

bool BreakpointsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.row() >= rowCount()) {
    return false;
  }
  Breakpoint& breakpoint = m_rows[index.row()];
  const int id = breakpoint.id;
  if (role == Qt::CheckStateRole && index.column() == PlaceColumn) {
    breakpoint.enabled = value.toInt() == Qt::Checked;
    Q_EMIT dataChanged(this->index(index.row(), 0), this->index(index.row(), ColumnCount - 1));
    Q_EMIT enableRequested(id, value.toInt() == Qt::Checked);
    return true;
  }
  if (role != Qt::EditRole) {
    return false;
  }
  const QString entered = value.toString().trimmed();
  if (index.column() == ConditionColumn && entered != breakpoint.condition) {
    breakpoint.condition = entered;
    Q_EMIT dataChanged(index, index);
    Q_EMIT conditionEdited(id, entered);
    return true;
  }
  bool ok = false;
  if (index.column() == IgnoreColumn) {
    const int count = entered.isEmpty() ? 0 : entered.toInt(&ok);
    if ((!ok && !entered.isEmpty()) || count < 0 || count == breakpoint.ignoreCount) {
      return false;
    }
    breakpoint.ignoreCount = count;
    Q_EMIT dataChanged(index, index);
    Q_EMIT ignoreCountEdited(id, count);
    return true;
  }
  if (index.column() == RanksColumn) {
    const QString ranks = entered == u"all"_s ? QString() : rankSetText(parseRankSet(entered, ok));
    if ((!ok && entered != u"all"_s) || ranks == breakpoint.ranks) {
      return false;
    }
    breakpoint.ranks = ranks;
    Q_EMIT dataChanged(index, index);
    Q_EMIT ranksEdited(id, ranks);
    return true;
  }
  return index.column() == StopsColumn && setStopsText(index, entered);
}

bool BreakpointsModel::setStopsText(const QModelIndex& index, const QString& entered) {
  Breakpoint changed = m_rows[index.row()];
  if (!setStops(changed, entered) || changed == m_rows[index.row()]) {
    return false;
  }
  m_rows[index.row()] = changed;
  Q_EMIT dataChanged(index, index);
  Q_EMIT stopsEdited(changed.id, stopsText(changed));
  return true;
}

Qt::ItemFlags BreakpointsModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags base = QAbstractTableModel::flags(index);
  if (!index.isValid()) {
    return base;
  }
  if (index.column() == PlaceColumn) {
    return base | Qt::ItemIsUserCheckable;
  }
  const Breakpoint& row = m_rows[index.row()];
  const bool logical = row.kind == BreakpointKind::Logical || row.event.valid();
  const bool editable =
      ((index.column() == ConditionColumn || index.column() == IgnoreColumn) && !logical) ||
      (index.column() == RanksColumn && (!logical || row.events.size() > 1)) ||
      (index.column() == StopsColumn && row.log.isEmpty());
  return editable ? base | Qt::ItemIsEditable : base;
}

QVariant BreakpointsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Where", "Condition", "Ignore", "Ranks",
                                        "Stops", "Hits",      "Note"};
  static const char* const kTips[] = {
      "Ticked = enabled",
      "Stops only where this expression is true",
      "Hits to pass over first",
      "all, or a set such as 0, 2-4",
      "Who stops: rank (the one that came to it), all, or ranks such as 0, 2-4",
      "Hits in each cycle",
      "State and remarks"};
  if (role == Qt::DisplayRole) {
    return QString::fromLatin1(kTitles[section]);
  }
  return role == Qt::ToolTipRole ? QVariant(QString::fromLatin1(kTips[section])) : QVariant();
}

CyclesModel::CyclesModel(QObject* parent) : QAbstractItemModel(parent) {}

void CyclesModel::setCycles(QList<Cycle> cycles) {
  beginResetModel();
  m_cycles = std::move(cycles);
  endResetModel();
}

// internalId: 0 for a cycle's row, 1 + row of its cycle for a stop.
QModelIndex CyclesModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) {
    return {};
  }
  return createIndex(row, column,
                     parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : quintptr{0});
}

QModelIndex CyclesModel::parent(const QModelIndex& child) const {
  return !child.isValid() || child.internalId() == 0
             ? QModelIndex()
             : createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int CyclesModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) {
    return toInt(m_cycles.size());
  }
  return parent.internalId() == 0 && parent.column() == 0
             ? toInt(m_cycles[parent.row()].stops.size())
             : 0;
}

int CyclesModel::columnCount(const QModelIndex& /*parent*/) const {
  return ColumnCount;
}

const CycleStop* CyclesModel::stop(const QModelIndex& index) const {
  if (!index.isValid() || index.internalId() == 0) {
    return nullptr;
  }
  return &m_cycles[static_cast<qsizetype>(index.internalId()) - 1].stops[index.row()];
}

QVariant CyclesModel::cycleData(const Cycle& cycle, int column, int role) const {
  const bool diverged = cycle.match == CycleMatch::Diverged;
  switch (role) {
    case Qt::DisplayRole:
      switch (column) {
        case NumberColumn:
          return u"Cycle %1"_s.arg(cycle.number);
        case StartedColumn:
          return cycle.started.isValid() ? cycle.started.toString(u"HH:mm:ss"_s) : QString();
        case OutcomeColumn:
          return cycle.running && !cycle.stands ? u"running"_s : oneLine(outcomeText(cycle));
        case HitsColumn:
          return QString::number(cycle.hits);
        default:
          return cycle.match == CycleMatch::Unknown ? u"–"_s
                 : diverged                         ? u"diverged"_s
                                                    : u"same as recorded"_s;
      }
    case Qt::ToolTipRole:
      return diverged ? cycle.divergence : outcomeText(cycle);
    case ToneRole:
      return static_cast<int>(column == MatchColumn
                                  ? (diverged                             ? Tone::Bad
                                     : cycle.match == CycleMatch::Matches ? Tone::Good
                                                                          : Tone::Muted)
                              : cycle.running ? Tone::Active
                                              : Tone::Normal);
    case BoldRole:
      return column == NumberColumn;
    case KeyRole:
      return cycle.number;
    default:
      return {};
  }
}

QVariant CyclesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const CycleStop* own = stop(index);
  if (own == nullptr) {
    return cycleData(m_cycles[index.row()], index.column(), role);
  }
  if (role == Qt::DisplayRole) {
    return index.column() == NumberColumn ? u"rank %1"_s.arg(own->rank)
           : index.column() == StartedColumn
               ? (own->serial == 0 ? QString() : u"event %1"_s.arg(own->serial))
           : index.column() == OutcomeColumn
               ? oneLine(own->why.isEmpty() ? own->where : u"%1 – %2"_s.arg(own->why, own->where))
               : QString();
  }
  return role == ToneRole  ? QVariant(static_cast<int>(Tone::Muted))
         : role == KeyRole ? QVariant(own->rank)
                           : QVariant();
}

QVariant CyclesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
      section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Cycle", "Started", "Stopped", "Hits", "Recording"};
  return QString::fromLatin1(kTitles[section]);
}

}  // namespace pf::views

#include "moc_session_models.cpp"
