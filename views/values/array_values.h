// SPDX-License-Identifier: GPL-3.0-or-later
// The elements of an array of a rank, of any number of dimensions. QtCore only.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "views/values/namespaces.h"

namespace pf::values {

enum class ElementKind {
  Float,
  Signed,
  Unsigned,
  Complex,  ///< two floats, the real part first
  Logical,  ///< Fortran's
  Bool,
  Char,  ///< C's char: a number, and a letter
  Text,  ///< characters, as many in each element
  Pointer,
  Words,  ///< what GDB says of each: structures, strings
};

/// Indices lower, lower + step, …, as the program writes them; the first `read` of `count`.
struct ArrayDimension {
  qint64 lower = 0;
  qint64 step = 1;
  qint64 count = 0;
  qint64 read = 0;

  [[nodiscard]] qint64 indexAt(qint64 place) const { return lower + place * step; }
  friend bool operator==(const ArrayDimension&, const ArrayDimension&) = default;
};

/// What one rank has of an array that is distributed (distributed_array.h).
struct ArrayPart {
  int rank = 0;
  qint64 from = 0;           ///< where it begins in the whole, in the distributed dimension
  ArrayDimension dimension;  ///< that one, as the rank has it
  friend bool operator==(const ArrayPart&, const ArrayPart&) = default;
};

struct ArrayValues {
  /// Places in the dimensions, from 0; of what was read.
  using Places = std::vector<qint64>;

  QString expression;
  QString type;  ///< of an element, in the program's words
  int rank = 0;
  ElementKind kind = ElementKind::Float;
  int size = 0;                      ///< of an element, in bytes
  int unit = 1;                      ///< Text: bytes of a character
  bool quad = false;                 ///< 16 bytes are 128 bits of IEEE, not 80
  bool fortran = false;              ///< indices are written (i,j)
  std::vector<ArrayDimension> dims;  ///< one at least
  /// The first dimension is the one in which elements lie side by side. Otherwise the last one is.
  bool columnMajor = false;
  /// Rows of several lengths: where each begins, in row-major order, and where the last one ends. Empty: a full box.
  std::vector<qint64> rows;
  QByteArray bytes;              ///< of the elements that were read
  QStringList words;             ///< of kind Words, in their place
  QString note;                  ///< what was left out, and why
  std::vector<ArrayPart> parts;  ///< in order; empty: all of it is `rank`'s
  int along = 0;                 ///< the dimension in which they lie side by side
  qint64 halo = 0;               ///< elements at the inner ends of each that are copies
  /// Each of these is a row of blocks, which lie side by side in the next dimension; empty: it is whole. `rank` of both: of
  /// the first block.
  std::vector<ArrayPart> columns;
  std::vector<int> blocks;  ///< their ranks, row by row

  [[nodiscard]] qint64 count() const {
    return kind == ElementKind::Words ? words.size() : size > 0 ? bytes.size() / size : 0;
  }
  /// Elements that the array has; of rows of several lengths what was read.
  [[nodiscard]] qint64 total() const;
  /// Elements are compared, drawn, summed up.
  [[nodiscard]] bool hasNumbers() const;
  /// Index below count(). The magnitude of a complex number; NaN of what is no number.
  [[nodiscard]] double at(qint64 index) const;
  /// Exact, also for whole numbers beyond 2^53.
  [[nodiscard]] QString textAt(qint64 index) const;

  /// Where an element lies among those read; -1: its row is shorter.
  [[nodiscard]] qint64 indexOf(const Places& places) const;
  [[nodiscard]] Places placesOf(qint64 index) const;
  /// "[3][4]", "(3,4)"
  [[nodiscard]] QString nameAt(qint64 index) const;
  /// `across`: the dimension all of which is meant, as ':'; -1: none.
  [[nodiscard]] QString nameOf(const Places& places, int across = -1) const;
  /// Each part is a row: it has one dimension in its rank.
  [[nodiscard]] bool partsAreRows() const { return !parts.empty() && !rows.empty(); }
  /// Which part has it, and where in that part's distributed dimension. There are parts.
  [[nodiscard]] std::pair<std::size_t, qint64> partAt(const Places& places) const;
  /// The same among the blocks of a row. There are columns.
  [[nodiscard]] std::pair<std::size_t, qint64> columnAt(const Places& places) const;
  /// Whose it is.
  [[nodiscard]] int rankAt(const Places& places) const;
  /// "17"; in the distributed dimension with the rank before it: "2: 17", of blocks with their row or column, from 0.
  [[nodiscard]] QString indexText(std::size_t dimension, qint64 place) const;
};

/// Elements of the halo that are not what they are copies of.
struct StaleHalo {
  qint64 cells = 0;   ///< of the halo
  qint64 count = 0;   ///< of stale ones
  qint64 first = -1;  ///< by index; -1: there is none
};

struct LeastMost {
  double least = 0.0;
  double most = 0.0;
  bool any = false;  ///< a number, neither NaN nor infinite
  void add(double value);
  void add(const LeastMost& other);
};

struct ArrayStatistics {
  LeastMost range;
  qint64 leastAt = 0;
  qint64 mostAt = 0;
  double mean = 0.0;   ///< of the finite ones
  qint64 numbers = 0;  ///< finite ones
  qint64 notNumbers = 0;
  qint64 infinite = 0;
};

/// Least and most of any range of an array, without looking at each element: a plot of 10^6 elements is drawn at once.
class ArraySummary {
 public:
  explicit ArraySummary(std::shared_ptr<const ArrayValues> values);
  [[nodiscard]] const ArrayValues& values() const { return *m_values; }
  [[nodiscard]] const ArrayStatistics& statistics() const { return m_statistics; }
  [[nodiscard]] const StaleHalo& halo() const { return m_halo; }
  /// Of elements [from, to).
  [[nodiscard]] LeastMost range(qint64 from, qint64 to) const;
  /// For each of `columns` columns, what the elements [from, to) are in it.
  [[nodiscard]] std::vector<LeastMost> columns(qint64 from, qint64 to, int columns) const;
  /// The first element behind `after` (-1: of all) that is NaN, infinite or outside of the two; from the beginning again
  /// behind the last one. -1: there is none.
  [[nodiscard]] qint64 nextOutside(qint64 after, double least, double most) const;
  /// How many there are.
  [[nodiscard]] qint64 countOutside(double least, double most) const;
  /// "1000000 elements of double: least 0 at [0], most 1e+06 at [654321], mean 49.5, 3 NaN, 1 infinite".
  [[nodiscard]] const QString& text() const { return m_text; }

 private:
  static constexpr qint64 kBlock = 256;
  struct Block {
    LeastMost range;
    bool odd = false;  ///< has NaN or what is infinite
  };
  [[nodiscard]] bool isInside(const Block& block, double least, double most) const;
  [[nodiscard]] qint64 firstOutside(qint64 from, qint64 to, double least, double most) const;
  std::shared_ptr<const ArrayValues> m_values;
  std::vector<Block> m_blocks;
  ArrayStatistics m_statistics;
  StaleHalo m_halo;
  QString m_text;
};

using ArraySummaryPtr = std::shared_ptr<const ArraySummary>;

}  // namespace pf::values
