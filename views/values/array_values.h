// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of an array, as they lie in the memory of a rank. QtCore only.
#pragma once

#include <memory>
#include <vector>

#include <QByteArray>
#include <QString>

namespace pf::values {

enum class ElementKind { Float, Signed, Unsigned };

struct ArrayValues {
  QString expression;
  QString type;  ///< of an element: "double", "int32"
  int rank = 0;
  ElementKind kind = ElementKind::Float;
  int size = 0;      ///< of an element, in bytes: 1, 2, 4, 8; a float's 4, 8 or 16
  qint64 total = 0;  ///< elements that the array has
  QByteArray bytes;  ///< of the first ones

  [[nodiscard]] qint64 count() const { return size > 0 ? bytes.size() / size : 0; }
  /// Index below count().
  [[nodiscard]] double at(qint64 index) const;
  /// Exact, also for whole numbers beyond 2^53.
  [[nodiscard]] QString textAt(qint64 index) const;
};

struct LeastMost {
  double least = 0.0;
  double most = 0.0;
  bool any = false;  ///< a number, not only NaN
  void add(double value);
  void add(const LeastMost& other);
};

/// Least and most of any range of an array, without looking at each element: a plot of 10^6 elements is drawn at once.
class ArraySummary {
 public:
  explicit ArraySummary(std::shared_ptr<const ArrayValues> values);
  [[nodiscard]] const ArrayValues& values() const { return *m_values; }
  /// Of elements [from, to).
  [[nodiscard]] LeastMost range(qint64 from, qint64 to) const;
  /// For each of `columns` columns, what the elements [from, to) are in it.
  [[nodiscard]] std::vector<LeastMost> columns(qint64 from, qint64 to, int columns) const;
  /// "1000000 of double: least 0 at 0, most 1e+06 at 654321, mean 49.5, 3 not numbers".
  [[nodiscard]] const QString& text() const { return m_text; }

 private:
  static constexpr qint64 kBlock = 256;
  std::shared_ptr<const ArrayValues> m_values;
  std::vector<LeastMost> m_blocks;
  QString m_text;
};

using ArraySummaryPtr = std::shared_ptr<const ArraySummary>;

}  // namespace pf::values

namespace pf::views {
using namespace values;
}  // namespace pf::views
