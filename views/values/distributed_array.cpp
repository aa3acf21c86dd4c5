// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/values/distributed_array.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <QObject>

#include "views/values/text.h"

namespace pf::values {
namespace {

constexpr qint64 kNoElement = -1;

Error unfit(const QString& why) {
  return {ErrorCode::Usage, why.toStdString(),
          "ask for a part of it that is alike in all ranks, or for fewer ranks"};
}

QString shapeOf(const ArrayValues& values) {
  QStringList counts;
  for (const ArrayDimension& dim : values.dims) {
    counts << u"%1:%2"_s.arg(dim.lower).arg(dim.indexAt(dim.read - 1));
  }
  return counts.join(u" × "_s);
}

/// What differs so that the parts cannot be one array; empty: nothing.
QString differenceOf(const ArrayValues& first, const ArrayValues& other, int along) {
  const bool sameElements = first.kind == other.kind && first.size == other.size &&
                            first.unit == other.unit && first.quad == other.quad &&
                            first.columnMajor == other.columnMajor &&
                            first.fortran == other.fortran;
  if (!sameElements || first.dims.size() != other.dims.size()) {
    return u"rank %1 has %2 dimensions of %3, rank %4 has %5 of %6"_s.arg(first.rank)
        .arg(first.dims.size())
        .arg(first.type)
        .arg(other.rank)
        .arg(other.dims.size())
        .arg(other.type);
  }
  for (std::size_t i = 0; i < first.dims.size(); ++i) {
    if (first.dims.size() > 1 && static_cast<int>(i) != along && first.dims[i] != other.dims[i]) {
      return u"rank %1 has %2, rank %3 has %4: they differ in another dimension than %5"_s
          .arg(first.rank)
          .arg(shapeOf(first))
          .arg(other.rank)
          .arg(shapeOf(other))
          .arg(along + 1);
    }
  }
  return {};
}

/// Why this part cannot be one.
QString problemOf(const ArrayValues& part) {
  if (!part.rows.empty()) {
    return u"rank %1 has rows of several lengths"_s.arg(part.rank);
  }
  return part.count() < part.total() ? u"rank %1 has more elements than are read"_s.arg(part.rank)
                                     : QString();
}

void append(ArrayValues& to, const ArrayValues& from, qint64 first, qint64 count) {
  if (to.kind == ElementKind::Words) {
    to.words += from.words.mid(first, count);
  } else {
    to.bytes.append(from.bytes.constData() + first * from.size, count * from.size);
  }
}

/// One dimension: a row a rank.
void joinRows(const std::vector<ArrayValues>& parts, ArrayValues& out) {
  ArrayDimension widest = parts.front().dims.front();
  out.rows.push_back(0);
  for (const ArrayValues& part : parts) {
    append(out, part, 0, part.count());
    out.rows.push_back(out.rows.back() + part.count());
    widest.count = std::max(widest.count, part.dims.front().count);
    if (part.dims.front().indexAt(0) != widest.lower || part.dims.front().step != widest.step) {
      widest.lower = 0;
      widest.step = 1;
    }
  }
  widest.read = widest.count;
  const auto count = static_cast<qint64>(parts.size());
  out.dims = {{0, 1, count, count}, widest};
  out.columnMajor = false;
  out.along = 0;
}

/// Of all parts in turn what lies together in each of them.
void joinBoxes(const std::vector<ArrayValues>& parts, int along, ArrayValues& out) {
  const ArrayValues& first = parts.front();
  const auto dimension = static_cast<std::size_t>(along);
  qint64 inner = 1;
  qint64 outer = 1;
  for (std::size_t i = 0; i < first.dims.size(); ++i) {
    const bool faster = first.columnMajor ? i < dimension : i > dimension;
    (faster ? inner : outer) *= i == dimension ? 1 : first.dims[i].read;
  }
  for (qint64 block = 0; block < outer; ++block) {
    for (const ArrayValues& part : parts) {
      const qint64 size = inner * part.dims[dimension].read;
      append(out, part, block * size, size);
    }
  }
  ArrayDimension& joined = out.dims[dimension];
  joined = {};  // indices are those of the parts
  for (const ArrayValues& part : parts) {
    joined.count += part.dims[dimension].read;
  }
  joined.read = joined.count;
  out.along = along;
}

/// One of the dimensions in which the array is distributed.
struct Cut {
  std::span<const ArrayPart> pieces;
  int along = 0;
};

std::vector<Cut> cutsOf(const ArrayValues& array) {
  std::vector<Cut> cuts{{array.parts, array.along}};
  if (!array.columns.empty()) {
    cuts.push_back({array.columns, array.along + 1});
  }
  return cuts;
}

/// The other piece's place that is the original of this one; nothing: it is no copy.
std::optional<std::pair<std::size_t, qint64>> originalPlace(std::span<const ArrayPart> pieces,
                                                            qint64 halo, std::size_t piece,
                                                            qint64 place) {
  const auto length = [&pieces](std::size_t i) { return pieces[i].dimension.count; };
  if (piece > 0 && place < halo && length(piece - 1) >= 2 * halo) {
    return std::pair(piece - 1, length(piece - 1) - 2 * halo + place);
  }
  const qint64 fromEnd = place - length(piece) + halo;
  if (piece + 1 < pieces.size() && fromEnd >= 0 && length(piece + 1) >= 2 * halo) {
    return std::pair(piece + 1, halo + fromEnd);
  }
  return std::nullopt;
}

ArrayValues::Places at(const ArrayValues& array, const Cut& cut, ArrayValues::Places places,
                       std::size_t piece, qint64 place) {
  if (array.partsAreRows()) {
    places[0] = static_cast<qint64>(piece);
    places[1] = place;
  } else {
    places[static_cast<std::size_t>(cut.along)] = cut.pieces[piece].from + place;
  }
  return places;
}

/// What is at these places a copy of, in the dimension of the cut.
std::optional<std::pair<std::size_t, qint64>> originalIn(const ArrayValues& array, const Cut& cut,
                                                         const ArrayValues::Places& places) {
  const auto [piece, place] =
      cut.along == array.along ? array.partAt(places) : array.columnAt(places);
  return originalPlace(cut.pieces, array.halo, piece, place);
}

/// It lies in the halo of both cuts.
bool isCorner(const ArrayValues& array, const ArrayValues::Places& places) {
  return !array.columns.empty() && originalIn(array, {array.parts, array.along}, places) &&
         originalIn(array, {array.columns, array.along + 1}, places);
}

/// Bit by bit, without what fills up x87's 10 bytes.
bool isSame(const ArrayValues& array, qint64 one, qint64 other) {
  if (array.kind == ElementKind::Words) {
    return array.words.value(one) == array.words.value(other);
  }
  const int parts = array.kind == ElementKind::Complex ? 2 : 1;
  const int each = array.size / parts;
  const bool isReal = array.kind == ElementKind::Complex || array.kind == ElementKind::Float;
  constexpr int kExtended = 10;
  const int used = isReal && each > kExtended && !array.quad ? kExtended : each;
  bool same = true;
  for (int part = 0; part < parts; ++part) {
    same = same && std::memcmp(array.bytes.constData() + one * array.size + qint64{part} * each,
                               array.bytes.constData() + other * array.size + qint64{part} * each,
                               static_cast<std::size_t>(used)) == 0;
  }
  return same;
}

/// The next of all places in the dimensions but that of the cut; false: that was the last one.
bool advance(const ArrayValues& array, const Cut& cut, ArrayValues::Places& places) {
  for (std::size_t i = 0; i < places.size() && !array.partsAreRows(); ++i) {
    if (static_cast<int>(i) == cut.along) {
      continue;
    }
    if (++places[i] < array.dims[i].read) {
      return true;
    }
    places[i] = 0;
  }
  return false;
}

/// Calls `use` with each copy at this place of a piece, and its original.
template <typename Use>
void forEachCopyAt(const ArrayValues& array, const Cut& cut, std::size_t piece, qint64 place,
                   Use use) {
  const auto original = originalPlace(cut.pieces, array.halo, piece, place);
  ArrayValues::Places places(array.dims.size());
  for (bool more = original.has_value(); more; more = advance(array, cut, places)) {
    const ArrayValues::Places copy = at(array, cut, places, piece, place);
    if (!isCorner(array, copy)) {
      use(array.indexOf(copy),
          array.indexOf(at(array, cut, places, original->first, original->second)));
    }
  }
}

/// Calls `use` with each copy and its original.
template <typename Use>
void forEachCopy(const ArrayValues& array, Use use) {
  for (const Cut& cut : array.halo > 0 ? cutsOf(array) : std::vector<Cut>()) {
    for (std::size_t piece = 0; piece < cut.pieces.size(); ++piece) {
      const qint64 length = cut.pieces[piece].dimension.count;
      for (qint64 place = 0; place < length; ++place) {
        if (place == array.halo && length > 2 * array.halo) {
          place = length - array.halo;  // nothing in between is a copy
        }
        forEachCopyAt(array, cut, piece, place, use);
      }
    }
  }
}

/// Side by side in one dimension.
Result<ArrayValues> joinLine(const std::vector<ArrayValues>& parts, int along, qint64 halo) {
  const ArrayValues& first = parts.front();
  if (along < 0 || along >= static_cast<int>(first.dims.size()) || halo < 0) {
    return unfit(
        u"it has %1 dimensions, and no dimension %2"_s.arg(first.dims.size()).arg(along + 1));
  }
  for (const ArrayValues& part : parts) {
    const QString own = problemOf(part);
    const QString problem = own.isEmpty() ? differenceOf(first, part, along) : own;
    if (!problem.isEmpty()) {
      return unfit(problem);
    }
  }
  ArrayValues out = first;
  out.bytes.clear();
  out.words.clear();
  out.parts.clear();  // of a row of blocks, which is a part here
  qsizetype size = 0;
  for (const ArrayValues& part : parts) {
    size += part.bytes.size();
  }
  out.bytes.reserve(size);
  qint64 from = 0;
  for (const ArrayValues& part : parts) {
    const ArrayDimension& dimension = part.dims[static_cast<std::size_t>(along)];
    out.parts.push_back({part.rank, from, dimension});
    from += dimension.read;
  }
  first.dims.size() == 1 ? joinRows(parts, out) : joinBoxes(parts, along, out);
  out.halo = halo;
  return out;
}

/// Ranks whose blocks stand in one column have them between the same indices.
QString misalignedIn(const std::vector<ArrayValues>& rows) {
  for (const ArrayValues& row : rows) {
    for (std::size_t i = 0; i < row.parts.size(); ++i) {
      const ArrayPart& above = rows.front().parts[i];
      if (row.parts[i].dimension != above.dimension) {
        return u"the blocks of rank %1 and rank %2 stand in one column, and have other widths"_s
            .arg(above.rank)
            .arg(row.parts[i].rank);
      }
    }
  }
  return {};
}

}  // namespace

Result<ArrayValues> joinParts(const std::vector<ArrayValues>& parts, int along, qint64 halo,
                              int columns) {
  if (parts.empty()) {
    return unfit(u"no rank has a part"_s);
  }
  if (columns <= 1) {
    return joinLine(parts, along, halo);
  }
  const auto width = static_cast<std::size_t>(columns);
  if (parts.size() % width != 0) {
    return unfit(u"%1 ranks are no rows of %2"_s.arg(parts.size()).arg(columns));
  }
  if (along + 1 >= static_cast<int>(parts.front().dims.size())) {
    return unfit(u"it has %1 dimensions, and blocks need dimensions %2 and %3"_s
                     .arg(parts.front().dims.size())
                     .arg(along + 1)
                     .arg(along + 2));
  }
  std::vector<ArrayValues> rows;
  std::vector<int> blocks;
  for (auto first = parts.begin(); first != parts.end(); first += columns) {
    Result<ArrayValues> row =
        joinLine(std::vector<ArrayValues>(first, first + columns), along + 1, 0);
    if (!row) {
      return row.error();
    }
    for (const ArrayPart& block : row->parts) {
      blocks.push_back(block.rank);
    }
    rows.push_back(std::move(*row));
  }
  if (const QString problem = misalignedIn(rows); !problem.isEmpty()) {
    return unfit(problem);
  }
  Result<ArrayValues> whole = joinLine(rows, along, halo);
  if (whole) {
    whole->columns = rows.front().parts;
    whole->blocks = std::move(blocks);
  }
  return whole;
}

qint64 originalOf(const ArrayValues& array, qint64 index) {
  if (array.parts.empty() || array.halo == 0 || index < 0 || index >= array.count()) {
    return -1;
  }
  const ArrayValues::Places places = array.placesOf(index);
  for (const Cut& cut : cutsOf(array)) {
    const auto original = originalIn(array, cut, places);
    if (original && !isCorner(array, places)) {
      return array.indexOf(at(array, cut, places, original->first, original->second));
    }
  }
  return -1;
}

QString elementWords(const ArrayValues& array, qint64 index) {
  const auto value = [&array](qint64 each) {
    return u"%1 = %2"_s.arg(array.nameAt(each), array.textAt(each));
  };
  const qint64 original = originalOf(array, index);
  return original < 0 ? value(index)
                      : QObject::tr("%1, a copy of %2").arg(value(index), value(original));
}

QString haloWords(const ArraySummary& array) {
  const StaleHalo& halo = array.halo();
  if (array.values().halo == 0) {
    return {};
  }
  if (halo.cells == 0) {
    return QObject::tr(
        "Nothing is compared: there is one part, or they are too short for this halo.");
  }
  if (halo.count == 0) {
    return QObject::tr("All %1 elements of the halo are what they are copies of.").arg(halo.cells);
  }
  return QObject::tr(
             "%1 of %2 elements of the halo are not what they are copies of, the first: %3.")
      .arg(halo.count)
      .arg(halo.cells)
      .arg(elementWords(array.values(), halo.first));
}

bool isStale(const ArrayValues& array, qint64 index) {
  const qint64 original = originalOf(array, index);
  return original >= 0 && !isSame(array, index, original);
}

qint64 nextStale(const ArrayValues& array, qint64 after) {
  qint64 behind = kNoElement;
  qint64 first = kNoElement;
  forEachCopy(array, [&](qint64 copy, qint64 original) {
    qint64& nearest = copy > after ? behind : first;
    if ((nearest == kNoElement || copy < nearest) && !isSame(array, copy, original)) {
      nearest = copy;
    }
  });
  return behind != kNoElement ? behind : first;
}

StaleHalo staleHalo(const ArrayValues& array) {
  StaleHalo out;
  forEachCopy(array, [&](qint64 copy, qint64 original) {
    ++out.cells;
    if (!isSame(array, copy, original)) {
      ++out.count;
      out.first = out.first < 0 ? copy : std::min(out.first, copy);
    }
  });
  return out;
}

}  // namespace pf::values
