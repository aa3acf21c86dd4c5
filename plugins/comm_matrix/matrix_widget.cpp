// SPDX-License-Identifier: MIT
#include "plugins/comm_matrix/matrix_widget.h"

#include <algorithm>
#include <cmath>

#include <QComboBox>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QVBoxLayout>

#include "views/values/text.h"

namespace pf::plugins {

using views::Theme;
using Qt::Literals::StringLiterals::operator""_s;

MatrixCanvas::MatrixCanvas(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Communication matrix"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void MatrixCanvas::setMatrix(CommMatrix matrix) {
  m_matrix = std::move(matrix);
  m_source = kUnknownRank;
  m_dest = kUnknownRank;
  update();
}

void MatrixCanvas::setBytes(bool bytes) {
  m_bytes = bytes;
  update();
}

void MatrixCanvas::setSelected(Rank source, Rank dest) {
  m_source = source;
  m_dest = dest;
  update();
}

QRectF MatrixCanvas::area() const {
  const double left = fontMetrics().horizontalAdvance(u"0000"_s) + 30.0;
  const double top = fontMetrics().height() * 2 + 10.0;
  const double legend = fontMetrics().height() * 2 + 12.0;
  const double side = std::max(10.0, std::min(width() - left - 12, height() - top - legend));
  return {left, top, side, side};
}

QRectF MatrixCanvas::cellRect(Rank source, Rank dest) const {
  const QRectF all = area();
  const double size = all.width() / std::max(1, m_matrix.ranks());
  return {all.left() + dest * size, all.top() + source * size, size, size};
}

bool MatrixCanvas::cellAt(QPointF position, Rank& source, Rank& dest) const {
  const QRectF all = area();
  if (m_matrix.ranks() == 0 || !all.contains(position)) {
    return false;
  }
  const double size = all.width() / m_matrix.ranks();
  source = std::min(m_matrix.ranks() - 1, static_cast<Rank>((position.y() - all.top()) / size));
  dest = std::min(m_matrix.ranks() - 1, static_cast<Rank>((position.x() - all.left()) / size));
  return true;
}

void MatrixCanvas::paintLabels(QPainter& painter, const Theme& theme) const {
  const QRectF all = area();
  const double size = all.width() / m_matrix.ranks();
  const double line = fontMetrics().height();
  const double widest =
      fontMetrics().horizontalAdvance(QString::number(m_matrix.ranks() - 1)) + 6.0;
  const int everyRow = std::max(1, static_cast<int>(std::ceil(line / size)));
  const int everyColumn = std::max(1, static_cast<int>(std::ceil(widest / size)));
  painter.setPen(theme.muted);
  for (Rank rank = 0; rank < m_matrix.ranks(); ++rank) {
    const double middle = (rank + 0.5) * size;
    if (rank % everyRow == 0) {
      painter.drawText(QRectF(0, all.top() + middle - line / 2, all.left() - 6, line),
                       Qt::AlignRight | Qt::AlignVCenter, QString::number(rank));
    }
    if (rank % everyColumn == 0) {
      painter.drawText(QRectF(all.left() + middle - 30, all.top() - line - 2, 60, line),
                       Qt::AlignCenter, QString::number(rank));
    }
  }
  painter.drawText(QRectF(all.left(), 2, all.width(), line + 2), Qt::AlignCenter, tr("to rank"));
  painter.save();
  painter.translate(line / 2 + 4, all.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-60, -line / 2, 120, line), Qt::AlignCenter, tr("from rank"));
  painter.restore();
}

void MatrixCanvas::paintCells(QPainter& painter, const Theme& theme) const {
  const QRectF all = area();
  const double full =
      std::log1p(static_cast<double>(std::max<std::uint64_t>(1, m_matrix.most(m_bytes))));
  painter.fillRect(all, theme.base);
  const double size = all.width() / m_matrix.ranks();
  for (Rank source = 0; source < m_matrix.ranks(); ++source) {
    for (Rank dest = 0; dest < m_matrix.ranks(); ++dest) {
      const MatrixCell& cell = m_matrix.at(source, dest);
      const std::uint64_t value = m_bytes ? cell.bytes : cell.messages;
      if (cell.messages == 0) {
        continue;
      }
      const double heat = std::log1p(static_cast<double>(value)) / full;
      const QRectF box = cellRect(source, dest);
      const QColor fill = views::mixed(theme.base, theme.send, 0.12 + 0.88 * heat);
      painter.fillRect(size > 6 ? box.adjusted(0.5, 0.5, -0.5, -0.5) : box, fill);
      if (cell.racing > 0) {
        const double width = std::clamp(size * 0.06, 1.0, 2.5);
        painter.setPen(QPen(theme.race, width));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box.adjusted(width, width, -width, -width));
      }
      const QString text = m_bytes ? values::byteText(value) : QString::number(value);
      if (size > fontMetrics().height() + 6 && fontMetrics().horizontalAdvance(text) + 8 < size) {
        painter.setPen(fill.lightness() > 140 ? QColor(Qt::black) : QColor(Qt::white));
        painter.drawText(box, Qt::AlignCenter, text);
      }
    }
  }
  painter.setPen(QPen(theme.rail, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(all);
  if (m_source >= 0 && m_dest >= 0) {
    painter.setPen(QPen(theme.selection, 2.5));
    painter.drawRect(cellRect(m_source, m_dest));
  }
}

void MatrixCanvas::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = Theme::of(palette());
  if (m_matrix.ranks() == 0) {
    painter.setPen(theme.muted);
    painter.drawText(rect(), Qt::AlignCenter, tr("No trace is open."));
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing, m_matrix.ranks() <= 64);
  paintLabels(painter, theme);
  paintCells(painter, theme);
  const QRectF all = area();
  const double line = fontMetrics().height();
  const QRectF key(all.left(), all.bottom() + 10, std::min(120.0, all.width() / 2), line * 0.7);
  QLinearGradient heat(key.topLeft(), key.topRight());
  heat.setColorAt(0, views::mixed(theme.base, theme.send, 0.12));
  heat.setColorAt(1, theme.send);
  painter.fillRect(key, heat);
  painter.setPen(theme.muted);
  const std::uint64_t most = m_matrix.most(m_bytes);
  painter.drawText(
      QPointF(key.right() + 6, key.bottom()),
      m_bytes ? tr("up to %1").arg(values::byteText(most)) : tr("up to %1 (log)").arg(most));
  const QRectF sign(all.left(), key.bottom() + 5, line * 0.9, line * 0.7);
  painter.setPen(QPen(theme.race, 2));
  painter.drawRect(sign);
  painter.setPen(theme.muted);
  painter.drawText(QPointF(sign.right() + 6, sign.bottom()), tr("has racing messages"));
}

void MatrixCanvas::mousePressEvent(QMouseEvent* event) {
  Rank source = 0;
  Rank dest = 0;
  if (event->button() == Qt::LeftButton && cellAt(event->position(), source, dest)) {
    setSelected(source, dest);
    Q_EMIT cellClicked(source, dest);
  }
}

QString MatrixCanvas::tip(Rank source, Rank dest) const {
  const MatrixCell& cell = m_matrix.at(source, dest);
  return tr("from rank %1 to rank %2\n%3, %4\n%5 of them race")
      .arg(source)
      .arg(dest)
      .arg(values::counted(cell.messages, tr("message"), tr("messages")),
           values::byteText(cell.bytes))
      .arg(cell.racing);
}

bool MatrixCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    Rank source = 0;
    Rank dest = 0;
    if (cellAt(help->pos(), source, dest)) {
      QToolTip::showText(help->globalPos(), values::plainToolTip(tip(source, dest)), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

MatrixWidget::MatrixWidget(QWidget* parent)
    : ViewWidget(parent),
      m_measure(new QComboBox),
      m_total(new QLabel),
      m_canvas(new MatrixCanvas) {
  setObjectName(u"commMatrix"_s);
  m_measure->addItems({tr("Messages"), tr("Bytes")});
  m_total->setTextFormat(Qt::PlainText);
  m_total->setForegroundRole(QPalette::PlaceholderText);
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 4, 6, 0);
  top->addWidget(m_measure);
  top->addWidget(m_total, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addLayout(top);
  layout->addWidget(m_canvas, 1);
  connect(m_measure, &QComboBox::currentIndexChanged, this,
          [this](int measure) { m_canvas->setBytes(measure == 1); });
  connect(m_canvas, &MatrixCanvas::cellClicked, this, &MatrixWidget::onCell);
}

void MatrixWidget::setTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_source = kUnknownRank;
  m_counting.forget();
  if (trace && trace->eventCount() > views::kFewEvents) {
    m_canvas->setMatrix(CommMatrix());
    m_total->setText(tr("counting messages …"));
    m_counting.run([trace] { return CommMatrix(*trace); },
                   [this](const CommMatrix& matrix) { showMatrix(matrix); });
  } else {
    showMatrix(trace ? CommMatrix(*trace) : CommMatrix());
  }
}

void MatrixWidget::renewTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_counting.forget();
  if (trace->eventCount() > views::kFewEvents) {  // until it is counted, the former one stays
    m_counting.run([trace] { return CommMatrix(*trace); },
                   [this](const CommMatrix& matrix) { showMatrix(matrix); });
  } else {
    showMatrix(CommMatrix(*trace));
  }
}

void MatrixWidget::showMatrix(const CommMatrix& matrix) {
  m_canvas->setMatrix(matrix);
  m_total->setText(
      m_trace ? values::counted(m_trace->execution().messages.size(), tr("message"), tr("messages"))
              : QString());
}

void MatrixWidget::setSelectedEvent(const EventRef& event) {
  if (!m_trace || !m_trace->contains(event)) {
    m_canvas->setSelected(kUnknownRank, kUnknownRank);
    return;
  }
  const auto& messages = m_trace->execution().messages;
  if (const auto sent = m_trace->links().sentAt(event); !sent.empty()) {
    m_canvas->setSelected(event.rank, messages[sent.front()].dest);
    return;
  }
  const auto& receives = m_trace->execution().ranks[static_cast<std::size_t>(event.rank)].receives;
  for (const std::uint32_t r : m_trace->links().completedAt(event)) {
    if (receives[r].message < messages.size()) {
      m_canvas->setSelected(messages[receives[r].message].send.rank, event.rank);
      return;
    }
  }
  m_canvas->setSelected(kUnknownRank, kUnknownRank);
}

// The first click on a pair selects its first message, the next click its second …
void MatrixWidget::onCell(Rank source, Rank dest) {
  if (!m_trace) {
    return;
  }
  m_next = source == m_source && dest == m_dest ? m_next + 1 : 0;
  m_source = source;
  m_dest = dest;
  std::vector<EventRef> sends;
  views::MessageSequence::Page page;
  const views::ChunkCache* const pages = m_trace->pages();
  std::size_t m = pages != nullptr ? pages->firstMessage(source) : 0;
  const std::size_t last =
      pages != nullptr ? pages->firstMessage(source + 1) : m_trace->messages().count();
  for (; m < last; ++m) {
    const Message message = m_trace->execution().messages.at(m, page);
    if (message.send.rank == source && message.dest == dest) {
      sends.push_back(message.send);
    }
  }
  if (!sends.empty()) {
    Q_EMIT eventSelected(sends[m_next % sends.size()]);
  }
}

}  // namespace pf::plugins
