// SPDX-License-Identifier: GPL-3.0-or-later
// Two dimensions of an array, at chosen indices of the others: what a table shows. QtCore only.
#pragma once

#include "views/values/array_values.h"

namespace pf::values {

struct ArrayPlane {
  /// Elements a row, of an array of one dimension.
  static constexpr qint64 kWrapped = 8;

  int rowDimension = 0;
  int columnDimension = -1;    ///< -1: there is one dimension, in rows of kWrapped
  ArrayValues::Places places;  ///< of each dimension; those of the two do not count

  /// The first two dimensions, at the first indices of the others.
  [[nodiscard]] static ArrayPlane of(const ArrayValues& values);
  /// It still is one of `values`.
  [[nodiscard]] bool fits(const ArrayValues& values) const;

  [[nodiscard]] qint64 rows(const ArrayValues& values) const;
  [[nodiscard]] qint64 columns(const ArrayValues& values) const;
  /// Of the elements that were read; -1: there is none.
  [[nodiscard]] qint64 indexAt(const ArrayValues& values, qint64 row, qint64 column) const;
  /// Row and column of an element, of this plane or another one.
  [[nodiscard]] std::pair<qint64, qint64> cellOf(const ArrayValues& values, qint64 index) const;
  /// The parallel plane that has this element.
  [[nodiscard]] ArrayPlane through(const ArrayValues& values, qint64 index) const;
  /// What stands above a column, beside a row.
  [[nodiscard]] QString columnName(const ArrayValues& values, qint64 column) const;
  [[nodiscard]] QString rowName(const ArrayValues& values, qint64 row) const;

  friend bool operator==(const ArrayPlane&, const ArrayPlane&) = default;
};

}  // namespace pf::values
