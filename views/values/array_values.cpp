// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/array_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <QStringList>

#include "views/values/text.h"

namespace pf::values {
namespace {

template <typename T>
T read(const QByteArray& bytes, qint64 index, int size) {
  T value{};
  if (static_cast<qint64>(sizeof value) <= bytes.size() - index * size) {
    std::memcpy(&value, bytes.constData() + index * size, sizeof value);
  }
  return value;
}

qint64 signedAt(const ArrayValues& values, qint64 index) {
  switch (values.size) {
    case 1:
      return read<qint8>(values.bytes, index, 1);
    case 2:
      return read<qint16>(values.bytes, index, 2);
    case 4:
      return read<qint32>(values.bytes, index, 4);
    default:
      return read<qint64>(values.bytes, index, 8);
  }
}

quint64 unsignedAt(const ArrayValues& values, qint64 index) {
  switch (values.size) {
    case 1:
      return read<quint8>(values.bytes, index, 1);
    case 2:
      return read<quint16>(values.bytes, index, 2);
    case 4:
      return read<quint32>(values.bytes, index, 4);
    default:
      return read<quint64>(values.bytes, index, 8);
  }
}

}  // namespace

double ArrayValues::at(qint64 index) const {
  switch (kind) {
    case ElementKind::Signed:
      return static_cast<double>(signedAt(*this, index));
    case ElementKind::Unsigned:
      return static_cast<double>(unsignedAt(*this, index));
    case ElementKind::Float:
      break;
  }
  return size == 4   ? static_cast<double>(read<float>(bytes, index, size))
         : size == 8 ? read<double>(bytes, index, size)
                     : static_cast<double>(read<long double>(bytes, index, size));
}

QString ArrayValues::textAt(qint64 index) const {
  switch (kind) {
    case ElementKind::Signed:
      return QString::number(signedAt(*this, index));
    case ElementKind::Unsigned:
      return QString::number(unsignedAt(*this, index));
    case ElementKind::Float:
      break;
  }
  return QString::number(at(index), 'g', size == 4 ? 9 : 17);
}

void LeastMost::add(double value) {
  if (std::isnan(value)) {
    return;
  }
  least = any ? std::min(least, value) : value;
  most = any ? std::max(most, value) : value;
  any = true;
}

void LeastMost::add(const LeastMost& other) {
  if (other.any) {
    add(other.least);
    add(other.most);
  }
}

ArraySummary::ArraySummary(std::shared_ptr<const ArrayValues> values)
    : m_values(std::move(values)) {
  const qint64 count = m_values->count();
  m_blocks.resize(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  LeastMost all;
  qint64 leastAt = 0;
  qint64 mostAt = 0;
  qint64 numbers = 0;
  double sum = 0.0;
  for (qint64 i = 0; i < count; ++i) {
    const double value = m_values->at(i);
    m_blocks[static_cast<std::size_t>(i / kBlock)].add(value);
    if (std::isnan(value)) {
      continue;
    }
    leastAt = !all.any || value < all.least ? i : leastAt;
    mostAt = !all.any || value > all.most ? i : mostAt;
    all.add(value);
    sum += value;
    ++numbers;
  }
  m_text = m_values->total > count
               ? u"the first %1 of %2 elements"_s.arg(count).arg(m_values->total)
               : u"%1 elements"_s.arg(count);
  m_text += u" of %1"_s.arg(m_values->type);
  if (numbers > 0) {
    m_text += u": least %1 at %2, most %3 at %4, mean %5"_s.arg(m_values->textAt(leastAt))
                  .arg(leastAt)
                  .arg(m_values->textAt(mostAt))
                  .arg(mostAt)
                  .arg(sum / static_cast<double>(numbers));
  }
  if (numbers < count) {
    m_text += u", %1 not a number"_s.arg(count - numbers);
  }
}

LeastMost ArraySummary::range(qint64 from, qint64 to) const {
  LeastMost out;
  from = std::max<qint64>(from, 0);
  to = std::min(to, m_values->count());
  while (from < to) {
    if (from % kBlock == 0 && from + kBlock <= to) {
      out.add(m_blocks[static_cast<std::size_t>(from / kBlock)]);
      from += kBlock;
    } else {
      out.add(m_values->at(from++));
    }
  }
  return out;
}

std::vector<LeastMost> ArraySummary::columns(qint64 from, qint64 to, int columns) const {
  std::vector<LeastMost> out;
  for (int column = 0; column < columns; ++column) {
    const qint64 begin = from + (to - from) * column / columns;
    const qint64 end = from + (to - from) * (column + 1) / columns;
    out.push_back(range(begin, std::max(end, begin + 1)));
  }
  return out;
}

}  // namespace pf::values
