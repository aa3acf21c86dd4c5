// SPDX-License-Identifier: MIT
// A pane: a bar for each rank.
#include "example.h"

#include <algorithm>

#include <QMouseEvent>
#include <QPainter>
#include <QWidget>

using namespace photofinish;

namespace {

class Bars : public QWidget {
 public:
  Bars(Window& window, QWidget* parent) : QWidget(parent), m_window(window) {
    setMinimumSize(120, 60);
  }

 protected:
  void paintEvent(QPaintEvent* /*event*/) override {
    QPainter painter(this);
    const Trace* const trace = m_window.trace();
    const std::int32_t ranks = trace != nullptr ? trace->ranks() : 0;
    std::uint64_t most = 1;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      most = std::max(most, trace->events(rank));
    }
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const double high = double(height()) / ranks;
      const auto wide = [&](std::uint64_t events) {
        return double(width()) * double(events) / double(most);
      };
      const std::uint64_t next = m_window.next(rank);
      painter.fillRect(QRectF(0, rank * high, wide(trace->events(rank)), high * 0.8),
                       QColor(0, 160, 120));
      painter.fillRect(QRectF(0, rank * high, wide(next > 0 ? next - 1 : 0), high * 0.8),
                       QColor(0, 60, 60));
    }
  }
  void mousePressEvent(QMouseEvent* event) override {
    if (const Trace* const trace = m_window.trace()) {
      const auto rank =
          std::int32_t(event->position().y() * trace->ranks() / std::max(1, height()));
      m_window.select({rank, trace->events(rank)});
    }
  }

 private:
  Window& m_window;
};

class BarsPane : public Pane {
 public:
  BarsPane(Window& window, QWidget* parent) : m_widget(new Bars(window, parent)) {}
  QWidget* widget() override { return m_widget; }
  void traceChanged(bool /*newer*/) override { m_widget->update(); }
  void cutChanged() override { m_widget->update(); }

 private:
  Bars* m_widget;
};

}  // namespace

Pane* makeBars(Window& window, QWidget* parent) {
  return new BarsPane(window, parent);
}
