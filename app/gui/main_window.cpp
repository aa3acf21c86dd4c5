// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QMenuBar>
#include <QSettings>
#include <QSplitter>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <QWhatsThis>

#include "app/collation/printed_text.h"
#include "app/gui/commands/attach_dialog.h"
#include "app/gui/commands/breakpoint_actions.h"
#include "app/gui/commands/command.h"
#include "app/gui/commands/compare_action.h"
#include "app/gui/commands/compare_window.h"
#include "app/gui/commands/gdb_choice.h"
#include "app/gui/commands/key_bindings.h"
#include "app/gui/commands/order_actions.h"
#include "app/gui/commands/part_actions.h"
#include "app/gui/commands/plugin_commands.h"
#include "app/gui/commands/plugins_dialog.h"
#include "app/gui/commands/replay_actions.h"
#include "app/gui/commands/take_over.h"
#include "app/gui/commands/transcripts_action.h"
#include "app/gui/opening.h"
#include "app/gui/panes/debug_panes.h"
#include "app/gui/panes/failure_banner.h"
#include "app/gui/panes/inspection_panes.h"
#include "app/gui/panes/manual.h"
#include "app/gui/panes/matrix_frames.h"
#include "app/gui/panes/pane_actions.h"
#include "app/gui/panes/pane_export.h"
#include "app/gui/panes/pane_help.h"
#include "app/gui/panes/run_tree_pane.h"
#include "app/gui/panes/shown_trace.h"
#include "app/gui/panes/start_page.h"
#include "app/gui/panes/status_line.h"
#include "app/gui/panes/time_travel_bar.h"
#include "app/gui/panes/window_docks.h"
#include "app/gui/panes/workspaces.h"
#include "app/gui/recording/follow_action.h"
#include "app/gui/recording/peek_directory.h"
#include "app/gui/recording/recording_desk.h"
#include "app/gui/recording/tutorial_window.h"
#include "app/gui/session_files.h"
#include "app/recording/record.h"
#include "app/session/inspection/standing_calls.h"
#include "views/diagram/diagram_export.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/panes/action_tips.h"
#include "views/panes/icons.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"
#include "views/values/text.h"

namespace pf::gui {
namespace {

const QString kPhysicalAxis = QStringLiteral("diagram/physical");
const QString kGeometry = QStringLiteral("window/geometry");

QWidget* underBanners(const QList<FailureBanner*>& banners, QWidget* centre) {
  auto* const whole = new QWidget;
  auto* const column = new QVBoxLayout(whole);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  for (FailureBanner* const banner : banners) {
    column->addWidget(banner);
  }
  column->addWidget(centre, 1);
  return whole;
}

QSplitter* makeCentre(const WindowViews& views) {
  auto* split = new QSplitter(Qt::Vertical);
  split->setObjectName(QStringLiteral("centre"));
  split->addWidget(views.diagram);
  split->addWidget(views.source);
  split->setStretchFactor(1, 1);
  split->setChildrenCollapsible(false);
  return split;
}

/// Of a run that is opened: by how it failed.
Workspace fittingTo(const LoadedTrace& trace) {
  const auto failed = app::whatFailed(trace.ranks, trace.run.exitStatus);
  return failed && failed->hangs ? Workspace::Hang : Workspace::Races;
}

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      m_session(new DebugSession(this)),
      m_views(makeWindowViews()),
      m_centre(makeCentre(m_views)),
      m_banner(new FailureBanner),
      m_divergence(new FailureBanner),
      m_pages(new StartPage(underBanners({m_banner, m_divergence}, m_centre))),
      m_status(new StatusLine(*this)) {
  setObjectName(QStringLiteral("MainWindow"));
  setWindowTitle(tr("Photofinish"));
  setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
  setCentralWidget(m_pages);
  makeParts();
  makeMenus();
  connectSession();
  connectWorkspaces();
  connectOpening();
  connectRecording();
  connectFollowing();
  connectFiles();
  connectOrders();
  m_session->breakpoints().stopAtAborts();
  m_workspaces->showNone();
  restoreGeometry(QSettings().value(kGeometry).toByteArray());
  m_views.diagram->setAxis(QSettings().value(kPhysicalAxis).toBool() ? views::TimeAxis::Physical
                                                                     : views::TimeAxis::Logical);
  refreshActions();
  m_keys = new KeyBindings(this);
  if (const std::size_t refused = m_docks->registry().refused().size(); refused > 0) {
    say(tr("%1 not loaded: Tools, Plugins … says why.")
            .arg(values::counted(refused, tr("plugin was"), tr("plugins were"))),
        true);
  }
}

/// What the session still says is for parts that are there: panes go in an order of Qt's.
MainWindow::~MainWindow() {
  delete m_session;
}

void MainWindow::makeParts() {
  m_docks = new WindowDocks(*this, m_views, *m_session);
  connect(&m_docks->plugins(), &PluginPanes::said, this, &MainWindow::say);
  m_workspaces = new Workspaces(*this, *m_centre, *m_docks);
  m_shown = new ShownTrace(*this, m_views, *m_docks, *m_session);
  m_panes = new DebugPanes(*this, m_views, m_docks->inspection(), *m_session);
  m_breakpoints = new BreakpointActions(*this, m_views, *m_shown, *m_session);
  m_replay = new ReplayActions(*this, m_views, *m_shown, *m_session);
  m_part = new PartActions(*this, m_views, *m_session);
  m_docks->matrix().setRankCommands(
      [this](QMenu& menu, const QList<int>& ranks) { m_part->addTo(menu, ranks); });
  m_recording = new RecordingDesk(*this, m_status->recording());
  m_tutorial = makeTutorial(*this, *m_recording);
  m_follow = new FollowAction(*this);
  m_files = new SessionFiles(
      {*this, *m_workspaces, m_views, *m_shown, m_docks->inspection(), *m_session});
  m_compare = new CompareAction(*this, *m_shown, *m_status, *m_session);
  m_orders = new OrderActions(*this, m_views, *m_shown, *m_status);
  m_opening = new Opening(this);
  m_plugins = new PluginCommands(*this, *m_shown, m_docks->registry(),
                                 [this](const QString& text, bool problem) { say(text, problem); });
}

bool MainWindow::showPane(const QString& name) {
  QDockWidget* const dock = m_docks->find(name);
  if (dock != nullptr) {
    goToPane(*dock);
  }
  return dock != nullptr;
}

const plugins::Registry& MainWindow::plugins() const {
  return m_docks->registry();
}

InspectionPanes& MainWindow::looking() {
  return m_docks->inspection();
}

RecordingFollower& MainWindow::follower() {
  return m_follow->follower();
}

// -- menus

void MainWindow::makeMenus() {
  makeFileMenu();
  makeToolBars();
  QMenu* replay = menuBar()->addMenu(tr("&Replay"));
  QMenu* debug = menuBar()->addMenu(tr("&Debug"));
  for (const values::RankAction action :
       {values::RankAction::Continue, values::RankAction::Pause, values::RankAction::Next,
        values::RankAction::Step, values::RankAction::Finish}) {
    debug->addAction(m_views.ranks->action(action));
  }
  debug->addSeparator();
  debug->addActions({m_views.source->toggleBreakpointAction(), m_views.source->runToLineAction(),
                     m_views.diagram->action(views::DiagramAction::BreakHere),
                     m_breakpoints->newBreakpoint()});
  m_replay->addTo(*replay, *debug);
  replay->addSeparator();
  replay->addActions(m_part->actions());
  replay->addSeparator();
  replay->addActions({m_views.races->takeInsteadAction(), m_orders->blameAction()});
  m_replay->needsRecording(m_orders->blameAction());
  makeViewMenu();
  makeToolsMenu();
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  help->addActions({m_tutorial, makeManual(*this)});
  help->addAction(makePaneHelp(*this));
  help->addAction(QWhatsThis::createAction(this));
  help->addSeparator();
  help->addAction(makeAbout(*this));
}

void MainWindow::makeFileMenu() {
  m_open = makeCommand(*this, tr("&Open trace …"), tr("Open a recorded run"),
                       views::icon(views::Icon::Open), QKeySequence::Open, [this] { askTrace(); });
  m_openCores = makeCommand(*this, tr("Open co&re files …"),
                            tr("Look at what ranks left behind that crashed"), {}, {},
                            [this] { askCores(); });
  m_attach = makeCommand(*this, tr("&Attach to a running job …"),
                         tr("Debug ranks of a job that runs; none is stopped before it is ticked"),
                         {}, {}, [this] { askJob(*this, [this](qint64 pid) { attachTo(pid); }); });
  QAction* saveSession = makeCommand(
      *this, tr("Save se&ssion …"),
      tr("Keep program, breakpoints, groups, watches and layout in a file that opens by a double "
         "click"),
      views::icon(views::Icon::Save), {}, [this] { m_files->ask(); });
  m_replay->needsRecording(saveSession);
  m_replay->needsRecording(m_compare->action());
  QMenu* file = menuBar()->addMenu(tr("&File"));
  file->addActions(
      {m_open, m_recording->recordAction(), m_recording->lookAction(), m_follow->action()});
  file->addMenu(m_pages->makeRecentMenu(*this));
  file->addActions({saveSession, m_compare->action()});
  file->addSeparator();
  file->addActions({m_openCores, m_attach, m_recording->exampleAction()});
  file->addSeparator();
  file->addAction(makeCommand(*this, tr("E&xport diagram …"), tr("Write the diagram as PNG or SVG"),
                              views::icon(views::Icon::Save), {}, [this] { exportDiagram(); }));
  file->addAction(m_plugins->exportAction());
  const auto said = [this](const QString& text, bool problem) { say(text, problem); };
  file->addMenu(tr("Export &pane"))
      ->addActions(makeExportActions(*this, {m_docks->all().begin(), m_docks->all().end()}, said));
  file->addAction(makeTranscriptsAction(*this, *m_shown, *m_session, said));
  file->addSeparator();
  file->addAction(makeCommand(*this, tr("&Quit"), tr("Close the window; a recording goes on"), {},
                              QKeySequence::Quit, [this] { close(); }));
}

void MainWindow::makeToolBars() {
  QToolBar* bar = addToolBar(tr("Session"));
  bar->setObjectName(QStringLiteral("sessionBar"));
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  bar->setIconSize({18, 18});
  bar->addActions({m_open, m_recording->recordAction()});
  bar->addSeparator();
  m_replay->addTo(*bar);
  bar->addSeparator();
  bar->addActions(m_workspaces->actions());
  bar->addWidget(m_docks->makeMoreButton());
  addToolBarBreak();
  m_travel = new TimeTravelBar(m_replay->ways(), *m_session);
  addToolBar(m_travel);
  m_workspaces->setBar(m_travel);
  m_pages->offer(m_recording->exampleAction(), views::icon(views::Icon::Continue),
                 tr("Try the example"),
                 tr("Records the bundled program until a run of it fails, and opens that run. Half "
                    "a minute at most."));
  m_pages->offer(
      m_tutorial, views::icon(views::Icon::Bookmark), tr("Tutorial"),
      tr("Eight small programs with a bug each, in C, C++, Fortran and Python: an hour."));
  m_pages->offer(m_recording->recordAction(), views::icon(views::Icon::Record),
                 tr("Record a run …"),
                 tr("Program, ranks and arguments as you type them anyway; until one fails; with "
                    "delays (jitter)."));
  m_pages->offer(m_open, views::icon(views::Icon::Open), tr("Open a trace or a session …"),
                 tr("What was recorded before, here or by somebody else."));
  m_pages->offer(m_attach, views::icon(views::Icon::Partner), tr("Attach to a running job …"),
                 tr("A job that hangs now: the stacks of all its ranks, a GDB on those that you "
                    "tick."));
  m_pages->offer(m_openCores, views::icon(views::Icon::Stop), tr("Open core files …"),
                 tr("What ranks left behind that crashed."));
}

void MainWindow::makeViewMenu() {
  using enum views::DiagramAction;
  views::SpaceTimeView* diagram = m_views.diagram;
  QMenu* view = menuBar()->addMenu(tr("&View"));
  view->addActions(diagram->viewActions());
  view->addSeparator();
  view->addActions({diagram->action(NextRace), diagram->action(PreviousRace),
                    diagram->action(Partner), diagram->action(Cone), diagram->action(Bookmark),
                    diagram->action(Contents)});
  view->addActions({diagram->action(NextAlternative), diagram->action(PreviousAlternative)});
  view->addActions(diagram->searchActions());
  view->addMenu(tr("&Ranks shown"))->addActions(diagram->rankActions());
  view->addSeparator();
  view->addActions({m_views.source->findAction(), m_views.source->goToLineAction(),
                    m_views.races->findAction()});
  view->addSeparator();
  view->addActions(m_workspaces->actions());
  view->addAction(m_workspaces->resetAction());
  view->addMenu(tr("&Go to pane"))
      ->addActions(makePaneActions(*this, *diagram, *m_views.source, m_docks->all()));
  QMenu* shown = view->addMenu(tr("&Panes shown"));
  for (QDockWidget* dock : m_docks->all()) {
    shown->addAction(dock->toggleViewAction());
  }
}

void MainWindow::makeToolsMenu() {
  QMenu* tools = menuBar()->addMenu(tr("&Tools"));
  tools->addAction(makeCommand(
      *this, tr("&Command palette …"), tr("Find a command by some letters of its name"), {},
      QKeySequence(tr("Ctrl+Shift+P")), [this] { (new CommandPalette(*m_keys, this))->show(); }));
  tools->addAction(makeCommand(*this, tr("&Keys …"), tr("Choose the keys of every command"), {}, {},
                               [this] { KeysDialog(*m_keys, this).exec(); }));
  tools->addAction(makeCommand(*this, tr("&GDB …"), tr("Choose another GDB"), {}, {}, [this] {
    if (const QString text = chooseGdb(this); !text.isEmpty()) {
      say(text, true);
    }
  }));
  if (const QString problem = takeChosenGdb(); !problem.isEmpty()) {
    say(problem, true);
  }
  tools->addAction(makeCommand(*this, tr("&Plugins …"),
                               tr("Which plugins were loaded, which were refused, and why"), {}, {},
                               [this] { PluginsDialog(m_docks->registry(), this).exec(); }));
  if (!m_plugins->commands().isEmpty()) {
    tools->addMenu(tr("Co&mmands of plugins"))->addActions(m_plugins->commands());
  }
}

void MainWindow::refreshActions() {
  m_replay->refresh();
  refreshOthers();
}

void MainWindow::refreshOthers() {
  m_part->refresh();
  views::setWhyNot(*m_breakpoints->newBreakpoint(),
                   !m_session->isOpen() ? tr("No trace is open.")
                   : m_session->source() == session::Source::Cores
                       ? tr("Core files can only be looked at: nothing runs.")
                       : QString());
  m_status->showMode(*m_session);
}

// -- who tells the window what

void MainWindow::connectSession() {
  connect(m_session, &DebugSession::message, this, &MainWindow::say);
  connect(m_session, &DebugSession::stopTold, this,
          [this](const QString& text) { say(text, false); });
  connect(m_session, &DebugSession::progress, this, [this](const QString& task) {
    task.isEmpty() ? m_status->progress().finish() : m_status->progress().start(task);
  });
  connect(&m_status->progress(), &views::ProgressStrip::cancelRequested, m_session,
          &DebugSession::endReplay);
  connect(m_session, &DebugSession::ranksChanged, this, [this] {
    m_replay->refreshSoon();
    refreshOthers();
  });
  connect(&m_session->standingCalls(), &session::StandingCalls::changed, this,
          [this] { m_shown->renewUnrecorded(views::makeIndex(m_session->trace())); });
  connect(m_session, &DebugSession::settled, this, &MainWindow::refreshActions);
  connect(m_session, &DebugSession::snapshotsChanged, this, &MainWindow::refreshActions);
  connect(&m_session->inspector(), &session::Inspector::alteredChanged, this,
          &MainWindow::refreshActions);
  connect(&m_session->groupRun(), &session::GroupRun::changed, this,
          [this, last = QString()](const QString& text) mutable {
            // What has been said since stays.
            if (!text.isEmpty() || statusText() == last) {
              say(text, false);
            }
            last = text;
          });
  connect(m_shown, &ShownTrace::damaged, this, [this](const QString& text) { say(text, true); });
  connect(m_replay, &ReplayActions::said, this, &MainWindow::say);
  connect(m_part, &PartActions::said, this, &MainWindow::say);
}

void MainWindow::connectWorkspaces() {
  connect(&m_session->cycles(), &session::Cycles::changed, this, &MainWindow::noteCycle);
  m_divergence->setObjectName(QStringLiteral("divergenceBanner"));
  connect(m_session, &DebugSession::diverged, m_divergence, &FailureBanner::showDivergence);
  connect(m_divergence, &FailureBanner::eventWanted, m_shown, &ShownTrace::selectEvent);
  connect(m_session, &DebugSession::stalled, this,
          [this] { m_workspaces->suggest(Workspace::Hang); });
}

/// A cycle that begins is looked at in the source.
void MainWindow::noteCycle() {
  const int last = m_session->cycles().lastNumber();
  const bool begins = m_session->source() == session::Source::Recording &&
                      m_session->isReplaying() && last > m_cycle;
  m_cycle = last;
  if (begins) {
    m_divergence->clear();
    m_workspaces->suggest(Workspace::Debug);
  }
}

void MainWindow::connectOpening() {
  connect(m_opening, &Opening::working, this,
          [this](const QString& on) { m_status->progress().start(on, false); });
  connect(m_opening, &Opening::outlined, this,
          [this](const QString& path, const views::TraceIndexPtr& outline) {
            if (!m_session->isOpen() && m_shown->index() == nullptr) {
              m_status->progress().start(
                  tr("Reading the events of %1 …").arg(QFileInfo(path).fileName()), false);
              m_views.diagram->setTrace(outline);
              m_views.diagram->show();
              m_pages->showCentre();
            }
          });
  connect(m_opening, &Opening::traceOpened, this,
          [this](const QString& path, const LoadedTrace& trace, const views::TraceIndexPtr& index) {
            m_status->progress().finish();
            showTrace(path, trace, index);
            openAgain(path);
            Q_EMIT opened(true);
          });
  connect(m_opening, &Opening::traceFailed, this, [this](const QString& path, const Error& error) {
    m_status->progress().finish();
    if (!m_session->isOpen() && m_shown->index() == nullptr) {
      m_views.diagram->setTrace(nullptr);
      m_pages->showRecent();
    }
    say(QString::fromStdString(error.text()), true);
    if (error.code == ErrorCode::Usage) {
      openAgain(path);
    }
    Q_EMIT opened(false);
  });
  connect(m_opening, &Opening::failed, this, [this](const Error& error) {
    say(QString::fromStdString(error.text()), true);
    Q_EMIT opened(false);
  });
  connect(m_opening, &Opening::coresFound, this, [this](const session::UnrecordedRanks& cores) {
    m_status->progress().finish();  // of a trace that is not waited for any more
    m_session->openCores(cores.ranks);
    showUnrecorded(cores.title);
    say(cores.note.isEmpty() ? tr("Core files: stacks and values can be looked at; nothing runs.")
                             : cores.note,
        !cores.note.isEmpty());
    Q_EMIT opened(true);
  });
  connect(m_opening, &Opening::jobFound, this, [this](const session::UnrecordedRanks& job) {
    m_status->progress().finish();  // of a trace that is not waited for any more
    m_session->attachTo(job.title, job.ranks);
    const QString told = statusText();
    showUnrecorded(tr("%1: %2").arg(job.title, job.about));
    say(told, false);
    Q_EMIT opened(true);
  });
}

void MainWindow::connectRecording() {
  connect(m_recording, &RecordingDesk::begun, this, [this](const QString& trace, bool follow) {
    if (m_pages->isShown()) {
      m_docks->showPane("output");
    }
    if (follow) {
      followRecording(trace);
    }
  });
  connect(m_recording, &RecordingDesk::printed, this, [this](const QByteArray& text) {
    Q_EMIT m_session->output(-1, values::OutputStream::Out, text);
  });
  connect(m_recording, &RecordingDesk::recorded, this,
          [this](const QString& trace, const QStringList& command, const QString& input) {
            m_banner->clear();
            m_files->recorded(trace, command, input);
            if (follower().trace() != trace) {  // else it takes the place of what is shown
              openTrace(trace);
            }
          });
  connect(m_recording, &RecordingDesk::foundFailing, this, [this](const QString& good) {
    if (!good.isEmpty()) {  // once the one that failed is shown
      connect(
          this, &MainWindow::opened, this,
          [this, good](bool shown) {
            if (shown) {
              compareWith(good);
            }
          },
          Qt::SingleShotConnection);
    }
  });
  connect(m_recording, &RecordingDesk::noneFailed, this, [this](int runs) {
    connect(
        this, &MainWindow::opened, this,
        [this, runs] {
          say(tr("No run of at most %1 failed: this is the last one. Delays (jitter) of other "
                 "seeds, more runs or a check may find one.")
                  .arg(runs),
              false);
        },
        Qt::SingleShotConnection);
  });
  connect(m_recording, &RecordingDesk::stuck, this, [this](const QString& why) {
    m_banner->showStuck(why);
    m_docks->showPane("output");
    say(tr("The program that is recorded makes no progress: %1.").arg(why), true);
  });
  connect(m_banner, &FailureBanner::endWanted, m_recording, &RecordingDesk::endNow);
  connect(m_recording, &RecordingDesk::failed, this, [this](const QString& trace, int status) {
    m_banner->clear();
    if (follower().trace() == trace) {
      m_follow->stop();
    }
    say(tr("Nothing was recorded (status %1); the output pane says why.").arg(status), true);
  });
  connect(m_recording, &RecordingDesk::madeSoFar, this, &MainWindow::openTrace);
  connect(m_recording, &RecordingDesk::problem, this,
          [this](const QString& text) { say(text, true); });
}

void MainWindow::connectFollowing() {
  statusBar()->addPermanentWidget(m_follow->label());
  m_follow->setOwn([this] { return m_recording->trace(); });
  m_follow->setShown([this] { return m_shown->path(); });
  follower().setMayShow([this] {
    return !m_session->isReplaying() && m_session->cycles().isKept() &&
           QApplication::mouseButtons() == Qt::NoButton &&
           QApplication::activePopupWidget() == nullptr;
  });
  follower().setWantsPhysical(
      [this] { return m_views.diagram->wantedAxis() == views::TimeAxis::Physical; });
  connect(m_follow, &FollowAction::said, this, &MainWindow::say);
  connect(&follower(), &RecordingFollower::newer, this,
          [this](const RecordingFollower::VersionPtr& version) {
            const QString path = m_shown->path();
            const bool known =
                m_session->isOpen() && version->carriedFrom == path && !path.isEmpty();
            if (known && m_session->renew(version->path, version->trace, version->carried,
                                          version->sameIds)) {
              m_shown->renew(version->path, version->index, version->physical);
              showNewer(version->path, version->trace, version->last);
            } else {
              showTrace(version->path, version->trace, version->index);
              Q_EMIT opened(true);
            }
          });
}

void MainWindow::connectFiles() {
  connect(m_pages, &StartPage::chosen, this, &MainWindow::openPath);
  connect(m_files, &SessionFiles::traceWanted, this, &MainWindow::openTrace);
  connect(m_files, &SessionFiles::notOpened, this, [this] { Q_EMIT opened(false); });
  connect(m_files, &SessionFiles::said, this, &MainWindow::say);
  connect(m_files, &SessionFiles::used, m_pages, &StartPage::remember);
  connect(m_compare, &CompareAction::compared, this, &MainWindow::compared);
  connect(m_banner, &FailureBanner::failureWanted, this,
          [this] { m_session->go(session::Move::Failure); });
  connect(m_banner, &FailureBanner::raceWanted, this, [this](int race) {
    m_workspaces->suggest(Workspace::Races);
    m_docks->showPane("races");
    m_shown->selectRace(race);
    m_views.diagram->setFocus();  // Return replays to what is selected there
  });
  connect(m_banner, &FailureBanner::raceFound, m_views.races, [this](int race) {
    if (m_views.races->selectedRace() < 0) {  // explained, but not gone to
      m_views.races->selectRace(race);
    }
  });
  connect(m_banner, &FailureBanner::placeWanted, m_shown, &ShownTrace::showPrintedPlace);
  connect(m_banner, &FailureBanner::waitsWanted, this, [this] {
    m_workspaces->suggest(Workspace::Hang);
    m_docks->showWaits();
  });
}

/// The new run stands beside the one that it comes from; who is to blame is shown in the diagram.
void MainWindow::connectOrders() {
  connect(m_orders, &OrderActions::flipped, this, [this](const QString& trace) {
    if (!trace.isEmpty()) {
      m_pages->remember(trace);
      m_docks->runs().refresh();
      compareWith(trace);
    }
  });
  connect(&m_docks->runs(), &RunTreePane::openWanted, this, &MainWindow::openTrace);
  connect(&m_docks->runs(), &RunTreePane::comparisonWanted, this, &MainWindow::compareWith);
  connect(m_orders, &OrderActions::blamed, this,
          [this](const QString& sentence, const EventRef& receive) {
            if (!sentence.isEmpty() && receive.valid()) {
              m_docks->runs().refresh();
              m_session->bookmarks().add(receive, sentence);
              m_workspaces->suggest(Workspace::Races);
              m_shown->selectEvent(receive);
            }
          });
  connect(m_banner, &FailureBanner::blameWanted, m_orders, &OrderActions::blame);
}

// -- opening

void MainWindow::openPath(const QString& path) {
  path.endsWith(QLatin1String(".pfs")) ? openSession(path) : openTrace(path);
}

void MainWindow::openSession(const QString& path) {
  m_files->open(path);
}

bool MainWindow::saveSession(const QString& path) {
  return m_files->save(path);
}

void MainWindow::openTrace(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  if (!QFileInfo::exists(absolute) && app::recordingNow(absolute.toStdString()).recorder) {
    followRecording(absolute);
    return;
  }
  m_follow->stop();
  m_opening->openTrace(absolute);
}

/// Once the user has taken it over, where it is somebody else's.
void MainWindow::openAgain(const QString& path) {
  askToTakeOver(this, path, [this, path] { openTrace(path); });
}

void MainWindow::followRecording(const QString& trace) {
  m_follow->follow(trace);
}

void MainWindow::openCores(const QStringList& files, const QString& program) {
  m_opening->openCores(files, program);
}

void MainWindow::attachTo(qint64 pid) {
  m_opening->openJob(pid);
}

void MainWindow::showTrace(const QString& path, const LoadedTrace& trace,
                           views::TraceIndexPtr index) {
  if (!index || index->dataPtr() != trace.data) {
    index = views::makeIndex(trace.data);
  }
  m_pages->showCentre();
  m_banner->clear();
  m_divergence->clear();
  const bool goesOn = follower().made(path);
  setWindowTitle((goesOn ? tr("%1 (recording) — Photofinish") : tr("%1 — Photofinish"))
                     .arg(QFileInfo(path).fileName()));
  if (goesOn && m_workspaces->current()) {  // maybe a newer version of what is there
    m_workspaces->suggest(Workspace::Races);
  } else {
    m_workspaces->opened(goesOn ? Workspace::Races : fittingTo(trace));
  }
  m_shown->show(path, index);
  m_session->open(path, trace);
  m_views.ranks->model()->setFocusRanks({m_session->currentRank()});
  m_panes->refreshRanks();
  looking().refresh();
  m_views.diagram->setGroups(m_session->groups().all());
  m_views.diagram->setArrangement(m_session->groups().arrangement());
  if (!goesOn) {
    if (const EventRef failing = index->data().failure.event; failing.valid()) {
      m_shown->selectEvent(failing);
    }
    say(m_shown->outcome(), false);
    showBanner(trace);
    m_panes->showPrinted(trace.printed);
    m_part->restore();
    m_files->apply();
    m_pages->remember(path);
  }
  refreshActions();
}

void MainWindow::showBanner(const LoadedTrace& trace) {
  m_banner->showRun(app::whatFailed(trace.ranks, trace.run.exitStatus),
                    app::lastPrinted(trace.printed), m_shown->index());
}

/// The session has it already. `last`: the recording is over.
void MainWindow::showNewer(const QString& path, const LoadedTrace& trace, bool last) {
  m_panes->refreshRanks();
  if (last) {
    m_workspaces->suggest(fittingTo(trace));
    setWindowTitle(tr("%1 — Photofinish").arg(QFileInfo(path).fileName()));
    say(m_shown->outcome(), false);
    showBanner(trace);
    if (m_views.output->text().isEmpty()) {  // else it was recorded here
      m_panes->showPrinted(trace.printed);
    }
    m_files->apply();
    m_pages->remember(path);
  }
  refreshActions();
}

void MainWindow::showUnrecorded(const QString& title) {
  m_pages->showCentre();
  m_banner->clear();
  m_divergence->clear();
  setWindowTitle(tr("%1 — Photofinish").arg(title));
  m_workspaces->opened(Workspace::Debug);
  m_shown->showUnrecorded(views::makeIndex(m_session->trace()));
  m_panes->refreshRanks();
  refreshActions();
}

void MainWindow::askTrace() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open trace or session"), QFileInfo(m_shown->path()).absolutePath(),
      tr("Traces and sessions (*.pft *.pfs);;All files (*)"));
  if (!path.isEmpty()) {
    openPath(path);
  }
}

void MainWindow::askCores() {
  const QStringList files = QFileDialog::getOpenFileNames(
      this, tr("Open core files, one a rank"), QFileInfo(m_shown->path()).absolutePath(),
      tr("Core files (core core.* *.core);;All files (*)"));
  if (!files.isEmpty()) {
    openCores(files, {});
  }
}

/// A key whose command cannot be done now says why.
void MainWindow::keyPressEvent(QKeyEvent* event) {
  const QKeySequence pressed(event->keyCombination());
  for (const QAction* action : findChildren<QAction*>()) {
    if (action->shortcut() == pressed && !views::whyNot(*action).isEmpty()) {
      const bool comes = !m_session->isOpen() && !m_status->progress().task().isEmpty();
      say(comes ? tr("The trace is not open yet.") : views::whyNot(*action), false);
      return;
    }
  }
  QMainWindow::keyPressEvent(event);
}

// -- comparing, exporting

void MainWindow::compareWith(const QString& path) {
  m_compare->compareWith(path);
}

void MainWindow::exportDiagram() {
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export diagram"), QStringLiteral("diagram.svg"), tr("Pictures (*.svg *.png)"));
  QString error;
  if (!path.isEmpty() &&
      !views::exportDiagram(*m_views.diagram, path, m_views.diagram->size(), &error)) {
    say(error, true);
  }
}

void MainWindow::say(const QString& text, bool problem) {
  m_status->say(text, problem);
}

QString MainWindow::statusText() const {
  return m_status->text();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  m_workspaces->keep();
  QSettings().setValue(kGeometry, saveGeometry());
  QSettings().setValue(kPhysicalAxis, m_views.diagram->wantedAxis() == views::TimeAxis::Physical);
  m_recording->letGo();
  m_follow->stop();
  m_session->endReplay();
  event->accept();
}

}  // namespace pf::gui

#include "moc_main_window.cpp"
