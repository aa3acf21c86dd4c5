// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/pane_help.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QMainWindow>
#include <QWhatsThis>

namespace pf::gui {
namespace {

struct Help {
  const char* name;
  const char* text;
};

constexpr Help kHelp[] = {
    {"centre",
     "The diagram has a row for each rank and logical time across, or with X the time of a clock. "
     "Lines are messages, rings racing receives; the dashed lines of a selected one are what it "
     "could have taken instead. Enter replays to the selected event, / searches, the menu sets "
     "breakpoints and notes. Beside it, or below, is the source: F9 sets a breakpoint, Ctrl+F10 "
     "runs to the line, "
     "the mouse over a name shows its value."},
    {"ranks",
     "All ranks, what each is doing, and where. A tick gives a rank a debugger. The list left of "
     "the buttons says whom Continue, Pause, Next, Step and Finish are for; Groups makes named "
     "sets of ranks."},
    {"stack",
     "The stack of the current rank, the innermost function first. A click shows that frame's "
     "source and variables. Frames of MPI and of Photofinish are left out."},
    {"variables",
     "Arguments and local variables of the selected frame. Structures open page by page; a double "
     "click changes a value, and the cycle is then another run than the recorded one. The menu "
     "watches a variable, or stops when it changes."},
    {"watches",
     "Expressions that are evaluated at every stop of the current rank. They are kept in the "
     "trace."},
    {"races",
     "Receives that could have taken another message, in the order of logical time, and their "
     "classes by source lines. A class can be marked as benign or as a bug, with a reason."},
    {"breakpoints",
     "Where ranks stop: lines, functions, changes of values, exceptions, signals, MPI errors, and "
     "moments of the recording. Ranks says where, Stops who stops with them. They come back in "
     "every cycle."},
    {"output",
     "What the ranks have printed, each line with its rank; ranks and text can be filtered."},
    {"console",
     "GDB of the current rank. A line that begins with @all, @GROUP or @0,2-4 goes to the GDBs of "
     "those ranks; equal answers are shown once. What would end the session (quit, kill, run) is "
     "carried out by the window instead."},
    {"cycles",
     "Each row is one re-execution of the recording: when, why it stopped, whether it did what was "
     "recorded. A double click on a stop goes there again; Ctrl+Shift+C compares two."},
    {"log",
     "What logpoints have written, with cycle, rank and event. A double click replays to there."},
    {"stacks",
     "The stacks of all ranks as one tree, main at the root, each frame with the ranks that are in "
     "it. Ranks that stand apart are branches of their own. A click goes to one of the ranks; the "
     "menu makes a group."},
    {"across",
     "One expression on all stopped ranks that have a debugger: equal values together, least, most "
     "and mean, outliers marked. The menu makes a group of a value's ranks."},
    {"threads", "The threads of the current rank. Choose one to see its stack and variables."},
    {"registers",
     "The registers of the selected frame; what has changed since the last stop is marked."},
    {"memory",
     "The bytes at an address: &x, buffer, $sp. What has changed since the last stop is marked."},
    {"instructions",
     "The machine code of the function around the selected frame, or around another address."},
    {"array",
     "An array of the current rank: a[0:9][5], field(2:8:2,:), cells%v, POINTER@COUNT@COUNT, a "
     "container, or containers of containers. The table and the heat map show one plane of it: "
     "down and across choose its dimensions, beside them stand the indices of the others. The plot "
     "has all elements; each of its columns goes from the least to the most of what lies in it; "
     "the wheel zooms, a drag chooses a range, a double click shows all again. A click in a "
     "picture "
     "finds the element in the table. Outside of: NaN, infinite, and what is not between the two "
     "numbers; Next goes from one to the next."},
    {"runs",
     "The run that is shown (bold), the one that it is another order of, and the other orders of "
     "these: what each took "
     "instead, and how it ended. A double click opens one, the menu compares it with the one that "
     "is shown. Take this "
     "message instead, in the menu of a race, makes another."},
    {"contents",
     "What was in the messages of the event that is selected in the diagram: what it received, and "
     "what others received of what it sent. A row for each; of the chosen one its values by the "
     "datatype, and its bytes. Only what came from outside of a group is in a trace, and only of "
     "one that was recorded with --groups; where there is nothing, a sentence says why."},
};

const Help* find(const QString& name) {
  for (const Help& help : kHelp) {
    if (name == QLatin1String(help.name)) {
      return &help;
    }
  }
  return nullptr;
}

/// The pane that has the keyboard focus; the centre if none has.
QWidget* paneInFocus(QMainWindow& window) {
  for (QWidget* widget = QApplication::focusWidget(); widget != nullptr;
       widget = widget->parentWidget()) {
    if (qobject_cast<QDockWidget*>(widget) != nullptr) {
      return widget;
    }
  }
  return window.centralWidget();
}

}  // namespace

QString paneHelp(const QString& name) {
  const Help* help = find(name);
  return help != nullptr ? QCoreApplication::translate("PaneHelp", help->text) : QString();
}

QAction* makePaneHelp(QMainWindow& window) {
  for (QDockWidget* dock : window.findChildren<QDockWidget*>()) {
    if (const QString help = paneHelp(dock->objectName());
        !help.isEmpty()) {  // else it has its own
      dock->setWhatsThis(help);
    }
  }
  window.centralWidget()->setWhatsThis(paneHelp(QStringLiteral("centre")));
  auto* action =
      new QAction(QCoreApplication::translate("PaneHelp", "&Help on this pane"), &window);
  action->setObjectName(QStringLiteral("paneHelp"));
  action->setShortcut(QKeySequence(Qt::Key_F1));
  action->setStatusTip(QCoreApplication::translate(
      "PaneHelp", "What the pane with the keyboard focus shows and does"));
  QObject::connect(action, &QAction::triggered, &window, [&window] {
    QWidget* pane = paneInFocus(window);
    QWhatsThis::showText(pane->mapToGlobal(QPoint(12, 24)), pane->whatsThis(), pane);
  });
  return action;
}

}  // namespace pf::gui
