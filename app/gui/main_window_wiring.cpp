// SPDX-License-Identifier: GPL-3.0-or-later
// Who tells whom: signals of views to the session, and back.
#include <QDockWidget>
#include <QInputDialog>
#include <QMenu>

#include "app/gui/diagram_groups.h"
#include "app/gui/inspection_panes.h"
#include "app/gui/main_window.h"
#include "app/session/records/line_text.h"
#include "views/diagram/space_time_view.h"
#include "views/models/rank_models.h"
#include "views/models/session_models.h"
#include "views/models/variables_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/race_classes_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/session_views.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"
#include "views/trace/trace_text.h"

namespace pf::gui {

using views::SpaceTimeView;

void MainWindow::connectDiagram() {
  connect(m_diagram, &SpaceTimeView::eventSelected, this, [this](const EventRef& event) {
    for (plugins::ViewWidget* view : m_pluginViews) {
      view->setSelectedEvent(event);
    }
    m_ranks->setDiagramGroups(groupsOfEvent(*m_index, event));
    if (event.valid()) {
      const auto partners = m_index->partners(event);
      showSites(event, partners.empty() ? EventRef{} : partners.front());
    }
  });
  connect(m_diagram, &SpaceTimeView::raceSelected, this,
          [this](int race) { m_races->selectRace(race); });
  connect(m_diagram, &SpaceTimeView::alternativeSelected, m_races,
          [this](int race, std::uint32_t message) {
            m_races->selectRace(race);
            m_races->selectMessage(message);
          });
  connect(m_races, &views::RaceListView::alternativeSelected, m_diagram,
          [this](std::uint32_t message) {
            m_diagram->selectRace(m_races->selectedRace());
            m_diagram->chooseAlternative(message);
          });
  connect(m_diagram, &SpaceTimeView::replayToRequested, m_session, &DebugSession::replayTo);
  connect(m_diagram, &SpaceTimeView::breakHereRequested, &m_session->breakpoints(),
          &session::Breakpoints::breakAt);
  connect(m_diagram, &SpaceTimeView::bookmarkRequested, this, [this](const EventRef& event) {
    bool ok = false;
    const QString text = QInputDialog::getText(
        this, tr("Bookmark"), tr("Note for %1:").arg(views::eventTitle(*m_index, event)),
        QLineEdit::Normal, {}, &ok);
    if (ok) {
      m_session->bookmarks().add(event, text);
    }
  });
  connect(m_diagram, &SpaceTimeView::arrangementChanged, &m_session->groups(),
          &session::RankGroups::setArrangement);
  connect(&m_session->groups(), &session::RankGroups::changed, m_diagram,
          [this] { m_diagram->setGroups(m_session->groups().all()); });
  connect(m_races, &views::RaceListView::raceSelected, this, &MainWindow::selectRace);
  connect(m_races, &views::RaceListView::replayToRequested, m_session, &DebugSession::replayTo);
  connect(m_races, &views::RaceListView::eventSelected, this, &MainWindow::selectEvent);
  connect(m_races, &views::RaceListView::sourceRequested, this,
          [this](const EventRef& event) { showSites(event, {}); });
  connectRaceClasses();
}

void MainWindow::connectRaceClasses() {
  views::RaceClassesView* classes = m_races->classes();
  connect(classes, &views::RaceClassesView::benignRequested, this,
          [this](const QString& key, const QString& receive) {
            bool ok = false;
            const QString reason = QInputDialog::getText(
                this, tr("Benign races"),
                tr("Why does it not matter which message %1 takes?").arg(receive),
                QLineEdit::Normal, m_session->benign().notes().value(key), &ok);
            if (ok) {
              m_session->benign().set(key, reason);
            }
          });
  connect(classes, &views::RaceClassesView::notBenignRequested, &m_session->benign(),
          &session::BenignRaces::clear);
  connect(&m_session->benign(), &session::BenignRaces::changed, m_races,
          [this] { m_races->setBenign(m_session->benign().notes()); });
}

void MainWindow::selectEvent(const EventRef& event) {
  m_diagram->selectEvent(event);
  const auto partners =
      m_index != nullptr && event.valid() ? m_index->partners(event) : std::vector<EventRef>();
  showSites(event, partners.empty() ? EventRef{} : partners.front());
}

void MainWindow::selectRace(int race) {
  if (m_index == nullptr || race < 0) {
    return;
  }
  m_diagram->selectRace(race);
  const std::uint32_t taken = m_index->data().races.taken(static_cast<std::size_t>(race));
  const auto& messages = m_index->execution().messages;
  showSites(m_index->raceEvent(static_cast<std::size_t>(race)),
            taken < messages.size() ? EventRef(messages[taken].send) : EventRef{});
}

void MainWindow::showSites(const EventRef& event, const EventRef& other) {
  if (m_index == nullptr || !event.valid()) {
    return;
  }
  if (const CallSite* site = other.valid() ? views::siteOf(*m_index, other) : nullptr;
      site != nullptr && !site->file.empty()) {
    m_source->setOtherEnd(QString::fromStdString(site->file), site->line);
  }
  if (const CallSite* site = views::siteOf(*m_index, event);
      site != nullptr && !site->file.empty()) {
    m_source->showLocation(QString::fromStdString(site->file), site->line);
  }
}

void MainWindow::refreshRanks() {
  m_ranks->model()->setRanks(m_session->rankStates());
  std::vector<values::RankHeader> headers;
  for (const values::RankState& state : m_session->rankStates()) {
    if (state.activity == values::RankActivity::NotStarted) {
      break;
    }
    const bool bad = state.activity == values::RankActivity::Failed ||
                     state.activity == values::RankActivity::Lost;
    headers.push_back(
        {values::activityText(state.activity), bad ? values::Tone::Bad : values::Tone::Muted});
  }
  m_diagram->setRankHeaders(std::move(headers));
  setActionsEnabled();
}

void MainWindow::connectSession() {
  connect(m_session, &DebugSession::message, this, &MainWindow::say);
  connect(m_session, &DebugSession::progress, this, [this](const QString& task) {
    task.isEmpty() ? m_progress->finish() : m_progress->start(task);
  });
  connect(m_progress, &views::ProgressStrip::cancelRequested, m_session, &DebugSession::endReplay);
  connect(m_session, &DebugSession::ranksChanged, this, &MainWindow::refreshRanks);
  connect(&m_session->inspector(), &session::Inspector::alteredChanged, this,
          &MainWindow::setActionsEnabled);
  connect(&m_session->groupRun(), &session::GroupRun::changed, this, [this](const QString& text) {
    if (!text.isEmpty()) {
      say(text, false);
    }
  });
  connect(m_session, &DebugSession::positionsChanged, this, [this](const auto& positions) {
    m_diagram->setReplayPositions(positions);
    for (plugins::ViewWidget* view : m_pluginViews) {
      view->setPositions(positions);
    }
  });
  connect(m_session, &DebugSession::marksChanged, m_diagram,
          [this](const auto& marks) { m_diagram->setMarks(marks); });
  connect(m_session, &DebugSession::output, m_output, &views::OutputView::append);
  connect(&m_session->cycles(), &session::Cycles::changed, this,
          [this] { m_cycles->setCycles(m_session->cycles().all()); });
  connect(m_session, &DebugSession::consoleText, this,
          [this](int rank, const QString& text, bool error) {
            m_console->appendOutput(rank, text,
                                    error ? views::ConsoleText::Error : views::ConsoleText::Output);
          });
  connect(&m_session->inspector(), &session::Inspector::currentRankChanged, this, [this](int rank) {
    m_ranks->setCurrentRank(rank);
    m_console->setRank(rank);
    m_watches->model()->setRanks({rank});
  });
  connect(m_session, &DebugSession::settled, this, [this] {
    m_output->flush();
    refreshRanks();
    if (!m_session->isReplaying()) {
      m_source->setStopLocation({}, 0);
    }
    noteSource();
  });
  connect(m_source, &views::SourceView::currentFileChanged, this, &MainWindow::noteSource);
  connect(m_cycles, &views::CyclesView::stopActivated, m_session, &DebugSession::replayTo);
}

void MainWindow::connectDebugViews() {
  connect(m_ranks, &views::RankStrip::currentRankChanged, m_session, &DebugSession::setCurrentRank);
  connect(m_ranks, &views::RankStrip::focusChanged, &m_session->debuggers(),
          &session::Debuggers::setFocus);
  connect(m_ranks, &views::RankStrip::actionRequested, m_session, &DebugSession::act);
  connect(&m_session->inspector(), &session::Inspector::stackChanged, this,
          [this](int, const QList<values::StackFrame>& frames, int current) {
            m_stack->setFrames(frames, current);
            showFrame(current);
            if (frames.isEmpty()) {
              m_variables->model()->clear();
            }
            m_console->setReady(!frames.isEmpty(), tr("the rank is running, or has no debugger"));
          });
  connect(m_stack, &views::StackView::frameSelected, this, [this](int level) {
    m_session->inspector().selectFrame(level);
    showFrame(level);
  });
  connect(&m_session->inspector(), &session::Inspector::variablesChanged, m_variables->model(),
          &views::VariablesModel::setVariables);
  connect(&m_session->inspector(), &session::Inspector::childrenArrived, m_variables->model(),
          &views::VariablesModel::setChildren);
  connect(m_variables->model(), &views::VariablesModel::expandRequested, &m_session->inspector(),
          &session::Inspector::expand);
  connect(m_variables->model(), &views::VariablesModel::editRequested, &m_session->inspector(),
          &session::Inspector::edit);
  connect(m_variables, &views::VariablesView::watchRequested, this,
          [this](const QString& name) { m_watches->model()->addExpression(name); });
  connect(m_variables, &views::VariablesView::breakOnChangeRequested, this,
          [this](const QString& name) {
            values::Breakpoint watch;
            watch.kind = values::BreakpointKind::Watch;
            watch.expression = name;
            watch.ranks = QString::number(m_session->currentRank());
            m_session->breakpoints().add(watch);
          });
  connect(m_watches, &views::WatchesView::expressionsChanged, &m_session->watches(),
          &session::Watches::set);
  connect(&m_session->watches(), &session::Watches::changed, m_watches->model(),
          &views::WatchesModel::setExpressions);
  connect(&m_session->watches(), &session::Watches::arrived, m_watches->model(),
          &views::WatchesModel::setValues);
  connect(m_console, &views::ConsoleView::commandEntered, this,
          [this](int rank, const QString& line) { m_looking->console(rank, line); });
  connect(m_source, &views::SourceView::hoverRequested, this,
          [this](const QString& expression, const QPoint& at) {
            m_session->inspector().evaluate(
                expression, [this, expression, at](const QString& value) {
                  m_source->showTip(expression + QLatin1String(" = ") + value, at);
                });
          });
  connect(m_source, &views::SourceView::runToLineRequested, this,
          [this](const QString& file, int line) {
            m_session->control().runToLine(file, line, m_ranks->scopeRanks(), m_ranks->scopeName());
          });
  connect(m_source, &views::SourceView::locateSourceRequested, this, &MainWindow::locateSource);
  connect(m_output, &views::OutputView::rankClicked, m_session, &DebugSession::setCurrentRank);
  connect(m_looking, &InspectionPanes::sourceRequested, m_source, &views::SourceView::showLocation);
}

/// The source that is shown may have been changed after the program was built.
void MainWindow::noteSource() {
  m_source->setNotice(session::sourceNotice(
      m_source->currentLocalFile(), QString::fromStdString(m_session->run().program),
      QString::fromStdString(m_session->run().workingDirectory)));
}

void MainWindow::showFrame(int level) {
  for (const values::StackFrame& frame : m_stack->model()->frames()) {
    if (frame.level == level && !frame.file.isEmpty()) {
      m_source->setStopLocation(frame.file, frame.line);
      return;
    }
  }
  m_source->setStopLocation({}, 0);
}

void MainWindow::connectBreakpoints() {
  const auto change = [this](int id, const std::function<void(values::Breakpoint&)>& edit) {
    for (values::Breakpoint breakpoint : m_session->breakpoints().all()) {
      if (breakpoint.id == id) {
        edit(breakpoint);
        m_session->breakpoints().change(breakpoint);
        return;
      }
    }
  };
  connect(m_source, &views::SourceView::breakpointToggled, &m_session->breakpoints(),
          &session::Breakpoints::toggle);
  connect(m_source, &views::SourceView::breakpointMenuRequested, this,
          [this, change](const QString& file, int line, const QPoint& at) {
            QMenu menu(this);
            const values::Breakpoint* here = nullptr;
            const QList<values::Breakpoint> all = m_session->breakpoints().all();
            for (const values::Breakpoint& breakpoint : all) {
              here = breakpoint.file == file && breakpoint.line == line ? &breakpoint : here;
            }
            menu.addAction(here != nullptr ? tr("Remove breakpoint") : tr("Add breakpoint"), this,
                           [this, file, line] { m_session->breakpoints().toggle(file, line); });
            menu.addAction(tr("Condition …"), this,
                           [this, file, line] { editBreakpointAt(file, line); });
            if (here != nullptr) {
              const int id = here->id;
              const bool enabled = here->enabled;
              menu.addAction(enabled ? tr("Disable") : tr("Enable"), this, [change, id, enabled] {
                change(id, [enabled](values::Breakpoint& b) { b.enabled = !enabled; });
              });
            }
            menu.exec(at);
          });
  connect(&m_session->breakpoints(), &session::Breakpoints::changed, this, [this] {
    m_breakpoints->setBreakpoints(m_session->breakpoints().all());
    m_source->setBreakpoints(m_session->breakpoints().all());
  });
  connect(m_breakpoints, &views::BreakpointsView::enableRequested, this, [change](int id, bool on) {
    change(id, [on](values::Breakpoint& b) { b.enabled = on; });
  });
  connect(m_breakpoints, &views::BreakpointsView::conditionEdited, this,
          [change](int id, const QString& text) {
            change(id, [text](values::Breakpoint& b) { b.condition = text; });
          });
  connect(m_breakpoints, &views::BreakpointsView::ignoreCountEdited, this,
          [change](int id, int count) {
            change(id, [count](values::Breakpoint& b) { b.ignoreCount = count; });
          });
  connect(m_breakpoints, &views::BreakpointsView::ranksEdited, this,
          [change](int id, const QString& ranks) {
            change(id, [ranks](values::Breakpoint& b) { b.ranks = ranks; });
          });
  connect(m_breakpoints, &views::BreakpointsView::removeRequested, &m_session->breakpoints(),
          &session::Breakpoints::remove);
  connect(m_breakpoints, &views::BreakpointsView::showRequested, this,
          [this](const values::Breakpoint& breakpoint) {
            breakpoint.event.valid() ? selectEvent(breakpoint.event)
                                     : m_source->showLocation(breakpoint.file, breakpoint.line);
          });
}

void MainWindow::editBreakpointAt(const QString& file, int line) {
  bool ok = false;
  values::Breakpoint breakpoint;
  breakpoint.file = file;
  breakpoint.line = line;
  for (const values::Breakpoint& known : m_session->breakpoints().all()) {
    if (known.file == file && known.line == line) {
      breakpoint = known;
    }
  }
  const QString condition = QInputDialog::getText(
      this, tr("Breakpoint condition"),
      tr("Stop at %1:%2 only if:").arg(file.section(QLatin1Char('/'), -1)).arg(line),
      QLineEdit::Normal, breakpoint.condition, &ok);
  if (!ok) {
    return;
  }
  breakpoint.condition = condition;
  breakpoint.id == 0 ? m_session->breakpoints().add(breakpoint)
                     : m_session->breakpoints().change(breakpoint);
}

}  // namespace pf::gui
