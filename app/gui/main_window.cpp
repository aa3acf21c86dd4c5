// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QPointer>
#include <QPromise>
#include <QScreen>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>
#include <QWhatsThis>
#include <QtConcurrent>

#include "app/gui/inspection_panes.h"
#include "app/gui/key_bindings.h"
#include "app/gui/pane_actions.h"
#include "app/gui/pane_export.h"
#include "app/gui/pane_help.h"
#include "app/gui/peek_directory.h"
#include "app/gui/physical_pyramid.h"
#include "app/gui/recording_follower.h"
#include "app/gui/take_over.h"
#include "app/recording/record.h"
#include "app/replaying/replay.h"
#include "app/session/records/session_file.h"
#include "plugins/call_sites/call_sites.h"
#include "plugins/comm_matrix/comm_matrix.h"
#include "plugins/queues/queues.h"
#include "plugins/rank_timeline/rank_timeline.h"
#include "replay_engine/base/caught.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/panes/debug_views.h"
#include "views/panes/icons.h"
#include "views/panes/log_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"
#include "views/trace/trace_text.h"

namespace pf::gui {

namespace {
const QString kPhysicalAxis = QStringLiteral("diagram/physical");
}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent), m_session(new DebugSession(this)) {
  setObjectName(QStringLiteral("MainWindow"));
  setWindowTitle(tr("Photofinish"));
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  makeViews();
  makeFollower();
  makeActions();
  makeDocks();
  makeMenus();
  connectDiagram();
  connectSession();
  connectDebugViews();
  connectBreakpoints();
  connectLogic();
  m_defaultLayout = saveState();
  restoreLayout();
  fillRecent();
  setActionsEnabled();
  m_keys = new KeyBindings(this);
}

MainWindow::~MainWindow() = default;

void MainWindow::makeViews() {
  m_diagram = new views::SpaceTimeView;
  m_diagram->setPyramidMaker(physicalPyramid);
  m_source = new views::SourceView;
  m_races = new views::RaceListView;
  m_ranks = new views::RankStrip;
  m_stack = new views::StackView;
  m_variables = new views::VariablesView;
  m_watches = new views::WatchesView;
  m_breakpoints = new views::BreakpointsView;
  m_output = new views::OutputView;
  m_console = new views::ConsoleView;
  m_cycles = new views::CyclesView;
  m_log = new views::LogView;
  m_progress = new views::ProgressStrip;
  m_recordingStrip = new views::ProgressStrip;
  m_status = new QLabel;
  m_status->setTextFormat(Qt::PlainText);
  m_status->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_mode = new QLabel;
  m_mode->setTextFormat(Qt::PlainText);
  // As high as anything beside it: a bar that grows shows it below a tip that has hidden it.
  m_status->setMinimumHeight(m_progress->sizeHint().height());
  statusBar()->addWidget(m_status, 1);
  statusBar()->addPermanentWidget(m_recordingStrip);
  statusBar()->addPermanentWidget(m_progress);
  statusBar()->addPermanentWidget(m_mode);

  auto* split = new QSplitter(Qt::Vertical);
  m_centre = split;
  split->setObjectName(QStringLiteral("centre"));
  split->addWidget(m_diagram);
  split->addWidget(m_source);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 1);
  split->setSizes({430, 230});
  split->setChildrenCollapsible(false);

  auto* welcome = new QWidget;
  auto* column = new QVBoxLayout(welcome);
  column->setContentsMargins(80, 60, 80, 60);
  column->setSpacing(12);
  auto* title = new QLabel(tr("Photofinish"));
  QFont big = title->font();
  big.setPointSizeF(big.pointSizeF() * 2.2);
  big.setBold(true);
  title->setFont(big);
  column->addWidget(title);
  column->addWidget(new QLabel(
      tr("Record an MPI run (Ctrl+R) or open a trace (Ctrl+O). Recent traces and sessions:")));
  m_recent = new QListWidget;
  m_recent->setAccessibleName(tr("Recent traces and sessions"));
  column->addWidget(m_recent, 1);
  connect(m_recent, &QListWidget::itemActivated, this,
          [this](const QListWidgetItem* item) { openPath(item->data(Qt::UserRole).toString()); });

  m_pages = new QStackedWidget;
  m_pages->addWidget(welcome);
  m_pages->addWidget(split);
  setCentralWidget(m_pages);
}

QDockWidget* MainWindow::addDock(const QString& name, const QString& title, QWidget* widget,
                                 Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setWidget(widget);
  addDockWidget(area, dock);
  m_docks.push_back(dock);
  return dock;
}

void MainWindow::makeDocks() {
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  QDockWidget* ranks =
      addDock(QStringLiteral("ranks"), tr("Ranks"), m_ranks, Qt::RightDockWidgetArea);
  QDockWidget* stack =
      addDock(QStringLiteral("stack"), tr("Stack"), m_stack, Qt::RightDockWidgetArea);
  QDockWidget* variables =
      addDock(QStringLiteral("variables"), tr("Variables"), m_variables, Qt::RightDockWidgetArea);
  QDockWidget* watches =
      addDock(QStringLiteral("watches"), tr("Watches"), m_watches, Qt::RightDockWidgetArea);
  tabifyDockWidget(variables, watches);
  variables->raise();
  QDockWidget* races =
      addDock(QStringLiteral("races"), tr("Races"), m_races, Qt::BottomDockWidgetArea);
  QDockWidget* breakpoints = addDock(QStringLiteral("breakpoints"), tr("Breakpoints"),
                                     m_breakpoints, Qt::BottomDockWidgetArea);
  QDockWidget* output =
      addDock(QStringLiteral("output"), tr("Output"), m_output, Qt::BottomDockWidgetArea);
  QDockWidget* console =
      addDock(QStringLiteral("console"), tr("GDB console"), m_console, Qt::BottomDockWidgetArea);
  QDockWidget* cycles =
      addDock(QStringLiteral("cycles"), tr("Cycles"), m_cycles, Qt::BottomDockWidgetArea);
  QDockWidget* log = addDock(QStringLiteral("log"), tr("Log"), m_log, Qt::BottomDockWidgetArea);
  QDockWidget* last = races;
  for (QDockWidget* dock : {breakpoints, output, console, cycles, log}) {
    tabifyDockWidget(last, dock);
    last = dock;
  }
  const auto addLooking = [this, variables](const QString& name, const QString& title,
                                            QWidget* pane) {
    QDockWidget* const dock = addDock(name, title, pane, Qt::RightDockWidgetArea);
    tabifyDockWidget(variables, dock);  // above one another they would make the window higher
    return dock;
  };
  m_looking = new InspectionPanes(*m_session, *m_ranks, this, addLooking);
  for (QDockWidget* dock : {m_looking->stacksDock(), m_looking->rowsDock(session::Look::Threads)}) {
    tabifyDockWidget(stack, dock);
  }
  for (QDockWidget* dock :
       {m_looking->acrossDock(), m_looking->rowsDock(session::Look::Registers)}) {
    tabifyDockWidget(watches, dock);
  }
  tabifyDockWidget(last, m_looking->arrayDock());
  last = m_looking->arrayDock();
  for (const session::Look look : {session::Look::Memory, session::Look::Instructions}) {
    tabifyDockWidget(last, m_looking->rowsDock(look));
    last = m_looking->rowsDock(look);
  }
  stack->raise();
  variables->raise();
  m_registry.add(std::make_unique<plugins::QueuesPlugin>());
  m_registry.add(std::make_unique<plugins::CommMatrixPlugin>());
  m_registry.add(std::make_unique<plugins::CallSitesPlugin>());
  m_registry.add(std::make_unique<plugins::RankTimelinePlugin>());
  for (plugins::ViewPlugin* plugin : m_registry.plugins()) {
    plugins::ViewWidget* widget = plugin->createWidget(this);
    QDockWidget* dock = addDock(plugin->id(), plugin->title(), widget, Qt::BottomDockWidgetArea);
    tabifyDockWidget(last, dock);
    last = dock;
    m_pluginViews.push_back(widget);
    connect(widget, &plugins::ViewWidget::eventSelected, this, &MainWindow::selectEvent);
  }
  races->raise();
  resize(QSize(1500, 950).boundedTo(screen()->availableSize()));
  resizeDocks({races}, {260}, Qt::Vertical);
  resizeDocks({ranks, stack, variables}, {220, 200, 300}, Qt::Vertical);
  resizeDocks({ranks}, {430}, Qt::Horizontal);
}

QAction* MainWindow::command(const QString& text, const QString& tip, const QIcon& icon,
                             const QKeySequence& keys, const std::function<void()>& does) {
  auto* action = new QAction(icon, text, this);
  action->setShortcut(keys);
  const QString shown =
      keys.isEmpty() ? tip : tr("%1 (%2)").arg(tip, keys.toString(QKeySequence::NativeText));
  action->setToolTip(shown);
  action->setStatusTip(tip);
  if (does) {
    connect(action, &QAction::triggered, this, does);
  }
  return action;
}

void MainWindow::makeActions() {
  using views::Icon;
  using views::icon;
  m_open = command(tr("&Open trace …"), tr("Open a recorded run"), icon(Icon::Open),
                   QKeySequence::Open, [this] { askTrace(); });
  m_record = command(tr("&Record …"), tr("Run an MPI program and record it"), icon(Icon::Record),
                     QKeySequence(tr("Ctrl+R")), [this] { askRecord(); });
  m_lookAtRecording =
      command(tr("Look at what is recorded so &far"),
              tr("Open a trace of what the recording that goes on has by now; the program goes on"),
              {}, QKeySequence(tr("Ctrl+Alt+R")), [this] { lookAtRecording(); });
  m_restart =
      command(tr("Re&start cycle"),
              tr("Run the recording again from the start; breakpoints and watches come back"),
              icon(Icon::RestartCycle), QKeySequence(tr("Ctrl+Shift+F5")),
              [this] { m_session->restartCycle(); });
  m_repeat = command(
      tr("Re&peat cycle"), tr("Run the recording again to where the last cycle was sent"),
      icon(Icon::RestartCycle), QKeySequence(tr("Ctrl+F5")), [this] { m_session->repeatCycle(); });
  m_nextReceive = command(tr("Next &receive"), tr("Run the current rank to its next receive"),
                          icon(Icon::NextReceive), QKeySequence(tr("F8")),
                          [this] { m_session->go(session::Move::NextReceive); });
  m_deliverNext = command(
      tr("&Deliver next message"), tr("Let the next message of all ranks be taken, and no other"),
      {}, QKeySequence(tr("F7")), [this] { m_session->go(session::Move::NextDeliveryAnywhere); });
  m_deliverHere = command(
      tr("Deliver next message &here"), tr("Let the current rank take its next message"), {},
      QKeySequence(tr("Shift+F7")), [this] { m_session->go(session::Move::NextDelivery); });
  m_previousEvent = command(
      tr("&Previous event"),
      tr("Take the current rank one event back, by running the recording again"), {},
      QKeySequence(tr("Shift+F8")), [this] { m_session->go(session::Move::PreviousEvent); });
  m_failing =
      command(tr("&Failing receive"), tr("Replay to the last receive of the rank that failed"),
              icon(Icon::RunToFailure), QKeySequence(tr("F4")),
              [this] { m_session->go(session::Move::Failure); });
  m_end = command(tr("&End replay"), tr("End the ranks of this cycle"), icon(Icon::Stop),
                  QKeySequence(tr("Shift+F5")), [this] { m_session->endReplay(); });
  m_markFailing = command(tr("&Mark as failing receive"),
                          tr("The selected event is what Failing receive goes to"),
                          icon(Icon::Bookmark), {}, [this] {
                            if (m_diagram->selectedEvent().valid()) {
                              m_session->bookmarks().markFailing(m_diagram->selectedEvent());
                            }
                          });
}

void MainWindow::makeMenus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addActions({m_open, m_record, m_lookAtRecording, makeFollowAction()});
  file->addMenu(makeRecentMenu());
  m_saveSession = command(tr("Save se&ssion …"),
                          tr("Keep program, breakpoints, groups, watches and layout in a file that "
                             "opens by a double click"),
                          views::icon(views::Icon::Save), {}, [this] { askSaveSession(); });
  file->addAction(m_saveSession);
  m_compare = command(tr("&Compare with …"),
                      tr("Show where this run and another recording of the program part"), {}, {},
                      [this] { askComparison(); });
  file->addAction(m_compare);
  file->addSeparator();
  file->addAction(command(tr("Open co&re files …"),
                          tr("Look at what ranks left behind that crashed"), {}, {},
                          [this] { askCores(); }));
  file->addAction(command(tr("&Attach to a running job …"),
                          tr("Debug ranks of a job that runs; none is stopped before it is ticked"),
                          {}, {}, [this] { askJob(); }));
  file->addSeparator();
  file->addAction(command(tr("E&xport diagram …"), tr("Write the diagram as PNG or SVG"),
                          views::icon(views::Icon::Save), {}, [this] { exportDiagram(); }));
  file->addMenu(tr("Export &pane"))
      ->addActions(
          makeExportActions(*this, {m_docks.begin(), m_docks.end()},
                            [this](const QString& text, bool problem) { say(text, problem); }));
  file->addAction(makeTranscriptsAction());
  file->addSeparator();
  file->addAction(command(tr("&Quit"), tr("Close the window; a recording goes on"), {},
                          QKeySequence::Quit, [this] { close(); }));

  QMenu* replay = menuBar()->addMenu(tr("&Replay"));
  replay->addActions({m_failing, m_nextReceive, m_diagram->replayHereAction(), m_markFailing});
  replay->addSeparator();
  replay->addActions({m_deliverNext, m_deliverHere, m_previousEvent});
  replay->addSeparator();
  replay->addActions({m_restart, m_repeat, m_end});

  QMenu* debug = menuBar()->addMenu(tr("&Debug"));
  for (const values::RankAction action :
       {values::RankAction::Continue, values::RankAction::Pause, values::RankAction::Next,
        values::RankAction::Step, values::RankAction::Finish}) {
    debug->addAction(m_ranks->action(action));
  }
  debug->addSeparator();
  debug->addActions({m_source->toggleBreakpointAction(), m_source->runToLineAction(),
                     m_diagram->breakHereAction()});
  makeLogicActions(debug, replay);

  QMenu* view = menuBar()->addMenu(tr("&View"));
  view->addActions(m_diagram->viewActions());
  view->addSeparator();
  view->addActions({m_diagram->nextRaceAction(), m_diagram->previousRaceAction(),
                    m_diagram->partnerAction(), m_diagram->coneAction(),
                    m_diagram->bookmarkAction()});
  view->addActions(m_diagram->alternativeActions());
  view->addActions(m_diagram->searchActions());
  view->addMenu(tr("&Ranks shown"))->addActions(m_diagram->rankActions());
  view->addSeparator();
  view->addActions({m_source->findAction(), m_source->goToLineAction(), m_races->findAction()});
  view->addSeparator();
  view->addMenu(tr("&Go to pane"))
      ->addActions(makePaneActions(*this, *m_diagram, *m_source, m_docks));
  QMenu* shown = view->addMenu(tr("&Panes shown"));
  for (QDockWidget* dock : m_docks) {
    shown->addAction(dock->toggleViewAction());
  }
  view->addAction(command(tr("Reset &layout"), tr("Put all panes back where they were"), {}, {},
                          [this] { resetLayout(); }));

  QMenu* tools = menuBar()->addMenu(tr("&Tools"));
  tools->addAction(command(
      tr("&Command palette …"), tr("Find a command by some letters of its name"), {},
      QKeySequence(tr("Ctrl+Shift+P")), [this] { (new CommandPalette(*m_keys, this))->show(); }));
  tools->addAction(command(tr("&Keys …"), tr("Choose the keys of every command"), {}, {},
                           [this] { KeysDialog(*m_keys, this).exec(); }));

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addAction(makePaneHelp(*this));
  QAction* whatsThis = QWhatsThis::createAction(this);
  help->addAction(whatsThis);

  QToolBar* bar = addToolBar(tr("Replay"));
  bar->setObjectName(QStringLiteral("replayBar"));
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  bar->setIconSize({18, 18});
  bar->addActions({m_open, m_record});
  bar->addSeparator();
  bar->addActions({m_failing, m_nextReceive, m_restart, m_end});
}

void MainWindow::resetLayout() {
  restoreState(m_defaultLayout);
}

void MainWindow::restoreLayout() {
  const QSettings settings;
  restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  restoreState(settings.value(QStringLiteral("window/layout")).toByteArray());
  m_diagram->setAxis(settings.value(kPhysicalAxis).toBool() ? views::TimeAxis::Physical
                                                            : views::TimeAxis::Logical);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  settings.setValue(QStringLiteral("window/layout"), saveState());
  settings.setValue(kPhysicalAxis, m_diagram->wantedAxis() == views::TimeAxis::Physical);
  if (m_recording != nullptr) {
    m_recording->setParent(nullptr);  // closing the window never ends a recording
    m_recording->disconnect(this);
  }
  stopFollowing();
  m_session->endReplay();
  event->accept();
}

void MainWindow::openTrace(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  if (!QFileInfo::exists(absolute) && app::recordingNow(absolute.toStdString()).recorder) {
    followRecording(absolute);
    return;
  }
  stopFollowing();
  const QString name = QFileInfo(path).fileName();
  m_progress->start(tr("Opening %1 …").arg(name), false);
  struct Opened {
    Result<LoadedTrace> trace;
    views::TraceIndexPtr index;  ///< until the trace is loaded: of its outline
    bool loaded = false;
  };
  using Loading = std::shared_ptr<Opened>;
  auto* watcher = new QFutureWatcher<Loading>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, absolute] {
    watcher->deleteLater();
    m_progress->finish();
    const Loading loaded = watcher->resultAt(watcher->future().resultCount() - 1);
    if (!loaded->trace.ok()) {
      if (!m_session->isOpen() && m_index == nullptr) {
        m_diagram->setTrace(nullptr);
        m_pages->setCurrentIndex(0);
      }
      say(QString::fromStdString(loaded->trace.error().text()), true);
      if (loaded->trace.error().code == ErrorCode::Usage) {
        askToTakeOver(this, absolute, [this, absolute] { openTrace(absolute); });
      }
      Q_EMIT opened(false);
      return;
    }
    m_index = loaded->index;
    showTrace(absolute, std::move(loaded->trace.value()));
    askToTakeOver(this, absolute, [this, absolute] { openTrace(absolute); });
    Q_EMIT opened(true);
  });
  connect(watcher, &QFutureWatcherBase::resultReadyAt, this, [this, watcher, name](int at) {
    const Loading ready = watcher->resultAt(at);
    if (!ready->loaded && !m_session->isOpen() && m_index == nullptr) {
      m_progress->start(tr("Reading the events of %1 …").arg(name), false);
      m_diagram->setTrace(ready->index);
      m_diagram->show();
      m_pages->setCurrentIndex(1);
    }
  });
  connect(watcher, &QFutureWatcherBase::progressTextChanged, this,
          [this](const QString& text) { m_progress->start(text, false); });
  const QString surveying =
      tr("%1 has MPI's choices only: running the program once more to see its events and races …")
          .arg(name);
  // Even the look whether a survey is needed may have to make the trace of a recorder that was
  // killed: nothing of it on this thread.
  const auto openWhole = [absolute](const views::TraceDataPtr& outline) {
    try {
      Opened opened{session::loadTrace(absolute, outline, session::mostEventsInMemory()), nullptr,
                    true};
      if (opened.trace.ok()) {
        opened.index = views::makeIndex(opened.trace->data);
      }
      return opened;
    } catch (...) {
      return Opened{caughtError(), nullptr, true};
    }
  };
  watcher->setFuture(
      QtConcurrent::run([absolute, surveying, openWhole](QPromise<Loading>& promise) {
        promise.setProgressRange(0, 1);
        const Result<bool> light = caught([&] { return app::needsSurvey(absolute.toStdString()); });
        if (light && *light) {
          promise.setProgressValueAndText(1, surveying);
        }
        const views::TraceDataPtr outline = caught([&] { return session::loadOutline(absolute); });
        if (outline) {
          promise.addResult(std::make_shared<Opened>(
              Opened{Error{ErrorCode::NotFound, {}, {}}, views::makeIndex(outline)}));
        }
        promise.addResult(std::make_shared<Opened>(openWhole(outline)));
      }));
}

void MainWindow::showTrace(const QString& path, LoadedTrace trace) {
  m_path = path;
  m_diagram->show();
  if (!m_index || m_index->dataPtr() != trace.data) {
    m_index = views::makeIndex(trace.data);
  }
  const views::TraceDataPtr shown = trace.data;
  tellOfDamage();
  m_pages->setCurrentIndex(1);
  m_diagram->setFocus();
  const bool goesOn = m_follower->made(path);
  setWindowTitle((goesOn ? tr("%1 (recording) — Photofinish") : tr("%1 — Photofinish"))
                     .arg(QFileInfo(path).fileName()));
  m_output->clear();
  m_output->setRankCount(static_cast<int>(shown->execution.ranks.size()));
  m_source->closeAll();
  m_diagram->setReplayPositions({});
  m_diagram->setTrace(m_index);
  m_races->setTrace(m_index);
  for (plugins::ViewWidget* view : m_pluginViews) {
    view->setTrace(m_index);
  }
  showCallSites();
  m_session->open(path, std::move(trace));
  m_ranks->model()->setFocusRanks({m_session->currentRank()});
  refreshRanks();
  m_diagram->setGroups(m_session->groups().all());
  m_diagram->setArrangement(m_session->groups().arrangement());
  if (!goesOn) {
    if (shown->failure.event.valid()) {
      selectEvent(shown->failure.event);
    }
    tellOutcome();
    applySession();
    remember(path);
  }
  setActionsEnabled();
}

void MainWindow::say(const QString& text, bool problem) {
  QString line = text;
  line.replace(QLatin1Char('\n'), QLatin1Char(' '));
  if (problem) {
    statusBar()->clearMessage();  // a tip of what the mouse is over
  }
  m_status->setText(line.simplified());
  m_status->setToolTip(text.toHtmlEscaped());
  QPalette colours = palette();
  if (problem) {
    colours.setColor(QPalette::WindowText, QColor(0xD5, 0x5E, 0x00));
  }
  m_status->setPalette(colours);
}

QString MainWindow::statusText() const {
  return m_status->text();
}

void MainWindow::setActionsEnabled() {
  using session::Source;
  const bool open = m_session->isOpen() && m_session->source() == Source::Recording;
  for (QAction* action :
       {m_restart, m_repeat, m_nextReceive, m_deliverNext, m_deliverHere, m_previousEvent,
        m_failing, m_markFailing, m_compare, m_newBreakpoint, m_saveSession}) {
    action->setEnabled(open);
  }
  m_end->setEnabled(m_session->isReplaying());
  m_record->setEnabled(m_recording == nullptr);
  m_lookAtRecording->setEnabled(m_recording != nullptr);
  m_newBreakpoint->setEnabled(open || (m_session->isOpen() && m_session->source() == Source::Job));
  m_mode->setText(m_session->isOpen() && m_session->source() == Source::Cores ? tr(" core files ")
                  : m_session->isOpen() && m_session->source() == Source::Job
                      ? (m_session->isReplaying() ? tr(" attached, no replay ") : tr(" let go "))
                  : !open ? QString()
                  : m_session->isReplaying()
                      ? (m_session->inspector().isAltered() ? tr(" replay, cycle %1, altered ")
                                                            : tr(" replay, cycle %1 "))
                            .arg(m_session->cycles().none() ? 0 : m_session->cycles().last().number)
                      : tr(" recording "));
}

}  // namespace pf::gui
