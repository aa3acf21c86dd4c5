// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/array_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <QDoubleValidator>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "views/values/distributed_array.h"
#include "views/values/text.h"

namespace pf::views {
namespace {

constexpr qint64 kMostRows = 2000000;
constexpr qint64 kMostColumns = 20000;

QLineEdit* makeLimit(const QString& hint) {
  auto* edit = new QLineEdit;
  edit->setPlaceholderText(hint);
  edit->setAccessibleName(hint);
  edit->setMaximumWidth(edit->fontMetrics().averageCharWidth() * 16);
  auto* numbers = new QDoubleValidator(edit);
  numbers->setLocale(QLocale::c());
  edit->setValidator(numbers);
  return edit;
}

/// Words and texts stand on the left, numbers on the right.
Qt::Alignment alignmentOf(const ArrayValues& values) {
  return Qt::AlignVCenter | (values.hasNumbers() ? Qt::AlignRight : Qt::AlignLeft);
}

QColor staleColor() {
  const bool dark = QGuiApplication::palette().base().color().lightness() < 128;
  return dark ? QColor(0xff, 0x8a, 0x80) : QColor(0xb0, 0x00, 0x20);
}

}  // namespace

void ArrayModel::setArray(ArraySummaryPtr array, const ArrayPlane& plane) {
  beginResetModel();
  m_array = std::move(array);
  m_plane = plane;
  endResetModel();
}

int ArrayModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || m_array == nullptr
             ? 0
             : static_cast<int>(std::min(kMostRows, m_plane.rows(m_array->values())));
}

int ArrayModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || m_array == nullptr
             ? 0
             : static_cast<int>(std::min(kMostColumns, m_plane.columns(m_array->values())));
}

QVariant ArrayModel::data(const QModelIndex& index, int role) const {
  if (m_array == nullptr) {
    return {};
  }
  const ArrayValues& values = m_array->values();
  const qint64 element = m_plane.indexAt(values, index.row(), index.column());
  if (element < 0) {
    return {};
  }
  switch (role) {
    case Qt::DisplayRole:
      return values.textAt(element);
    case Qt::ToolTipRole:
      return elementWords(values, element);
    case Qt::BackgroundRole:
      return originalOf(values, element) >= 0 ? QVariant(QGuiApplication::palette().alternateBase())
                                              : QVariant();
    case Qt::ForegroundRole:
      return isStale(values, element) ? QVariant(QBrush(staleColor())) : QVariant();
    case Qt::TextAlignmentRole:
      return QVariant(alignmentOf(values));
    case Qt::FontRole: {
      QFont font;
      font.setBold((values.hasNumbers() && !std::isfinite(values.at(element))) ||
                   isStale(values, element));
      return font.bold() ? QVariant(font) : QVariant();
    }
    default:
      return {};
  }
}

QVariant ArrayModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || m_array == nullptr) {
    return QAbstractTableModel::headerData(section, orientation, role);
  }
  return orientation == Qt::Horizontal ? m_plane.columnName(m_array->values(), section)
                                       : m_plane.rowName(m_array->values(), section);
}

ArrayView::ArrayView(QWidget* parent)
    : QWidget(parent),
      m_input(new QLineEdit),
      m_ranks(new QLineEdit),
      m_along(new QSpinBox),
      m_columns(new QSpinBox),
      m_halo(new QSpinBox),
      m_stale(new QPushButton(tr("Next stale copy"))),
      m_about(new QLabel),
      m_planeBar(new ArrayPlaneBar),
      m_search(new QWidget),
      m_least(makeLimit(tr("least"))),
      m_most(makeLimit(tr("most"))),
      m_next(new QPushButton(tr("Next"))),
      m_outside(new QLabel),
      m_pictures(new QTabWidget),
      m_plot(new ArrayPlot),
      m_heatMap(new ArrayHeatMap),
      m_table(new QTableView),
      m_model(new ArrayModel(this)) {
  setObjectName(u"arrayView"_s);
  m_input->setPlaceholderText(tr("An array or a part of it, POINTER@COUNT, or a container; Enter"));
  m_input->setClearButtonEnabled(true);
  m_about->setTextFormat(Qt::PlainText);
  m_about->setWordWrap(true);
  m_table->setModel(m_model);
  m_table->setObjectName(u"arrayTable"_s);
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
  m_table->setWordWrap(false);
  m_pictures->setObjectName(u"arrayPictures"_s);
  m_pictures->setDocumentMode(true);
  m_pictures->addTab(m_plot, tr("Plot"));
  m_pictures->addTab(m_heatMap, tr("Heat map"));
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(m_pictures);
  split->addWidget(m_table);
  split->setChildrenCollapsible(false);
  split->setSizes({200, 260});
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 4, 6, 4);
  layout->addWidget(m_input);
  layout->addWidget(makeDistribution());
  layout->addWidget(m_about);
  layout->addWidget(m_planeBar);
  layout->addWidget(makeSearch());
  layout->addWidget(split, 1);
  setFocusProxy(m_input);
  connectParts();
}

QWidget* ArrayView::makeDistribution() {
  m_ranks->setPlaceholderText(tr("Ranks that have a part each: 0-3, all, a group"));
  m_ranks->setAccessibleName(tr("Ranks of the array"));
  m_ranks->setClearButtonEnabled(true);
  m_ranks->setToolTip(
      tr("The same expression in each of these ranks, as one array. Empty: the current rank."));
  m_along->setRange(1, 9);
  m_along->setPrefix(tr("dimension "));
  m_along->setToolTip(tr("The dimension in which the parts lie side by side"));
  m_columns->setRange(1, 9999);
  m_columns->setSpecialValueText(tr("strips"));
  m_columns->setPrefix(tr("blocks, in rows of "));
  m_columns->setToolTip(
      tr("One: each rank has a strip. More: so many ranks lie side by side in the next dimension, "
         "and then the next row of them begins"));
  m_halo->setRange(0, 1000);
  m_halo->setPrefix(tr("halo "));
  m_halo->setToolTip(
      tr("How many elements at each inner end of a part are copies of what the next rank has: "
         "they are shaded, and held against it"));
  m_stale->setToolTip(tr("To the next element of the halo that is not what it is a copy of"));
  m_stale->hide();
  auto* row = new QWidget;
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_ranks, 1);
  layout->addWidget(m_along);
  layout->addWidget(m_columns);
  layout->addWidget(m_halo);
  layout->addWidget(m_stale);
  const auto several = [this] {
    for (QSpinBox* const box : {m_along, m_columns, m_halo}) {
      box->setVisible(!m_ranks->text().trimmed().isEmpty());
    }
  };
  connect(m_ranks, &QLineEdit::textChanged, this, several);
  several();
  return row;
}

QWidget* ArrayView::makeSearch() {
  auto* layout = new QHBoxLayout(m_search);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(new QLabel(tr("Outside of")));
  layout->addWidget(m_least);
  layout->addWidget(new QLabel(tr("to")));
  layout->addWidget(m_most);
  layout->addWidget(m_next);
  layout->addWidget(m_outside, 1);
  m_search->setToolTip(
      tr("Elements that are NaN, infinite, less or more than these; empty: only NaN and infinite"));
  m_search->hide();
  return m_search;
}

void ArrayView::connectParts() {
  const auto askForTyped = [this] { ask(m_input->text()); };
  connect(m_input, &QLineEdit::returnPressed, this, askForTyped);
  connect(m_ranks, &QLineEdit::returnPressed, this, askForTyped);
  // That is also told of a box that is only left.
  for (QSpinBox* box : {m_along, m_columns, m_halo}) {
    connect(box->findChild<QLineEdit*>(), &QLineEdit::returnPressed, this, [this] {
      if (!(typed() == m_asked)) {  // that it has been left may have asked
        ask(m_input->text());
      }
    });
    connect(box, &QSpinBox::editingFinished, this, [this] {
      if (!m_asked.expression.isEmpty() && expression() == m_asked.expression &&
          !(typed() == m_asked)) {
        ask(m_asked.expression);
      }
    });
  }
  connect(m_stale, &QPushButton::clicked, this, &ArrayView::goToNextStale);
  connect(m_plot, &ArrayPlot::elementClicked, this, &ArrayView::goTo);
  connect(m_heatMap, &ArrayHeatMap::elementClicked, this, &ArrayView::goTo);
  connect(m_planeBar, &ArrayPlaneBar::planeChosen, this, &ArrayView::setPlane);
  connect(m_next, &QPushButton::clicked, this, &ArrayView::goToNextOutside);
  for (QLineEdit* edit : {m_least, m_most}) {
    connect(edit, &QLineEdit::editingFinished, this, &ArrayView::countOutside);
    connect(edit, &QLineEdit::returnPressed, this, &ArrayView::goToNextOutside);
  }
}

QString ArrayView::expression() const {
  return m_input->text().trimmed();
}

QString ArrayView::text() const {
  return m_about->text();
}

QString ArrayView::outsideText() const {
  return m_outside->text();
}

void ArrayView::ask(const QString& expression) {
  m_input->setText(expression);
  m_asked = typed();
  askAgain();
}

ArrayView::Question ArrayView::typed() const {
  return {expression(), m_ranks->text().trimmed(), m_along->value() - 1, m_columns->value(),
          m_halo->value()};
}

void ArrayView::askAgain() {
  if (!m_asked.expression.isEmpty()) {
    setBusy();
    Q_EMIT arrayRequested(m_asked.expression, m_asked.ranks, m_asked.along, m_asked.columns,
                          m_asked.halo);
  }
}

void ArrayView::setBusy() {
  m_about->setText(tr("Reading …"));
}

void ArrayView::setWhyNot(const QString& why) {
  m_input->setEnabled(why.isEmpty());
  m_input->setToolTip(plainToolTip(why));
}

void ArrayView::showArray(const ArraySummaryPtr& array) {
  const ArrayValues& values = array->values();
  const QString whose =
      values.parts.empty()
          ? tr("Rank %1").arg(values.rank)
          : tr("%1 ranks").arg(std::max(values.parts.size(), values.blocks.size()));
  m_stale->setVisible(array->halo().count > 0);
  const ArraySummaryPtr before = std::exchange(m_shown, array);
  const bool same = before != nullptr && before->values().expression == array->values().expression;
  const qint64 from = m_plot->from();
  const qint64 to = m_plot->to();
  m_plot->setArray(array);
  if (same && before->values().count() == array->values().count()) {
    m_plot->setRange(from, to);  // the same array at another moment
  }
  if (!same || !m_plane.fits(array->values())) {
    m_plane = ArrayPlane::of(array->values());
    m_pictures->setCurrentIndex(array->values().dims.size() > 1 ? 1 : 0);
  }
  const QString halo = haloWords(*array);
  m_about->setText(tr("%1: %2").arg(whose, array->text()) +
                   (halo.isEmpty() ? QString() : u". "_s + halo));
  m_at = -1;
  m_search->setVisible(array->values().hasNumbers());
  showPlane();
  countOutside();
}

void ArrayView::showProblem(const QString& text) {
  m_about->setText(text);
  m_shown.reset();
  m_stale->hide();
  m_plot->setArray({});
  m_search->hide();
  showPlane();
}

void ArrayView::setPlane(const ArrayPlane& plane) {
  m_plane = plane;
  showPlane();
}

void ArrayView::showPlane() {
  m_planeBar->setArray(m_shown, m_plane);
  m_heatMap->setPlane(m_shown, m_plane);
  m_model->setArray(m_shown, m_plane);
  fitColumns();
}

/// Wide enough for what stands in the first cells; all alike, so that many cost no more than few.
void ArrayView::fitColumns() {
  constexpr int kLooked = 12;
  int width = m_table->fontMetrics().horizontalAdvance(u"-0.000"_s);
  for (int row = 0; row < std::min(kLooked, m_model->rowCount()); ++row) {
    for (int column = 0; column < std::min(kLooked, m_model->columnCount()); ++column) {
      const QString text = m_model->index(row, column).data().toString();
      width = std::max(width, m_table->fontMetrics().horizontalAdvance(text));
    }
  }
  const int most = m_table->fontMetrics().averageCharWidth() * 40;
  m_table->horizontalHeader()->setDefaultSectionSize(std::min(width, most) + 14);
}

void ArrayView::goTo(qint64 element) {
  if (m_shown == nullptr || element < 0 || element >= m_shown->values().count()) {
    return;
  }
  m_at = element;
  const ArrayPlane plane = m_plane.through(m_shown->values(), element);
  if (!(plane == m_plane)) {
    setPlane(plane);
  }
  const auto [row, column] = m_plane.cellOf(m_shown->values(), element);
  const QModelIndex index = m_model->index(static_cast<int>(std::min(row, kMostRows - 1)),
                                           static_cast<int>(std::min(column, kMostColumns - 1)));
  m_table->setCurrentIndex(index);
  m_table->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

/// An empty field is no limit.
std::pair<double, double> ArrayView::wantedRange() const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const auto limit = [](const QLineEdit* edit, double otherwise) {
    bool ok = false;
    const double value = QLocale::c().toDouble(edit->text(), &ok);
    return ok ? value : otherwise;
  };
  return {limit(m_least, -kInfinite), limit(m_most, kInfinite)};
}

void ArrayView::countOutside() {
  if (m_shown == nullptr || !m_shown->values().hasNumbers()) {
    m_outside->clear();
    return;
  }
  const auto [least, most] = wantedRange();
  const qint64 count = m_shown->countOutside(least, most);
  m_next->setEnabled(count > 0);
  m_outside->setText(count == 0   ? tr("none")
                     : count == 1 ? tr("1 element")
                                  : tr("%1 elements").arg(count));
}

void ArrayView::goToNextOutside() {
  if (m_shown == nullptr) {
    return;
  }
  countOutside();
  const auto [least, most] = wantedRange();
  goTo(m_shown->nextOutside(m_at, least, most));
}

void ArrayView::goToNextStale() {
  if (m_shown != nullptr) {
    goTo(nextStale(m_shown->values(), m_at));
  }
}

}  // namespace pf::views

#include "moc_array_view.cpp"
