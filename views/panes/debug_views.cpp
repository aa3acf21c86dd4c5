// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/debug_views.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTableView>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/models/variables_model.h"
#include "views/models/watches_model.h"
#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

QVBoxLayout* plainLayout(QWidget* owner) {
  auto* layout = new QVBoxLayout(owner);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  return layout;
}

}  // namespace

StackView::StackView(QWidget* parent)
    : QWidget(parent), m_model(new StackModel(this)), m_table(new QTableView) {
  setObjectName(u"stackView"_s);
  m_table->setModel(m_model);
  setUpTable(*m_table);
  m_table->horizontalHeader()->setMinimumSectionSize(28);
  m_table->setColumnWidth(StackModel::LevelColumn, 32);
  m_table->setColumnWidth(StackModel::FunctionColumn, 240);
  plainLayout(this)->addWidget(m_table);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (!m_quiet && now.isValid()) {
              const int level = now.data(KeyRole).toInt();
              m_model->setCurrent(level);
              Q_EMIT frameSelected(level);
            }
          });
}

void StackView::setFrames(const QList<StackFrame>& frames, int currentLevel) {
  m_quiet = true;
  m_model->setFrames(frames, currentLevel);
  m_quiet = false;
  setCurrentLevel(currentLevel);
}

void StackView::setCurrentLevel(int level) {
  m_quiet = true;
  m_model->setCurrent(level);
  for (int row = 0; row < m_model->rowCount(); ++row) {
    if (m_model->frames()[row].level == level) {
      m_table->setCurrentIndex(m_model->index(row, 0));
    }
  }
  m_quiet = false;
}

VariablesView::VariablesView(QWidget* parent)
    : QWidget(parent),
      m_model(new VariablesModel(this)),
      m_tree(new QTreeView),
      m_watch(new QAction(icon(Icon::Add), tr("Watch this"), this)),
      m_breakOnChange(new QAction(icon(Icon::Breakpoint), tr("Stop when it changes"), this)),
      m_message(new QAction(tr("Which message filled it"), this)) {
  setObjectName(u"variablesView"_s);
  m_tree->setModel(m_model);
  setUpTree(*m_tree);
  m_tree->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  m_tree->setColumnWidth(VariablesModel::NameColumn, 150);
  m_tree->setColumnWidth(VariablesModel::ValueColumn, 190);
  m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* copy = new QAction(tr("Copy value"), this);
  setWholeName(*m_watch, tr("Watch the selected variable"));
  setWholeName(*m_breakOnChange, tr("Stop when the selected variable changes"));
  setWholeName(*m_message, tr("Which message filled the selected variable"));
  setWholeName(*copy, tr("Copy the selected variable's value"));
  m_tree->addActions({m_watch, m_breakOnChange, m_message, copy});
  plainLayout(this)->addWidget(m_tree);
  connect(m_watch, &QAction::triggered, this, [this] {
    withExpression([this](const QString& expression) { Q_EMIT watchRequested(expression); });
  });
  connect(m_breakOnChange, &QAction::triggered, this, [this] {
    withExpression(
        [this](const QString& expression) { Q_EMIT breakOnChangeRequested(expression); });
  });
  connect(m_message, &QAction::triggered, this, [this] {
    withExpression([this](const QString& expression) { Q_EMIT messageRequested(expression); });
  });
  connect(copy, &QAction::triggered, this, [this] {
    if (const Variable* variable = m_model->variable(m_tree->currentIndex()); variable != nullptr) {
      QApplication::clipboard()->setText(variable->value);
    }
  });
}

QAction* VariablesView::addQuestion(const QString& text, const AskExpression& ask) {
  auto* action = new QAction(text, this);
  m_tree->addAction(action);
  connect(action, &QAction::triggered, this, [this, ask] { withExpression(ask); });
  return action;
}

void VariablesView::withExpression(const AskExpression& ask) const {
  const Variable* variable = m_model->variable(m_tree->currentIndex());
  if (variable == nullptr) {
    return;
  }
  if (m_expressionOf) {
    m_expressionOf(variable->path, ask);
  } else {
    ask(variable->name);
  }
}

QAction* WatchesView::addQuestion(const QString& text, const AskExpression& ask) {
  auto* action = new QAction(text, this);
  m_tree->addAction(action);
  connect(action, &QAction::triggered, this, [this, ask] {
    const Variable* variable = m_model->variable(m_tree->currentIndex());
    if (variable != nullptr && m_expressionOf) {
      m_expressionOf(variable->path, ask);
    } else if (variable != nullptr) {
      ask(m_model->expressions().at(currentRow()));
    }
  });
  return action;
}

void WatchesView::addFormats() {
  const std::pair<QString, char> formats[] = {
      {tr("As its type says"), 0}, {tr("Hexadecimal"), 'x'}, {tr("Hexadecimal, all digits"), 'z'},
      {tr("Decimal"), 'd'},        {tr("Unsigned"), 'u'},    {tr("Octal"), 'o'},
      {tr("Binary"), 't'},         {tr("Character"), 'c'},   {tr("Address"), 'a'},
      {tr("Floating point"), 'f'}, {tr("String"), 's'},
  };
  for (const auto& [text, format] : formats) {
    m_formats->addAction(text, this, [this, format = format] {
      if (const int row = currentRow(); row >= 0) {
        Q_EMIT formatRequested(m_model->expressions().at(row), format);
      }
    });
  }
  m_tree->addAction(m_formats->menuAction());
}

/// Of the expression that the current row is, or is a part of; negative: none is.
int WatchesView::currentRow() const {
  QModelIndex at = m_tree->currentIndex();
  while (at.parent().isValid()) {
    at = at.parent();
  }
  return at.row();
}

WatchesView::WatchesView(QWidget* parent)
    : QWidget(parent),
      m_formats(new QMenu(tr("Format"), this)),
      m_model(new WatchesModel(this)),
      m_tree(new QTreeView),
      m_input(new QLineEdit),
      m_remove(new QAction(icon(Icon::Remove), tr("Remove"), this)) {
  setObjectName(u"watchesView"_s);
  m_tree->setModel(m_model);
  setUpTree(*m_tree);
  m_tree->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  m_tree->setColumnWidth(WatchesModel::NameColumn, 160);
  m_tree->setColumnHidden(WatchesModel::TypeColumn, true);
  m_tree->setContextMenuPolicy(Qt::ActionsContextMenu);
  m_tree->addAction(m_remove);
  addFormats();
  setWholeName(*m_remove, tr("Remove the selected watch"));
  m_remove->setShortcut(QKeySequence::Delete);
  m_remove->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  m_input->setPlaceholderText(tr("Add an expression and press Enter"));
  m_input->addAction(icon(Icon::Add), QLineEdit::LeadingPosition);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 6, 6, 4);
  row->addWidget(m_input);
  auto* layout = plainLayout(this);
  layout->addLayout(row);
  layout->addWidget(m_tree, 1);
  connect(m_input, &QLineEdit::returnPressed, this, [this] {
    if (m_model->addExpression(m_input->text())) {
      m_input->clear();
    }
  });
  connect(m_remove, &QAction::triggered, this, [this] { m_model->removeExpression(currentRow()); });
  connect(m_model, &WatchesModel::expressionsChanged, this, &WatchesView::expressionsChanged);
}

}  // namespace pf::views

#include "moc_debug_views.cpp"
