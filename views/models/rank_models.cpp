// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/rank_models.h"

#include <algorithm>

#include <QMap>
#include <QStringList>

#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

Tone tone(RankActivity activity) {
  switch (activity) {
    case RankActivity::NotStarted:
    case RankActivity::Finished:
    case RankActivity::NotInReplay:
    case RankActivity::NotHere:
      return Tone::Muted;
    case RankActivity::Gated:
    case RankActivity::InCall:
      return Tone::Normal;
    case RankActivity::Running:
      return Tone::Good;
    case RankActivity::Stopped:
      return Tone::Active;
    case RankActivity::Failed:
    case RankActivity::Lost:
      return Tone::Bad;
  }
  return Tone::Normal;
}

QString rankTip(const RankState& state) {
  QStringList lines{u"rank %1: %2"_s.arg(state.rank).arg(activityText(state.activity))};
  if (!state.detail.isEmpty()) {
    lines << state.detail;
  }
  if (!state.where.isEmpty()) {
    lines << u"at %1"_s.arg(state.where);
  }
  if (state.serial != 0) {
    lines << u"event %1"_s.arg(state.serial);
  }
  if (state.pid != 0) {
    lines << u"process %1%2"_s.arg(state.pid).arg(
        state.host.isEmpty() ? QString() : u" on %1"_s.arg(state.host));
  }
  lines << (state.debugger ? u"GDB attached"_s : u"no debugger"_s);
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

RanksModel::RanksModel(QObject* parent) : QAbstractTableModel(parent) {}

void RanksModel::setRanks(QList<RankState> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const RankState& a, const RankState& b) { return a.rank < b.rank; });
  const bool sameRows =
      std::equal(ranks.begin(), ranks.end(), m_ranks.begin(), m_ranks.end(),
                 [](const RankState& a, const RankState& b) { return a.rank == b.rank; });
  if (sameRows) {
    for (const RankState& state : ranks) {
      updateRank(state);
    }
    return;
  }
  beginResetModel();
  m_ranks = std::move(ranks);
  endResetModel();
}

int RanksModel::rowOf(int rank) const {
  const auto it = std::lower_bound(m_ranks.begin(), m_ranks.end(), rank,
                                   [](const RankState& s, int r) { return s.rank < r; });
  return it != m_ranks.end() && it->rank == rank ? toInt(it - m_ranks.begin()) : -1;
}

const RankState* RanksModel::state(int rank) const {
  const int row = rowOf(rank);
  return row < 0 ? nullptr : &m_ranks[row];
}

void RanksModel::updateRank(const RankState& state) {
  const int row = rowOf(state.rank);
  if (row < 0) {
    const auto it = std::lower_bound(m_ranks.begin(), m_ranks.end(), state.rank,
                                     [](const RankState& s, int r) { return s.rank < r; });
    const int newRow = toInt(it - m_ranks.begin());
    beginInsertRows({}, newRow, newRow);
    m_ranks.insert(newRow, state);
    endInsertRows();
  } else if (!(m_ranks[row] == state)) {
    m_ranks[row] = state;
    Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
  }
}

void RanksModel::setFocusRanks(const QSet<int>& ranks) {
  if (ranks == m_focus) {
    return;
  }
  m_focus = ranks;
  if (!m_ranks.isEmpty()) {
    Q_EMIT dataChanged(index(0, RankColumn), index(rowCount() - 1, RankColumn),
                       {Qt::CheckStateRole});
  }
  Q_EMIT focusChanged(focusRanks());
}

QList<int> RanksModel::focusRanks() const {
  QList<int> out(m_focus.begin(), m_focus.end());
  std::sort(out.begin(), out.end());
  return out;
}

QString RanksModel::summary() const {
  QMap<int, std::size_t> counts;
  for (const RankState& state : m_ranks) {
    ++counts[static_cast<int>(state.activity)];
  }
  QStringList parts;
  for (auto it = counts.begin(); it != counts.end(); ++it) {
    parts << u"%1 %2"_s.arg(it.value()).arg(activityText(static_cast<RankActivity>(it.key())));
  }
  return parts.join(u", "_s);
}

int RanksModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_ranks.size());
}

int RanksModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant RanksModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const RankState& state = m_ranks[index.row()];
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case RankColumn:
          return QString::number(state.rank);
        case StateColumn:
          return activityText(state.activity);
        case SerialColumn:
          return state.serial == 0 ? QString() : QString::number(state.serial);
        case WhereColumn:
          return oneLine(state.where.section(u" at "_s, -1));  // the function is in the stack
        default:
          return oneLine(state.detail);
      }
    case Qt::CheckStateRole:
      return index.column() == RankColumn
                 ? QVariant(m_focus.contains(state.rank) ? Qt::Checked : Qt::Unchecked)
                 : QVariant();
    case Qt::ToolTipRole:
      return rankTip(state);
    case ToneRole:
      return static_cast<int>(index.column() == StateColumn ? tone(state.activity)
                              : state.activity == RankActivity::Finished || isAbsent(state.activity)
                                  ? Tone::Muted
                                  : Tone::Normal);
    case BoldRole:
      return index.column() == RankColumn && !isAbsent(state.activity);
    case SortRole:
      return index.column() == RankColumn     ? QVariant(state.rank)
             : index.column() == SerialColumn ? QVariant(static_cast<qulonglong>(state.serial))
                                              : data(index, Qt::DisplayRole);
    case KeyRole:
      return state.rank;
    case ActivityRole:
      return static_cast<int>(state.activity);
    default:
      return {};
  }
}

bool RanksModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::CheckStateRole || index.column() != RankColumn) {
    return false;
  }
  QSet<int> focus = m_focus;
  if (value.toInt() == Qt::Checked) {
    focus.insert(m_ranks[index.row()].rank);
  } else {
    focus.remove(m_ranks[index.row()].rank);
  }
  setFocusRanks(focus);
  return true;
}

Qt::ItemFlags RanksModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags base = QAbstractTableModel::flags(index);
  return index.isValid() && index.column() == RankColumn ? base | Qt::ItemIsUserCheckable : base;
}

QVariant RanksModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"Rank", "State", "Event", "Where", "Detail"};
  if (role == Qt::DisplayRole) {
    return QString::fromLatin1(kTitles[section]);
  }
  if (role == Qt::ToolTipRole && section == RankColumn) {
    return u"A tick puts the rank into the focus set: it gets a GDB"_s;
  }
  return {};
}

StackModel::StackModel(QObject* parent) : QAbstractTableModel(parent) {}

void StackModel::setFrames(QList<StackFrame> frames, int current) {
  beginResetModel();
  m_frames = std::move(frames);
  m_current = current;
  endResetModel();
}

void StackModel::setCurrent(int level) {
  if (level == m_current || m_frames.isEmpty()) {
    return;
  }
  m_current = level;
  Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
}

int StackModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_frames.size());
}

int StackModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant StackModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const StackFrame& frame = m_frames[index.row()];
  const QString place = frame.file.isEmpty()
                            ? (frame.module.isEmpty() ? frame.address : baseName(frame.module))
                            : u"%1:%2"_s.arg(baseName(frame.file)).arg(frame.line);
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case LevelColumn:
          return QString::number(frame.level);
        case FunctionColumn:
          return oneLine(frame.function.isEmpty() ? u"??"_s : frame.function) +
                 (frame.arguments.isEmpty() ? u"()"_s : u"(%1)"_s.arg(oneLine(frame.arguments)));
        default:
          return oneLine(place);
      }
    case Qt::ToolTipRole:
      return frame.file.isEmpty() ? u"%1\n%2"_s.arg(frame.module, frame.address)
                                  : u"%1:%2"_s.arg(frame.file).arg(frame.line);
    case ToneRole:
      return static_cast<int>(frame.file.isEmpty() ? Tone::Muted : Tone::Normal);
    case BoldRole:
      return frame.level == m_current;
    case MonospaceRole:
      return index.column() == FunctionColumn;
    case KeyRole:
    case SortRole:
      return frame.level;
    default:
      return {};
  }
}

QVariant StackModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 ||
      section >= ColumnCount) {
    return {};
  }
  static const char* const kTitles[] = {"#", "Function", "Location"};
  return QString::fromLatin1(kTitles[section]);
}

}  // namespace pf::views

#include "moc_rank_models.cpp"
