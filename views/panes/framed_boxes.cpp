// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/framed_boxes.h"

#include <QPainter>
#include <QStyleOption>

#include "views/panes/theme.h"

namespace pf::views {

void FramedBoxes::drawPrimitive(PrimitiveElement element, const QStyleOption* option,
                                QPainter* painter, const QWidget* widget) const {
  QProxyStyle::drawPrimitive(element, option, painter, widget);
  const bool isBox = element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
  if (!isBox || option == nullptr || option->state.testFlag(State_On)) {
    return;
  }
  painter->save();
  painter->setPen(Theme::of(option->palette).muted);
  painter->setBrush(Qt::NoBrush);
  painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
  painter->restore();
}

}  // namespace pf::views

#include "moc_framed_boxes.cpp"
