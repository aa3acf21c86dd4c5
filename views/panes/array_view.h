// SPDX-License-Identifier: GPL-3.0-or-later
// The elements of an array: a plane of it as a table and a heat map, all of it as a plot, statistics, and what is out of a
// range.
//
// Data in:  showArray(summary), showProblem(text), setBusy(), setWhyNot(text).
// Out:      arrayRequested(expression, ranks, along, columns, halo).
#pragma once

#include <QAbstractTableModel>
#include <QWidget>

#include "views/panes/array_heat_map.h"
#include "views/panes/array_plane_bar.h"
#include "views/panes/array_plot.h"
#include "views/values/array_plane.h"
#include "views/values/array_values.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTableView;
class QTabWidget;

namespace pf::views {

/// A plane of an array. What is no finite number is bold; what is a copy of another rank's element is shaded, and red where it
/// is not what it is a copy of.
class ArrayModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setArray(ArraySummaryPtr array, const ArrayPlane& plane);
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  ArraySummaryPtr m_array;
  ArrayPlane m_plane;
};

class ArrayView : public QWidget {
  Q_OBJECT
 public:
  explicit ArrayView(QWidget* parent = nullptr);
  void showArray(const ArraySummaryPtr& array);
  void showProblem(const QString& text);
  void setBusy();
  /// Nothing can be asked for, and a tip says why; empty: it can.
  void setWhyNot(const QString& why);
  [[nodiscard]] QString expression() const;
  /// As if it had been typed.
  void ask(const QString& expression);
  /// For what was asked last, whatever has been typed since.
  void askAgain();
  [[nodiscard]] QString text() const;
  /// Moves plane and table to an element.
  void goTo(qint64 element);
  [[nodiscard]] const ArrayPlane& plane() const { return m_plane; }
  [[nodiscard]] ArrayPlaneBar* planeBar() const { return m_planeBar; }
  [[nodiscard]] ArrayPlot* plot() const { return m_plot; }
  [[nodiscard]] ArrayHeatMap* heatMap() const { return m_heatMap; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QLineEdit* leastEdit() const { return m_least; }
  [[nodiscard]] QLineEdit* mostEdit() const { return m_most; }
  [[nodiscard]] QPushButton* nextButton() const { return m_next; }
  /// How many elements are out of the range.
  [[nodiscard]] QString outsideText() const;
  [[nodiscard]] QLineEdit* ranksEdit() const { return m_ranks; }
  [[nodiscard]] QSpinBox* alongBox() const { return m_along; }
  [[nodiscard]] QSpinBox* haloBox() const { return m_halo; }
  [[nodiscard]] QPushButton* staleButton() const { return m_stale; }

 Q_SIGNALS:
  /// `ranks`: an expression of groups, whose ranks have a part each; empty: the current rank has it. They lie side by side in
  /// dimension `along` (from 0), or as blocks in it and the next, `columns` in a row, with `halo` copies at each inner end.
  void arrayRequested(const QString& expression, const QString& ranks, int along, int columns,
                      int halo);

 private:
  struct Question {
    QString expression;
    QString ranks;
    int along = 0;
    int columns = 1;
    int halo = 0;
    friend bool operator==(const Question&, const Question&) = default;
  };
  [[nodiscard]] Question typed() const;
  void connectParts();
  [[nodiscard]] QWidget* makeDistribution();
  [[nodiscard]] QWidget* makeSearch();
  void setPlane(const ArrayPlane& plane);
  void showPlane();
  void fitColumns();
  void countOutside();
  void goToNextOutside();
  void goToNextStale();
  [[nodiscard]] std::pair<double, double> wantedRange() const;

  QLineEdit* m_input;
  QLineEdit* m_ranks;
  QSpinBox* m_along;
  QSpinBox* m_columns;
  QSpinBox* m_halo;
  QPushButton* m_stale;
  QLabel* m_about;
  ArrayPlaneBar* m_planeBar;
  QWidget* m_search;
  QLineEdit* m_least;
  QLineEdit* m_most;
  QPushButton* m_next;
  QLabel* m_outside;
  QTabWidget* m_pictures;
  ArrayPlot* m_plot;
  ArrayHeatMap* m_heatMap;
  QTableView* m_table;
  ArrayModel* m_model;
  ArraySummaryPtr m_shown;
  ArrayPlane m_plane;
  qint64 m_at = -1;  ///< the element that was found last
  Question m_asked;  ///< last, whatever has been typed since
};

}  // namespace pf::views
