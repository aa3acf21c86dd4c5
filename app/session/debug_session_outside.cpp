// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that were not started by us: core files, and jobs that run.
#include <algorithm>

#include "app/session/debug_session.h"
#include "app/session/state/frame_values.h"
#include "app/session/targets/outside_target.h"

namespace pf::session {
namespace {

constexpr int kCoresAtOnce = 16;  ///< each GDB takes some 60 MB

/// A recording of nothing, so that views have ranks to show.
views::TraceDataPtr emptyTrace(const QString& title, const QList<OutsideRank>& ranks, int count) {
  auto data = std::make_shared<views::TraceData>();
  data->title = title;
  data->execution.ranks.resize(static_cast<std::size_t>(count));
  data->logicalTimes.resize(static_cast<std::size_t>(count));
  data->ends.resize(static_cast<std::size_t>(count));
  Communicator world;
  world.name = "MPI_COMM_WORLD";
  for (const OutsideRank& rank : ranks) {
    world.group.push_back(rank.rank);
    data->ends[static_cast<std::size_t>(rank.rank)] = {views::RankEndKind::Unknown, rank.end};
  }
  data->execution.communicators.push_back(std::move(world));
  return data;
}

}  // namespace

bool DebugSession::canReplay() {
  if (m_state.source != Source::Recording) {
    Q_EMIT message(
        m_state.source == Source::Cores
            ? tr("Core files can only be looked at. To run the program again, record it.")
            : tr("A job that runs without being recorded cannot be replayed. Record the "
                 "program to go back and forth in it."),
        false);
    return false;
  }
  return isOpen();
}

void DebugSession::openCores(const QList<OutsideRank>& ranks) {
  openOutside(Source::Cores, tr("core files"), ranks);
  m_cycles.last().summary = tr("core files");
  QSet<int> focus;
  for (const auto& [rank, now] : m_state.now) {
    if (focus.size() < kCoresAtOnce) {
      focus.insert(rank);
    }
  }
  setOutsideFocus(focus);
  Q_EMIT focusChanged(m_focus.values());
  Q_EMIT cyclesChanged();
}

void DebugSession::attachTo(const QString& job, const QList<OutsideRank>& ranks) {
  openOutside(Source::Job, job, ranks);
  m_cycles.last().summary = tr("attached to %1").arg(job);
  Q_EMIT cyclesChanged();
  Q_EMIT message(
      tr("%n rank(s) of %1 go on: tick one to stop it under a debugger. Nothing of this is "
         "recorded, so nothing can be replayed.",
         nullptr, static_cast<int>(ranks.size()))
          .arg(job),
      false);
}

/// Nobody waits for the end of a replay's job: what comes of it later is not for the new session.
void DebugSession::closeAny() {
  closeOutside();
  m_next.reset();
  endSearch();
  if (m_state.source == Source::Recording && m_state.phase != Phase::Idle) {
    finishCycle(tr("closed"));
    m_groupRun.end();
  }
  abandonTarget();
  m_pausing.clear();
  Q_EMIT progress({});
}

void DebugSession::openOutside(Source source, const QString& title,
                               const QList<OutsideRank>& ranks) {
  closeAny();
  int count = 0;
  for (const OutsideRank& rank : ranks) {
    count = std::max(count, rank.rank + 1);
  }
  m_state.source = source;
  m_state.path.clear();
  m_keeper.reset();
  m_store.reset();
  m_benign.open(nullptr, {});
  m_state.trace = emptyTrace(title, ranks, count);
  m_state.events.set({}, m_state.trace);
  m_state.run = {};
  m_state.rankInfos.assign(static_cast<std::size_t>(count), {});
  m_breakpoints.open(nullptr);
  m_bookmarks.open(nullptr);
  m_groups.open(nullptr);
  m_cycles.clear();
  m_cycleIds.clear();
  m_hitRows.clear();
  m_openHits.clear();
  m_standing.clear();
  m_stops.clear();
  m_state.diverged = false;
  m_awaitsCut = false;
  m_inspector.beginCycle();
  views::Cycle only;
  only.number = 1;
  only.started = QDateTime::currentDateTime();
  only.running = true;
  m_cycles.append(only);
  m_state.now.clear();
  for (const OutsideRank& rank : ranks) {
    RankNow& now = m_state.now[rank.rank];
    now.pid = rank.pid;
    now.host = QString::fromStdString(app::hostName());
    now.state.rank = rank.rank;
    now.state.phase = RankPhase::Running;
  }
  m_state.current = ranks.isEmpty() ? 0 : ranks.first().rank;
  m_inspector.forget();
  m_focus.clear();
  m_state.phase = Phase::Running;
  debug(std::make_unique<OutsideTarget>(ranks));
  Q_EMIT benignRacesChanged();
  Q_EMIT watchesChanged(m_watches);
  Q_EMIT m_groups.changed();
  publishMarks();
  Q_EMIT ranksChanged();
  Q_EMIT m_inspector.currentRankChanged(m_state.current);
}

void DebugSession::setOutsideFocus(const QSet<int>& wanted) {
  std::vector<mi::Rank> leaving;
  for (const int rank : std::as_const(m_focus)) {
    if (!wanted.contains(rank) && m_fleet.session(rank) != nullptr) {
      leaving.push_back(rank);
    }
  }
  protocol::AttachGdb attach;
  for (const int rank : wanted) {
    const bool known = m_state.phase != Phase::Running || m_state.now.count(rank) != 0;
    if (!m_state.knows(rank) || !known || m_fleet.session(rank) != nullptr) {
      continue;
    }
    if (m_state.phase != Phase::Running) {
      Q_EMIT message(
          tr("Rank %1 has been let go of: open its core file, or attach, again.").arg(rank), false);
    } else if (m_state.now[rank].exited) {
      Q_EMIT message(tr("Rank %1 has ended: there is nothing to stop.").arg(rank), false);
    } else {
      attach.ranks.push_back(rank);
    }
  }
  order(attach);
  m_focus.clear();
  for (const int rank : wanted) {
    if (m_fleet.session(rank) != nullptr) {
      m_focus.insert(rank);
    }
  }
  if (m_focus != wanted) {  // not from inside of the list's own signal
    QMetaObject::invokeMethod(
        this, [this] { Q_EMIT focusChanged(m_focus.values()); }, Qt::QueuedConnection);
  }
  for (const mi::Rank rank : leaving) {
    mi::GdbSession* gdb = m_fleet.session(rank);
    if (m_state.source == Source::Cores || gdb == nullptr) {
      order(protocol::DetachGdb{{rank}});
      continue;
    }
    gdb->detach([this, rank](const Status&) { endGdbLater(rank); });
  }
}

/// Not from inside of its session's own callback.
void DebugSession::endGdbLater(int rank) {
  QMetaObject::invokeMethod(
      this, [this, rank] { order(protocol::DetachGdb{{rank}}); }, Qt::QueuedConnection);
}

void DebugSession::outsideAttached(int rank, bool ok) {
  RankNow& now = m_state.now[rank];
  if (!ok) {
    endGdbLater(rank);
  } else {
    if (m_state.source == Source::Cores) {
      const QString& end = m_state.trace->ends[static_cast<std::size_t>(rank)].text;
      now.why = end.isEmpty() ? tr("core file") : tr("core file, %1").arg(end);
    }
    if (rank == m_state.current) {
      m_fleet.focus(rank);
      m_inspector.stopped();
    } else if (m_state.source == Source::Job) {
      m_inspector.selectRank(rank);
    }
  }
  Q_EMIT ranksChanged();
  Q_EMIT settled();
}

void DebugSession::forgetGdb(int rank) {
  m_fleet.remove(rank);
  m_focus.remove(rank);
  RankNow& now = m_state.now[rank];
  now.attached = false;
  now.why.clear();
  now.where.clear();
  if (rank == m_state.current) {
    m_inspector.forget();
  }
  Q_EMIT focusChanged(m_focus.values());
  Q_EMIT ranksChanged();
}

void DebugSession::closeOutside() {
  if (m_state.source == Source::Recording || m_state.phase == Phase::Idle) {
    return;
  }
  for (const mi::Rank rank : m_fleet.ranks()) {
    forgetGdb(rank);
  }
  abandonTarget();
  m_state.phase = Phase::Idle;
  m_state.now.clear();
  if (!m_cycles.isEmpty()) {
    m_cycles.last().running = false;
    m_cycles.last().summary =
        m_state.source == Source::Job ? tr("let go; the job goes on") : tr("closed");
    Q_EMIT cyclesChanged();
  }
  if (m_state.source == Source::Job) {
    Q_EMIT message(tr("The ranks go on without a debugger."), false);
  }
  Q_EMIT ranksChanged();
  Q_EMIT settled();
}

bool DebugSession::outsideAct(views::RankAction action, const std::vector<mi::Rank>& withGdb,
                              const QList<int>& debugless, const QString& who) {
  if (m_state.source == Source::Cores) {
    (void)canReplay();
    return true;
  }
  if (action == views::RankAction::Continue) {
    std::vector<mi::Rank> stopped;
    std::copy_if(withGdb.begin(), withGdb.end(), std::back_inserter(stopped),
                 [this](mi::Rank rank) {
                   return m_fleet.session(rank)->state() == mi::SessionState::Stopped;
                 });
    m_groupRun.begin(views::actionWord(action), who, QList<int>(withGdb.begin(), withGdb.end()),
                     {});
    m_fleet.run(stopped, {}, [](const mi::GroupResult&) {});
    return true;
  }
  if (withGdb.empty() && !debugless.isEmpty()) {
    Q_EMIT message(tr("Rank %1 has no debugger: tick it in the ranks' list, which stops it.")
                       .arg(debugless.first()),
                   false);
    return true;
  }
  return false;  // the same as in a replay
}

}  // namespace pf::session
