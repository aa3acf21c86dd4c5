// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/window_docks.h"

#include <tuple>

#include <QChildEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QMainWindow>
#include <QMenu>
#include <QScreen>
#include <QTabBar>
#include <QToolButton>

#include "app/gui/panes/contents_pane.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/panes/matrix_frames.h"
#include "app/gui/panes/pane_actions.h"
#include "app/gui/panes/pane_trials.h"
#include "app/gui/panes/run_tree_pane.h"
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

/// Before the ids of panes that are not bundled: they cannot be those of ours.
const QString kOthers = QStringLiteral("plugin_");

}  // namespace

WindowDocks::WindowDocks(QMainWindow& window, const WindowViews& views,
                         session::DebugSession& session)
    : QObject(&window), m_window(window) {
  m_window.installEventFilter(this);
  makeDocks(views, session);
}

/// Where it goes is for a workspace to say.
QDockWidget* WindowDocks::add(const QString& name, const QString& title, QWidget* widget) {
  auto* dock = new QDockWidget(title, &m_window);
  dock->setObjectName(name);
  dock->setWidget(widget);
  m_window.addDockWidget(Qt::BottomDockWidgetArea, dock);
  m_docks.push_back(dock);
  return dock;
}

void WindowDocks::makeDocks(const WindowViews& views, session::DebugSession& session) {
  for (const auto& [name, title, widget] :
       {std::tuple("ranks", tr("Ranks"), static_cast<QWidget*>(views.ranks)),
        std::tuple("stack", tr("Stack"), static_cast<QWidget*>(views.stack)),
        std::tuple("variables", tr("Variables"), static_cast<QWidget*>(views.variables)),
        std::tuple("watches", tr("Watches"), static_cast<QWidget*>(views.watches)),
        std::tuple("races", tr("Races"), static_cast<QWidget*>(views.races)),
        std::tuple("breakpoints", tr("Breakpoints"), static_cast<QWidget*>(views.breakpoints)),
        std::tuple("output", tr("Output"), static_cast<QWidget*>(views.output)),
        std::tuple("console", tr("GDB console"), static_cast<QWidget*>(views.console)),
        std::tuple("cycles", tr("Cycles"), static_cast<QWidget*>(views.cycles)),
        std::tuple("log", tr("Log"), static_cast<QWidget*>(views.log))}) {
    add(QString::fromLatin1(name), title, widget);
  }
  m_inspection = new InspectionPanes(session, *views.ranks, &m_window,
                                     [this](const QString& name, const QString& title,
                                            QWidget* pane) { return add(name, title, pane); });
  m_runs = new RunTreePane;
  add(QStringLiteral("runs"), tr("Runs"), m_runs);
  auto* contents = new views::ContentsView;
  m_contents =
      new ContentsPane(*contents, *add(QStringLiteral("contents"), tr("Contents"), contents));
  makePlugins();
  m_window.resize(QSize(1500, 950).boundedTo(m_window.screen()->availableSize()));
}

void WindowDocks::makePlugins() {
  loadWindowPlugins(m_registry);
  for (const plugins::Part* const part : m_registry.parts(plugins::PartKind::Pane)) {
    makePlugin(m_registry.pluginWith(*part), *part);
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

void WindowDocks::makePlugin(const plugins::Plugin& plugin, const plugins::Part& part) {
  const Result<QWidget*> widget = tryPane(plugin, part);
  if (!widget) {
    m_registry.refuse(plugin.path, widget.error());
    return;
  }
  const QString id = QString::fromStdString(part.id);
  QDockWidget* const dock = add(plugin.path.empty() ? id : kOthers + id,
                                values::visibleText(QString::fromStdString(part.title)), *widget);
  dock->setWhatsThis((part.help.empty()
                          ? tr("A pane of plugin %1.").arg(QString::fromStdString(plugin.name))
                          : QString::fromStdString(part.help))
                         .toHtmlEscaped());
  if (auto* matrix = qobject_cast<plugins::MatrixWidget*>(*widget); matrix != nullptr) {
    m_matrix = new MatrixFrames(*matrix);
  }
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

void WindowDocks::listClosed(QMenu& menu) {
  menu.clear();
  for (QDockWidget* dock : m_docks) {
    if (dock->isHidden()) {
      menu.addAction(dock->windowTitle(), this, [dock] { goToPane(*dock); });
    }
  }
  if (menu.isEmpty()) {
    menu.addAction(tr("All panes are open"))->setEnabled(false);
  }
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
  connect(menu, &QMenu::aboutToShow, this, [this, menu] { listClosed(*menu); });
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

void WindowDocks::showPane(const char* name) {
  for (QDockWidget* const dock : m_docks) {
    if (dock->objectName() == QLatin1String(name)) {
      dock->show();
      dock->raise();
    }
  }
}

}  // namespace pf::gui

#include "moc_window_docks.cpp"
