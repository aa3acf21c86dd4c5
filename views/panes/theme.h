// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of the views, derived from the palette so that light and dark desktops are both right.
// Hues are Okabe and Ito's (told apart by colour-blind people); nothing is said by colour alone.
#pragma once

#include <QColor>
#include <QPalette>

#include "views/values/roles.h"

namespace pf::views {

struct Theme {
  bool dark = false;
  QColor base;   ///< background of diagrams
  QColor panel;  ///< headers, axis
  QColor text;
  QColor muted;  ///< secondary text
  QColor grid;
  QColor rail;    ///< a rank's line
  QColor stripe;  ///< every other row
  QColor send;
  QColor receive;
  QColor completion;
  QColor collective;
  QColor local;
  QColor message;
  QColor race;
  QColor fail;
  QColor good;
  QColor changed;
  QColor selection;
  QColor cut;  ///< replay position
  QColor bookmark;
  QColor breakpoint;

  [[nodiscard]] static Theme of(const QPalette& palette);
  [[nodiscard]] QColor tone(Tone tone) const;
};

/// `color` with the given opacity, 0..1.
[[nodiscard]] QColor withAlpha(QColor color, double alpha);
/// Between `a` (t = 0) and `b` (t = 1).
[[nodiscard]] QColor mixed(const QColor& a, const QColor& b, double t);

}  // namespace pf::views
