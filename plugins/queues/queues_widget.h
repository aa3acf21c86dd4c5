// SPDX-License-Identifier: MIT
// The widget of the message queues: a choice of moment above a table of the queues and the
// waits-for graph beside it.
#pragma once

#include <functional>

#include <QAbstractTableModel>

#include "plugins/queues/queues.h"
#include "views/trace/analyses/job_state.h"
#include "views/trace/chunks/background.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace pf::views {
struct Theme;
}

namespace pf::plugins {

class QueuesModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column {
    RankColumn,
    QueueColumn,
    PeerColumn,
    TagColumn,
    CommColumn,
    BytesColumn,
    EventColumn,
    PlaceColumn,
    ColumnCount
  };
  using QAbstractTableModel::QAbstractTableModel;
  void set(views::TraceIndexPtr trace, std::vector<views::QueueItem> items);
  [[nodiscard]] const views::QueueItem& item(int row) const {
    return m_items[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                    int role) const override;

 private:
  [[nodiscard]] QString text(const views::QueueItem& item, int column) const;
  views::TraceIndexPtr m_trace;
  std::vector<views::QueueItem> m_items;
};

/// Ranks that wait or are waited for, on a circle; an arrow from who waits. Ranks that can never go
/// on are red with a double ring, those of a circle that only seems to be a deadlock with a single one, a wildcard's arrows dashed.
class WaitsCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit WaitsCanvas(QWidget* parent = nullptr);
  /// `recorded` false: of the ranks' messages nothing is known.
  void setState(const views::JobState* state, bool recorded);
  [[nodiscard]] QPointF centre(Rank rank) const;  ///< of a rank that is shown
  [[nodiscard]] QSize minimumSizeHint() const override { return {140, 120}; }

 Q_SIGNALS:
  void rankClicked(int rank);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] double radius() const;
  [[nodiscard]] Rank rankAt(QPointF position) const;
  [[nodiscard]] bool inCycle(Rank from, Rank to) const;
  void paintArrow(QPainter& painter, const views::Theme& theme, const views::RankWait& wait,
                  Rank to) const;
  void paintRanks(QPainter& painter, const views::Theme& theme) const;

  views::JobState m_state;
  std::vector<Rank> m_shown;
  bool m_recorded = true;
};

class QueuesWidget : public ViewWidget {
  Q_OBJECT
 public:
  enum Moment { Present, Selected, End };
  explicit QueuesWidget(QWidget* parent = nullptr);
  void setTrace(const views::TraceIndexPtr& trace) override;
  void renewTrace(const views::TraceIndexPtr& trace) override;
  void setSelectedEvent(const EventRef& event) override;
  void setPositions(const std::vector<values::ReplayPosition>& positions) override;

  [[nodiscard]] const views::JobState& state() const { return m_state; }
  [[nodiscard]] QComboBox* moment() const { return m_moment; }
  [[nodiscard]] QTableView* table() const { return m_table; }
  [[nodiscard]] QLineEdit* filter() const { return m_filter; }
  [[nodiscard]] WaitsCanvas* canvas() const { return m_canvas; }
  [[nodiscard]] QString summary() const;
  /// A line for each rank that waits: in what, for whom.
  [[nodiscard]] QString waitsText() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void layOut();
  void refresh();
  [[nodiscard]] std::function<views::JobState()> question() const;
  void showState(views::JobState state);
  void showWaits();
  void copy(const QString& text);

  views::TraceIndexPtr m_trace;
  std::vector<values::ReplayPosition> m_positions;
  EventRef m_selected;
  views::JobState m_state;
  bool m_stale = true;  ///< to be made anew when it is seen
  views::Background<views::JobState> m_working;
  QComboBox* m_moment;
  QLineEdit* m_filter;
  QLabel* m_summary;
  QLabel* m_waits;
  QueuesModel* m_model;
  QSortFilterProxyModel* m_proxy;
  QTableView* m_table;
  WaitsCanvas* m_canvas;
};

}  // namespace pf::plugins
