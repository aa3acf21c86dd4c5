// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/race_classes_view.h"

#include <algorithm>

#include <QAction>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/fitted_columns.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

RaceClassesView::RaceClassesView(QWidget* parent)
    : QWidget(parent),
      m_model(new RaceClassModel(this)),
      m_proxy(new QSortFilterProxyModel(this)),
      m_table(new QTableView),
      m_columns(
          new FittedColumns(*m_table, *m_table->horizontalHeader(),
                            {{RaceClassModel::Receive, 185}, {RaceClassModel::Senders, 160}})),
      m_benign(new QAction(tr("Mark as benign …"), this)),
      m_bug(new QAction(tr("Mark as a bug …"), this)),
      m_notJudged(new QAction(tr("No longer marked"), this)),
      m_save(new QAction(tr("Save as known races …"), this)),
      m_load(new QAction(tr("Load known races …"), this)) {
  setObjectName(u"raceClassesView"_s);
  m_table->setObjectName(u"raceClasses"_s);
  m_table->setAccessibleName(tr("Classes of races"));
  m_proxy->setSourceModel(m_model);
  m_proxy->setSortRole(SortRole);
  m_table->setModel(m_proxy);
  setUpTable(*m_table);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(RaceClassModel::Weight, Qt::AscendingOrder);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_save->setToolTip(
      tr("Adds all classes, and what was said of them, to a file that is kept with the source"));
  m_load->setToolTip(tr("Marks classes as such a file has them"));
  auto* separator = new QAction(this);
  separator->setSeparator(true);
  m_table->addActions({m_benign, m_bug, m_notJudged, separator, m_save, m_load});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_table);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &RaceClassesView::onCurrent);
  connect(m_benign, &QAction::triggered, this, [this] {
    if (const RaceClass* one = m_model->classAt(selectedRow()); one != nullptr) {
      Q_EMIT benignRequested(one->key, one->receive);
    }
  });
  connect(m_bug, &QAction::triggered, this, [this] {
    if (const RaceClass* one = m_model->classAt(selectedRow()); one != nullptr) {
      Q_EMIT bugRequested(one->key, one->receive);
    }
  });
  connect(m_notJudged, &QAction::triggered, this, [this] {
    if (const RaceClass* one = m_model->classAt(selectedRow()); one != nullptr) {
      Q_EMIT notJudgedRequested(one->key);
      if (one->key != one->formerKey) {
        Q_EMIT notJudgedRequested(one->formerKey);
      }
    }
  });
  connect(m_save, &QAction::triggered, this, &RaceClassesView::saveRequested);
  connect(m_load, &QAction::triggered, this, &RaceClassesView::loadRequested);
  onCurrent();
}

void RaceClassesView::setTrace(TraceIndexPtr trace, const std::vector<std::uint8_t>& severity,
                               RaceClassesPtr classes) {
  m_model->setTrace(std::move(trace), severity, std::move(classes));
  selectRow(0);
  fitColumns();
}

/// What names a class is read in whole, where it is not very long. Notes stay where somebody has made one.
void RaceClassesView::fitColumns() {
  bool noted = false;
  for (int row = 0; row < m_model->rowCount() && !noted; ++row) {
    noted = m_model->judgedAt(row).has_value();
  }
  QList<int> rare{RaceClassModel::Last, RaceClassModel::First, RaceClassModel::Ranks};
  rare.insert(noted ? rare.size() : 0, RaceClassModel::Note);
  m_columns->fit(rare);
}

void RaceClassesView::setVerdicts(const RaceBaseline& verdicts) {
  const int row = selectedRow();
  m_model->setVerdicts(verdicts);
  fitColumns();
  selectRow(row);
}

int RaceClassesView::selectedRow() const {
  const QModelIndex current = m_table->currentIndex();
  return current.isValid() ? m_proxy->mapToSource(current).row() : 0;
}

void RaceClassesView::selectRow(int row) {
  m_table->setCurrentIndex(m_proxy->mapFromSource(m_model->index(row, 0)));
}

void RaceClassesView::onCurrent() {
  const int row = selectedRow();
  const RaceClass* one = m_model->classAt(row);
  m_benign->setEnabled(one != nullptr);
  m_bug->setEnabled(one != nullptr);
  m_notJudged->setEnabled(m_model->judgedAt(row).has_value());
  m_save->setEnabled(m_model->rowCount() > 0);
  m_load->setEnabled(m_model->rowCount() > 0);
  Q_EMIT classSelected(m_model->racesAt(row));
}

}  // namespace pf::views

#include "moc_race_classes_view.cpp"
