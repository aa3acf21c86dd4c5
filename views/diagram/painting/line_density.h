// SPDX-License-Identifier: GPL-3.0-or-later
// How many lines go through each pixel.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <QColor>
#include <QImage>
#include <QPointF>

namespace pf::views {

/// Lines per pixel by differences: each pixel column gets +1 where a line enters it and -1 below
/// where it leaves.
class LineDensity {
 public:
  LineDensity(int width, int height)
      : m_width(width),
        m_height(height),
        m_cells(static_cast<std::size_t>(width) * static_cast<std::size_t>(height + 1), 0.0F) {}

  /// A line counts for `weight`. Its ends may be out of the picture.
  void add(QPointF from, QPointF to, float weight) {
    if (from.x() > to.x()) {
      std::swap(from, to);
    }
    const double slope = (to.y() - from.y()) / std::max(to.x() - from.x(), 1e-6);
    const int first = static_cast<int>(std::clamp(from.x(), 0.0, static_cast<double>(m_width)));
    const int last = static_cast<int>(std::floor(std::clamp(to.x(), -1.0, m_width - 1.0)));
    const auto bottom = static_cast<double>(m_height);
    double enters = from.y() + slope * std::max(first - from.x(), 0.0);
    for (int column = first; column <= last; ++column) {
      const double right = column + 1;
      const double leaves = right < to.x() ? from.y() + slope * (right - from.x()) : to.y();
      const int y1 = static_cast<int>(std::clamp(std::min(enters, leaves), 0.0, bottom));
      // Of what lies above the first row there is none: from 0 to 0.
      const int y2 = static_cast<int>(std::clamp(std::max(enters, leaves) + 1, 0.0, bottom));
      if (y2 > y1) {
        cell(column, y1) += weight;
        cell(column, y2) -= weight;
      }
      enters = leaves;
    }
  }

  /// `strongest`: opacity where most lines are. To be called once.
  [[nodiscard]] QImage image(const QColor& color, double strongest);

 private:
  [[nodiscard]] float sumUp();
  template <std::size_t kColumns>
  [[nodiscard]] float sumUpFrom(int x);
  float& cell(int x, int y) {
    return m_cells[static_cast<std::size_t>(x) * static_cast<std::size_t>(m_height + 1) +
                   static_cast<std::size_t>(y)];
  }
  int m_width;
  int m_height;
  std::vector<float> m_cells;  ///< [x * (height + 1) + y]
};

}  // namespace pf::views
