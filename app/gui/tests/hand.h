// SPDX-License-Identifier: GPL-3.0-or-later
// A person's hand for tests on a real X server: the pointer is moved, buttons and keys are pressed,
// by xdotool, so that all comes to the window as from a mouse and a keyboard. The event loop runs
// meanwhile.
#pragma once

#include <algorithm>

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QEventLoop>
#include <QMenu>
#include <QProcess>
#include <QTabBar>
#include <QTest>
#include <QTimer>
#include <QWidget>

namespace pf::gui::test {

class Hand {
 public:
  /// X's numbers of buttons.
  enum Button { Left = 1, Right = 3, WheelUp = 4, WheelDown = 5 };

  /// What a person has done: keys, clicks, turns of a wheel, words typed.
  [[nodiscard]] static int actions() { return s_actions; }
  /// `key` as xdotool names it: "F4", "ctrl+shift+F8".
  static void press(const char* key) { act({QStringLiteral("key"), QString::fromLatin1(key)}); }
  static void type(const QString& text) {
    act({QStringLiteral("type"), QStringLiteral("--delay"), QStringLiteral("15"), text});
  }
  static void click(const QWidget* widget, const QPoint& at, Button button = Left, int times = 1) {
    const QPoint global = widget->mapToGlobal(at);
    run({QStringLiteral("mousemove"), QString::number(global.x()), QString::number(global.y())});
    act({QStringLiteral("click"), QStringLiteral("--repeat"), QString::number(times),
         QStringLiteral("--delay"), QStringLiteral("60"), QString::number(button)});
  }
  static void click(const QWidget* widget) { click(widget, widget->rect().center()); }
  static void doubleClick(const QWidget* widget, const QPoint& at) { click(widget, at, Left, 2); }
  /// Turns the wheel over a list until the row can be seen, and clicks on it.
  static bool clickRow(const QAbstractItemView* view, const QModelIndex& index,
                       Button button = Left) {
    const auto middle = [&] { return view->visualRect(index).center(); };
    const int before = s_actions;
    for (int turns = 0; turns < 60 && !view->viewport()->rect().contains(middle()); ++turns) {
      click(view->viewport(), view->viewport()->rect().center(),
            middle().y() < 0 ? WheelUp : WheelDown);
    }
    s_actions = std::min(s_actions, before + 1);  // one turn of the wheel, to where it is
    if (!index.isValid() || !view->viewport()->rect().contains(middle())) {
      return false;
    }
    click(view->viewport(),
          QPoint(std::min(view->visualRect(index).left() + 30, middle().x()), middle().y()),
          button);
    return true;
  }
  /// Clicks on the action as soon as a menu with it is open. To be called before the menu is: its
  /// own event loop runs until it closes.
  static void clickWhenMenu(QAction* action) {
    ++s_actions;
    QTimer::singleShot(600, action, [action] {
      const auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (menu != nullptr) {
        const QPoint at = menu->mapToGlobal(menu->actionGeometry(action).center());
        QProcess::startDetached(
            QStringLiteral("xdotool"),
            {QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
             QStringLiteral("click"), QStringLiteral("1")});
      }
    });
  }
  /// What a window manager does, of which there is none: the window has the keyboard again.
  static void giveKeyboard(const QWidget* window, const QWidget* harmless) {
    const int before = s_actions;
    if (!window->isActiveWindow()) {
      click(harmless);
    }
    s_actions = before;
  }
  /// Clicks on the tab of a pane that lies below others.
  static bool clickTab(const QWidget* window, const QString& title) {
    for (const QTabBar* bar : window->findChildren<QTabBar*>()) {
      for (int tab = 0; bar->isVisible() && tab < bar->count(); ++tab) {
        if (bar->tabText(tab) == title && bar->rect().contains(bar->tabRect(tab).center())) {
          click(bar, bar->tabRect(tab).center());
          return true;
        }
      }
    }
    return false;
  }

 private:
  static void act(const QStringList& arguments) {
    ++s_actions;
    run(arguments);
  }
  static void run(const QStringList& arguments) {
    QProcess process;
    QEventLoop loop;
    QObject::connect(&process, &QProcess::finished, &loop, &QEventLoop::quit);
    QObject::connect(&process, &QProcess::errorOccurred, &loop, &QEventLoop::quit);
    process.start(QStringLiteral("xdotool"), arguments);
    loop.exec();
    QTest::qWait(40);  // a person is not quicker
  }
  static inline int s_actions = 0;
};

}  // namespace pf::gui::test
