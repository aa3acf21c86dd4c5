// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panes/action_tips.h"

#include <QAction>

namespace pf::views {
namespace {

constexpr const char* kWholeName = "wholeName";

QString restOfTip(const QAction& action) {
  const qsizetype end = action.toolTip().indexOf(u'\n');
  return end < 0 ? QString() : action.toolTip().mid(end + 1);
}

void setTip(QAction& action, const QString& first, const QString& rest) {
  const QString tip = rest.isEmpty() ? first : first + u'\n' + rest;
  if (tip != action.toolTip()) {
    action.setToolTip(tip);
  }
}

}  // namespace

QString firstLineOfTip(const QAction& action) {
  return action.toolTip().section(u'\n', 0, 0);
}

void setFirstLineOfTip(QAction& action, const QString& text) {
  setTip(action, text, restOfTip(action));
}

void setPossible(QAction& action, const QString& note) {
  setTip(action, firstLineOfTip(action), note);
  action.setEnabled(true);
}

void setWhyNot(QAction& action, const QString& why) {
  setTip(action, firstLineOfTip(action), why);
  action.setEnabled(why.isEmpty());
}

QString whyNot(const QAction& action) {
  return action.isEnabled() ? QString() : restOfTip(action);
}

void setWholeName(QAction& action, const QString& name) {
  action.setProperty(kWholeName, name);
}

QString wholeName(const QAction& action) {
  const QString name = action.property(kWholeName).toString();
  return name.isEmpty() ? action.text() : name;
}

}  // namespace pf::views
