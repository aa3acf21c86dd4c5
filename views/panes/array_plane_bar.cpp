// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/array_plane_bar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSpinBox>

#include "views/values/text.h"

namespace pf::views {
namespace {

/// "2 (0:9)"
QString dimensionText(const ArrayDimension& dimension, std::size_t which) {
  return u"%1 (%2:%3)"_s.arg(which + 1)
      .arg(dimension.lower)
      .arg(dimension.indexAt(dimension.read - 1));
}

int asInt(qint64 value) {
  return static_cast<int>(
      std::clamp<qint64>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

}  // namespace

ArrayPlaneBar::ArrayPlaneBar(QWidget* parent)
    : QWidget(parent),
      m_layout(new QHBoxLayout(this)),
      m_rows(new QComboBox),
      m_columns(new QComboBox) {
  m_layout->setContentsMargins(0, 0, 0, 0);
  m_rows->setAccessibleName(tr("Dimension of the rows"));
  m_columns->setAccessibleName(tr("Dimension of the columns"));
  m_rows->setToolTip(tr("The dimension that goes down"));
  m_columns->setToolTip(tr("The dimension that goes across"));
  m_layout->addWidget(new QLabel(tr("down")));
  m_layout->addWidget(m_rows);
  m_layout->addWidget(new QLabel(tr("across")));
  m_layout->addWidget(m_columns);
  m_layout->addStretch(1);
  connect(m_rows, &QComboBox::activated, this, [this](int which) { choose(true, which); });
  connect(m_columns, &QComboBox::activated, this, [this](int which) { choose(false, which); });
  hide();
}

void ArrayPlaneBar::clear() {
  for (QWidget* each : m_others) {
    m_layout->removeWidget(each);
    each->hide();
    each->deleteLater();
  }
  m_others.clear();
  m_indices.clear();
  m_rows->clear();
  m_columns->clear();
}

void ArrayPlaneBar::setArray(const ArraySummaryPtr& array, const ArrayPlane& plane) {
  const std::vector<ArrayDimension> dims =
      array == nullptr ? std::vector<ArrayDimension>() : array->values().dims;
  const bool built = dims == m_dims && plane.rowDimension == m_plane.rowDimension &&
                     plane.columnDimension == m_plane.columnDimension;
  m_plane = plane;
  m_dims = dims;
  setVisible(dims.size() > 1);
  if (!built) {
    build();
  }
  showIndices();
}

void ArrayPlaneBar::build() {
  clear();
  m_indices.assign(m_dims.size(), nullptr);
  for (std::size_t i = 0; i < m_dims.size(); ++i) {
    m_rows->addItem(dimensionText(m_dims[i], i));
    m_columns->addItem(dimensionText(m_dims[i], i));
    if (static_cast<int>(i) != m_plane.rowDimension &&
        static_cast<int>(i) != m_plane.columnDimension) {
      addIndex(m_dims[i], i);
    }
  }
  m_rows->setCurrentIndex(m_plane.rowDimension);
  m_columns->setCurrentIndex(m_plane.columnDimension);
}

void ArrayPlaneBar::showIndices() {
  for (std::size_t i = 0; i < m_indices.size(); ++i) {
    if (m_indices[i] != nullptr) {
      const QSignalBlocker quiet(m_indices[i]);
      m_indices[i]->setValue(asInt(m_dims[i].indexAt(m_plane.places[i])));
    }
  }
}

void ArrayPlaneBar::addIndex(const ArrayDimension& dimension, std::size_t which) {
  auto* label = new QLabel(tr("index %1").arg(which + 1));
  auto* index = new QSpinBox;
  const qint64 last = dimension.indexAt(dimension.read - 1);
  index->setRange(asInt(std::min(dimension.lower, last)), asInt(std::max(dimension.lower, last)));
  index->setSingleStep(asInt(std::abs(dimension.step)));
  index->setKeyboardTracking(false);
  index->setAccessibleName(label->text());
  label->setBuddy(index);
  connect(index, &QSpinBox::valueChanged, this, [this, dimension, which](int value) {
    ArrayPlane plane = m_plane;
    plane.places[which] =
        std::clamp<qint64>((value - dimension.lower) / dimension.step, 0, dimension.read - 1);
    Q_EMIT planeChosen(plane);
  });
  for (QWidget* each : {static_cast<QWidget*>(label), static_cast<QWidget*>(index)}) {
    m_layout->insertWidget(m_layout->count() - 1, each);
    m_others.push_back(each);
    each->show();
  }
  m_indices[which] = index;
}

/// A dimension that is the other one already changes places with it.
void ArrayPlaneBar::choose(bool rows, int dimension) {
  ArrayPlane plane = m_plane;
  int& chosen = rows ? plane.rowDimension : plane.columnDimension;
  int& other = rows ? plane.columnDimension : plane.rowDimension;
  if (other == dimension) {
    other = chosen;
  }
  chosen = dimension;
  Q_EMIT planeChosen(plane);
}

}  // namespace pf::views

#include "moc_array_plane_bar.cpp"
