// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/array_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "views/panes/theme.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

constexpr int kColumns = 8;  ///< elements a row
constexpr int kMargin = 6;
constexpr int kAxis = 64;  ///< for the numbers on the left
constexpr qint64 kMostRows = 2000000;

}  // namespace

void ArrayModel::setArray(ArraySummaryPtr array) {
  beginResetModel();
  m_array = std::move(array);
  endResetModel();
}

int ArrayModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || m_array == nullptr) {
    return 0;
  }
  return static_cast<int>(
      std::min(kMostRows, (m_array->values().count() + kColumns - 1) / kColumns));
}

int ArrayModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant ArrayModel::data(const QModelIndex& index, int role) const {
  const qint64 element = qint64{index.row()} * kColumns + index.column();
  if (m_array == nullptr || element >= m_array->values().count()) {
    return {};
  }
  if (role == Qt::DisplayRole) {
    return m_array->values().textAt(element);
  }
  if (role == Qt::ToolTipRole) {
    return u"[%1] = %2"_s.arg(element).arg(m_array->values().textAt(element));
  }
  return role == Qt::TextAlignmentRole ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
}

QVariant ArrayModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole) {
    return QAbstractTableModel::headerData(section, orientation, role);
  }
  return orientation == Qt::Horizontal ? u"+%1"_s.arg(section)
                                       : QString::number(qint64{section} * kColumns);
}

ArrayPlot::ArrayPlot(QWidget* parent) : QWidget(parent) {
  setMinimumHeight(90);
  setAccessibleName(tr("Plot of the array"));
}

void ArrayPlot::setArray(ArraySummaryPtr array) {
  m_array = std::move(array);
  m_from = 0;
  m_to = m_array == nullptr ? 0 : m_array->values().count();
  update();
}

void ArrayPlot::setRange(qint64 from, qint64 to) {
  const qint64 count = m_array == nullptr ? 0 : m_array->values().count();
  m_from = std::clamp<qint64>(from, 0, std::max<qint64>(0, count - 2));
  m_to = std::clamp<qint64>(to, std::min(m_from + 2, count), count);
  update();
}

QRectF ArrayPlot::area() const {
  return QRectF(rect()).adjusted(kAxis, kMargin, -kMargin, -kMargin - fontMetrics().height());
}

qint64 ArrayPlot::elementAt(double x) const {
  const QRectF where = area();
  const double part = std::clamp((x - where.left()) / std::max(1.0, where.width()), 0.0, 1.0);
  return std::min(m_to - 1,
                  m_from + static_cast<qint64>(part * static_cast<double>(m_to - m_from)));
}

void ArrayPlot::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const Theme theme = Theme::of(palette());
  const QRectF where = area();
  painter.fillRect(rect(), theme.base);
  const int width = static_cast<int>(where.width());
  if (m_array == nullptr || m_to <= m_from || width < 2) {
    return;
  }
  const std::vector<LeastMost> columns = m_array->columns(m_from, m_to, width);
  LeastMost all;
  for (const LeastMost& column : columns) {
    all.add(column);
  }
  if (!all.any || !std::isfinite(all.least) || !std::isfinite(all.most)) {
    painter.setPen(theme.muted);
    painter.drawText(rect(), Qt::AlignCenter, tr("infinite, or no numbers"));
    return;
  }
  const double span = all.most > all.least ? all.most - all.least : 1.0;
  const auto y = [&](double value) {
    return where.bottom() - (value - all.least) / span * where.height();
  };
  painter.setPen(theme.grid);
  if (all.least < 0.0 && all.most > 0.0) {
    painter.drawLine(QPointF(where.left(), y(0.0)), QPointF(where.right(), y(0.0)));
  }
  painter.drawRect(where);
  painter.setPen(theme.receive);
  double last = NAN;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].any) {
      last = NAN;
      continue;
    }
    const double x = where.left() + static_cast<double>(i) + 0.5;
    double low = y(columns[i].least);
    double high = y(columns[i].most);
    if (!std::isnan(last)) {  // no gaps between one column and the next
      low = std::max(low, last);
      high = std::min(high, last);
    }
    painter.drawLine(QPointF(x, low), QPointF(x, std::min(high, low - 0.5)));
    last = y((columns[i].least + columns[i].most) / 2.0);
  }
  painter.setPen(theme.muted);
  const QRectF left(0, where.top(), kAxis - 6, where.height());
  painter.drawText(left, Qt::AlignRight | Qt::AlignTop, QString::number(all.most, 'g', 5));
  painter.drawText(left, Qt::AlignRight | Qt::AlignBottom, QString::number(all.least, 'g', 5));
  const QRectF below(where.left(), where.bottom(), where.width(), height() - where.bottom());
  painter.drawText(below, Qt::AlignLeft | Qt::AlignVCenter, QString::number(m_from));
  painter.drawText(below, Qt::AlignRight | Qt::AlignVCenter, QString::number(m_to - 1));
  if (m_pressed >= 0.0 && std::abs(m_dragged - m_pressed) > 2.0) {
    painter.fillRect(QRectF(QPointF(m_pressed, where.top()), QPointF(m_dragged, where.bottom())),
                     withAlpha(theme.selection, 0.3));
  }
}

void ArrayPlot::wheelEvent(QWheelEvent* event) {
  if (m_to <= m_from) {
    return;
  }
  const qint64 at = elementAt(event->position().x());
  const double factor = event->angleDelta().y() > 0 ? 0.5 : 2.0;
  const auto scaled = [&](qint64 distance) {
    return static_cast<qint64>(static_cast<double>(distance) * factor);
  };
  setRange(at - scaled(at - m_from), at + std::max<qint64>(2, scaled(m_to - at)));
  event->accept();
}

void ArrayPlot::mousePressEvent(QMouseEvent* event) {
  m_pressed = m_dragged = event->position().x();
}

void ArrayPlot::mouseMoveEvent(QMouseEvent* event) {
  m_dragged = event->position().x();
  update();
}

void ArrayPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (m_pressed >= 0.0 && m_to > m_from) {
    const qint64 one = elementAt(m_pressed);
    const qint64 other = elementAt(event->position().x());
    if (std::abs(event->position().x() - m_pressed) > 2.0) {
      setRange(std::min(one, other), std::max(one, other) + 1);
    } else {
      Q_EMIT elementClicked(other);
    }
  }
  m_pressed = -1.0;
  update();
}

void ArrayPlot::mouseDoubleClickEvent(QMouseEvent* /*event*/) {
  m_pressed = -1.0;
  if (m_array != nullptr) {
    setRange(0, m_array->values().count());
  }
}

ArrayView::ArrayView(QWidget* parent)
    : QWidget(parent),
      m_input(new QLineEdit),
      m_about(new QLabel),
      m_plot(new ArrayPlot),
      m_table(new QTableView),
      m_model(new ArrayModel(this)) {
  setObjectName(u"arrayView"_s);
  m_input->setPlaceholderText(tr("An array, POINTER@COUNT, or a std::vector; Enter"));
  m_input->setClearButtonEnabled(true);
  m_about->setTextFormat(Qt::PlainText);
  m_about->setWordWrap(true);
  m_table->setModel(m_model);
  m_table->setObjectName(u"arrayTable"_s);
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(m_plot);
  split->addWidget(m_table);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 4, 6, 4);
  layout->addWidget(m_input);
  layout->addWidget(m_about);
  layout->addWidget(split, 1);
  setFocusProxy(m_input);
  connect(m_input, &QLineEdit::returnPressed, this, [this] { ask(m_input->text()); });
  connect(m_plot, &ArrayPlot::elementClicked, this, [this](qint64 element) {
    const QModelIndex index =
        m_model->index(static_cast<int>(std::min(element / kColumns, kMostRows - 1)),
                       static_cast<int>(element % kColumns));
    m_table->setCurrentIndex(index);
    m_table->scrollTo(index, QAbstractItemView::PositionAtCenter);
  });
}

QString ArrayView::expression() const {
  return m_input->text().trimmed();
}

QString ArrayView::text() const {
  return m_about->text();
}

void ArrayView::ask(const QString& expression) {
  m_input->setText(expression);
  m_asked = expression.trimmed();
  askAgain();
}

void ArrayView::askAgain() {
  if (!m_asked.isEmpty()) {
    setBusy();
    Q_EMIT arrayRequested(m_asked);
  }
}

void ArrayView::setBusy() {
  m_about->setText(tr("Reading …"));
}

void ArrayView::showArray(const ArraySummaryPtr& array) {
  m_about->setText(tr("Rank %1: %2").arg(array->values().rank).arg(array->text()));
  const ArraySummaryPtr before = std::exchange(m_shown, array);
  const qint64 from = m_plot->from();
  const qint64 to = m_plot->to();
  m_plot->setArray(array);
  m_model->setArray(array);
  if (before != nullptr && before->values().expression == array->values().expression &&
      before->values().count() == array->values().count()) {
    m_plot->setRange(from, to);  // the same array at another moment
  }
}

void ArrayView::showProblem(const QString& text) {
  m_about->setText(text);
  m_shown.reset();
  m_plot->setArray({});
  m_model->setArray({});
}

}  // namespace pf::views
