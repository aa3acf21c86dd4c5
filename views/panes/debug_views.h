// SPDX-License-Identifier: GPL-3.0-or-later
// Stack, variables and watches of the debugger.
//
// StackView       in: setFrames, setCurrentLevel      out: frameSelected(level)
// VariablesView   in: model()->setVariables/setChildren  out: model()->expandRequested,
// editRequested WatchesView     in: model()->setRank/setValues/setChildren  out:
// expressionsChanged(list), model()->expandRequested, editRequested
#pragma once

#include <functional>
#include <utility>

#include <QList>
#include <QWidget>

#include "views/values/debug_values.h"

class QAction;
class QLabel;
class QLineEdit;
class QMenu;
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

/// What is asked of an expression.
using AskExpression = std::function<void(const QString& expression)>;
/// Calls `then` with the expression of a variable or of a part of one, by its path.
using ExpressionOf = std::function<void(const QString& path, const AskExpression& then)>;

class VariablesView : public QWidget {
  Q_OBJECT
 public:
  explicit VariablesView(QWidget* parent = nullptr);
  [[nodiscard]] VariablesModel* model() const { return m_model; }
  [[nodiscard]] QTreeView* tree() const { return m_tree; }
  [[nodiscard]] QAction* watchAction() const { return m_watch; }
  [[nodiscard]] QAction* messageAction() const { return m_message; }
  /// One more item of the menu of a variable.
  QAction* addQuestion(const QString& text, const AskExpression& ask);
  /// Without it a variable is asked about by its name.
  void setExpressionOf(ExpressionOf expressionOf) { m_expressionOf = std::move(expressionOf); }

 Q_SIGNALS:
  void watchRequested(const QString& expression);
  void breakOnChangeRequested(const QString& expression);  ///< a GDB watchpoint on it
  void messageRequested(const QString& expression);        ///< which message filled it

 private:
  /// Of the variable that is current.
  void withExpression(const AskExpression& ask) const;
  ExpressionOf m_expressionOf;
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
  /// One more item of the menu of a watch, or of a part of one.
  QAction* addQuestion(const QString& text, const AskExpression& ask);
  /// Without it a watch is asked about as it was written.
  void setExpressionOf(ExpressionOf expressionOf) { m_expressionOf = std::move(expressionOf); }
  /// Its actions: formats of GDB's print.
  [[nodiscard]] QMenu* formats() const { return m_formats; }

 Q_SIGNALS:
  void expressionsChanged(const QStringList& expressions);
  void formatRequested(const QString& expression, char format);  ///< 0: as its type says

 private:
  [[nodiscard]] int currentRow() const;
  void addFormats();

  ExpressionOf m_expressionOf;
  QMenu* m_formats;
  WatchesModel* m_model;
  QTreeView* m_tree;
  QLineEdit* m_input;
  QAction* m_remove;
};

}  // namespace pf::views
