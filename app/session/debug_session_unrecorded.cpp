// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks that were not started by us: core files, and jobs that run.
#include <algorithm>

#include "app/session/debug_session.h"
#include "app/session/state/frame_values.h"
#include "app/session/targets/unrecorded_target.h"

namespace pf::session {
namespace {

constexpr int kCoresAtOnce = 16;  ///< each GDB takes some 60 MB

/// A recording of nothing, so that views have ranks to show.
views::TraceDataPtr emptyTrace(const QString& title, const QList<UnrecordedRank>& ranks,
                               int count) {
  auto data = std::make_shared<views::TraceData>();
  data->title = title;
  data->execution.ranks.resize(static_cast<std::size_t>(count));
  data->logicalTimes.resize(static_cast<std::size_t>(count));
  data->ends.resize(static_cast<std::size_t>(count));
  Communicator world;
  world.name = "MPI_COMM_WORLD";
  for (const UnrecordedRank& rank : ranks) {
    world.group.push_back(rank.rank);
    data->ends[static_cast<std::size_t>(rank.rank)] = {views::RankEndKind::Unknown, rank.end};
  }
  data->execution.communicators.push_back(std::move(world));
  return data;
}

}  // namespace

QString DebugSession::whyNoReplay() const {
  return m_state.source == Source::Recording ? QString()
         : m_state.source == Source::Cores
             ? tr("Core files can only be looked at. To run the program again, record it.")
             : tr("A job that runs without being recorded cannot be replayed. Record the "
                  "program to go back and forth in it.");
}

bool DebugSession::canReplay() {
  if (const QString why = whyNoReplay(); !why.isEmpty()) {
    Q_EMIT message(why, false);
    return false;
  }
  return isOpen();
}

void DebugSession::openCores(const QList<UnrecordedRank>& ranks) {
  openUnrecorded(Source::Cores, tr("core files"), ranks);
  m_cycles.last().summary = tr("core files");
  QList<int> focus;
  for (const auto& [rank, now] : m_state.now) {
    if (focus.size() < kCoresAtOnce) {
      focus.append(rank);
    }
  }
  m_debuggers.setFocus(focus);
  Q_EMIT m_debuggers.focusChanged(m_debuggers.focus());
  Q_EMIT m_cycles.changed();
}

void DebugSession::attachTo(const QString& job, const QList<UnrecordedRank>& ranks) {
  openUnrecorded(Source::Job, job, ranks);
  m_cycles.last().summary = tr("attached to %1").arg(job);
  Q_EMIT m_cycles.changed();
  Q_EMIT message(
      (ranks.size() == 1 ? tr("The rank of %1 goes on").arg(job)
                         : tr("The %1 ranks of %2 go on").arg(ranks.size()).arg(job)) +
          tr(": tick one to stop it under a debugger. Nothing of this is recorded, so nothing can "
             "be replayed."),
      false);
}

/// Nobody waits for the end of a replay's job: what comes of it later is not for the new session.
void DebugSession::closeAny() {
  closeUnrecorded();
  m_next.reset();
  m_search.end();
  if (m_state.source == Source::Recording && m_state.phase != Phase::Idle) {
    finishCycle(tr("closed"));
    m_groupRun.end();
  }
  abandonTarget();
  Q_EMIT progress({});
}

void DebugSession::openUnrecorded(Source source, const QString& title,
                                  const QList<UnrecordedRank>& ranks) {
  closeAny();
  int count = 0;
  for (const UnrecordedRank& rank : ranks) {
    count = std::max(count, rank.rank + 1);
  }
  m_state.source = source;
  m_state.part.clear();
  m_state.path.clear();
  m_judgedRaces.open(nullptr, {});
  m_state.trace = emptyTrace(title, ranks, count);
  m_state.events.set({}, m_state.trace);
  m_state.run = {};
  m_state.rankInfos.assign(static_cast<std::size_t>(count), {});
  m_state.now.clear();
  openRecords(nullptr, false);
  m_state.diverged = false;
  m_inspector.beginCycle();
  m_control.begin();
  m_control.forgetPlan();
  m_cycles.begin(title);
  for (const UnrecordedRank& rank : ranks) {
    RankNow& now = m_state.now[rank.rank];
    now.pid = rank.pid;
    now.host = QString::fromStdString(app::hostName());
    now.state.rank = rank.rank;
    now.state.phase = RankPhase::Running;
  }
  m_state.current = ranks.isEmpty() ? 0 : ranks.first().rank;
  m_inspector.forget();
  m_debuggers.begin({});
  m_state.phase = Phase::Running;
  debug(std::make_unique<UnrecordedTarget>(ranks));
  Q_EMIT ranksChanged();
  Q_EMIT m_inspector.currentRankChanged(m_state.current);
}

void DebugSession::closeUnrecorded() {
  if (m_state.source == Source::Recording || m_state.phase == Phase::Idle) {
    return;
  }
  m_debuggers.forgetAll();
  abandonTarget();
  m_state.phase = Phase::Idle;
  m_state.now.clear();
  if (!m_cycles.none()) {
    m_cycles.last().running = false;
    m_cycles.last().summary =
        m_state.source == Source::Job ? tr("let go; the job goes on") : tr("closed");
    Q_EMIT m_cycles.changed();
  }
  if (m_state.source == Source::Job) {
    Q_EMIT message(tr("The ranks go on without a debugger."), false);
  }
  Q_EMIT ranksChanged();
  Q_EMIT settled();
}

/// False: it is the same as in a replay.
bool DebugSession::actUnrecorded(values::RankAction action, const QList<int>& ranks,
                                 const QString& who) {
  if (m_state.source == Source::Cores) {
    (void)canReplay();
    return true;
  }
  const auto [withGdb, debugless] = m_control.movable(ranks);
  if (action == values::RankAction::Continue) {
    m_groupRun.begin(values::actionWord(action), who, QList<int>(withGdb.begin(), withGdb.end()),
                     {});
    m_control.continueStopped(withGdb);
    return true;
  }
  if (withGdb.empty() && !debugless.isEmpty()) {
    Q_EMIT message(tr("Rank %1 has no debugger: tick it in the ranks' list, which stops it.")
                       .arg(debugless.first()),
                   false);
    return true;
  }
  return false;
}

}  // namespace pf::session
