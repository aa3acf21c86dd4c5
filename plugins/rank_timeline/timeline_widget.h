// The widget of one rank's timeline: a rank, a filter in the language of the search, and its
// events. What is selected here is selected in the diagram, and the other way round.
#pragma once

#include <QTimer>

#include "plugins/rank_timeline.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace pf::plugins {

class TimelineWidget : public ViewWidget {
  Q_OBJECT
 public:
  explicit TimelineWidget(QWidget* parent = nullptr);
  void setTrace(const views::TraceIndexPtr& trace) override;
  void renewTrace(const views::TraceIndexPtr& trace) override;
  void setSelectedEvent(const EventRef& event) override;
  void setPositions(const std::vector<views::ReplayPosition>& positions) override;
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QComboBox* ranks() const { return m_ranks; }
  [[nodiscard]] QLineEdit* filter() const { return m_filter; }
  [[nodiscard]] TimelineModel* model() const { return m_model; }
  [[nodiscard]] QString summary() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void markNext();
  void goTo(Serial serial);

  views::TraceIndexPtr m_trace;
  std::vector<views::ReplayPosition> m_positions;
  EventRef m_selected;
  bool m_stale = false;  ///< nobody has looked since something changed
  bool m_quiet = false;
  QComboBox* m_ranks;
  QLineEdit* m_filter;
  QLabel* m_summary;
  TimelineModel* m_model;
  QTableView* m_table;
  QTimer m_pause;  ///< until the typing rests
};

}  // namespace pf::plugins
