// SPDX-License-Identifier: GPL-3.0-or-later
// A cycle of a rank that runs alone begins at one of its snapshots, where there is one before its goal: nothing is started.
#include <algorithm>
#include <limits>

#include "app/session/debug_session.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

/// Bytes that snapshots share with no other process. It does not run over.
std::uint64_t ownBytes(const protocol::Snapshots& snapshots) {
  constexpr std::uint64_t kKilobyte = 1024;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / kKilobyte;
  std::uint64_t sum = 0;
  for (const std::uint64_t kilobytes : snapshots.kilobytes) {
    sum += std::min(kilobytes, kMost - sum);
  }
  return sum * kKilobyte;
}

}  // namespace

/// The event before which the rank has to stand for a cycle to `goal`: 0 where one has to be started.
Serial DebugSession::startFor(const Goal& goal) const {
  const bool alone = m_state.phase == Phase::Running && m_state.source == Source::Recording &&
                     m_state.now.size() == 1 && !m_state.now.begin()->second.exited &&
                     m_target != nullptr;
  if (!alone || m_state.snapshots.serials.empty()) {
    return 0;
  }
  const mi::GdbSession* gdb = m_state.fleet.session(m_state.now.begin()->first);
  if (gdb != nullptr && gdb->state() != mi::SessionState::Stopped &&
      gdb->state() != mi::SessionState::Running) {
    return 0;  // it is lost, or has been detached: the next cycle has another one
  }
  // What is counted is counted from the begin.
  const auto specs = m_fleet.breakpoints();
  const bool counts = m_state.searching || std::ranges::any_of(specs, [](const auto& spec) {
                        return spec.enabled && spec.ignoreCount > 0;
                      });
  if (counts) {
    return 1;
  }
  return goal.event.valid() ? Destinations(m_state).cutOf(
                                  goal)[static_cast<std::size_t>(m_state.now.begin()->first)] +
                                  1
                            : 0;  // a new cycle takes the program as it is now
}

std::optional<DebugSession::BackCost> DebugSession::backCost() const {
  const Serial last = m_state.serialOf(m_state.current);
  if (m_state.source != Source::Recording || last == 0 || !m_state.runs(m_state.current) ||
      !m_state.events.areRead()) {
    return std::nullopt;
  }
  const Serial to = startFor({{m_state.current, last}, {}, {}, true});
  const bool snapshot = to != 0 && m_state.snapshots.serials.front() <= to;
  const std::optional<qint64> took = snapshot ? m_times.fromSnapshot() : m_times.anew();
  return took ? std::optional<BackCost>({snapshot, *took}) : std::nullopt;
}

bool DebugSession::goBack(const Goal& goal) {
  const Serial to = startFor(goal);
  if (to == 0 || m_state.snapshots.serials.front() > to) {
    return false;
  }
  const int rank = m_state.now.begin()->first;
  m_cycles.end(tr("went back"), false);  // a search goes on in the next one
  m_state.phase = Phase::GoingBack;
  m_times.begin(CycleTimes::Begin::Snapshot);
  m_control.setGoal(goal);
  m_breakpoints.followLines();
  beginCycle();
  Q_EMIT progress(tr("Going back …"));
  Q_EMIT ranksChanged();
  order(protocol::GoBack{rank, to});
  m_wayBack = {};
  m_fleet.abandon(rank, [this](const Status&) {  // none: the rank has no GDB
    m_wayBack.left = true;
    goOnFromSnapshot();
  });
  return true;
}

void DebugSession::onSnapshots(const protocol::Snapshots& told) {
  // They come and go: each is told once in a cycle.
  const bool isNew = !told.obstacle.empty() && m_toldObstacles.insert(told.obstacle).second;
  m_state.snapshots = told;
  Q_EMIT snapshotsChanged();
  if (isNew) {
    Q_EMIT message(tr("To go back, rank %1 is started again: no snapshots of it are made, as %2.")
                       .arg(told.rank)
                       .arg(QString::fromStdString(told.obstacle)),
                   false);
  }
}

QString DebugSession::snapshotsText() const {
  const protocol::Snapshots& told = m_state.snapshots;
  QString text;
  if (!told.serials.empty()) {
    const QString events =
        told.serials.size() == 1
            ? tr("event %1").arg(told.serials.front())
            : tr("events %1 to %2").arg(told.serials.front()).arg(told.serials.back());
    text = tr("%1 of rank %2 to go back to, before its %3. %4 of memory were theirs alone when one "
              "was last made or given up.")
               .arg(values::counted(told.serials.size(), tr("snapshot"), tr("snapshots")))
               .arg(told.rank)
               .arg(events, values::byteText(ownBytes(told)));
  }
  if (!told.obstacle.empty()) {
    text += (text.isEmpty() ? QString() : QStringLiteral(" ")) +
            tr("No snapshots of rank %1 are made, as %2.")
                .arg(told.rank)
                .arg(QString::fromStdString(told.obstacle));
  }
  return text;
}

void DebugSession::wentBack(const protocol::WentBack& back) {
  if (m_state.phase != Phase::GoingBack) {
    return;
  }
  if (back.pid <= 0) {
    Q_EMIT message(tr("A new cycle is started: %1.").arg(QString::fromStdString(back.text)), false);
    startCycle(m_control.goal());
    return;
  }
  m_wayBack.back = back;
  goOnFromSnapshot();
}

/// Once the rank is there, and its GDB knows nothing of the process that it was.
void DebugSession::goOnFromSnapshot() {
  if (m_state.phase != Phase::GoingBack || !m_wayBack.left || !m_wayBack.back) {
    return;
  }
  const protocol::WentBack back = *std::exchange(m_wayBack.back, std::nullopt);
  RankNow& now = m_state.now[back.rank];
  now.pid = back.pid;
  now.state = {};
  now.state.rank = back.rank;
  now.state.phase = RankPhase::Stopped;
  now.state.serial = std::max<Serial>(back.serial, 1) - 1;
  now.sentFrom = 0;
  now.why.clear();
  now.where.clear();
  now.end.clear();
  m_cycles.carry(back.rank, back.serial);
  m_state.phase = Phase::Attaching;
  Q_EMIT ranksChanged();
  m_debuggers.reattach(back.rank, back.pid);
}

}  // namespace pf::session
