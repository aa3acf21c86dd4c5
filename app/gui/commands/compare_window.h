// SPDX-License-Identifier: GPL-3.0-or-later
// Two recordings of one program side by side: the first difference of each rank, then all differences that follow from no
// other, and the diagram of each with what they have in common veiled.
#pragma once

#include <QDialog>

#include "app/reports/report.h"
#include "app/trace_loading/trace_loader.h"
#include "views/trace/trace_index.h"

class QLabel;
class QTreeWidget;

namespace pf::views {
class SpaceTimeView;
}

namespace pf::gui {

/// What a worker has made of two traces.
struct LoadedComparison {
  views::TraceIndexPtr a;
  views::TraceIndexPtr b;
  app::DifferenceTable table;
};

/// `indexA`: of trace `a`, which is open. Surveys `b` if it must be. Errors: as
/// app::differenceTable() and session::loadTrace().
[[nodiscard]] Result<LoadedComparison> loadComparison(const QString& a, views::TraceIndexPtr indexA,
                                                      const QString& b);

class CompareWindow : public QDialog {
  Q_OBJECT
 public:
  CompareWindow(const QString& pathA, const QString& pathB, const LoadedComparison& loaded,
                QWidget* parent);
  [[nodiscard]] QTreeWidget* differences() const { return m_differences; }
  [[nodiscard]] views::SpaceTimeView* diagram(bool b) const { return b ? m_b : m_a; }
  [[nodiscard]] QString summary() const;

 Q_SIGNALS:
  /// In the trace that is open in the main window, A.
  void eventSelected(const pf::EventRef& event);
  void replayToRequested(const pf::EventRef& event);

 private:
  void fill(const app::DifferenceTable& table);
  /// Those before the failure, or the others.
  void fillAligned(const app::DifferenceTable& table, bool beforeFailure);
  struct Row {
    Rank rank;
    Serial serialA;  ///< 0: there is no such event
    Serial serialB;
    bool bold;
    bool suspect;
  };
  /// `cells`: of the columns.
  void addRow(const Row& row, QStringList cells);
  void onCurrent();

  QLabel* m_summary;
  QTreeWidget* m_differences;
  views::SpaceTimeView* m_a;
  views::SpaceTimeView* m_b;
};

}  // namespace pf::gui
