// SPDX-License-Identifier: GPL-3.0-or-later
// One expression on all ranks.
//
// Data in:  showValues(expression, values, milliseconds).
// Out:      evaluateRequested(expression), rankRequested(rank), debuggerRequested(ranks),
//           groupRequested(name, ranks).
#pragma once

#include <QWidget>

#include "views/values/values_across.h"

class QAction;
class QLabel;
class QLineEdit;
class QTableView;

namespace pf::views {

/// The numbers by rank as bars, outliers marked. Shows nothing without numbers.
class Sparkline : public QWidget {
  Q_OBJECT
 public:
  explicit Sparkline(QWidget* parent = nullptr);
  void setValues(const QList<RankValue>& values, const ValueSummary& summary);

 Q_SIGNALS:
  void rankClicked(int rank);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Bar {
    int rank = 0;
    double number = 0;
    bool known = false;
    bool outlier = false;
  };
  [[nodiscard]] const Bar* barAt(double x) const;

  QList<Bar> m_bars;
  double m_least = 0;
  double m_most = 0;
};

class ValuesAcrossView : public QWidget {
  Q_OBJECT
 public:
  explicit ValuesAcrossView(QWidget* parent = nullptr);

  void showValues(const QString& expression, const QList<RankValue>& values, qint64 milliseconds);
  /// Asks for `expression`, as if it had been typed.
  void ask(const QString& expression);
  [[nodiscard]] QString expression() const;

  [[nodiscard]] ValuesAcrossModel* model() const { return m_model; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QLineEdit* input() const { return m_input; }
  [[nodiscard]] QAction* groupAction() const { return m_group; }
  [[nodiscard]] QAction* debuggerAction() const { return m_debugger; }
  [[nodiscard]] QString summary() const;

 Q_SIGNALS:
  void evaluateRequested(const QString& expression);
  void rankRequested(int rank);
  void debuggerRequested(const QList<int>& ranks);
  void groupRequested(const QString& name, const QList<int>& ranks);

 private:
  void makeActions();

  ValuesAcrossModel* m_model;
  QLineEdit* m_input;
  Sparkline* m_line;
  QLabel* m_summary;
  QTableView* m_table;
  QAction* m_group = nullptr;
  QAction* m_debugger = nullptr;
};

}  // namespace pf::views
