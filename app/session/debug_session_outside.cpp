// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that were not started by us: core files, and jobs that run. Their GDBs are children of this process;
// there is no daemon, no agent and no recording.
#include <algorithm>
#include <csignal>

#include <QFutureWatcher>

#include "app/foreign_jobs/running_job.h"
#include "app/session/debug_session.h"
#include "app/session/frame_values.h"
#include "app/session/in_background.h"
#include "app/session/local_gdb.h"
#include "replay_engine/agent/rank_stack.h"
#include "replay_engine/protocol/rank_page.h"

namespace pf::session {
namespace {

constexpr int kCoresAtOnce = 16;  ///< each GDB takes some 60 MB
constexpr int kLookEveryMs = 1000;

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
  if (m_source != Source::Recording) {
    Q_EMIT message(
        m_source == Source::Cores
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
  for (const auto& [rank, outside] : m_outside) {
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
  if (m_source == Source::Recording && m_phase != Phase::Idle) {
    finishCycle(tr("closed"));
    endGroupRun();
  }
  closeJob();
  ++m_jobs;
  m_abandon = false;
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
  m_source = source;
  m_path.clear();
  m_keeper.reset();
  m_store.reset();
  m_benign.open(nullptr, {});
  m_trace = emptyTrace(title, ranks, count);
  m_run = {};
  m_rankInfos.assign(static_cast<std::size_t>(count), {});
  m_breakpoints.clear();
  m_specOf.clear();
  for (const mi::BreakpointSpec& spec : m_fleet.breakpoints()) {
    m_fleet.removeBreakpoint(spec.id);
  }
  m_bookmarks.clear();
  m_groups.clear();
  m_groupIds.clear();
  m_cycles.clear();
  m_cycleIds.clear();
  m_hitRows.clear();
  m_openHits.clear();
  m_standing.clear();
  m_stops.clear();
  m_diverged = false;
  m_awaitsCut = false;
  setAltered(false);
  views::Cycle only;
  only.number = 1;
  only.started = QDateTime::currentDateTime();
  only.running = true;
  m_cycles.append(only);
  m_now.clear();
  m_outside.clear();
  for (const OutsideRank& rank : ranks) {
    m_outside[rank.rank] = rank;
    RankNow& now = m_now[rank.rank];
    now.pid = rank.pid;
    now.host = QString::fromStdString(app::hostName());
    now.state.rank = rank.rank;
    now.state.phase = RankPhase::Running;
  }
  m_current = ranks.isEmpty() ? 0 : ranks.first().rank;
  m_frame = 0;
  m_frames.clear();
  m_focus.clear();
  m_phase = Phase::Running;
  m_tick.start();
  m_lookedForEnded.start();
  Q_EMIT benignRacesChanged();
  Q_EMIT watchesChanged(m_watches);
  Q_EMIT breakpointsChanged();
  Q_EMIT groupsChanged();
  publishMarks();
  Q_EMIT ranksChanged();
  Q_EMIT currentRankChanged(m_current);
}

void DebugSession::setOutsideFocus(const QSet<int>& wanted) {
  std::vector<mi::Rank> leaving;
  for (const int rank : std::as_const(m_focus)) {
    if (!wanted.contains(rank) && m_localGdbs.count(rank) != 0) {
      leaving.push_back(rank);
    }
  }
  for (const int rank : wanted) {
    if (m_outside.count(rank) == 0 || m_localGdbs.count(rank) != 0) {
      continue;
    }
    if (m_phase != Phase::Running) {
      Q_EMIT message(
          tr("Rank %1 has been let go of: open its core file, or attach, again.").arg(rank), false);
    } else if (m_now[rank].exited) {
      Q_EMIT message(tr("Rank %1 has ended: there is nothing to stop.").arg(rank), false);
    } else {
      startLocalGdb(rank);
    }
  }
  m_focus.clear();
  for (const int rank : wanted) {
    if (m_localGdbs.count(rank) != 0) {
      m_focus.insert(rank);
    }
  }
  if (m_focus != wanted) {  // not from inside of the list's own signal
    QMetaObject::invokeMethod(
        this, [this] { Q_EMIT focusChanged(m_focus.values()); }, Qt::QueuedConnection);
  }
  for (const mi::Rank rank : leaving) {
    mi::GdbSession* gdb = m_fleet.session(rank);
    if (m_source == Source::Cores || gdb == nullptr) {
      endLocalGdb(rank);
      continue;
    }
    gdb->detach([this, rank](const Status&) {
      // Not from inside of the session's own callback.
      QMetaObject::invokeMethod(
          this, [this, rank] { endLocalGdb(rank); }, Qt::QueuedConnection);
    });
  }
}

void DebugSession::startLocalGdb(int rank) {
  const OutsideRank& outside = m_outside[rank];
  if (m_source == Source::Job) {
    if (const std::string why = app::whyNotTraceable(outside.pid); !why.empty()) {
      m_now[rank].failedToAttach = true;
      Q_EMIT message(tr("Rank %1 (process %2) cannot be debugged: %3.")
                         .arg(rank)
                         .arg(outside.pid)
                         .arg(QString::fromStdString(why)),
                     true);
      return;
    }
  }
  auto* gdb = new LocalGdb(this);
  m_localGdbs[rank] = gdb;
  connect(gdb, &LocalGdb::said, this, [this, rank](const QByteArray& bytes) {
    m_fleet.feed(rank, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
  });
  connect(gdb, &LocalGdb::ended, this, [this, rank](const QString& how) {
    const QString reason = QString::fromStdString(m_fleet.closed(rank, how.toStdString()));
    m_now[rank].failedToAttach = !std::exchange(m_now[rank].attached, false);
    Q_EMIT message(tr("The debugger of rank %1 is gone (%2). Tick the rank again for another one.")
                       .arg(rank)
                       .arg(reason),
                   true);
    QMetaObject::invokeMethod(
        this, [this, rank] { endLocalGdb(rank); }, Qt::QueuedConnection);
  });
  mi::GdbSession& session = m_fleet.add(rank, gdb->transport());
  keepTranscript(rank, session);
  gdb->start();
  const auto ready = [this, rank](const Status& status) { localGdbReady(rank, status); };
  if (m_source == Source::Job) {
    m_fleet.startAndAttach(rank, outside.pid, ready);
    return;
  }
  session.start([this, rank, ready](const Status& started) {
    mi::GdbSession* here = m_fleet.session(rank);
    if (!started || here == nullptr) {
      ready(started);
      return;
    }
    const OutsideRank& wanted = m_outside[rank];
    here->openCore(wanted.program.toStdString(), wanted.core.toStdString(), ready);
  });
}

void DebugSession::localGdbReady(int rank, const Status& status) {
  RankNow& now = m_now[rank];
  now.attached = status.ok();
  now.failedToAttach = !status.ok();
  if (!status) {
    Q_EMIT message(tr("Rank %1: %2").arg(rank).arg(toText(status.error().text())), true);
    QMetaObject::invokeMethod(
        this, [this, rank] { endLocalGdb(rank); }, Qt::QueuedConnection);
  } else {
    if (m_source == Source::Cores) {
      now.why = m_outside[rank].end.isEmpty() ? tr("core file")
                                              : tr("core file, %1").arg(m_outside[rank].end);
    }
    if (rank == m_current) {
      m_fleet.focus(rank);
      refreshStack(rank);
    } else if (m_source == Source::Job) {
      setCurrentRank(rank);
    }
  }
  Q_EMIT ranksChanged();
  Q_EMIT settled();
}

void DebugSession::endLocalGdb(int rank) {
  if (const auto found = m_localGdbs.find(rank); found != m_localGdbs.end()) {
    found->second->disconnect(this);
    found->second->deleteLater();
    m_localGdbs.erase(found);
  }
  m_fleet.remove(rank);
  m_focus.remove(rank);
  RankNow& now = m_now[rank];
  now.attached = false;
  now.why.clear();
  now.where.clear();
  if (rank == m_current) {
    dropVariables();
    m_frames.clear();
    Q_EMIT stackChanged(rank, {}, 0);
  }
  Q_EMIT focusChanged(m_focus.values());
  Q_EMIT ranksChanged();
}

/// GDBs that are asked to end let go of their processes, which go on.
void DebugSession::closeOutside() {
  if (m_source == Source::Recording || m_phase == Phase::Idle) {
    return;
  }
  while (!m_localGdbs.empty()) {
    endLocalGdb(m_localGdbs.begin()->first);
  }
  m_tick.stop();
  m_phase = Phase::Idle;
  m_now.clear();
  if (!m_cycles.isEmpty()) {
    m_cycles.last().running = false;
    m_cycles.last().summary =
        m_source == Source::Job ? tr("let go; the job goes on") : tr("closed");
    Q_EMIT cyclesChanged();
  }
  if (m_source == Source::Job) {
    Q_EMIT message(tr("The ranks go on without a debugger."), false);
  }
  Q_EMIT ranksChanged();
  Q_EMIT settled();
}

void DebugSession::outsideExited(int rank, const QString& how) {
  RankNow& now = m_now[rank];
  now.exited = true;
  now.end = how;
  arrived(rank);
  Q_EMIT ranksChanged();
}

/// Ranks without a GDB end without telling anybody.
void DebugSession::lookForEnded() {
  if (m_source != Source::Job || m_lookedForEnded.elapsed() < kLookEveryMs) {
    return;
  }
  m_lookedForEnded.start();
  for (const auto& [rank, outside] : m_outside) {
    if (m_localGdbs.count(rank) == 0 && !m_now[rank].exited && ::kill(outside.pid, 0) != 0 &&
        errno == ESRCH) {
      outsideExited(rank, tr("has ended"));
    }
  }
}

void DebugSession::askOutsideStacks(const std::vector<mi::Rank>& ranks, quint64 number) {
  struct Asked {
    mi::Rank rank;
    pid_t pid;
    bool debugger;
  };
  std::vector<Asked> asked;
  for (const mi::Rank rank : ranks) {
    asked.push_back({rank, m_outside[rank].pid, m_localGdbs.count(rank) != 0});
  }
  auto* watcher = new QFutureWatcher<std::vector<protocol::RankStack>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    for (const protocol::RankStack& stack : watcher->result()) {
      onStack(stack);
    }
  });
  watcher->setFuture(inBackground([asked, number] {
    const auto nowhere = std::make_unique<RankPage>();  // these ranks have no interposer
    std::vector<protocol::RankStack> stacks;
    for (const Asked& each : asked) {
      protocol::RankStack stack;
      stack.rank = each.rank;
      stack.question = number;
      if (auto frames = agent::stackOf(each.pid, *nowhere, each.debugger)) {
        stack.frames = std::move(*frames);
      } else {
        const std::string why = each.debugger ? std::string() : app::whyNotTraceable(each.pid);
        stack.text = why.empty() ? frames.error().message : why;
      }
      stacks.push_back(std::move(stack));
    }
    return stacks;
  }));
}

bool DebugSession::outsideAct(views::RankAction action, const std::vector<mi::Rank>& withGdb,
                              const QList<int>& debugless, const QString& who) {
  if (m_source == Source::Cores) {
    (void)canReplay();
    return true;
  }
  if (action == views::RankAction::Continue) {
    std::vector<mi::Rank> stopped;
    std::copy_if(withGdb.begin(), withGdb.end(), std::back_inserter(stopped),
                 [this](mi::Rank rank) {
                   return m_fleet.session(rank)->state() == mi::SessionState::Stopped;
                 });
    beginGroupRun(views::actionWord(action), who, QList<int>(withGdb.begin(), withGdb.end()), {});
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

void DebugSession::signalOutside(int rank, mi::Escalation escalation) {
  const auto gdb = m_localGdbs.find(rank);
  if (gdb == m_localGdbs.end()) {
    return;
  }
  switch (escalation) {
    case mi::Escalation::InterruptGdb:
      gdb->second->interrupt();
      break;
    case mi::Escalation::InterruptProgram:
    case mi::Escalation::StopProgram:
      break;  // a signal that GDB does not take would end somebody's job
    case mi::Escalation::TerminateGdb:
      gdb->second->terminate();
      break;
  }
}

}  // namespace pf::session
