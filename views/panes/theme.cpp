// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/theme.h"

#include <cmath>

namespace pf::views {

namespace {
QColor rgb(unsigned value) {
  return QColor::fromRgb(value);
}
}  // namespace

QColor withAlpha(QColor color, double alpha) {
  color.setAlphaF(static_cast<float>(alpha));
  return color;
}

QColor mixed(const QColor& a, const QColor& b, double t) {
  const auto part = [t](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * t)); };
  return QColor(part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue()));
}

Theme Theme::of(const QPalette& palette) {
  Theme t;
  t.base = palette.color(QPalette::Base);
  t.text = palette.color(QPalette::Text);
  t.dark = t.base.lightness() < t.text.lightness();
  t.panel = palette.color(QPalette::Window);
  t.muted = mixed(t.text, t.base, 0.42);
  t.grid = mixed(t.base, t.text, t.dark ? 0.11 : 0.08);
  t.rail = mixed(t.base, t.text, t.dark ? 0.32 : 0.27);
  t.stripe = mixed(t.base, t.text, t.dark ? 0.035 : 0.022);
  t.send = rgb(t.dark ? 0x58A9DC : 0x0072B2);
  t.receive = rgb(t.dark ? 0x2FC497 : 0x00805C);
  t.completion = rgb(t.dark ? 0x2FC497 : 0x00805C);
  t.collective = rgb(t.dark ? 0xB79AD6 : 0x7D5BA6);
  t.local = mixed(t.base, t.text, 0.5);
  t.message = mixed(t.base, t.text, t.dark ? 0.50 : 0.45);
  t.race = rgb(t.dark ? 0xF07A2B : 0xD55E00);
  t.fail = rgb(t.dark ? 0xFF5C6C : 0xB3122B);
  t.good = rgb(t.dark ? 0x2FC497 : 0x00714F);
  t.changed = rgb(t.dark ? 0xF0A24A : 0xB54F00);
  t.selection = palette.color(QPalette::Highlight);
  t.cut = rgb(t.dark ? 0xF5D94B : 0x1B4F9C);
  t.bookmark = rgb(t.dark ? 0x7CC4F0 : 0x0B5E94);
  t.breakpoint = rgb(t.dark ? 0xFF6B6B : 0xC62828);
  return t;
}

QColor Theme::tone(Tone tone) const {
  switch (tone) {
    case Tone::Normal:
      return text;
    case Tone::Muted:
      return muted;
    case Tone::Race:
      return race;
    case Tone::Bad:
      return fail;
    case Tone::Good:
      return good;
    case Tone::Changed:
      return changed;
    case Tone::Active:
      return dark ? cut : send;
  }
  return text;
}

}  // namespace pf::views
