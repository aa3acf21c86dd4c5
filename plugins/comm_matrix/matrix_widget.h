// SPDX-License-Identifier: MIT
// The widget of the communication matrix: a choice of measure above a heat map.
#pragma once

#include "plugins/comm_matrix/comm_matrix.h"
#include "views/panes/theme.h"
#include "views/trace/chunks/background.h"

class QComboBox;
class QLabel;

namespace pf::plugins {

class MatrixCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit MatrixCanvas(QWidget* parent = nullptr);
  void setMatrix(CommMatrix matrix);
  void setBytes(bool bytes);
  void setSelected(Rank source, Rank dest);
  [[nodiscard]] const CommMatrix& matrix() const { return m_matrix; }
  [[nodiscard]] QRectF cellRect(Rank source, Rank dest) const;
  [[nodiscard]] QSize minimumSizeHint() const override { return {160, 160}; }
  [[nodiscard]] QSize sizeHint() const override { return {420, 420}; }

 Q_SIGNALS:
  void cellClicked(int source, int dest);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] bool cellAt(QPointF position, Rank& source, Rank& dest) const;
  [[nodiscard]] QString tip(Rank source, Rank dest) const;
  void paintLabels(QPainter& painter, const views::Theme& theme) const;
  void paintCells(QPainter& painter, const views::Theme& theme) const;

  CommMatrix m_matrix;
  bool m_bytes = false;
  Rank m_source = kUnknownRank;
  Rank m_dest = kUnknownRank;
};

class MatrixWidget : public ViewWidget {
  Q_OBJECT
 public:
  explicit MatrixWidget(QWidget* parent = nullptr);
  void setTrace(const views::TraceIndexPtr& trace) override;
  void renewTrace(const views::TraceIndexPtr& trace) override;
  void setSelectedEvent(const EventRef& event) override;
  [[nodiscard]] MatrixCanvas* canvas() const { return m_canvas; }

 private:
  void onCell(Rank source, Rank dest);
  void showMatrix(const CommMatrix& matrix);

  views::TraceIndexPtr m_trace;
  QComboBox* m_measure;
  QLabel* m_total;
  MatrixCanvas* m_canvas;
  Rank m_source = kUnknownRank;
  Rank m_dest = kUnknownRank;
  views::Background<CommMatrix> m_counting;
  std::size_t m_next = 0;  ///< of the messages of the clicked pair
};

}  // namespace pf::plugins
