// SPDX-License-Identifier: MIT
// The widget of the communication matrix: a choice of measure, and of groups to frame, above a heat map.
#pragma once

#include <functional>

#include "plugins/comm_matrix/comm_matrix.h"
#include "views/panes/theme.h"
#include "views/trace/chunks/background.h"

class QComboBox;
class QContextMenuEvent;
class QLabel;
class QMenu;
class QPushButton;
class QSpinBox;

namespace pf::plugins {

class MatrixCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit MatrixCanvas(QWidget* parent = nullptr);
  void setMatrix(CommMatrix matrix);
  /// Ranks of a group lie together, framed. None: ranks lie by their numbers.
  void setGroups(const std::vector<std::vector<Rank>>& groups);
  void setBytes(bool bytes);
  void setSelected(Rank source, Rank dest);
  [[nodiscard]] const CommMatrix& matrix() const { return m_matrix; }
  [[nodiscard]] const MatrixOrder& order() const { return m_order; }
  [[nodiscard]] QRectF cellRect(Rank source, Rank dest) const;
  [[nodiscard]] QSize minimumSizeHint() const override { return {160, 160}; }
  [[nodiscard]] QSize sizeHint() const override { return {420, 420}; }

 Q_SIGNALS:
  void cellClicked(int source, int dest);
  void menuRequested(int source, int dest, const QPoint& globalPosition);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] bool cellAt(QPointF position, Rank& source, Rank& dest) const;
  [[nodiscard]] QString tip(Rank source, Rank dest) const;
  void paintLabels(QPainter& painter, const views::Theme& theme) const;
  void paintCells(QPainter& painter, const views::Theme& theme) const;
  void paintFrames(QPainter& painter, const views::Theme& theme) const;
  void paintLegend(QPainter& painter, const views::Theme& theme) const;

  CommMatrix m_matrix;
  std::vector<std::vector<Rank>> m_groups;
  MatrixOrder m_order;
  bool m_bytes = false;
  Rank m_source = kUnknownRank;
  Rank m_dest = kUnknownRank;
};

/// Groups that can be framed, and what is to be said of them. The application has them.
struct MatrixGroups {
  std::vector<std::vector<Rank>> groups;  ///< empty: there are none, as `text` says
  QString text;
};

/// Adds to a menu what can be done with these ranks.
using MatrixRankCommands = std::function<void(QMenu& menu, const QList<int>& ranks)>;

class MatrixWidget : public ViewWidget {
  Q_OBJECT
 public:
  explicit MatrixWidget(QWidget* parent = nullptr);
  void setTrace(const views::TraceIndexPtr& trace) override;
  void renewTrace(const views::TraceIndexPtr& trace) override;
  void setSelectedEvent(const EventRef& event) override;
  [[nodiscard]] MatrixCanvas* canvas() const { return m_canvas; }

  /// Those that the trace was recorded with: framed at once. A new trace has none.
  void setRecordedGroups(const MatrixGroups& groups);
  /// The answer to groupsWanted().
  void setFoundGroups(const MatrixGroups& groups);
  /// Ranks of a group that are proposed for a search.
  void setMost(int most);
  /// Of the menu of a cell; without it there is no menu.
  void setRankCommands(MatrixRankCommands add) { m_rankCommands = std::move(add); }
  /// What is said of the groups.
  [[nodiscard]] QString groupsText() const;

 Q_SIGNALS:
  void groupsWanted(int most);  ///< setFoundGroups() is to follow

 private:
  enum Framed { kNoGroups, kRecorded, kFound };

  void layOut();
  void frame(int which);
  void find();
  void showMenu(Rank source, Rank dest, const QPoint& globalPosition);
  void forgetGroups();
  void onCell(Rank source, Rank dest);
  void showMatrix(const CommMatrix& matrix);

  views::TraceIndexPtr m_trace;
  QComboBox* m_measure;
  QLabel* m_total;
  QComboBox* m_framed;
  QPushButton* m_find;
  QSpinBox* m_most;
  QLabel* m_text;
  MatrixCanvas* m_canvas;
  MatrixGroups m_recorded;
  MatrixGroups m_found;
  MatrixRankCommands m_rankCommands;
  Rank m_source = kUnknownRank;
  Rank m_dest = kUnknownRank;
  views::Background<CommMatrix> m_counting;
  std::size_t m_next = 0;  ///< of the messages of the clicked pair
};

}  // namespace pf::plugins
