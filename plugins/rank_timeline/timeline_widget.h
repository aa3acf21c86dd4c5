// SPDX-License-Identifier: MIT
// The widget of one rank's timeline: a rank, a filter in the language of the search, and its
// events. What is selected here is selected in the diagram, and the other way round.
#pragma once

#include <optional>
#include <stop_token>

#include <QTimer>

#include "plugins/rank_timeline/rank_timeline.h"
#include "views/trace/chunks/background.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace pf::plugins {

class TimelineWidget : public ViewWidget {
  Q_OBJECT
 public:
  explicit TimelineWidget(QWidget* parent = nullptr);
  ~TimelineWidget() override { m_stop.request_stop(); }
  TimelineWidget(const TimelineWidget&) = delete;
  TimelineWidget& operator=(const TimelineWidget&) = delete;
  void setTrace(const views::TraceIndexPtr& trace) override;
  void renewTrace(const views::TraceIndexPtr& trace) override;
  void setSelectedEvent(const EventRef& event) override;
  void setPositions(const std::vector<values::ReplayPosition>& positions) override;
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QComboBox* ranks() const { return m_ranks; }
  [[nodiscard]] QLineEdit* filter() const { return m_filter; }
  [[nodiscard]] TimelineModel* model() const { return m_model; }
  [[nodiscard]] QString summary() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// What is asked of a trace.
  struct Rows {
    Rank rank = -1;
    QString query;
    bool operator==(const Rows&) const = default;
  };

  void refresh();
  void fill(const views::TraceIndexPtr& trace, const Rows& rows,
            const std::optional<views::EventSearch>& found = std::nullopt);
  void markNext();
  /// To that event, or to where it would be. Returns whether it is there.
  bool goTo(Serial serial, bool bringIntoView);

  views::TraceIndexPtr m_trace;
  std::vector<values::ReplayPosition> m_positions;
  EventRef m_selected;
  bool m_stale = false;  ///< nobody has looked since something changed
  bool m_quiet = false;
  QComboBox* m_ranks;
  QLineEdit* m_filter;
  QLabel* m_summary;
  TimelineModel* m_model;
  QTableView* m_table;
  QTimer m_pause;  ///< until the typing rests
  Rows m_shown;
  bool m_toBring = false;   ///< what is selected is still to be brought into view
  std::stop_source m_stop;  ///< of m_search
  views::Background<views::EventSearch> m_search;
};

}  // namespace pf::plugins
