// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/panes/shown_trace.h"

#include <algorithm>

#include <QCoreApplication>
#include <QFileDialog>
#include <QInputDialog>
#include <QPointer>

#include "app/gui/panes/contents_pane.h"
#include "app/gui/panes/diagram_groups.h"
#include "app/gui/panes/matrix_frames.h"
#include "app/gui/panes/run_tree_pane.h"
#include "app/gui/panes/window_docks.h"
#include "app/session/debug_session.h"
#include "views/diagram/space_time_view.h"
#include "views/models/watches_model.h"
#include "views/panes/debug_views.h"
#include "views/panes/race_classes_view.h"
#include "views/panes/race_list_view.h"
#include "views/panes/rank_strip.h"
#include "views/panes/source_view.h"
#include "views/panes/text_views.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/trace/analyses/trace_text.h"
#include "views/values/text.h"

namespace pf::gui {

using session::DebugSession;
using views::RaceListView;
using views::SpaceTimeView;

ShownTrace::ShownTrace(QWidget& window, const WindowViews& views, WindowDocks& docks,
                       DebugSession& session)
    : QObject(&window), m_window(window), m_views(views), m_docks(docks), m_session(session) {
  connectDiagram();
  connectRaces();
  connect(&m_docks.plugins(), &PluginPanes::eventSelected, this, &ShownTrace::selectEvent);
  connect(&m_docks.plugins(), &PluginPanes::replayToRequested, &m_session, &DebugSession::replayTo);
  connect(&m_session, &DebugSession::marksChanged, m_views.races,
          [this] { m_views.races->setFailing(m_session.bookmarks().failing()); });
  connect(&m_session, &DebugSession::positionsChanged, this, [this](const auto& positions) {
    m_views.diagram->setReplayPositions(positions);
    m_docks.plugins().setPositions(positions);
  });
}

void ShownTrace::setEverywhere(const QString& path, const views::TraceIndexPtr& index) {
  m_path = path;
  m_index = index;
  m_views.watches->model()->forgetValues();
  m_views.output->clear();
  m_views.output->setRankCount(static_cast<int>(index->execution().ranks.size()));
  m_views.source->closeAll();
  m_views.diagram->setReplayPositions({});
  m_views.diagram->setTrace(index);
  m_docks.plugins().setTrace(path, index);  // before the races, of which judges are asked
  m_views.races->setTrace(index);
  m_docks.contents().setTrace(path, index);
  m_docks.matrix().setTrace(path);
  m_docks.runs().setTrace(path);
}

void ShownTrace::show(const QString& path, const views::TraceIndexPtr& index) {
  m_views.diagram->show();
  m_views.diagram->setFocus();
  setEverywhere(path, index);
  watchForDamage();
  showCallSites();
}

void ShownTrace::showUnrecorded(const views::TraceIndexPtr& index) {
  setEverywhere({}, index);
  m_views.diagram->hide();
}

void ShownTrace::renewUnrecorded(const views::TraceIndexPtr& index) {
  m_index = index;
  m_docks.plugins().renewTrace({}, index, {});
}

void ShownTrace::renew(const QString& path, const views::TraceIndexPtr& index,
                       const views::TraceIndexPtr& physical) {
  m_path = path;
  m_index = index;
  const EventRef selected = m_views.diagram->selectedEvent();
  m_views.diagram->renewTrace(index, physical);
  m_docks.plugins().renewTrace(path, index, selected);
  m_views.races->renewTrace(index);
  m_docks.contents().setTrace(path, index);
  m_docks.matrix().renew(path);
  watchForDamage();
  showCallSites();
}

void ShownTrace::connectDiagram() {
  SpaceTimeView* diagram = m_views.diagram;
  connect(diagram, &SpaceTimeView::eventSelected, this, [this](const EventRef& event) {
    m_docks.plugins().setSelected(event);
    m_docks.contents().select(event);
    m_views.ranks->setDiagramGroups(groupsOfEvent(*m_index, event));
    if (event.valid()) {
      const auto partners = partnersOf(*m_index, event);
      showSites(event, partners.empty() ? EventRef{} : partners.front());
    }
  });
  connect(diagram, &SpaceTimeView::raceSelected, this,
          [this](int race) { m_views.races->selectRace(race); });
  connect(diagram, &SpaceTimeView::alternativeSelected, m_views.races,
          [this](int race, std::uint32_t message) {
            m_views.races->selectRace(race);
            m_views.races->selectMessage(message);
          });
  connect(diagram, &SpaceTimeView::replayToRequested, &m_session, &DebugSession::replayTo);
  connect(diagram, &SpaceTimeView::breakHereRequested, &m_session.breakpoints(),
          &session::Breakpoints::breakAt);
  connect(diagram, &SpaceTimeView::bookmarkRequested, this, &ShownTrace::askBookmark);
  connect(diagram, &SpaceTimeView::contentsRequested, this,
          [this](const EventRef& event) { m_docks.contents().open(event); });
  connect(diagram, &SpaceTimeView::arrangementChanged, &m_session.groups(),
          &session::RankGroups::setArrangement);
  connect(&m_session.groups(), &session::RankGroups::changed, diagram,
          [this] { m_views.diagram->setGroups(m_session.groups().all()); });
  connect(&m_session, &DebugSession::marksChanged, diagram,
          [this](const auto& marks) { m_views.diagram->setMarks(marks); });
}

void ShownTrace::connectRaces() {
  RaceListView* races = m_views.races;
  races->setJudges([this](int race) { return m_docks.plugins().verdicts(race); });
  connect(races, &RaceListView::alternativeSelected, m_views.diagram,
          [this](std::uint32_t message) {
            m_views.diagram->selectRace(m_views.races->selectedRace());
            m_views.diagram->chooseAlternative(message);
          });
  connect(races, &RaceListView::raceSelected, this, &ShownTrace::selectRace);
  connect(races, &RaceListView::replayToRequested, &m_session, &DebugSession::replayTo);
  connect(races, &RaceListView::eventSelected, this, &ShownTrace::selectEvent);
  connect(races, &RaceListView::sourceRequested, this,
          [this](const EventRef& event) { showSites(event, {}); });
  connect(races->classes(), &views::RaceClassesView::benignRequested, this, &ShownTrace::askBenign);
  connect(races->classes(), &views::RaceClassesView::bugRequested, this, &ShownTrace::askBug);
  connect(races->classes(), &views::RaceClassesView::notJudgedRequested, &m_session.judgedRaces(),
          &session::JudgedRaces::clear);
  connect(races->classes(), &views::RaceClassesView::saveRequested, this, &ShownTrace::saveKnown);
  connect(races->classes(), &views::RaceClassesView::loadRequested, this, &ShownTrace::loadKnown);
  connect(&m_session.judgedRaces(), &session::JudgedRaces::changed, races,
          [this] { m_views.races->setVerdicts(m_session.judgedRaces().verdicts()); });
}

void ShownTrace::askBookmark(const EventRef& event) {
  bool ok = false;
  const QString text = QInputDialog::getText(
      &m_window, tr("Bookmark"), tr("Note for %1:").arg(views::eventTitle(*m_index, event)),
      QLineEdit::Normal, {}, &ok);
  if (ok) {
    m_session.bookmarks().add(event, text);
  }
}

void ShownTrace::askBenign(const QString& key, const QString& receive) {
  bool ok = false;
  const QString reason =
      QInputDialog::getText(&m_window, tr("Benign races"),
                            tr("Why does it not matter which message %1 takes?").arg(receive),
                            QLineEdit::Normal, m_session.judgedRaces().notes().value(key), &ok);
  if (ok) {
    m_session.judgedRaces().set(key, reason);
  }
}

void ShownTrace::askBug(const QString& key, const QString& receive) {
  bool ok = false;
  const QString text = QInputDialog::getText(
      &m_window, tr("A bug"), tr("What goes wrong where %1 takes another message?").arg(receive),
      QLineEdit::Normal, {}, &ok);
  if (ok) {
    m_session.judgedRaces().judge(key, {RaceVerdict::Bug, text.toStdString()});
  }
}

namespace {

/// Of all classes of the list.
std::vector<std::string> keysOf(const views::RaceClassModel& model) {
  std::vector<std::string> keys;
  for (int row = 1; row < model.rowCount(); ++row) {
    keys.push_back(model.classAt(row)->key.toStdString());
  }
  return keys;
}

}  // namespace

void ShownTrace::saveKnown() {
  const QString path = QFileDialog::getSaveFileName(&m_window, tr("Save as known races"), {},
                                                    tr("Known races (*.races)"), nullptr,
                                                    QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) {
    m_session.judgedRaces().save(path, keysOf(*m_views.races->classes()->model()));
  }
}

void ShownTrace::loadKnown() {
  const QString path = QFileDialog::getOpenFileName(&m_window, tr("Load known races"), {},
                                                    tr("Known races (*.races);;All files (*)"));
  if (!path.isEmpty()) {
    m_session.judgedRaces().load(path, keysOf(*m_views.races->classes()->model()));
  }
}

void ShownTrace::selectEvent(const EventRef& event) {
  m_views.diagram->selectEvent(event);
  const auto partners =
      m_index != nullptr && event.valid() ? partnersOf(*m_index, event) : std::vector<EventRef>();
  showSites(event, partners.empty() ? EventRef{} : partners.front());
}

void ShownTrace::selectRace(int race) {
  if (m_index == nullptr || race < 0) {
    return;
  }
  m_views.diagram->selectRace(race);
  const std::uint32_t taken = m_index->data().races.taken(static_cast<std::size_t>(race));
  const auto& messages = m_index->execution().messages;
  showSites(m_index->races().eventOf(static_cast<std::size_t>(race)),
            taken < messages.size() ? EventRef(messages[taken].send) : EventRef{});
}

void ShownTrace::showSites(const EventRef& event, const EventRef& other) {
  if (m_index == nullptr || !event.valid()) {
    return;
  }
  if (const CallSite* site = other.valid() ? views::siteOf(*m_index, other) : nullptr;
      site != nullptr && !site->file.empty()) {
    m_views.source->setOtherEnd(QString::fromStdString(site->file), site->line);
  }
  if (const CallSite* site = views::siteOf(*m_index, event);
      site != nullptr && !site->file.empty()) {
    m_views.source->showLocation(QString::fromStdString(site->file), site->line);
  }
}

void ShownTrace::showPrintedPlace(const QString& file, int line) {
  QString path = file;
  if (m_index != nullptr && !file.startsWith(QLatin1Char('/'))) {
    QString end = file;
    while (end.startsWith(QLatin1String("./"))) {
      end.remove(0, 2);
    }
    const std::string wanted = "/" + end.toStdString();
    const auto& sites = m_index->execution().sites;
    const auto site = std::ranges::find_if(
        sites, [&wanted](const CallSite& each) { return each.file.ends_with(wanted); });
    path = site == sites.end() ? path : QString::fromStdString(site->file);
  }
  m_views.source->showLocation(path, line);
}

QString ShownTrace::outcome() const {
  const views::TraceData& shown = m_index->data();
  return shown.failure.event.valid() ? tr("The run failed: %1. Failing receive (F4) replays to it.")
                                           .arg(shown.failure.reason)
         : shown.races.empty() ? tr("No racing receives.")
                               : tr("%1. Select one; Enter replays to it.")
                                     .arg(values::counted(shown.races.size(), tr("racing receive"),
                                                          tr("racing receives")));
}

void ShownTrace::showCallSites() {
  QHash<QString, QList<int>> sites;
  for (const CallSite& site : m_index->data().execution.sites) {
    if (!site.file.empty()) {
      sites[QString::fromStdString(site.file)].append(site.line);
    }
  }
  m_views.source->setCallSites(sites);
}

/// Of chunks that cannot be read, when they are asked for: by any thread.
void ShownTrace::watchForDamage() {
  if (const auto& chunks = m_index->data().chunks; chunks != nullptr) {
    chunks->whenItFails([shown = QPointer<ShownTrace>(this)](const QString& problem) {
      QMetaObject::invokeMethod(
          QCoreApplication::instance(),
          [shown, problem] { shown ? Q_EMIT shown->damaged(problem) : void(); },
          Qt::QueuedConnection);
    });
  }
}

}  // namespace pf::gui

#include "moc_shown_trace.cpp"
