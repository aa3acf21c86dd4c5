// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of races as a table, beside the race list.
//
// Data in:  setTrace(), setVerdicts(), selectRace().
// Out:      classSelected(races) (empty = all), benignRequested(key) and bugRequested(key) ask for a note,
//           notJudgedRequested(key); saveRequested(), loadRequested(): of a file of known races.
#pragma once

#include <QWidget>

#include "views/trace/analyses/race_classes.h"

class QAction;
class QSortFilterProxyModel;
class QTableView;

namespace pf::views {

class FittedColumns;

class RaceClassesView : public QWidget {
  Q_OBJECT
 public:
  explicit RaceClassesView(QWidget* parent = nullptr);
  void setTrace(TraceIndexPtr trace, const std::vector<std::uint8_t>& severity,
                RaceClassesPtr classes);
  void setVerdicts(const RaceBaseline& verdicts);
  [[nodiscard]] RaceClassModel* model() const { return m_model; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QAction* benignAction() const { return m_benign; }
  [[nodiscard]] QAction* bugAction() const { return m_bug; }
  [[nodiscard]] QAction* notJudgedAction() const { return m_notJudged; }
  [[nodiscard]] QAction* saveAction() const { return m_save; }
  [[nodiscard]] QAction* loadAction() const { return m_load; }
  /// The row of the model that is selected, 0 (all races) if none is.
  [[nodiscard]] int selectedRow() const;
  void selectRow(int row);

 Q_SIGNALS:
  void classSelected(const std::vector<int>& races);
  void benignRequested(const QString& key, const QString& receive);
  void bugRequested(const QString& key, const QString& receive);
  void notJudgedRequested(const QString& key);
  void saveRequested();
  void loadRequested();

 private:
  void onCurrent();
  void fitColumns();

  RaceClassModel* m_model;
  QSortFilterProxyModel* m_proxy;
  QTableView* m_table;
  FittedColumns* m_columns;
  QAction* m_benign;
  QAction* m_bug;
  QAction* m_notJudged;
  QAction* m_save;
  QAction* m_load;
};

}  // namespace pf::views
