// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/array_plane.h"

#include "views/values/text.h"

namespace pf::values {
namespace {

const ArrayDimension& dimension(const ArrayValues& values, int which) {
  return values.dims[static_cast<std::size_t>(which)];
}

}  // namespace

ArrayPlane ArrayPlane::of(const ArrayValues& values) {
  ArrayPlane plane;
  plane.columnDimension = values.dims.size() > 1 ? 1 : -1;
  plane.places.assign(values.dims.size(), 0);
  return plane;
}

bool ArrayPlane::fits(const ArrayValues& values) const {
  if (places.size() != values.dims.size()) {
    return false;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] >= values.dims[i].read) {
      return false;
    }
  }
  return true;
}

qint64 ArrayPlane::rows(const ArrayValues& values) const {
  return columnDimension < 0 ? (values.count() + kWrapped - 1) / kWrapped
                             : dimension(values, rowDimension).read;
}

qint64 ArrayPlane::columns(const ArrayValues& values) const {
  return columnDimension < 0 ? kWrapped : dimension(values, columnDimension).read;
}

qint64 ArrayPlane::indexAt(const ArrayValues& values, qint64 row, qint64 column) const {
  if (columnDimension < 0) {
    const qint64 index = row * kWrapped + column;
    return index < values.count() ? index : -1;
  }
  ArrayValues::Places at = places;
  at[static_cast<std::size_t>(rowDimension)] = row;
  at[static_cast<std::size_t>(columnDimension)] = column;
  return values.indexOf(at);
}

std::pair<qint64, qint64> ArrayPlane::cellOf(const ArrayValues& values, qint64 index) const {
  if (columnDimension < 0) {
    return {index / kWrapped, index % kWrapped};
  }
  const ArrayValues::Places at = values.placesOf(index);
  return {at[static_cast<std::size_t>(rowDimension)],
          at[static_cast<std::size_t>(columnDimension)]};
}

ArrayPlane ArrayPlane::through(const ArrayValues& values, qint64 index) const {
  ArrayPlane plane = *this;
  plane.places = values.placesOf(index);
  for (const int which : {rowDimension, columnDimension}) {
    if (which >= 0) {
      plane.places[static_cast<std::size_t>(which)] = places[static_cast<std::size_t>(which)];
    }
  }
  return plane;
}

QString ArrayPlane::columnName(const ArrayValues& values, qint64 column) const {
  return columnDimension < 0 ? u"+%1"_s.arg(column * values.dims[0].step)
                             : values.indexText(static_cast<std::size_t>(columnDimension), column);
}

QString ArrayPlane::rowName(const ArrayValues& values, qint64 row) const {
  return columnDimension < 0 ? QString::number(values.dims[0].indexAt(row * kWrapped))
                             : values.indexText(static_cast<std::size_t>(rowDimension), row);
}

}  // namespace pf::values
