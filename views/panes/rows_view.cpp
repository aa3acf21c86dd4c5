// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/rows_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

RowsView::RowsView(const QString& name, QStringList titles, int compared,
                   const QString& placeholder, QWidget* parent)
    : QWidget(parent),
      m_model(new RowsModel(std::move(titles), compared, this)),
      m_problem(new QLabel),
      m_table(new QTableView) {
  setObjectName(name);
  m_table->setModel(m_model);
  setUpTable(*m_table);
  m_problem->setTextFormat(Qt::PlainText);
  m_problem->setForegroundRole(QPalette::PlaceholderText);
  m_problem->setWordWrap(true);
  m_problem->setMargin(6);
  m_problem->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  if (!placeholder.isEmpty()) {
    m_input = new QLineEdit;
    m_input->setPlaceholderText(placeholder);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(6, 6, 6, 4);
    top->addWidget(m_input);
    layout->addLayout(top);
    connect(m_input, &QLineEdit::returnPressed, this, [this] { Q_EMIT inputEntered(input()); });
  }
  layout->addWidget(m_problem);
  layout->addWidget(m_table, 1);
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT rowActivated(index.data(KeyRole).toString());
  });
}

void RowsView::showRows(const QList<QStringList>& rows, int current) {
  const bool first = m_model->rowCount() == 0;
  m_problem->hide();
  m_model->setRows(rows, current);
  if (first) {
    m_table->resizeColumnsToContents();
  }
  if (current >= 0) {
    m_table->scrollTo(m_model->index(current, 0), QAbstractItemView::PositionAtCenter);
  }
}

void RowsView::showProblem(const QString& text) {
  m_model->setRows({});
  m_problem->setText(text);
  m_problem->setVisible(!text.isEmpty());
}

void RowsView::setInput(const QString& text) {
  if (m_input != nullptr) {
    m_input->setText(text);
  }
}

QString RowsView::input() const {
  return m_input == nullptr ? QString() : m_input->text().trimmed();
}

QString RowsView::problem() const {
  return m_problem->isHidden() ? QString() : m_problem->text();
}

}  // namespace pf::views

#include "moc_rows_view.cpp"
