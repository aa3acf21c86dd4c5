// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/session_views.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/models/session_models.h"
#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

BreakpointsView::BreakpointsView(QWidget* parent)
    : QWidget(parent),
      m_model(new BreakpointsModel(this)),
      m_table(new QTableView),
      m_add(new QAction(icon(Icon::Breakpoint), tr("New breakpoint …"), this)),
      m_edit(new QAction(tr("Edit …"), this)),
      m_remove(new QAction(icon(Icon::Remove), tr("Remove"), this)),
      m_removeAll(new QAction(icon(Icon::Clear), tr("Remove all"), this)) {
  setObjectName(u"breakpointsView"_s);
  m_table->setModel(m_model);
  setUpTable(*m_table);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed |
                           QAbstractItemView::SelectedClicked);
  m_table->setColumnWidth(BreakpointsModel::PlaceColumn, 170);
  m_table->setColumnWidth(BreakpointsModel::ConditionColumn, 130);
  m_table->setColumnWidth(BreakpointsModel::IgnoreColumn, 60);
  m_table->setColumnWidth(BreakpointsModel::RanksColumn, 60);
  m_table->setColumnWidth(BreakpointsModel::StopsColumn, 60);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  setWholeName(*m_edit, tr("Edit the selected breakpoint"));
  setWholeName(*m_remove, tr("Remove the selected breakpoints"));
  setWholeName(*m_removeAll, tr("Remove all breakpoints"));
  m_remove->setShortcut(QKeySequence::Delete);
  m_remove->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  m_table->addActions({m_add, m_edit, m_remove, m_removeAll});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
  connect(m_model, &BreakpointsModel::enableRequested, this, &BreakpointsView::enableRequested);
  connect(m_model, &BreakpointsModel::conditionEdited, this, &BreakpointsView::conditionEdited);
  connect(m_model, &BreakpointsModel::ignoreCountEdited, this, &BreakpointsView::ignoreCountEdited);
  connect(m_model, &BreakpointsModel::ranksEdited, this, &BreakpointsView::ranksEdited);
  connect(m_model, &BreakpointsModel::stopsEdited, this, &BreakpointsView::stopsEdited);
  connect(m_add, &QAction::triggered, this, &BreakpointsView::addRequested);
  connect(m_edit, &QAction::triggered, this, [this] {
    if (const QModelIndex row = m_table->currentIndex(); row.isValid()) {
      Q_EMIT editRequested(row.data(KeyRole).toInt());
    }
  });
  connect(m_remove, &QAction::triggered, this, [this] {
    QList<int> ids;
    for (const QModelIndex& row : m_table->selectionModel()->selectedRows()) {
      ids << row.data(KeyRole).toInt();
    }
    if (!ids.isEmpty()) {
      Q_EMIT removeRequested(ids);
    }
  });
  connect(m_removeAll, &QAction::triggered, this, [this] {
    QList<int> ids;
    for (const Breakpoint& breakpoint : m_model->breakpoints()) {
      ids << breakpoint.id;
    }
    if (!ids.isEmpty()) {
      Q_EMIT removeRequested(ids);
    }
  });
  connect(m_table, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    if (index.column() == BreakpointsModel::PlaceColumn) {
      Q_EMIT showRequested(m_model->breakpoints()[index.row()]);
    }
  });
}

void BreakpointsView::setBreakpoints(const QList<Breakpoint>& breakpoints) {
  m_model->setBreakpoints(breakpoints);
}

CyclesView::CyclesView(QWidget* parent)
    : QWidget(parent), m_model(new CyclesModel(this)), m_tree(new QTreeView) {
  setObjectName(u"cyclesView"_s);
  m_tree->setModel(m_model);
  setUpTree(*m_tree);
  m_tree->header()->setStretchLastSection(false);
  m_tree->header()->setSectionResizeMode(CyclesModel::OutcomeColumn, QHeaderView::Stretch);
  m_tree->setColumnWidth(CyclesModel::NumberColumn, 110);
  m_tree->setColumnWidth(CyclesModel::StartedColumn, 80);
  m_tree->setColumnWidth(CyclesModel::HitsColumn, 50);
  m_tree->setColumnWidth(CyclesModel::MatchColumn, 130);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_tree);
  connect(m_tree, &QTreeView::activated, this, [this](const QModelIndex& index) {
    if (const CycleStop* stop = m_model->stop(index); stop != nullptr) {
      Q_EMIT stopActivated(EventRef{stop->rank, stop->serial});
    } else {
      Q_EMIT cycleActivated(index.data(KeyRole).toInt());
    }
  });
}

void CyclesView::setCycles(const QList<Cycle>& cycles) {
  m_model->setCycles(cycles);
  if (!cycles.isEmpty()) {  // the newest is open
    const QModelIndex last = m_model->index(toInt(cycles.size()) - 1, 0);
    m_tree->expand(last);
    m_tree->scrollTo(last);
  }
}

int CyclesView::selectedCycle() const {
  QModelIndex row = m_tree->currentIndex();
  row = row.parent().isValid() ? row.parent() : row;
  const bool newest = row.row() == toInt(m_model->cycles().size()) - 1;
  return row.isValid() && !newest ? m_model->cycles()[row.row()].number : 0;
}

ProgressStrip::ProgressStrip(QWidget* parent)
    : QWidget(parent), m_label(new QLabel), m_bar(new QProgressBar), m_cancel(new QToolButton) {
  m_label->setTextFormat(Qt::PlainText);
  m_label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_label->setMinimumWidth(40);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  m_bar->setFixedWidth(150);
  m_bar->setMaximumHeight(14);
  m_bar->setTextVisible(false);
  m_cancel->setIcon(icon(Icon::Clear));
  m_cancel->setAutoRaise(true);
  m_cancel->setToolTip(tr("Stop this"));
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(4, 0, 4, 0);
  layout->addWidget(m_label);
  layout->addWidget(m_bar);
  layout->addWidget(m_cancel);
  connect(m_cancel, &QToolButton::clicked, this, &ProgressStrip::cancelRequested);
  hide();
}

void ProgressStrip::start(const QString& task, bool canCancel) {
  m_task = oneLine(task);
  m_label->setToolTip(plainToolTip(task));
  updateGeometry();
  fit();
  m_bar->setRange(0, 0);
  m_cancel->setVisible(canCancel);
  show();
}

void ProgressStrip::setProgress(qint64 done, qint64 total) {
  if (total <= 0) {
    m_bar->setRange(0, 0);
    return;
  }
  m_bar->setRange(0, 1000);
  m_bar->setValue(static_cast<int>(1000.0 * static_cast<double>(std::min(done, total)) /
                                   static_cast<double>(total)));
}

void ProgressStrip::finish() {
  hide();
}

QString ProgressStrip::task() const {
  return isHidden() ? QString() : m_task;
}

QSize ProgressStrip::sizeHint() const {
  const QSize others = QWidget::sizeHint();
  return {others.width() + m_label->fontMetrics().horizontalAdvance(m_task), others.height()};
}

void ProgressStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

void ProgressStrip::fit() {
  m_label->setText(m_label->fontMetrics().elidedText(m_task, Qt::ElideRight, m_label->width()));
}

}  // namespace pf::views

#include "moc_session_views.cpp"
