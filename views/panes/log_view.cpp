// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/log_view.h"

#include <QAction>
#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

void LogModel::append(const LogEntry& entry) {
  if (m_rows.size() >= kLogLines) {
    constexpr int kPart = kLogLines / 10;
    beginRemoveRows({}, 0, kPart - 1);
    m_rows.remove(0, kPart);
    endRemoveRows();
  }
  beginInsertRows({}, rowCount(), rowCount());
  m_rows.append(entry);
  endInsertRows();
}

void LogModel::clear() {
  beginResetModel();
  m_rows.clear();
  endResetModel();
}

int LogModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : toInt(m_rows.size());
}

int LogModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : ColumnCount;
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) {
    return {};
  }
  const LogEntry& entry = m_rows[index.row()];
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case CycleColumn:
          return entry.cycle;
        case RankColumn:
          return entry.rank;
        case EventColumn:
          return u"after %1"_s.arg(entry.serial);
        case BreakpointColumn:
          return entry.breakpoint;
        default:
          return oneLine(entry.text);
      }
    case Qt::ToolTipRole:
      return index.column() == TextColumn ? QVariant(entry.text.left(4000)) : QVariant();
    case ToneRole:
      return static_cast<int>(index.column() == TextColumn ? Tone::Normal : Tone::Muted);
    case MonospaceRole:
      return index.column() == TextColumn;
    default:
      return {};
  }
}

QVariant LogModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const char* const kTitles[] = {"Cycle", "Rank", "Event", "Breakpoint", "Text"};
  const bool shown = orientation == Qt::Horizontal && role == Qt::DisplayRole && section >= 0 &&
                     section < ColumnCount;
  return shown ? QVariant(QString::fromLatin1(kTitles[section])) : QVariant();
}

LogView::LogView(QWidget* parent)
    : QWidget(parent), m_model(new LogModel(this)), m_table(new QTableView) {
  setObjectName(u"logView"_s);
  m_table->setModel(m_model);
  setUpTable(*m_table);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(LogModel::CycleColumn, 50);
  m_table->setColumnWidth(LogModel::RankColumn, 50);
  m_table->setColumnWidth(LogModel::EventColumn, 90);
  m_table->setColumnWidth(LogModel::BreakpointColumn, 80);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* clear = new QAction(icon(Icon::Clear), tr("Clear"), this);
  setWholeName(*clear, tr("Clear the log"));
  m_table->addAction(clear);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
  connect(clear, &QAction::triggered, m_model, &LogModel::clear);
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    const LogEntry& entry = m_model->entries()[index.row()];
    Q_EMIT eventActivated(EventRef{entry.rank, entry.serial + 1});
  });
}

void LogView::append(const LogEntry& entry) {
  QScrollBar* bar = m_table->verticalScrollBar();
  const bool follow = bar->value() >= bar->maximum() - 2;
  m_model->append(entry);
  if (follow) {
    m_table->scrollToBottom();
  }
}

}  // namespace pf::views

#include "moc_log_view.cpp"
