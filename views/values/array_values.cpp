// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/array_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "views/values/distributed_array.h"
#include "views/values/text.h"

namespace pf::values {
namespace {

constexpr qint64 kNone = -1;

/// 128 bits of IEEE are read where the machine has a type for them.
#ifdef __SIZEOF_FLOAT128__
using Quad = __float128;
#else
using Quad = long double;
#endif

template <typename T>
T read(const QByteArray& bytes, qint64 offset) {
  T value{};
  if (offset >= 0 && offset + static_cast<qint64>(sizeof value) <= bytes.size()) {
    std::memcpy(&value, bytes.constData() + offset, sizeof value);
  }
  return value;
}

/// Calls `use` with a value of the type that `values` has at an offset of bytes.
template <typename Use>
auto withFloat(int size, bool quad, const QByteArray& bytes, qint64 offset, Use use) {
  switch (size) {
    case 4:
      return use(read<float>(bytes, offset));
    case 8:
      return use(read<double>(bytes, offset));
    default:
      return quad ? use(read<Quad>(bytes, offset)) : use(read<long double>(bytes, offset));
  }
}

qint64 signedAt(const QByteArray& bytes, qint64 index, int size) {
  switch (size) {
    case 1:
      return read<qint8>(bytes, index);
    case 2:
      return read<qint16>(bytes, index * 2);
    case 4:
      return read<qint32>(bytes, index * 4);
    default:
      return read<qint64>(bytes, index * 8);
  }
}

quint64 unsignedAt(const QByteArray& bytes, qint64 index, int size) {
  switch (size) {
    case 1:
      return read<quint8>(bytes, index);
    case 2:
      return read<quint16>(bytes, index * 2);
    case 4:
      return read<quint32>(bytes, index * 4);
    default:
      return read<quint64>(bytes, index * 8);
  }
}

/// As few digits as tell it from its neighbours: 0.1, not 0.10000000000000001.
template <typename T, typename Print>
QString shortestText(T value, Print print) {
  std::array<char, 64> text{};
  for (int digits = std::numeric_limits<T>::digits10;
       digits <= std::numeric_limits<T>::max_digits10; ++digits) {
    print(text, digits);
    T back{};
    std::from_chars(text.data(), text.data() + qstrlen(text.data()), back);
    if (back == value || std::isnan(value)) {
      break;
    }
  }
  return QString::fromLatin1(text.data());
}

QString floatText(float value) {
  return shortestText(value, [value](auto& text, int digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, static_cast<double>(value));
  });
}

QString floatText(double value) {
  return shortestText(value, [value](auto& text, int digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  });
}

QString floatText(long double value) {
  return shortestText(value, [value](auto& text, int digits) {
    std::snprintf(text.data(), text.size(), "%.*Lg", digits, value);
  });
}

#ifdef __SIZEOF_FLOAT128__
QString floatText(Quad value) {
#ifdef __clang__  // the C library does not declare strfromf128() for it
  return floatText(static_cast<long double>(value));
#else
  std::array<char, 64> text{};
  strfromf128(text.data(), text.size(), "%.36g", value);
  return QString::fromLatin1(text.data());
#endif
}
#endif

QString logicalText(bool fortran, quint64 value) {
  const QString word =
      fortran ? (value != 0 ? u".TRUE."_s : u".FALSE."_s) : (value != 0 ? u"true"_s : u"false"_s);
  return value <= 1 ? word : u"%1 (%2)"_s.arg(word).arg(value);
}

QString charText(int value) {
  const int code = value & 0xff;
  return code >= 0x20 && code < 0x7f ? u"%1 '%2'"_s.arg(value).arg(QChar(code))
                                     : QString::number(value);
}

/// Up to a NUL, without the blanks at the end. Of more than one byte a character: as the machine has them.
QString wordText(const QByteArray& bytes, int unit) {
  QString text;
  if (unit == 1) {
    text = QString::fromUtf8(
        bytes.constData(),
        static_cast<qsizetype>(qstrnlen(bytes.constData(), static_cast<size_t>(bytes.size()))));
  } else {
    for (qsizetype at = 0; at + unit <= bytes.size(); at += unit) {
      const char32_t letter = unit == 2 ? read<char16_t>(bytes, at) : read<char32_t>(bytes, at);
      if (letter == 0) {
        break;
      }
      text +=
          unit == 2 ? QString(QChar(static_cast<char16_t>(letter))) : QString::fromUcs4(&letter, 1);
    }
  }
  while (text.endsWith(QLatin1Char(' '))) {
    text.chop(1);
  }
  return text;
}

double doubleOf(const ArrayValues& values, qint64 offset, int size) {
  return withFloat(size, values.quad, values.bytes, offset,
                   [](auto value) { return static_cast<double>(value); });
}

QString partText(const ArrayValues& values, qint64 offset, int size) {
  return withFloat(size, values.quad, values.bytes, offset,
                   [](auto value) { return floatText(value); });
}

QString complexText(const ArrayValues& values, qint64 index) {
  const int part = values.size / 2;
  const QString real = partText(values, index * values.size, part);
  const QString imaginary = partText(values, index * values.size + part, part);
  return values.fortran                           ? u"(%1,%2)"_s.arg(real, imaginary)
         : imaginary.startsWith(QLatin1Char('-')) ? u"%1 - %2i"_s.arg(real, imaginary.mid(1))
                                                  : u"%1 + %2i"_s.arg(real, imaginary);
}

/// Elements of one dimension after the other, in the order in which they lie.
std::vector<std::size_t> order(const ArrayValues& values) {
  std::vector<std::size_t> out(values.dims.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = values.columnMajor ? i : out.size() - 1 - i;  // the fastest one first
  }
  return out;
}

}  // namespace

qint64 ArrayValues::total() const {
  if (!rows.empty()) {
    return rows.back();
  }
  qint64 out = 1;
  for (const ArrayDimension& dim : dims) {
    out *= dim.count;
  }
  return out;
}

bool ArrayValues::hasNumbers() const {
  return kind != ElementKind::Text && kind != ElementKind::Pointer && kind != ElementKind::Words;
}

double ArrayValues::at(qint64 index) const {
  switch (kind) {
    case ElementKind::Signed:
    case ElementKind::Char:
      return static_cast<double>(signedAt(bytes, index, size));
    case ElementKind::Unsigned:
      return static_cast<double>(unsignedAt(bytes, index, size));
    case ElementKind::Logical:
    case ElementKind::Bool:
      return unsignedAt(bytes, index, size) != 0 ? 1.0 : 0.0;
    case ElementKind::Complex:
      return std::hypot(doubleOf(*this, index * size, size / 2),
                        doubleOf(*this, index * size + size / 2, size / 2));
    case ElementKind::Float:
      return doubleOf(*this, index * size, size);
    case ElementKind::Text:
    case ElementKind::Pointer:
    case ElementKind::Words:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

QString ArrayValues::textAt(qint64 index) const {
  switch (kind) {
    case ElementKind::Signed:
      return QString::number(signedAt(bytes, index, size));
    case ElementKind::Unsigned:
      return QString::number(unsignedAt(bytes, index, size));
    case ElementKind::Logical:
    case ElementKind::Bool:
      return logicalText(kind == ElementKind::Logical, unsignedAt(bytes, index, size));
    case ElementKind::Char:
      return charText(static_cast<int>(signedAt(bytes, index, size)));
    case ElementKind::Text:
      return wordText(bytes.mid(index * size, size), unit);
    case ElementKind::Pointer:
      return u"0x"_s + QString::number(unsignedAt(bytes, index, size), 16);
    case ElementKind::Words:
      return words.value(index);
    case ElementKind::Complex:
      return complexText(*this, index);
    case ElementKind::Float:
      break;
  }
  return partText(*this, index * size, size);
}

qint64 ArrayValues::indexOf(const Places& places) const {
  if (!rows.empty()) {
    qint64 row = 0;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
      row = row * dims[i].read + places[i];
    }
    const auto at = static_cast<std::size_t>(row);
    const qint64 index = rows[at] + places.back();
    return index < rows[at + 1] ? index : kNone;
  }
  qint64 index = 0;
  qint64 width = 1;
  for (const std::size_t i : order(*this)) {
    index += places[i] * width;
    width *= dims[i].read;
  }
  return index;
}

ArrayValues::Places ArrayValues::placesOf(qint64 index) const {
  Places places(dims.size());
  if (!rows.empty()) {
    const auto next = std::upper_bound(rows.begin(), rows.end(), index);
    qint64 row =
        std::clamp<qint64>(next - rows.begin() - 1, 0, static_cast<qint64>(rows.size()) - 2);
    places.back() = index - rows[static_cast<std::size_t>(row)];
    for (std::size_t i = places.size() - 1; i-- > 0;) {
      places[i] = row % dims[i].read;
      row /= dims[i].read;
    }
    return places;
  }
  for (const std::size_t i : order(*this)) {
    places[i] = index % std::max<qint64>(1, dims[i].read);
    index /= std::max<qint64>(1, dims[i].read);
  }
  return places;
}

QString ArrayValues::nameAt(qint64 index) const {
  return nameOf(placesOf(index));
}

QString ArrayValues::nameOf(const Places& places, int across) const {
  QStringList indices;
  for (std::size_t i = partsAreRows() ? 1 : 0; i < places.size(); ++i) {
    indices << (static_cast<int>(i) == across ? u":"_s
                                              : QString::number(dims[i].indexAt(places[i])));
  }
  const bool overParts = across == along;
  const bool overColumns = !columns.empty() && across == along + 1;
  if (!parts.empty() && !overParts && (!partsAreRows() || across < 0)) {
    const auto [part, place] = partAt(places);
    indices[partsAreRows() ? 0 : along] = QString::number(parts[part].dimension.indexAt(place));
  }
  if (!columns.empty() && !overColumns) {
    const auto [column, place] = columnAt(places);
    indices[along + 1] = QString::number(columns[column].dimension.indexAt(place));
  }
  QString whose;
  if (!parts.empty() && (!overParts || !columns.empty())) {
    const bool several = !columns.empty() && (overParts || overColumns);
    whose = (several ? u"ranks %1… "_s : u"rank %1 "_s).arg(rankAt(places));
  }
  return whose + (fortran ? u"(%1)"_s.arg(indices.join(QLatin1Char(',')))
                          : u"[%1]"_s.arg(indices.join(u"]["_s)));
}

namespace {

std::pair<std::size_t, qint64> pieceAt(const std::vector<ArrayPart>& pieces, qint64 place) {
  const auto next =
      std::upper_bound(pieces.begin(), pieces.end(), place,
                       [](qint64 value, const ArrayPart& piece) { return value < piece.from; });
  const auto piece =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(next - pieces.begin(), 1) - 1);
  return {piece, place - pieces[piece].from};
}

}  // namespace

std::pair<std::size_t, qint64> ArrayValues::partAt(const Places& places) const {
  if (partsAreRows()) {
    return {static_cast<std::size_t>(places[0]), places[1]};
  }
  return pieceAt(parts, places[static_cast<std::size_t>(along)]);
}

std::pair<std::size_t, qint64> ArrayValues::columnAt(const Places& places) const {
  return pieceAt(columns, places[static_cast<std::size_t>(along) + 1]);
}

int ArrayValues::rankAt(const Places& places) const {
  const std::size_t part = partAt(places).first;
  return columns.empty() ? parts[part].rank
                         : blocks[part * columns.size() + columnAt(places).first];
}

QString ArrayValues::indexText(std::size_t dimension, qint64 place) const {
  const bool beside = !columns.empty() && static_cast<int>(dimension) == along + 1;
  if (parts.empty() || (static_cast<int>(dimension) != along && !beside)) {
    return QString::number(dims[dimension].indexAt(place));
  }
  if (partsAreRows()) {
    return u"rank %1"_s.arg(parts[static_cast<std::size_t>(place)].rank);
  }
  const std::vector<ArrayPart>& pieces = beside ? columns : parts;
  const auto [piece, local] = pieceAt(pieces, place);
  return u"%1: %2"_s.arg(columns.empty() ? pieces[piece].rank : static_cast<int>(piece))
      .arg(pieces[piece].dimension.indexAt(local));
}

void LeastMost::add(double value) {
  if (!std::isfinite(value)) {
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

namespace {

/// Adds what `read(i)` gives of elements [from, to) to the statistics, and returns their range.
template <typename Read>
LeastMost scanBlock(Read read, qint64 from, qint64 to, ArrayStatistics& all, double& sum) {
  LeastMost block;
  qint64 leastAt = from;
  qint64 mostAt = from;
  for (qint64 i = from; i < to; ++i) {
    const double value = read(i);
    if (!std::isfinite(value)) {
      ++(std::isnan(value) ? all.notNumbers : all.infinite);
      continue;
    }
    sum += value;
    leastAt = !block.any || value < block.least ? i : leastAt;
    mostAt = !block.any || value > block.most ? i : mostAt;
    block.least = !block.any || value < block.least ? value : block.least;
    block.most = !block.any || value > block.most ? value : block.most;
    block.any = true;
  }
  if (block.any) {
    all.leastAt = !all.range.any || block.least < all.range.least ? leastAt : all.leastAt;
    all.mostAt = !all.range.any || block.most > all.range.most ? mostAt : all.mostAt;
    all.range.add(block);
  }
  return block;
}

/// Calls `scan` with a function that reads an element: the kind is looked at once, not for each.
template <typename Scan>
void withReader(const ArrayValues& values, Scan scan) {
  const char* bytes = values.bytes.constData();
  const auto plain = [bytes]<typename T>(T) {
    return [bytes](qint64 i) {
      T value;
      std::memcpy(&value, bytes + i * static_cast<qint64>(sizeof value), sizeof value);
      return static_cast<double>(value);
    };
  };
  if (values.kind == ElementKind::Float && values.size == 8) {
    scan(plain(double{}));
  } else if (values.kind == ElementKind::Float && values.size == 4) {
    scan(plain(float{}));
  } else if (values.kind == ElementKind::Signed && values.size == 4) {
    scan(plain(qint32{}));
  } else if (values.kind == ElementKind::Signed && values.size == 8) {
    scan(plain(qint64{}));
  } else if (values.kind == ElementKind::Unsigned && values.size == 1) {
    scan(plain(quint8{}));
  } else {
    scan([&values](qint64 i) { return values.at(i); });
  }
}

QString extentText(const ArrayValues& values) {
  QStringList counts;
  for (const ArrayDimension& dim : values.dims) {
    counts << (values.fortran && dim.step == 1 && dim.lower != 1 && values.parts.empty()
                   ? u"%1:%2"_s.arg(dim.lower).arg(dim.indexAt(dim.count - 1))
                   : QString::number(dim.count));
  }
  if (!values.rows.empty() && values.dims.size() > 1) {
    counts.last() = u"up to %1"_s.arg(values.dims.back().count);
  }
  return values.dims.size() == 1 && counts.first().contains(QLatin1Char(':'))
             ? u"(%1), %2 elements"_s.arg(counts.first()).arg(values.dims[0].count)
         : values.dims.size() == 1 ? u"%1 elements"_s.arg(counts.first())
                                   : counts.join(u" × "_s);
}

/// What of it was read, where that is not all.
QString partText(const ArrayValues& values) {
  QStringList read;
  bool all = true;
  for (const ArrayDimension& dim : values.dims) {
    read << QString::number(dim.read);
    all = all && dim.read == dim.count;
  }
  return all                       ? QString()
         : values.dims.size() == 1 ? u"the first %1 of "_s.arg(read.first())
                                   : u"the first %1 of "_s.arg(read.join(u" × "_s));
}

QString summaryText(const ArrayValues& values, const ArrayStatistics& found) {
  QString text = partText(values) + extentText(values) + u" of %1"_s.arg(values.type);
  if (values.kind == ElementKind::Logical || values.kind == ElementKind::Bool) {
    const auto yes = qint64{std::llround(found.mean * static_cast<double>(found.numbers))};
    text += u": %1 true, %2 false"_s.arg(yes).arg(found.numbers - yes);
  } else if (found.numbers > 0) {
    const bool complex = values.kind == ElementKind::Complex;
    text += u": %1least %2 at %3, most %4 at %5, mean %6"_s
                .arg(complex ? u"of the magnitudes "_s : QString(),
                     complex ? QString::number(found.range.least) : values.textAt(found.leastAt),
                     values.nameAt(found.leastAt),
                     complex ? QString::number(found.range.most) : values.textAt(found.mostAt),
                     values.nameAt(found.mostAt))
                .arg(found.mean);
  }
  if (found.notNumbers > 0) {
    text += u", %1 NaN"_s.arg(found.notNumbers);
  }
  if (found.infinite > 0) {
    text += u", %1 infinite"_s.arg(found.infinite);
  }
  return values.note.isEmpty() ? text : u"%1 (%2)"_s.arg(text, values.note);
}

}  // namespace

ArraySummary::ArraySummary(std::shared_ptr<const ArrayValues> values)
    : m_values(std::move(values)) {
  const qint64 count = m_values->hasNumbers() ? m_values->count() : 0;
  m_blocks.reserve(static_cast<std::size_t>((count + kBlock - 1) / kBlock));
  double sum = 0.0;
  withReader(*m_values, [&](auto read) {
    for (qint64 from = 0; from < count; from += kBlock) {
      const qint64 odd = m_statistics.notNumbers + m_statistics.infinite;
      const LeastMost range =
          scanBlock(read, from, std::min(count, from + kBlock), m_statistics, sum);
      m_blocks.push_back({range, m_statistics.notNumbers + m_statistics.infinite > odd});
    }
  });
  m_statistics.numbers = count - m_statistics.notNumbers - m_statistics.infinite;
  m_statistics.mean =
      m_statistics.numbers > 0 ? sum / static_cast<double>(m_statistics.numbers) : 0.0;
  m_text = summaryText(*m_values, m_statistics);
  m_halo = staleHalo(*m_values);
}

LeastMost ArraySummary::range(qint64 from, qint64 to) const {
  LeastMost out;
  from = std::max<qint64>(from, 0);
  to = std::min(to, static_cast<qint64>(m_blocks.size()) * kBlock);
  to = std::min(to, m_values->count());
  while (from < to) {
    if (from % kBlock == 0 && from + kBlock <= to) {
      out.add(m_blocks[static_cast<std::size_t>(from / kBlock)].range);
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

bool ArraySummary::isInside(const Block& block, double least, double most) const {
  return !block.odd &&
         (!block.range.any || (block.range.least >= least && block.range.most <= most));
}

qint64 ArraySummary::firstOutside(qint64 from, qint64 to, double least, double most) const {
  for (qint64 i = from; i < to;) {
    if (i % kBlock == 0 && isInside(m_blocks[static_cast<std::size_t>(i / kBlock)], least, most)) {
      i += kBlock;
      continue;
    }
    const double value = m_values->at(i);
    if (!(std::isfinite(value) && value >= least && value <= most)) {
      return i;
    }
    ++i;
  }
  return kNone;
}

qint64 ArraySummary::nextOutside(qint64 after, double least, double most) const {
  const qint64 count = m_values->hasNumbers() ? m_values->count() : 0;
  const qint64 from = std::clamp<qint64>(after + 1, 0, count);
  const qint64 found = firstOutside(from, count, least, most);
  return found >= 0 ? found : firstOutside(0, from, least, most);
}

qint64 ArraySummary::countOutside(double least, double most) const {
  const qint64 count = m_values->hasNumbers() ? m_values->count() : 0;
  qint64 out = 0;
  for (qint64 i = 0; i < count;) {
    const qint64 found = firstOutside(i, count, least, most);
    if (found < 0) {
      break;
    }
    ++out;
    i = found + 1;
  }
  return out;
}

}  // namespace pf::values
