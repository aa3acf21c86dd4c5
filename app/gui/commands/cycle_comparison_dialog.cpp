// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/cycle_comparison_dialog.h"

#include <algorithm>

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <QVBoxLayout>

#include "views/models/cycle_comparison.h"
#include "views/panes/item_views.h"
#include "views/values/text.h"

namespace pf::gui {

CycleComparisonDialog::CycleComparisonDialog(const QList<values::Cycle>& cycles, int first,
                                             int second, QWidget* parent)
    : QDialog(parent),
      m_cycles(cycles),
      m_model(new views::CycleComparisonModel(this)),
      m_first(new QComboBox),
      m_second(new QComboBox),
      m_summary(new QLabel),
      m_table(new QTableView) {
  setObjectName(QStringLiteral("cycleComparison"));
  setWindowTitle(tr("Two cycles"));
  resize(820, 460);
  for (QComboBox* box : {m_first, m_second}) {
    for (const values::Cycle& cycle : m_cycles) {
      const QString words = cycle.summary.left(60);
      box->addItem(tr("Cycle %1: %2").arg(cycle.number).arg(words), cycle.number);
    }
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(24);
  }
  m_first->setAccessibleName(tr("First cycle"));
  m_second->setAccessibleName(tr("Second cycle"));
  const auto last = static_cast<int>(m_cycles.size()) - 1;
  m_first->setCurrentIndex(std::max(0, first != 0 ? m_first->findData(first) : last - 1));
  m_second->setCurrentIndex(std::max(0, second != 0 ? m_second->findData(second) : last));
  m_table->setModel(m_model);
  views::setUpTable(*m_table);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(views::CycleComparisonModel::WhatColumn, 210);
  m_table->setColumnWidth(views::CycleComparisonModel::ValueColumn, 130);
  m_table->setColumnWidth(views::CycleComparisonModel::FirstColumn, 220);
  auto* only = new QCheckBox(tr("Only what &differs"));
  auto* row = new QHBoxLayout;
  row->addWidget(m_first, 1);
  row->addWidget(m_second, 1);
  row->addWidget(only);
  auto* column = new QVBoxLayout(this);
  column->addLayout(row);
  column->addWidget(m_table, 1);
  column->addWidget(m_summary);
  connect(m_first, &QComboBox::currentIndexChanged, this, &CycleComparisonDialog::show2);
  connect(m_second, &QComboBox::currentIndexChanged, this, &CycleComparisonDialog::show2);
  connect(only, &QCheckBox::toggled, m_model, &views::CycleComparisonModel::setOnlyDifferences);
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (const EventRef event = m_model->rows()[index.row()].event; event.valid()) {
      Q_EMIT eventActivated(event);
    }
  });
  show2();
}

void CycleComparisonDialog::show2() {
  m_model->setCycles(m_cycles[m_first->currentIndex()], m_cycles[m_second->currentIndex()]);
  const int count = m_model->differences();
  m_summary->setText(count == 0
                         ? tr("Nothing differs.")
                         : tr("%1.").arg(values::counted(static_cast<std::size_t>(count),
                                                         tr("difference"), tr("differences"))));
}

}  // namespace pf::gui

#include "moc_cycle_comparison_dialog.cpp"
