// SPDX-License-Identifier: GPL-3.0-or-later
// The window's commands: found by letters (the palette), and bound to keys that the user chooses.
#pragma once

#include <QDialog>
#include <QHash>
#include <QKeySequence>
#include <QObject>
#include <QPointer>

#include "views/models/command_list.h"

class QAction;
class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QMainWindow;
class QTableView;

namespace pf::gui {

/// Every command of a window with the keys that it came with. Keys that the user has chosen are
/// kept in the settings, by the command's id.
class KeyBindings : public QObject {
  Q_OBJECT
 public:
  /// Takes in the actions that the window has now, and gives them the user's keys.
  explicit KeyBindings(QMainWindow* window);

  [[nodiscard]] QList<views::Command> commands() const;
  [[nodiscard]] QAction* action(const QString& id) const { return m_actions.value(id).action; }
  /// Empty keys: none. A command that has these keys loses them; its name is returned.
  QString bind(const QString& id, const QKeySequence& keys);
  void reset(const QString& id);
  void resetAll();
  [[nodiscard]] bool isDefault(const QString& id) const;

 private:
  struct Known {
    QPointer<QAction> action;
    QKeySequence byDefault;
    QString menu;
  };
  void take(QAction* action, const QString& menu);
  void set(QAction& action, const QKeySequence& keys);

  QList<QString> m_order;
  QHash<QString, Known> m_actions;
};

/// Ctrl+Shift+P: type some letters of a command, Enter runs it.
class CommandPalette : public QDialog {
  Q_OBJECT
 public:
  CommandPalette(const KeyBindings& bindings, QWidget* parent);
  [[nodiscard]] QLineEdit* input() const { return m_input; }
  [[nodiscard]] QTableView* table() const { return m_table; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void run();

  const KeyBindings& m_bindings;
  views::CommandListModel* m_model;
  QLineEdit* m_input;
  QTableView* m_table;
};

class KeysDialog : public QDialog {
  Q_OBJECT
 public:
  KeysDialog(KeyBindings& bindings, QWidget* parent);
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QKeySequenceEdit* keys() const { return m_keys; }
  [[nodiscard]] QLabel* note() const { return m_note; }
  [[nodiscard]] QLineEdit* filter() const { return m_filter; }

 private:
  void bind(const QKeySequence& keys);
  void refresh(const QString& id);
  [[nodiscard]] QString currentId() const;

  KeyBindings& m_bindings;
  views::CommandListModel* m_model;
  QLineEdit* m_filter;
  QTableView* m_table;
  QKeySequenceEdit* m_keys;
  QLabel* m_note;
};

}  // namespace pf::gui
