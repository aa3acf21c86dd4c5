// SPDX-License-Identifier: MIT
#include "plugins/comm_matrix/matrix_widget.h"

#include <algorithm>
#include <cmath>

#include <QComboBox>
#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QHelpEvent>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardItemModel>
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
  m_order = MatrixOrder(m_matrix.ranks(), m_groups);
  m_source = kUnknownRank;
  m_dest = kUnknownRank;
  update();
}

void MatrixCanvas::setGroups(const std::vector<std::vector<Rank>>& groups) {
  m_groups = groups;
  m_order = MatrixOrder(m_matrix.ranks(), m_groups);
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
  if (source < 0 || source >= m_order.ranks() || dest < 0 || dest >= m_order.ranks()) {
    return {};
  }
  return {all.left() + m_order.placeOf(dest) * size, all.top() + m_order.placeOf(source) * size,
          size, size};
}

bool MatrixCanvas::cellAt(QPointF position, Rank& source, Rank& dest) const {
  const QRectF all = area();
  if (m_matrix.ranks() == 0 || !all.contains(position)) {
    return false;
  }
  const double size = all.width() / m_matrix.ranks();
  const auto rankAt = [&](double distance) {
    return m_order.rankAt(std::clamp(static_cast<int>(distance / size), 0, m_matrix.ranks() - 1));
  };
  source = rankAt(position.y() - all.top());
  dest = rankAt(position.x() - all.left());
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
  for (int place = 0; place < m_matrix.ranks(); ++place) {
    const double middle = (place + 0.5) * size;
    const QString rank = QString::number(m_order.rankAt(place));
    if (place % everyRow == 0) {
      painter.drawText(QRectF(0, all.top() + middle - line / 2, all.left() - 6, line),
                       Qt::AlignRight | Qt::AlignVCenter, rank);
    }
    if (place % everyColumn == 0) {
      painter.drawText(QRectF(all.left() + middle - 30, all.top() - line - 2, 60, line),
                       Qt::AlignCenter, rank);
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
  paintFrames(painter, theme);
  if (m_source >= 0 && m_dest >= 0) {
    painter.setPen(QPen(theme.selection, 2.5));
    painter.drawRect(cellRect(m_source, m_dest));
  }
}

void MatrixCanvas::paintFrames(QPainter& painter, const Theme& theme) const {
  const QRectF all = area();
  const double size = all.width() / m_matrix.ranks();
  painter.setPen(QPen(theme.text, 2));
  painter.setBrush(Qt::NoBrush);
  for (const MatrixOrder::Frame& frame : m_order.frames()) {
    painter.drawRect(QRectF(all.left() + frame.first * size, all.top() + frame.first * size,
                            frame.count * size, frame.count * size));
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
  paintLegend(painter, theme);
}

void MatrixCanvas::paintLegend(QPainter& painter, const Theme& theme) const {
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
  const QString racing = tr("has racing messages");
  painter.drawText(QPointF(sign.right() + 6, sign.bottom()), racing);
  if (!m_order.frames().empty()) {
    const QRectF frame =
        sign.translated(sign.width() + 6 + fontMetrics().horizontalAdvance(racing) + line, 0);
    painter.setPen(QPen(theme.text, 2));
    painter.drawRect(frame);
    painter.setPen(theme.muted);
    painter.drawText(QPointF(frame.right() + 6, frame.bottom()), tr("group"));
  }
}

void MatrixCanvas::mousePressEvent(QMouseEvent* event) {
  Rank source = 0;
  Rank dest = 0;
  if (event->button() == Qt::LeftButton && cellAt(event->position(), source, dest)) {
    setSelected(source, dest);
    Q_EMIT cellClicked(source, dest);
  }
}

void MatrixCanvas::contextMenuEvent(QContextMenuEvent* event) {
  Rank source = 0;
  Rank dest = 0;
  if (event->reason() == QContextMenuEvent::Keyboard) {
    if (m_source >= 0 && m_dest >= 0) {
      Q_EMIT menuRequested(m_source, m_dest,
                           mapToGlobal(cellRect(m_source, m_dest).center().toPoint()));
    }
  } else if (cellAt(event->pos(), source, dest)) {
    setSelected(source, dest);
    Q_EMIT menuRequested(source, dest, event->globalPos());
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
      m_framed(new QComboBox),
      m_find(new QPushButton(tr("Find groups"))),
      m_most(new QSpinBox),
      m_text(new QLabel),
      m_canvas(new MatrixCanvas) {
  setObjectName(u"commMatrix"_s);
  m_measure->addItems({tr("Messages"), tr("Bytes")});
  m_framed->setObjectName(u"framedGroups"_s);
  m_framed->setToolTip(tr("Which groups lie together and are framed"));
  m_framed->addItems({tr("By rank"), tr("Recorded groups"), tr("Groups found")});
  m_find->setObjectName(u"findGroups"_s);
  m_find->setToolTip(
      tr("Find groups of ranks that talk much among themselves: what to give 'record --groups'"));
  m_most->setObjectName(u"mostInGroup"_s);
  m_most->setRange(1, 1000000);
  m_most->setPrefix(tr("at most "));
  m_most->setSuffix(tr(" ranks"));
  m_most->setToolTip(tr("How many ranks a group may have: as many as a replay of it is to run"));
  for (QLabel* label : {m_total, m_text}) {
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(QPalette::PlaceholderText);
  }
  m_text->setWordWrap(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layOut();
  connect(m_measure, &QComboBox::currentIndexChanged, this,
          [this](int measure) { m_canvas->setBytes(measure == 1); });
  connect(m_framed, &QComboBox::activated, this, &MatrixWidget::frame);
  connect(m_find, &QPushButton::clicked, this, &MatrixWidget::find);
  connect(m_canvas, &MatrixCanvas::cellClicked, this, &MatrixWidget::onCell);
  connect(m_canvas, &MatrixCanvas::menuRequested, this, &MatrixWidget::showMenu);
  forgetGroups();
}

void MatrixWidget::layOut() {
  auto* top = new QHBoxLayout;
  top->setContentsMargins(6, 4, 6, 0);
  for (QWidget* each : std::initializer_list<QWidget*>{m_measure, m_framed, m_find, m_most}) {
    top->addWidget(each);
  }
  top->addWidget(m_total, 1);
  auto* below = new QHBoxLayout;
  below->setContentsMargins(6, 0, 6, 0);
  below->addWidget(m_text);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addLayout(top);
  layout->addLayout(below);
  layout->addWidget(m_canvas, 1);
}

void MatrixWidget::setRecordedGroups(const MatrixGroups& groups) {
  m_recorded = groups;
  frame(groups.groups.empty() ? kNoGroups : kRecorded);
  if (groups.groups.empty()) {
    m_text->setText(groups.text);
    m_text->setVisible(!groups.text.isEmpty());
  }
}

void MatrixWidget::setFoundGroups(const MatrixGroups& groups) {
  m_find->setEnabled(m_trace != nullptr);
  m_found = groups;
  if (groups.groups.empty()) {
    frame(m_framed->currentIndex() == kFound ? kNoGroups : m_framed->currentIndex());
    m_text->setText(groups.text);
    m_text->show();
  } else {
    frame(kFound);
  }
}

void MatrixWidget::setMost(int most) {
  m_most->setValue(most);
}

QString MatrixWidget::groupsText() const {
  return m_text->isHidden() ? QString() : m_text->text();
}

void MatrixWidget::frame(int which) {
  static const MatrixGroups kNone;
  const MatrixGroups& groups = which == kRecorded ? m_recorded : which == kFound ? m_found : kNone;
  m_framed->setCurrentIndex(which);
  m_canvas->setGroups(groups.groups);
  m_text->setText(groups.text);
  m_text->setVisible(!groups.text.isEmpty());
  auto* choices = qobject_cast<QStandardItemModel*>(m_framed->model());
  choices->item(kRecorded)->setEnabled(!m_recorded.groups.empty());
  choices->item(kFound)->setEnabled(!m_found.groups.empty());
}

void MatrixWidget::find() {
  m_find->setEnabled(false);
  m_text->setText(tr("looking for groups …"));
  m_text->show();
  Q_EMIT groupsWanted(m_most->value());
}

/// Of the frame that the cell is in, else of the two ranks that it is of.
void MatrixWidget::showMenu(Rank source, Rank dest, const QPoint& globalPosition) {
  if (!m_rankCommands) {
    return;
  }
  QMenu menu(this);
  const std::vector<Rank> group = m_canvas->order().groupOf(source, dest);
  QList<int> ranks(group.begin(), group.end());
  if (ranks.isEmpty()) {
    ranks = source == dest ? QList<int>{source}
                           : QList<int>{std::min(source, dest), std::max(source, dest)};
  }
  m_rankCommands(menu, ranks);
  if (!menu.isEmpty()) {
    menu.exec(globalPosition);
  }
}

void MatrixWidget::forgetGroups() {
  m_recorded = {};
  m_found = {};
  frame(kNoGroups);
  m_find->setEnabled(m_trace != nullptr);
}

void MatrixWidget::setTrace(const views::TraceIndexPtr& trace) {
  m_trace = trace;
  m_source = kUnknownRank;
  m_counting.forget();
  forgetGroups();
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

#include "moc_matrix_widget.cpp"
