// SPDX-License-Identifier: GPL-3.0-or-later
// Two cycles of the trace side by side.
#pragma once

#include <QDialog>
#include <QList>

#include "views/values/debug_values.h"

class QComboBox;
class QLabel;
class QTableView;

namespace pf::views {
class CycleComparisonModel;
}

namespace pf::gui {

class CycleComparisonDialog : public QDialog {
  Q_OBJECT
 public:
  /// `cycles` has at least two; the last two are shown, or `first` and `second` by number.
  CycleComparisonDialog(const QList<values::Cycle>& cycles, int first, int second,
                        QWidget* parent = nullptr);
  [[nodiscard]] views::CycleComparisonModel* model() const { return m_model; }

 Q_SIGNALS:
  void eventActivated(const pf::EventRef& event);

 private:
  void show2();

  QList<values::Cycle> m_cycles;
  views::CycleComparisonModel* m_model;
  QComboBox* m_first;
  QComboBox* m_second;
  QLabel* m_summary;
  QTableView* m_table;
};

}  // namespace pf::gui
