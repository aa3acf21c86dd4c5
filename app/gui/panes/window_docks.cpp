// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/window_docks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <QChildEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
#include <QScreen>
#include <QSettings>
#include <QTabBar>
#include <QToolButton>

#include "app/gui/panes/contents_pane.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/panes/matrix_frames.h"
#include "app/gui/panes/pane_actions.h"
#include "app/gui/panes/pane_trials.h"
#include "app/gui/panes/window_plugins.h"
#include "plugins/queues/queues_widget.h"
#include "views/panes/contents_view.h"
#include "views/panes/debug_views.h"
#include "views/panes/icons.h"
#include "views/panes/log_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/text_views.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

/// Seldom needed. They leave the others room for whole names, also in 1366 pixels.
constexpr std::array<std::string_view, 7> kClosedAtFirst{
    "memory",      "instructions", "registers",    "contents",
    "comm_matrix", "call_sites",   "rank_timeline"};

/// Before the ids of panes that are not bundled: they cannot be those of ours.
const QString kOthers = QStringLiteral("plugin_");

}  // namespace

WindowDocks::WindowDocks(QMainWindow& window, const WindowViews& views,
                         session::DebugSession& session)
    : QObject(&window), m_window(window) {
  m_window.installEventFilter(this);
  makeDocks(views, session);
}

QDockWidget* WindowDocks::add(const QString& name, const QString& title, QWidget* widget,
                              Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, &m_window);
  dock->setObjectName(name);
  dock->setWidget(widget);
  m_window.addDockWidget(area, dock);
  m_docks.push_back(dock);
  return dock;
}

void WindowDocks::makeDocks(const WindowViews& views, session::DebugSession& session) {
  constexpr auto kRight = Qt::RightDockWidgetArea;
  constexpr auto kBottom = Qt::BottomDockWidgetArea;
  m_window.setCorner(Qt::BottomRightCorner, kRight);
  QDockWidget* ranks = add(QStringLiteral("ranks"), tr("Ranks"), views.ranks, kRight);
  QDockWidget* stack = add(QStringLiteral("stack"), tr("Stack"), views.stack, kRight);
  QDockWidget* variables =
      add(QStringLiteral("variables"), tr("Variables"), views.variables, kRight);
  QDockWidget* watches = add(QStringLiteral("watches"), tr("Watches"), views.watches, kRight);
  m_window.tabifyDockWidget(variables, watches);
  variables->raise();
  QDockWidget* races = add(QStringLiteral("races"), tr("Races"), views.races, kBottom);
  QDockWidget* last = races;
  for (QDockWidget* dock :
       {add(QStringLiteral("breakpoints"), tr("Breakpoints"), views.breakpoints, kBottom),
        add(QStringLiteral("output"), tr("Output"), views.output, kBottom),
        add(QStringLiteral("console"), tr("GDB console"), views.console, kBottom),
        add(QStringLiteral("cycles"), tr("Cycles"), views.cycles, kBottom),
        add(QStringLiteral("log"), tr("Log"), views.log, kBottom)}) {
    m_window.tabifyDockWidget(last, dock);
    last = dock;
  }
  const auto addInspection = [this, variables](const QString& name, const QString& title,
                                               QWidget* pane) {
    QDockWidget* const dock = add(name, title, pane, kRight);
    m_window.tabifyDockWidget(variables,
                              dock);  // above one another they would make the window higher
    return dock;
  };
  m_inspection = new InspectionPanes(session, *views.ranks, &m_window, addInspection);
  for (QDockWidget* dock :
       {m_inspection->stacksDock(), m_inspection->rowsDock(session::Look::Threads)}) {
    m_window.tabifyDockWidget(stack, dock);
  }
  for (QDockWidget* dock :
       {m_inspection->acrossDock(), m_inspection->rowsDock(session::Look::Registers)}) {
    m_window.tabifyDockWidget(watches, dock);
  }
  for (QDockWidget* dock :
       {m_inspection->arrayDock(), m_inspection->rowsDock(session::Look::Memory),
        m_inspection->rowsDock(session::Look::Instructions)}) {
    m_window.tabifyDockWidget(last, dock);
    last = dock;
  }
  stack->raise();
  variables->raise();
  auto* contents = new views::ContentsView;
  QDockWidget* const contentsDock =
      add(QStringLiteral("contents"), tr("Contents"), contents, kBottom);
  m_contents = new ContentsPane(*contents, *contentsDock);
  m_window.tabifyDockWidget(last, contentsDock);
  makePlugins(contentsDock);
  for (QDockWidget* dock : m_docks) {
    dock->setVisible(std::ranges::find(kClosedAtFirst, dock->objectName().toStdString()) ==
                     kClosedAtFirst.end());
  }
  races->raise();
  variables->raise();
  stack->raise();
  m_window.resize(QSize(1500, 950).boundedTo(m_window.screen()->availableSize()));
  m_window.resizeDocks({races}, {260}, Qt::Vertical);
  m_window.resizeDocks({ranks, stack, variables}, {220, 200, 300}, Qt::Vertical);
  m_window.resizeDocks({ranks}, {430}, Qt::Horizontal);
}

void WindowDocks::makePlugins(QDockWidget* last) {
  loadWindowPlugins(m_registry);
  for (const plugins::Part* const part : m_registry.parts(plugins::PartKind::Pane)) {
    if (QDockWidget* const dock = makePlugin(m_registry.pluginWith(*part), *part)) {
      m_window.tabifyDockWidget(last, dock);
      last = dock;
    }
  }
}

/// What is not bundled could end the window.
Result<QWidget*> WindowDocks::tryPane(const plugins::Plugin& plugin, const plugins::Part& part) {
  if (plugin.path.empty()) {
    return m_plugins.make(plugin, part, &m_window);
  }
  PaneTrials trials;
  const QString path = QString::fromStdString(plugin.path);
  if (trials.hasFailed(path)) {
    return Error{
        ErrorCode::System,
        "the window ended when pane " + part.id + " of plugin " + plugin.name + " was made last",
        "It is tried again when its file is another one, or by 'Try all again'."};
  }
  trials.begin(path);
  Result<QWidget*> widget = m_plugins.make(plugin, part, &m_window);
  trials.end();
  return widget;
}

/// Null: it was refused.
QDockWidget* WindowDocks::makePlugin(const plugins::Plugin& plugin, const plugins::Part& part) {
  const Result<QWidget*> widget = tryPane(plugin, part);
  if (!widget) {
    m_registry.refuse(plugin.path, widget.error());
    return nullptr;
  }
  const QString id = QString::fromStdString(part.id);
  QDockWidget* const dock = add(plugin.path.empty() ? id : kOthers + id,
                                values::visibleText(QString::fromStdString(part.title)), *widget,
                                Qt::BottomDockWidgetArea);
  dock->setWhatsThis((part.help.empty()
                          ? tr("A pane of plugin %1.").arg(QString::fromStdString(plugin.name))
                          : QString::fromStdString(part.help))
                         .toHtmlEscaped());
  if (auto* matrix = qobject_cast<plugins::MatrixWidget*>(*widget); matrix != nullptr) {
    m_matrix = new MatrixFrames(*matrix);
  }
  return dock;
}

QDockWidget* WindowDocks::find(const QString& name) const {
  for (const QString& each : {name, kOthers + name}) {
    for (QDockWidget* const dock : m_docks) {
      if (dock->objectName() == each) {
        return dock;
      }
    }
  }
  return nullptr;
}

/// Tabs have whole names: where there is no room for all, they are scrolled.
bool WindowDocks::eventFilter(QObject* watched, QEvent* event) {
  if (watched == &m_window && event->type() == QEvent::ChildPolished) {
    if (auto* bar = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child())) {
      bar->setElideMode(Qt::ElideNone);
      bar->setUsesScrollButtons(true);
    }
  }
  return QObject::eventFilter(watched, event);
}

QToolButton* WindowDocks::makeMoreButton() {
  auto* button = new QToolButton;
  button->setObjectName(QStringLiteral("morePanes"));
  button->setText(tr("Panes"));
  button->setIcon(views::icon(views::Icon::Add));
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button->setToolTip(tr("Open a pane that is closed"));
  button->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(button);
  connect(menu, &QMenu::aboutToShow, this, [this, menu] {
    menu->clear();
    for (QDockWidget* dock : m_docks) {
      if (dock->isHidden()) {
        menu->addAction(dock->windowTitle(), this, [dock] { goToPane(*dock); });
      }
    }
    if (menu->isEmpty()) {
      menu->addAction(tr("All panes are open"))->setEnabled(false);
    }
  });
  button->setMenu(menu);
  return button;
}

void WindowDocks::showWaits() {
  for (QWidget* const widget : m_plugins.widgets()) {
    if (auto* const queues = qobject_cast<plugins::QueuesWidget*>(widget); queues != nullptr) {
      queues->moment()->setCurrentIndex(plugins::QueuesWidget::End);
      goToPane(*qobject_cast<QDockWidget*>(widget->parentWidget()));
    }
  }
}

void WindowDocks::resetLayout() {
  m_window.restoreState(m_defaultLayout);
}

void WindowDocks::restoreLayout() {
  m_defaultLayout = m_window.saveState();
  const QSettings settings;
  m_window.restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  m_window.restoreState(settings.value(QStringLiteral("window/layout")).toByteArray());
}

void WindowDocks::keepLayout() const {
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), m_window.saveGeometry());
  settings.setValue(QStringLiteral("window/layout"), m_window.saveState());
}

}  // namespace pf::gui
