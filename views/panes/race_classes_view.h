// SPDX-License-Identifier: GPL-3.0-or-later
// The classes of races as a table, beside the race list.
//
// Data in:  setTrace(), setBenign(), selectRace().
// Out:      classSelected(races) (empty = all), benignRequested(key) asks for a note,
//           notBenignRequested(key).
#pragma once

#include <QHash>
#include <QWidget>

#include "views/trace/analyses/race_classes.h"

class QAction;
class QSortFilterProxyModel;
class QTableView;

namespace pf::views {

class RaceClassesView : public QWidget {
  Q_OBJECT
 public:
  explicit RaceClassesView(QWidget* parent = nullptr);
  void setTrace(TraceIndexPtr trace, const std::vector<std::uint8_t>& severity,
                RaceClassesPtr classes);
  void setBenign(const QHash<QString, QString>& notes);
  [[nodiscard]] RaceClassModel* model() const { return m_model; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QAction* benignAction() const { return m_benign; }
  [[nodiscard]] QAction* notBenignAction() const { return m_notBenign; }
  /// The row of the model that is selected, 0 (all races) if none is.
  [[nodiscard]] int selectedRow() const;
  void selectRow(int row);

 Q_SIGNALS:
  void classSelected(const std::vector<int>& races);
  void benignRequested(const QString& key, const QString& receive);
  void notBenignRequested(const QString& key);

 private:
  void onCurrent();
  void fitColumns();

  RaceClassModel* m_model;
  QSortFilterProxyModel* m_proxy;
  QTableView* m_table;
  QAction* m_benign;
  QAction* m_notBenign;
};

}  // namespace pf::views
