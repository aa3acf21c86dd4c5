// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/key_bindings.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QVBoxLayout>

#include "views/panes/action_tips.h"
#include "views/panes/item_views.h"
#include "views/values/roles.h"

namespace pf::gui {
namespace {

const QString kGroup = QStringLiteral("keys/");

QString plain(QString text) {
  text.remove(QLatin1Char('&'));
  while (text.endsWith(QChar(0x2026)) || text.endsWith(QLatin1Char('.')) ||
         text.endsWith(QLatin1Char(' '))) {
    text.chop(1);
  }
  return text;
}

QString plainText(const QAction& action) {
  return plain(views::wholeName(action));
}

}  // namespace

KeyBindings::KeyBindings(QMainWindow* window) : QObject(window) {
  for (QAction* top : window->menuBar()->actions()) {
    for (QAction* action : top->menu() != nullptr ? top->menu()->actions() : QList<QAction*>()) {
      take(action, plainText(*top));
    }
  }
  for (QAction* action : window->findChildren<QAction*>()) {
    // Of views: what is in their tool bars and context menus, but not what Qt's own widgets bring.
    const QObject* owner = action->parent();
    const bool ours =
        owner == window ||
        (owner != nullptr && QByteArray(owner->metaObject()->className()).startsWith("pf::"));
    if (ours) {
      take(action, {});
    }
  }
  const QSettings settings;
  for (const QString& id : std::as_const(m_order)) {
    if (settings.contains(kGroup + id)) {
      set(*m_actions[id].action,
          QKeySequence(settings.value(kGroup + id).toString(), QKeySequence::PortableText));
    }
  }
}

void KeyBindings::take(QAction* action, const QString& menu) {
  if (action->isSeparator() || action->menu() != nullptr || plainText(*action).isEmpty()) {
    return;
  }
  for (const Known& known : std::as_const(m_actions)) {
    if (known.action == action) {
      return;
    }
  }
  QString id = (menu.isEmpty() ? QString() : menu + QLatin1Char(' ')) + plain(action->text());
  id = id.toLower().replace(QLatin1Char(' '), QLatin1Char('-')).remove(QLatin1Char('/'));
  QString free = id;
  for (int i = 2; m_actions.contains(free); ++i) {
    free = QStringLiteral("%1-%2").arg(id).arg(i);
  }
  m_order.append(free);
  m_actions[free] = {action, action->shortcut(), menu};
}

QList<views::Command> KeyBindings::commands() const {
  QList<views::Command> out;
  for (const QString& id : m_order) {
    const Known& known = *m_actions.constFind(id);
    if (known.action != nullptr) {
      out.append({id, plainText(*known.action), known.menu,
                  known.action->shortcut().toString(QKeySequence::NativeText),
                  known.action->isEnabled()});
    }
  }
  return out;
}

void KeyBindings::set(QAction& action, const QKeySequence& keys) {
  const QString before = action.shortcut().toString(QKeySequence::NativeText);
  const QString now = keys.toString(QKeySequence::NativeText);
  QString tip = views::firstLineOfTip(action);
  const QString shown = QStringLiteral(" (%1)").arg(before);
  if (!before.isEmpty() && tip.endsWith(shown)) {
    tip.chop(shown.size());
    views::setFirstLineOfTip(action, now.isEmpty() ? tip : QStringLiteral("%1 (%2)").arg(tip, now));
  }
  action.setShortcut(keys);
}

QString KeyBindings::bind(const QString& id, const QKeySequence& keys) {
  const auto known = m_actions.find(id);
  if (known == m_actions.end() || known->action == nullptr) {
    return {};
  }
  QSettings settings;
  QString loser;
  for (auto other = m_actions.begin(); other != m_actions.end(); ++other) {
    if (!keys.isEmpty() && other.key() != id && other->action != nullptr &&
        other->action->shortcut() == keys) {
      loser = plainText(*other->action);
      set(*other->action, {});
      settings.setValue(kGroup + other.key(), QString());
    }
  }
  set(*known->action, keys);
  if (keys == known->byDefault) {
    settings.remove(kGroup + id);
  } else {
    settings.setValue(kGroup + id, keys.toString(QKeySequence::PortableText));
  }
  return loser;
}

void KeyBindings::reset(const QString& id) {
  if (const auto known = m_actions.constFind(id); known != m_actions.constEnd()) {
    bind(id, known->byDefault);
  }
}

void KeyBindings::resetAll() {
  QSettings settings;
  for (const QString& id : std::as_const(m_order)) {
    settings.remove(kGroup + id);
    if (m_actions[id].action != nullptr) {
      set(*m_actions[id].action, m_actions[id].byDefault);
    }
  }
}

bool KeyBindings::isDefault(const QString& id) const {
  const auto known = m_actions.constFind(id);
  return known == m_actions.constEnd() || known->action == nullptr ||
         known->action->shortcut() == known->byDefault;
}

// -- the palette

CommandPalette::CommandPalette(const KeyBindings& bindings, QWidget* parent)
    : QDialog(parent, Qt::Popup),
      m_bindings(bindings),
      m_model(new views::CommandListModel(this)),
      m_input(new QLineEdit),
      m_table(new QTableView) {
  setObjectName(QStringLiteral("commandPalette"));
  setAttribute(Qt::WA_DeleteOnClose);
  m_model->setCommands(bindings.commands());
  m_input->setPlaceholderText(tr("Letters of a command; Enter runs it"));
  m_input->installEventFilter(this);
  m_table->setModel(m_model);
  views::setUpTable(*m_table);
  m_table->horizontalHeader()->hide();
  m_table->setColumnWidth(views::CommandListModel::TextColumn, 320);
  m_table->setColumnWidth(views::CommandListModel::MenuColumn, 100);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(m_input);
  layout->addWidget(m_table);
  resize(560, 380);
  if (parent != nullptr) {
    move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 60)));
  }
  connect(m_input, &QLineEdit::textChanged, this, [this](const QString& letters) {
    m_model->setLetters(letters);
    m_table->selectRow(0);
  });
  connect(m_input, &QLineEdit::returnPressed, this, &CommandPalette::run);
  connect(m_table, &QTableView::clicked, this, &CommandPalette::run);
  m_table->selectRow(0);
  m_input->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_input && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int by = key->key() == Qt::Key_Down ? 1 : key->key() == Qt::Key_Up ? -1 : 0;
    if (by != 0) {
      const int row = m_table->currentIndex().row() + by;
      m_table->selectRow(qBound(0, row, qMax(0, m_model->rowCount() - 1)));
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void CommandPalette::run() {
  const views::Command* command = m_model->command(m_table->currentIndex());
  QAction* action = command == nullptr ? nullptr : m_bindings.action(command->id);
  if (action == nullptr || !action->isEnabled()) {
    return;
  }
  close();
  action->trigger();
}

// -- the keys

void KeysDialog::bind(const QKeySequence& keys) {
  const QString id = currentId();
  if (id.isEmpty()) {
    m_note->setText(tr("Choose a command first."));
    return;
  }
  const QString loser = m_bindings.bind(id, keys);
  m_note->setText(loser.isEmpty() ? tr("Kept.")
                                  : tr("Kept. \"%1\" had these keys and has none now.").arg(loser));
  refresh(id);
}

KeysDialog::KeysDialog(KeyBindings& bindings, QWidget* parent)
    : QDialog(parent),
      m_bindings(bindings),
      m_model(new views::CommandListModel(this)),
      m_filter(new QLineEdit),
      m_table(new QTableView),
      m_keys(new QKeySequenceEdit),
      m_note(new QLabel) {
  setObjectName(QStringLiteral("keysDialog"));
  setWindowTitle(tr("Keys"));
  resize(620, 520);
  m_filter->setPlaceholderText(tr("Letters of a command"));
  m_table->setModel(m_model);
  views::setUpTable(*m_table);
  m_table->setColumnWidth(views::CommandListModel::TextColumn, 320);
  m_table->setColumnWidth(views::CommandListModel::MenuColumn, 100);
  m_note->setTextFormat(Qt::PlainText);
  auto* set = new QPushButton(tr("Set"));
  auto* none = new QPushButton(tr("No keys"));
  auto* reset = new QPushButton(tr("Default"));
  auto* resetAll = new QPushButton(tr("All to default"));
  auto* row = new QHBoxLayout;
  row->addWidget(new QLabel(tr("Keys:")));
  row->addWidget(m_keys, 1);
  for (QPushButton* button : {set, none, reset, resetAll}) {
    button->setAutoDefault(false);
    row->addWidget(button);
  }
  set->setObjectName(QStringLiteral("setKeys"));
  resetAll->setObjectName(QStringLiteral("resetAllKeys"));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(m_filter);
  layout->addWidget(m_table, 1);
  layout->addLayout(row);
  layout->addWidget(m_note);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::accept);
  connect(m_filter, &QLineEdit::textChanged, m_model, &views::CommandListModel::setLetters);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    if (QAction* action = m_bindings.action(currentId()); action != nullptr) {
      m_keys->setKeySequence(action->shortcut());
    }
  });
  connect(set, &QPushButton::clicked, this, [this] { bind(m_keys->keySequence()); });
  connect(none, &QPushButton::clicked, this, [this] { bind({}); });
  connect(reset, &QPushButton::clicked, this, [this] {
    const QString id = currentId();
    m_bindings.reset(id);
    refresh(id);
  });
  connect(resetAll, &QPushButton::clicked, this, [this] {
    m_bindings.resetAll();
    m_note->setText(tr("All keys are as they came."));
    refresh(currentId());
  });
  refresh({});
}

QString KeysDialog::currentId() const {
  const views::Command* command = m_model->command(m_table->currentIndex());
  return command == nullptr ? QString() : command->id;
}

void KeysDialog::refresh(const QString& id) {
  m_model->setCommands(m_bindings.commands());
  for (int row = 0; row < m_model->rowCount(); ++row) {
    if (!id.isEmpty() && m_model->index(row, 0).data(values::KeyRole).toString() == id) {
      m_table->selectRow(row);
    }
  }
}

}  // namespace pf::gui

#include "moc_key_bindings.cpp"
