// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/array_lines.h"

#include <algorithm>

#include <QObject>

#include "views/values/array_plane.h"
#include "views/values/distributed_array.h"

namespace pf::headless {
namespace {

using values::ArrayValues;
using values::ElementKind;

QString elementText(const ArrayValues& array, qint64 index) {
  const QString text = array.textAt(index);
  return array.kind == ElementKind::Text ? QStringLiteral("'%1'").arg(QString(text).replace(
                                               QLatin1Char('\''), QStringLiteral("''")))
                                         : text;
}

/// Elements from `index` on that share a line.
qint64 lineLength(const ArrayValues& array, qint64 index) {
  const qint64 left = array.count() - index;
  if (array.kind == ElementKind::Words) {
    return 1;
  }
  if (array.dims.size() == 1) {
    return std::min(left, values::ArrayPlane::kWrapped);
  }
  if (array.rows.empty()) {
    return (array.columnMajor ? array.dims.front() : array.dims.back()).read;
  }
  return *std::upper_bound(array.rows.begin(), array.rows.end(), index) - index;
}

/// "[3][:]"; of one dimension, and of a structure, the index of the first.
QString lineName(const ArrayValues& array, qint64 index) {
  if (array.kind == ElementKind::Words || array.dims.size() == 1) {
    return array.nameAt(index);
  }
  return array.nameOf(array.placesOf(index),
                      array.columnMajor ? 0 : static_cast<int>(array.dims.size()) - 1);
}

}  // namespace

QStringList arrayLines(const values::ArraySummary& array) {
  const ArrayValues& values = array.values();
  QStringList lines{array.text()};
  if (const QString halo = values::haloWords(array); !halo.isEmpty()) {
    lines << halo;
  }
  const qint64 listed = std::min(values.count(), kMostListed);
  for (qint64 index = 0; index < listed;) {
    const qint64 end = std::min(listed, index + lineLength(values, index));
    const QString name = lineName(values, index);
    QStringList elements;
    for (; index < end; ++index) {
      elements << elementText(values, index);
    }
    lines << name + QLatin1Char(' ') + elements.join(QLatin1String(", "));
  }
  if (listed < values.count()) {
    lines << QObject::tr("and %1 elements more: write a part of it").arg(values.count() - listed);
  }
  return lines;
}

}  // namespace pf::headless
