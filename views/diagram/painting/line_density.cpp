// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/painting/line_density.h"

#include <array>

namespace pf::views {

namespace {

/// As strong as the logarithm, for 0 … peak lines.
std::vector<QRgb> colorsTo(float peak, const QColor& color, double strongest) {
  constexpr float kMostColors = 65536.0F;
  std::vector<QRgb> colors(static_cast<std::size_t>(std::min(peak, kMostColors)) + 2);
  const double scale = 1.0 / std::log1p(static_cast<double>(peak));
  for (std::size_t n = 1; n < colors.size(); ++n) {
    const double alpha =
        std::min(1.0, 0.15 + 0.85 * std::log1p(static_cast<double>(n)) * scale) * strongest;
    colors[n] = qPremultiply(
        qRgba(color.red(), color.green(), color.blue(), static_cast<int>(alpha * 255)));
  }
  return colors;
}

}  // namespace

/// Of `kColumns` from column `x` on, at once: each addition waits for the one above it.
template <std::size_t kColumns>
float LineDensity::sumUpFrom(int x) {
  std::array<float*, kColumns> columns{};
  for (std::size_t i = 0; i < kColumns; ++i) {
    columns[i] = &cell(x + static_cast<int>(i), 0);
  }
  std::array<float, kColumns> sums{};
  std::array<float, kColumns> peaks{};
  for (int y = 0; y < m_height; ++y) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      sums[i] += columns[i][y];
      columns[i][y] = sums[i];
      peaks[i] = std::max(peaks[i], sums[i]);
    }
  }
  return std::ranges::max(peaks);
}

/// From differences to numbers of lines; the largest of them, at least 1.
float LineDensity::sumUp() {
  constexpr int kColumnsAtOnce = 8;
  float peak = 1.0F;
  int x = 0;
  for (; x + kColumnsAtOnce <= m_width; x += kColumnsAtOnce) {
    peak = std::max(peak, sumUpFrom<kColumnsAtOnce>(x));
  }
  for (; x < m_width; ++x) {
    peak = std::max(peak, sumUpFrom<1>(x));
  }
  return peak;
}

QImage LineDensity::image(const QColor& color, double strongest) {
  constexpr int kColumnsAtOnce = 16;  // the cells of a column lie together
  const std::vector<QRgb> colors = colorsTo(sumUp(), color, strongest);
  const auto most = static_cast<float>(colors.size() - 1);
  QImage out(m_width, m_height, QImage::Format_ARGB32_Premultiplied);
  for (int left = 0; left < m_width; left += kColumnsAtOnce) {
    const int right = std::min(left + kColumnsAtOnce, m_width);
    for (int y = 0; y < m_height; ++y) {
      auto* const line = reinterpret_cast<QRgb*>(out.scanLine(y));
      for (int x = left; x < right; ++x) {
        line[x] = colors[static_cast<std::size_t>(std::clamp(cell(x, y) + 0.5F, 0.0F, most))];
      }
    }
  }
  return out;
}

}  // namespace pf::views
