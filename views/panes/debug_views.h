// SPDX-License-Identifier: GPL-3.0-or-later
// Stack, variables and watches of the debugger.
//
// StackView       in: setFrames, setCurrentLevel      out: frameSelected(level)
// VariablesView   in: model()->setVariables/setChildren  out: model()->expandRequested,
// editRequested WatchesView     in: model()->setRank/setValues/setChildren  out:
// expressionsChanged(list), model()->expandRequested, editRequested
#pragma once

#include <functional>

#include <QList>
#include <QWidget>

#include "views/values/debug_values.h"

class QAction;
class QLabel;
class QLineEdit;
class QTableView;
class QTreeView;

namespace pf::views {

class StackModel;
class VariablesModel;
class WatchesModel;

class StackView : public QWidget {
  Q_OBJECT
 public:
  explicit StackView(QWidget* parent = nullptr);
  void setFrames(const QList<StackFrame>& frames, int currentLevel = 0);
  void setCurrentLevel(int level);
  [[nodiscard]] StackModel* model() const { return m_model; }
  [[nodiscard]] QTableView* table() const { return m_table; }

 Q_SIGNALS:
  void frameSelected(int level);

 private:
  StackModel* m_model;
  QTableView* m_table;
  bool m_quiet = false;
};

class VariablesView : public QWidget {
  Q_OBJECT
 public:
  explicit VariablesView(QWidget* parent = nullptr);
  [[nodiscard]] VariablesModel* model() const { return m_model; }
  [[nodiscard]] QTreeView* tree() const { return m_tree; }
  [[nodiscard]] QAction* watchAction() const { return m_watch; }
  [[nodiscard]] QAction* messageAction() const { return m_message; }
  /// One more item of the menu of a variable of the frame (not of a part of one).
  QAction* addQuestion(const QString& text, const std::function<void(const QString& name)>& ask);

 Q_SIGNALS:
  void watchRequested(const QString& expression);    ///< "Watch" on a variable (its name)
  void breakOnChangeRequested(const QString& name);  ///< a GDB watchpoint on it
  void messageRequested(const QString& name);        ///< which message filled it

 private:
  [[nodiscard]] QString currentName() const;
  VariablesModel* m_model;
  QTreeView* m_tree;
  QAction* m_watch;
  QAction* m_breakOnChange;
  QAction* m_message;
};

class WatchesView : public QWidget {
  Q_OBJECT
 public:
  explicit WatchesView(QWidget* parent = nullptr);
  [[nodiscard]] WatchesModel* model() const { return m_model; }
  [[nodiscard]] QTreeView* tree() const { return m_tree; }
  [[nodiscard]] QLineEdit* input() const { return m_input; }
  [[nodiscard]] QAction* removeAction() const { return m_remove; }
  /// One more item of the menu of a watch.
  QAction* addQuestion(const QString& text,
                       const std::function<void(const QString& expression)>& ask);

 Q_SIGNALS:
  void expressionsChanged(const QStringList& expressions);

 private:
  [[nodiscard]] int currentRow() const;

  WatchesModel* m_model;
  QTreeView* m_tree;
  QLineEdit* m_input;
  QAction* m_remove;
};

}  // namespace pf::views
