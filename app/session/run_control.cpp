// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/run_control.h"

#include <algorithm>
#include <iterator>

#include <QTimer>

#include "replay_engine/causality/cut_check.h"
#include "replay_engine/races/races.h"

namespace pf::session {

void RunControl::begin() {
  m_stepping.clear();
  m_pausing.clear();
}

void RunControl::forgetPlan() {
  m_stops.clear();
  m_awaitsCut = false;
}

/// Stops of a recording that was cut: ranks are held where it ends. Empty: they run to their ends.
std::vector<std::uint64_t> RunControl::recordedEnds() const {
  std::vector<std::uint64_t> stops;
  for (const db::RankInfo& rank : m_state.rankInfos) {
    const bool ends = m_state.run.complete || rank.complete || !m_state.runs(rank.rank);
    stops.push_back(ends ? 0 : rank.lastSerial + 1);
  }
  return stops;
}

StopPlan RunControl::planFor(const Goal& goal) const {
  std::vector<Serial> limits = recordedEnds();
  if (goal.event.valid()) {
    const std::vector<Serial> cut = Destinations(m_state).cutOf(goal);
    for (std::size_t rank = 0; rank < limits.size(); ++rank) {
      limits[rank] = m_state.runs(static_cast<int>(rank)) ? cut[rank] + 1 : 0;
    }
  }
  StopPlan plan = planStops(m_state.whole().execution, m_state.whole().logicalTimes,
                            m_state.ranksNow(), limits, goal.event,
                            m_state.searching || goal.straight ? std::vector<PendingStop>()
                                                               : m_breakpoints.pendingStops());
  for (std::size_t rank = 0; rank < plan.stops.size(); ++rank) {
    if (!m_state.runs(static_cast<int>(rank))) {  // a breakpoint may stop all
      plan.stops[rank] = 0;
    }
  }
  return plan;
}

void RunControl::plan() {
  const StopPlan next = planFor(m_goal);
  protocol::Plan plan;
  plan.stops = next.stops;
  if (next.target.valid()) {
    plan.targetRank = next.target.rank;
  }
  m_stops = plan.stops;
  m_awaitsCut = true;
  m_settling->ranks.clear();
  m_cycles.sentOn();
  m_order(plan);
}

void RunControl::replan() {
  if (m_state.goesOn() && m_awaitsCut) {
    plan();
  }
}

bool RunControl::canReach(const Goal& goal) const {
  if (!m_state.goesOn()) {
    return false;
  }
  const std::vector<Serial> cut = Destinations(m_state).cutOf(goal);
  for (std::size_t r = 0; r < cut.size(); ++r) {
    if (!m_state.runs(static_cast<int>(r))) {
      continue;
    }
    const auto now = m_state.now.find(static_cast<int>(r));
    if (now == m_state.now.end() || now->second.exited || now->second.state.serial > cut[r]) {
      return false;
    }
  }
  return true;
}

void RunControl::goOnTo(Goal goal) {
  m_goal = std::move(goal);
  m_stepping.clear();
  Q_EMIT progress(tr("Replaying to %1 …").arg(m_goal.text));
  plan();
  releaseGdbs();
}

void RunControl::releaseGdbs() {
  for (const mi::Rank rank : m_state.fleet.ranks()) {
    mi::GdbSession* gdb = m_state.fleet.session(rank);
    const std::uint64_t stop = m_stops[static_cast<std::size_t>(rank)];
    // GDB has stopped it behind an event: the next one is still before it.
    const bool between =
        gdb->stop().reason != mi::StopReason::Event && !m_state.standsBeforeEvent(rank);
    const Serial next = m_state.serialOf(rank) + (between ? 0 : 1);
    if (gdb->state() == mi::SessionState::Stopped && (stop == 0 || next < stop)) {
      sendOn(rank);
    }
  }
}

bool RunControl::mayGoOn(int rank) const {
  if (!m_state.goesOn() || m_stepping.contains(rank) ||
      static_cast<std::size_t>(rank) >= m_stops.size()) {
    return false;
  }
  // Only by a state of this very stop: GDB may tell of it before the agent does.
  const auto now = m_state.now.find(rank);
  const std::uint64_t stop = m_stops[static_cast<std::size_t>(rank)];
  return now != m_state.now.end() && now->second.state.phase == RankPhase::Stopped &&
         now->second.sentFrom != now->second.state.serial + 1 &&
         (stop == 0 || now->second.state.serial + 1 < stop);
}

void RunControl::sendOn(int rank) {
  mi::GdbSession* gdb = m_state.fleet.session(rank);
  if (gdb->stop().reason == mi::StopReason::Event) {
    m_state.now[rank].sentFrom = m_state.serialOf(rank) + 1;
  }
  gdb->run({}, [](const Status&) {});
}

void RunControl::nudged(int rank) {
  const mi::GdbSession* gdb = m_state.fleet.session(rank);
  if (gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
      gdb->stop().reason == mi::StopReason::Event) {
    sendOn(rank);
  }
}

void RunControl::rankMoved(const protocol::RankState& state, bool wasStopped) {
  if (!wasStopped && mayGoOn(state.rank)) {
    nudged(state.rank);
  }
  if (state.inCall != 0 && m_stepping.contains(state.rank)) {
    letOthersFollow(state.rank, state.serial);
  }
}

Serial RunControl::nextStopOf(int rank) const {
  if (const auto held = m_holds.find(rank); held != m_holds.end()) {
    return held->second;
  }
  return m_breakpoints.nextStopOf(
      rank, m_state.serialOf(rank) + (m_state.standsBeforeEvent(rank) ? 1 : 0));
}

/// Of a rank that GDB steps, and that has begun this event.
void RunControl::letOthersFollow(int rank, Serial serial) {
  const RankHistory& history = m_state.whole().execution.ranks[static_cast<std::size_t>(rank)];
  std::vector<std::uint64_t> stops = m_stops;
  stops.resize(m_state.rankInfos.size(), 0);
  if (serial >= history.events.size()) {
    stops = recordedEnds();
  } else {
    const std::vector<Serial> cut = cutBefore(m_state.whole().execution, {rank, serial + 1});
    for (std::size_t r = 0; r < stops.size(); ++r) {
      stops[r] = stops[r] == 0 ? 0 : std::max(stops[r], cut[r] + 1);
    }
  }
  for (const int stepping : std::as_const(m_stepping)) {
    stops[static_cast<std::size_t>(stepping)] = nextStopOf(stepping);
  }
  if (stops == m_stops) {
    return;
  }
  m_stops = stops;
  protocol::Plan plan;
  plan.stops = stops;
  m_order(plan);
  for (const mi::Rank other : m_state.fleet.ranks()) {
    const std::uint64_t stop = stops[static_cast<std::size_t>(other)];
    if (other != rank && !m_stepping.contains(other) &&
        (stop == 0 || m_state.serialOf(other) + 1 < stop)) {
      nudged(other);
    }
  }
}

RunControl::Movable RunControl::movable(const QList<int>& ranks) const {
  Movable parted;
  for (const int rank : ranks) {
    if (!m_state.runs(rank)) {
      continue;
    }
    const RankNow& now = m_state.now[rank];
    if (!now.exited && m_state.debugger(rank) != nullptr) {
      parted.withGdb.push_back(rank);
    } else if (!now.exited) {
      parted.debugless.append(rank);
    }
  }
  return parted;
}

void RunControl::act(values::RankAction action, const QList<int>& ranks, const QString& who) {
  if (!ranks.isEmpty() &&
      std::ranges::none_of(ranks, [this](int rank) { return m_state.runs(rank); })) {
    Q_EMIT message(m_state.notInReplay(ranks.first()), false);
    return;
  }
  if (!m_settling->ranks.isEmpty() && action != values::RankAction::Pause) {
    m_settling->then = [this, action, ranks, who] { act(action, ranks, who); };
    return;
  }
  if (action == values::RankAction::Pause) {
    pauseRanks(movable(ranks), who);
  } else if (action == values::RankAction::Continue) {
    continueRanks(movable(ranks), who);
  } else {
    stepRanks(action, movable(ranks), who);
  }
}

void RunControl::pauseRanks(const Movable& ranks, const QString& who) {
  QList<int> moving;
  for (const mi::Rank rank : ranks.withGdb) {
    if (m_state.fleet.session(rank)->state() != mi::SessionState::Stopped) {
      moving.append(rank);
    }
  }
  for (const int rank : ranks.debugless) {
    if (!m_state.standsBeforeEvent(rank)) {
      moving.append(rank);
    }
    m_order(protocol::SetStop{rank, m_state.serialOf(rank) + 1});
  }
  m_groupRun.begin(values::actionWord(values::RankAction::Pause), who, moving, {});
  m_state.fleet.pause(ranks.withGdb, [](const mi::GroupResult&) {});
}

void RunControl::continueRanks(const Movable& ranks, const QString& who) {
  m_stepping.clear();
  m_cycles.sentOn();
  m_awaitsCut = true;
  m_goal = {{}, tr("on")};
  const QList<int> moving =
      QList<int>(ranks.withGdb.begin(), ranks.withGdb.end()) + ranks.debugless;
  if (static_cast<std::size_t>(moving.size()) >= m_state.rankCount()) {
    plan();
  } else {
    const std::vector<std::uint64_t> stops = planFor(m_goal).stops;
    m_stops.resize(stops.size(), 0);
    for (const int rank : moving) {
      m_stops[static_cast<std::size_t>(rank)] = stops[static_cast<std::size_t>(rank)];
      m_order(protocol::SetStop{rank, stops[static_cast<std::size_t>(rank)]});
    }
  }
  m_groupRun.begin(values::actionWord(values::RankAction::Continue), who, moving, {});
  continueStopped(ranks.withGdb);
}

void RunControl::continueStopped(const std::vector<mi::Rank>& ranks) {
  std::vector<mi::Rank> stopped;
  std::ranges::copy_if(ranks, std::back_inserter(stopped), [this](mi::Rank rank) {
    return m_state.fleet.session(rank)->state() == mi::SessionState::Stopped;
  });
  m_state.fleet.run(stopped, {}, [](const mi::GroupResult&) {});
}

void RunControl::stepRanks(values::RankAction action, const Movable& ranks, const QString& who) {
  if (ranks.withGdb.empty()) {
    Q_EMIT message(tr("Stepping needs a debugger on the rank: tick it in the ranks' list and "
                      "restart the cycle."),
                   false);
    return;
  }
  mi::RunCommand command;
  command.kind = action == values::RankAction::Step   ? mi::RunKind::Step
                 : action == values::RankAction::Next ? mi::RunKind::Next
                                                      : mi::RunKind::Finish;
  command.onlyThread = m_stepsOneThread;
  m_cycles.sentOn();
  m_groupRun.begin(values::actionWord(action), who,
                   QList<int>(ranks.withGdb.begin(), ranks.withGdb.end()), ranks.debugless);
  std::vector<mi::Rank> others;
  for (const mi::Rank rank : ranks.withGdb) {
    if (m_state.fleet.session(rank)->state() != mi::SessionState::Stopped) {
      continue;  // still on its way from a step before: a straggler of this one, too
    }
    prepareStep(rank);
    if (rank == m_state.current) {
      mi::RunCommand chosen = command;
      chosen.frameLevel = m_inspector.frameRef().level;
      chosen.python = m_inspector.valueRef().python;
      chosen.thread = m_inspector.thread();
      Q_EMIT steps(chosen);
      m_state.fleet.run({rank}, chosen, [](const mi::GroupResult&) {});
    } else {
      others.push_back(rank);
    }
  }
  if (!others.empty()) {
    m_state.fleet.run(others, command, [](const mi::GroupResult&) {});
  }
}

/// GDB moves this rank, to its next logical breakpoint at most; the others follow as far as it
/// needs them.
void RunControl::prepareStep(int rank) {
  m_stepping.insert(rank);
  const Serial stop = nextStopOf(rank);
  if (static_cast<std::size_t>(rank) < m_stops.size()) {
    m_stops[static_cast<std::size_t>(rank)] = stop;
  }
  m_order(protocol::SetStop{rank, stop});
}

void RunControl::walk(int rank, const mi::RunCommand& command) {
  prepareStep(rank);
  if (command.kind == mi::RunKind::Continue) {
    sendOn(rank);
  } else {
    m_state.fleet.run({rank}, command, [](const mi::GroupResult&) {});
  }
}

void RunControl::runToLine(const QString& file, int line, const QList<int>& ranks,
                           const QString& who) {
  mi::RunCommand command;
  command.kind = mi::RunKind::RunTo;
  command.source = file.toStdString();
  command.line = line;
  std::vector<mi::Rank> moving;
  QList<int> debugless;
  for (const int rank : ranks.isEmpty() ? QList<int>{m_state.current} : ranks) {
    if (!m_state.runs(rank)) {
      continue;
    }
    if (m_state.debugger(rank) == nullptr) {
      debugless.append(rank);
    } else if (m_state.stoppedDebugger(rank) != nullptr) {
      moving.push_back(rank);
    }
  }
  if (moving.empty()) {
    Q_EMIT message(
        tr("Run to line needs a stopped rank with a debugger: replay to an event, and tick "
           "the rank in the ranks' list."),
        false);
    return;
  }
  m_groupRun.begin(tr("run to line %1").arg(line), who, QList<int>(moving.begin(), moving.end()),
                   debugless);
  for (const mi::Rank rank : moving) {
    prepareStep(rank);
  }
  m_state.fleet.run(moving, command, [](const mi::GroupResult&) {});
}

void RunControl::stopOthers(const values::Breakpoint& breakpoint, int rank) {
  if (breakpoint.stops == values::StopsWho::Alone) {
    return;
  }
  bool ok = true;
  const QList<int> group = values::parseRankSet(breakpoint.group, ok);
  std::vector<mi::Rank> withGdb;
  for (int other = 0; other < static_cast<int>(m_state.rankInfos.size()); ++other) {
    const bool meant = breakpoint.stops == values::StopsWho::All || group.contains(other);
    if (other == rank || !meant || !m_state.runs(other) || m_state.now[other].exited) {
      continue;
    }
    if (const mi::GdbSession* gdb = m_state.debugger(other); gdb != nullptr) {
      if (gdb->state() == mi::SessionState::Running) {
        m_pausing.insert(other);
        withGdb.push_back(other);
      }
    } else if (!m_state.standsBeforeEvent(other)) {
      m_order(protocol::SetStop{other, m_state.serialOf(other) + 1});
    }
  }
  m_state.fleet.pause(withGdb, [](const mi::GroupResult&) {});
}

bool RunControl::noLongerMoves(int rank, const mi::StopEvent& stop) {
  m_stepping.remove(rank);
  return m_pausing.remove(rank) && stop.reason == mi::StopReason::Paused;
}

void RunControl::cutReached() {
  if (std::exchange(m_awaitsCut,
                    false)) {  // else a step has brought them to rest, and its own stop says so
    settleOnceStopped(m_goal.event.valid() ? m_goal.text : QString());
  }
}

/// The daemon knows of a stop some milliseconds before GDB does: a key that is pressed in between
/// would find the rank running.
void RunControl::settleOnceStopped(const QString& why) {
  constexpr int kLongestMs = 1000;
  QSet<int> late;
  for (const mi::Rank rank : m_state.fleet.ranks()) {
    const RankNow& now = m_state.now[rank];
    if (now.attached && !now.exited && now.state.phase == RankPhase::Stopped &&
        m_state.fleet.session(rank)->state() == mi::SessionState::Running) {
      late.insert(rank);
    }
  }
  m_settling.begin({late, why});
  if (late.isEmpty()) {
    endSettling();
    return;
  }
  QTimer::singleShot(kLongestMs, this, [this, settling = m_settling.guard()] {
    if (!settling || m_settling->ranks.isEmpty()) {
      return;
    }
    if (m_waitsFor && m_settling->ranks.contains(*m_waitsFor)) {
      m_settling->ranks = {*m_waitsFor};
    } else {
      endSettling();
    }
  });
}

void RunControl::stopNoted(int rank) {
  if (m_settling->ranks.remove(rank) && m_settling->ranks.isEmpty()) {
    endSettling();
  }
}

void RunControl::endSettling() {
  const Settling settling = std::exchange(*m_settling, {});
  m_settling.drop();
  if (m_state.phase != Phase::Running) {
    return;
  }
  Q_EMIT arrived(settling.why);
  if (settling.then) {
    settling.then();
  }
}

}  // namespace pf::session

#include "moc_run_control.cpp"
