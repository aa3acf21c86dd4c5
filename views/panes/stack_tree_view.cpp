// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/stack_tree_view.h"

#include <algorithm>

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QToolBar>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/values/stack_tree.h"
#include "views/values/text.h"

namespace pf::views {

StackTreeView::StackTreeView(QWidget* parent)
    : QWidget(parent),
      m_model(new StackTreeModel(this)),
      m_tree(new QTreeView),
      m_summary(new QLabel),
      m_refresh(new QAction(icon(Icon::RestartCycle), tr("Ask for stacks"), this)),
      m_byLine(new QAction(tr("Each line by itself"), this)),
      m_group(new QAction(icon(Icon::Add), tr("Make a group of these ranks …"), this)) {
  setWholeName(*m_group, tr("Make a group of the ranks of the selected frame"));
  setObjectName(u"stackTreeView"_s);
  m_refresh->setToolTip(tr("Ask every rank for its stack, those without a debugger too"));
  m_byLine->setCheckable(true);
  m_byLine->setChecked(true);
  m_byLine->setToolTip(tr("Frames of one function at different lines are different nodes"));
  auto* bar = new QToolBar;
  bar->setIconSize({18, 18});
  bar->addActions({m_refresh, m_byLine});
  m_summary->setTextFormat(Qt::PlainText);
  m_summary->setForegroundRole(QPalette::PlaceholderText);
  m_summary->setMargin(4);
  m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_tree->setModel(m_model);
  setUpTree(*m_tree);
  m_tree->setColumnWidth(StackTreeModel::FunctionColumn, 190);
  m_tree->setColumnWidth(StackTreeModel::CountColumn, 48);
  m_tree->setColumnWidth(StackTreeModel::RanksColumn, 80);
  m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_tree->addAction(m_group);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(bar);
  layout->addWidget(m_tree, 1);
  layout->addWidget(m_summary);

  connect(m_refresh, &QAction::triggered, this, &StackTreeView::refreshRequested);
  connect(m_byLine, &QAction::toggled, this, [this](bool on) {
    m_model->setByLine(on);
    m_tree->expandAll();
  });
  connect(m_tree, &QTreeView::clicked, this, &StackTreeView::choose);
  connect(m_tree, &QTreeView::activated, this, &StackTreeView::choose);
  connect(m_group, &QAction::triggered, this, [this] {
    if (const StackNode* node = m_model->node(m_tree->currentIndex()); node != nullptr) {
      Q_EMIT groupRequested(node->isNote() ? node->note : tr("in %1").arg(node->frame.function),
                            node->ranks);
    }
  });
}

void StackTreeView::showStacks(const QList<RankStack>& stacks, qint64 milliseconds) {
  m_model->setStacks(stacks);
  m_tree->expandAll();
  const auto byDebugger = std::count_if(stacks.begin(), stacks.end(),
                                        [](const RankStack& stack) { return stack.debugger; });
  m_summary->setText(stacks.isEmpty() ? tr("No replay runs.")
                                      : tr("%1, %2 of them by GDB; %3 ms")
                                            .arg(counted(static_cast<std::size_t>(stacks.size()),
                                                         tr("rank"), tr("ranks")))
                                            .arg(byDebugger)
                                            .arg(milliseconds));
}

void StackTreeView::showRecordEnds(const QList<RankStack>& ends) {
  showStacks(ends, 0);
  if (!ends.isEmpty()) {
    m_summary->setText(tr("The last call of each rank's record. A replay has whole stacks."));
  }
}

void StackTreeView::setBusy() {
  m_summary->setText(tr("Asking …"));
}

QString StackTreeView::summary() const {
  return m_summary->text();
}

void StackTreeView::choose(const QModelIndex& index) {
  const StackNode* node = m_model->node(index);
  if (node == nullptr || node->ranks.isEmpty()) {
    return;
  }
  const QString file = node->frame.file;
  const int line = node->frame.line;
  if (!node->ranks.contains(m_rank)) {
    Q_EMIT rankRequested(node->ranks.first());
  }
  if (!file.isEmpty() && line > 0) {
    Q_EMIT sourceRequested(file, line);
  }
}

}  // namespace pf::views

#include "moc_stack_tree_view.cpp"
