// SPDX-License-Identifier: GPL-3.0-or-later
// Which plane of an array is shown: two dimensions as rows and columns, an index for each of the others.
//
// Data in:  setArray(values, plane).
// Out:      planeChosen(plane).
#pragma once

#include <memory>
#include <vector>

#include <QWidget>

#include "views/values/array_plane.h"

class QComboBox;
class QHBoxLayout;
class QSpinBox;

namespace pf::views {

class ArrayPlaneBar : public QWidget {
  Q_OBJECT
 public:
  explicit ArrayPlaneBar(QWidget* parent = nullptr);
  /// Empty, and not shown, of less than two dimensions. Says nothing: the caller knows.
  void setArray(const ArraySummaryPtr& array, const ArrayPlane& plane);
  [[nodiscard]] QComboBox* rowsBox() const { return m_rows; }
  [[nodiscard]] QComboBox* columnsBox() const { return m_columns; }
  /// Of each dimension; null: it is one of the two.
  [[nodiscard]] const std::vector<QSpinBox*>& indices() const { return m_indices; }

 Q_SIGNALS:
  void planeChosen(const pf::values::ArrayPlane& plane);

 private:
  void clear();
  void build();
  void showIndices();
  void addIndex(const ArrayDimension& dimension, std::size_t which);
  void choose(bool rows, int dimension);

  QHBoxLayout* m_layout;
  QComboBox* m_rows;
  QComboBox* m_columns;
  std::vector<QWidget*> m_others;
  std::vector<QSpinBox*> m_indices;
  std::vector<ArrayDimension> m_dims;  ///< what it was built for
  ArrayPlane m_plane;
};

}  // namespace pf::views
