// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/run_tree_pane.h"

#include <QAction>
#include <QFileInfo>
#include <QHeaderView>
#include <QShowEvent>

#include "app/session/state/in_background.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

enum Column { kRun, kTook, kEnded };

QString wordsOf(const std::string& text) {
  return values::oneLine(QString::fromStdString(text));
}

QString tookWords(const app::TreeRun& run) {
  QStringList flips;
  for (const std::string& flip : run.flips) {
    flips.append(wordsOf(flip));
  }
  if (run.madeBy.empty()) {
    return run.found ? RunTreePane::tr("as it was recorded") : QString();
  }
  return flips.isEmpty() ? RunTreePane::tr("the same deliveries")
                         : flips.join(QStringLiteral("; "));
}

void fillItem(QTreeWidgetItem& item, const app::TreeRun& run, bool here) {
  const QString file = QString::fromStdString(run.file);
  item.setText(kRun, values::visibleText(QFileInfo(file).fileName()));
  item.setText(kTook, tookWords(run));
  item.setText(kEnded, run.found ? wordsOf(run.ended) : RunTreePane::tr("is not there any more"));
  item.setData(kRun, values::KeyRole, run.found ? file : QString());
  item.setData(kEnded, values::ToneRole,
               static_cast<int>(!run.found      ? values::Tone::Muted
                                : run.endedWell ? values::Tone::Good
                                                : values::Tone::Bad));
  for (int column = kRun; column <= kEnded; ++column) {
    item.setData(column, values::BoldRole, here);
    item.setToolTip(column, column == kRun ? values::visibleText(file) : item.text(column));
  }
}

}  // namespace

RunTreePane::RunTreePane(QWidget* parent)
    : QTreeWidget(parent),
      m_open(new QAction(tr("&Open this run"), this)),
      m_compare(new QAction(tr("&Compare with this run"), this)) {
  setObjectName(QStringLiteral("runTree"));
  setHeaderLabels({tr("Run"), tr("What it took instead"), tr("How it ended")});
  views::setUpTree(*this);
  header()->setStretchLastSection(false);
  header()->setSectionResizeMode(kRun, QHeaderView::ResizeToContents);
  header()->setSectionResizeMode(kTook, QHeaderView::Stretch);
  header()->setSectionResizeMode(kEnded, QHeaderView::ResizeToContents);
  setSelectionMode(QAbstractItemView::SingleSelection);
  addActions({m_open, m_compare});
  setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(m_open, &QAction::triggered, this, [this] { Q_EMIT openWanted(chosen()); });
  connect(m_compare, &QAction::triggered, this, [this] { Q_EMIT comparisonWanted(chosen()); });
  connect(this, &QTreeWidget::itemSelectionChanged, this, &RunTreePane::renewActions);
  connect(this, &QTreeWidget::itemActivated, this, [this] {
    if (m_open->isEnabled()) {
      m_open->trigger();
    }
  });
  connect(&m_reading, &QFutureWatcherBase::finished, this, &RunTreePane::fill);
  renewActions();
}

void RunTreePane::setTrace(const QString& path) {
  m_path = path;
  clear();
  refresh();
}

void RunTreePane::refresh() {
  m_stale = true;
  if (isVisible()) {
    read();
  }
}

void RunTreePane::showEvent(QShowEvent* event) {
  QTreeWidget::showEvent(event);
  if (m_stale) {
    read();
  }
}

void RunTreePane::read() {
  if (m_path.isEmpty()) {
    clear();
    return;
  }
  m_stale = false;
  m_reading.setFuture(
      session::inBackground([path = m_path.toStdString()] { return app::runTree(path); }));
}

void RunTreePane::fill() {
  clear();
  const Result<app::RunTree> tree = m_reading.result();
  if (!tree) {
    auto* const problem = new QTreeWidgetItem(this);
    problem->setText(kRun, wordsOf(tree.error().message));
    renewActions();
    return;
  }
  std::vector<QTreeWidgetItem*> items;
  for (const app::TreeRun& run : tree->runs) {
    auto* const item =
        run.parent ? new QTreeWidgetItem(items[*run.parent]) : new QTreeWidgetItem(this);
    fillItem(*item, run, items.size() == tree->here);
    items.push_back(item);
  }
  if (!tree->all) {
    auto* const more = new QTreeWidgetItem(this);
    more->setText(kRun, tr("not all traces beside these were looked at"));
  }
  expandAll();
  setCurrentItem(items[tree->here]);
  renewActions();
}

QString RunTreePane::chosen() const {
  const QTreeWidgetItem* const item = currentItem();
  return item == nullptr ? QString() : item->data(kRun, values::KeyRole).toString();
}

void RunTreePane::renewActions() {
  const QString trace = chosen();
  const bool other = !trace.isEmpty() &&
                     QFileInfo(trace).canonicalFilePath() != QFileInfo(m_path).canonicalFilePath();
  m_open->setEnabled(other);
  m_compare->setEnabled(other);
}

}  // namespace pf::gui

#include "moc_run_tree_pane.cpp"
