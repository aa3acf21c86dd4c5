// SPDX-License-Identifier: GPL-3.0-or-later
// The dark colours that pictures and tests are made with.
#pragma once

#include <QPalette>

namespace pf::views::test {

inline QPalette darkPalette() {
  QPalette p(QColor(45, 47, 52), QColor(45, 47, 52));
  p.setColor(QPalette::Window, QColor(40, 42, 47));
  p.setColor(QPalette::WindowText, QColor(222, 224, 228));
  p.setColor(QPalette::Base, QColor(28, 30, 34));
  p.setColor(QPalette::AlternateBase, QColor(34, 36, 41));
  p.setColor(QPalette::Text, QColor(222, 224, 228));
  p.setColor(QPalette::Button, QColor(52, 55, 61));
  p.setColor(QPalette::ButtonText, QColor(222, 224, 228));
  p.setColor(QPalette::Highlight, QColor(61, 132, 214));
  p.setColor(QPalette::HighlightedText, Qt::white);
  p.setColor(QPalette::ToolTipBase, QColor(52, 55, 61));
  p.setColor(QPalette::ToolTipText, QColor(222, 224, 228));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, QColor(118, 121, 128));
  }
  return p;
}

}  // namespace pf::views::test
