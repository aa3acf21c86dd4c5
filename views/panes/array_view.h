// SPDX-License-Identifier: GPL-3.0-or-later
// The elements of an array as a plot and a table.
//
// Data in:  showArray(summary), showProblem(text), setBusy().
// Out:      arrayRequested(expression).
#pragma once

#include <QAbstractTableModel>
#include <QWidget>

#include "views/values/array_values.h"

class QLabel;
class QLineEdit;
class QTableView;

namespace pf::views {

class ArrayModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setArray(ArraySummaryPtr array);
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  ArraySummaryPtr m_array;
};

/// Least and most of what lies in each column of pixels. The wheel zooms, a drag chooses a range, a double click
/// shows all again.
class ArrayPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ArrayPlot(QWidget* parent = nullptr);
  void setArray(ArraySummaryPtr array);
  /// Elements [from, to), at least two.
  void setRange(qint64 from, qint64 to);
  [[nodiscard]] qint64 from() const { return m_from; }
  [[nodiscard]] qint64 to() const { return m_to; }

 Q_SIGNALS:
  void elementClicked(qint64 index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] qint64 elementAt(double x) const;

  ArraySummaryPtr m_array;
  qint64 m_from = 0;
  qint64 m_to = 0;
  double m_pressed = -1.0;
  double m_dragged = -1.0;
};

class ArrayView : public QWidget {
  Q_OBJECT
 public:
  explicit ArrayView(QWidget* parent = nullptr);
  void showArray(const ArraySummaryPtr& array);
  void showProblem(const QString& text);
  void setBusy();
  [[nodiscard]] QString expression() const;
  /// As if it had been typed.
  void ask(const QString& expression);
  /// For what was asked last, whatever has been typed since.
  void askAgain();
  [[nodiscard]] QString text() const;
  [[nodiscard]] ArrayPlot* plot() const { return m_plot; }
  [[nodiscard]] QTableView* table() const { return m_table; }

 Q_SIGNALS:
  void arrayRequested(const QString& expression);

 private:
  QLineEdit* m_input;
  QLabel* m_about;
  ArrayPlot* m_plot;
  QTableView* m_table;
  ArrayModel* m_model;
  ArraySummaryPtr m_shown;
  QString m_asked;
};

}  // namespace pf::views
