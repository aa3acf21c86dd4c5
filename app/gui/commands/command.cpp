// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/commands/command.h"

#include <QAction>
#include <QWidget>

namespace pf::gui {

QAction* makeCommand(QWidget& window, const QString& text, const QString& tip, const QIcon& icon,
                     const QKeySequence& keys, const std::function<void()>& does) {
  auto* action = new QAction(icon, text, &window);
  action->setShortcut(keys);
  const QString shown =
      keys.isEmpty() ? tip
                     : QObject::tr("%1 (%2)").arg(tip, keys.toString(QKeySequence::NativeText));
  action->setToolTip(shown);
  action->setStatusTip(tip);
  if (does) {
    QObject::connect(action, &QAction::triggered, &window, does);
  }
  return action;
}

}  // namespace pf::gui
