// SPDX-License-Identifier: GPL-3.0-or-later
// A style: boxes that are not ticked have a frame that is seen in dark colours, too.
#pragma once

#include <QProxyStyle>

namespace pf::views {

/// Around the style that the desktop asks for.
class FramedBoxes : public QProxyStyle {
  Q_OBJECT
 public:
  using QProxyStyle::QProxyStyle;
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
};

}  // namespace pf::views
