// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/pane_actions.h"

#include <array>

#include <QAbstractItemView>
#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QMainWindow>

namespace pf::gui {
namespace {

constexpr std::array<const char*, 7> kWithKeys{"races",  "ranks",  "stack",  "variables",
                                               "output", "queues", "console"};

/// The first list or table in the order of Tab; without one the first widget that takes keys.
QWidget* operated(QWidget& pane) {
  QWidget* first = nullptr;
  for (QWidget* widget = pane.nextInFocusChain(); widget != nullptr && widget != &pane;
       widget = widget->nextInFocusChain()) {
    if (!pane.isAncestorOf(widget) || !widget->isVisibleTo(&pane) || !widget->isEnabled() ||
        (widget->focusPolicy() & Qt::TabFocus) == 0) {
      continue;
    }
    if (qobject_cast<QAbstractItemView*>(widget) != nullptr) {
      return widget;
    }
    first = first != nullptr ? first : widget;
  }
  return first != nullptr ? first : &pane;
}

}  // namespace

void goToPane(QDockWidget& dock) {
  dock.show();
  dock.raise();
  QWidget* pane = dock.widget();
  (pane->focusPolicy() != Qt::NoFocus ? pane : operated(*pane))->setFocus(Qt::ShortcutFocusReason);
}

QList<QAction*> makePaneActions(QMainWindow& window, QWidget& diagram, QWidget& source,
                                const std::vector<QDockWidget*>& docks) {
  QList<QAction*> actions;
  const auto add = [&](const QString& title, int digit, auto&& go) {
    auto* action =
        new QAction(QCoreApplication::translate("PaneActions", "Go to %1").arg(title), &window);
    action->setObjectName(QStringLiteral("goTo ") + title);
    action->setStatusTip(
        QCoreApplication::translate("PaneActions", "Show this pane and give it the keyboard"));
    if (digit > 0) {
      action->setShortcut(QKeySequence(Qt::ALT | static_cast<Qt::Key>(Qt::Key_0 + digit)));
    }
    QObject::connect(action, &QAction::triggered, &window, go);
    actions.append(action);
  };
  for (const auto& [title, widget, digit] :
       {std::tuple(QCoreApplication::translate("PaneActions", "Diagram"), &diagram, 1),
        std::tuple(QCoreApplication::translate("PaneActions", "Source"), &source, 2)}) {
    add(title, digit, [target = widget] {
      (target->focusPolicy() != Qt::NoFocus || target->focusProxy() != nullptr ? target
                                                                               : operated(*target))
          ->setFocus(Qt::ShortcutFocusReason);
    });
  }
  for (QDockWidget* dock : docks) {
    int digit = 0;
    for (std::size_t i = 0; i < kWithKeys.size(); ++i) {
      digit = dock->objectName() == QLatin1String(kWithKeys[i]) ? static_cast<int>(i) + 3 : digit;
    }
    add(dock->windowTitle(), digit, [dock] { goToPane(*dock); });
  }
  return actions;
}

}  // namespace pf::gui
