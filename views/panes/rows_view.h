// SPDX-License-Identifier: GPL-3.0-or-later
// A table of text with, perhaps, a line above it that says what to show.
//
// Data in:  showRows(), showProblem().        Out: inputEntered(text), rowActivated(key).
#pragma once

#include <QWidget>

#include "views/models/rows_model.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace pf::views {

class RowsView : public QWidget {
  Q_OBJECT
 public:
  /// `placeholder` empty: no input line.
  RowsView(const QString& name, QStringList titles, int compared, const QString& placeholder = {},
           QWidget* parent = nullptr);

  void showRows(const QList<QStringList>& rows, int current = -1);
  /// One line instead of rows.
  void showProblem(const QString& text);
  void setInput(const QString& text);
  [[nodiscard]] QString input() const;

  [[nodiscard]] RowsModel* model() const { return m_model; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QLineEdit* inputLine() const { return m_input; }
  [[nodiscard]] QString problem() const;

 Q_SIGNALS:
  void inputEntered(const QString& text);
  void rowActivated(const QString& key);  ///< text of its first column

 private:
  RowsModel* m_model;
  QLineEdit* m_input = nullptr;
  QLabel* m_problem;
  QTableView* m_table;
};

}  // namespace pf::views
