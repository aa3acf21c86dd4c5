// SPDX-License-Identifier: GPL-3.0-or-later
// What is to be seen of a diagram.
#pragma once

#include <cstdlib>

#include <QColor>
#include <QImage>
#include <QTest>

#include "views/diagram/canvas/space_time_canvas.h"

namespace pf::views::test {

/// Pixels of `area` that are of a colour, or nearly so: `tolerance` is of the three channels
/// together.
inline int countColor(const QImage& image, const QRect& area, const QColor& color,
                      int tolerance = 40) {
  int n = 0;
  const QRect inside = area & image.rect();
  for (int y = inside.top(); y <= inside.bottom(); ++y) {
    for (int x = inside.left(); x <= inside.right(); ++x) {
      const QColor c = image.pixelColor(x, y);
      n += std::abs(c.red() - color.red()) + std::abs(c.green() - color.green()) +
                       std::abs(c.blue() - color.blue()) <=
                   tolerance
               ? 1
               : 0;
    }
  }
  return n;
}

/// Once it is exact, as views of many events are drawn on another thread; else null.
inline QImage pictureOf(SpaceTimeCanvas& canvas) {
  (void)canvas.grab();
  return QTest::qWaitFor([&] { return canvas.isUpToDate(); }, 20000) ? canvas.grab().toImage()
                                                                     : QImage();
}

}  // namespace pf::views::test
