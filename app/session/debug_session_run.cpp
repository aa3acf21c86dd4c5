// SPDX-License-Identifier: GPL-3.0-or-later
// Where the ranks are sent: consistent cuts, and what happens when they get there.
#include <algorithm>
#include <iterator>

#include "app/collation/failure.h"
#include "app/replaying/replay.h"
#include "app/session/debug_session.h"

namespace pf::session {
namespace {

constexpr int kAttachWithinMs = 20000;

}  // namespace

void DebugSession::attachFocus() {
  m_state.phase = Phase::Attaching;
  protocol::AttachGdb attach;
  for (const int rank : std::as_const(m_focus)) {
    if (m_state.now.count(rank) != 0) {
      attach.ranks.push_back(rank);
      m_attaching.insert(rank);
    }
  }
  if (attach.ranks.empty()) {
    attachDone();
    return;
  }
  Q_EMIT progress(
      tr("Attaching the debugger to %n rank(s) …", nullptr, static_cast<int>(attach.ranks.size())));
  order(attach);
  QTimer::singleShot(kAttachWithinMs, m_target.get(), [this, target = m_target.get()] {
    if (target == m_target.get() && m_state.phase == Phase::Attaching) {
      Q_EMIT message(tr("A debugger did not attach in time; going on without it."), true);
      m_attaching.clear();
      attachDone();
    }
  });
}

void DebugSession::attachDone() {
  if (m_state.phase != Phase::Attaching || !m_attaching.isEmpty()) {
    return;
  }
  m_state.phase = Phase::Running;
  sendPlan(m_goal);
  Q_EMIT progress(m_goal.event.valid() ? tr("Replaying to %1 …").arg(m_goal.text)
                                       : tr("Replaying …"));
  for (const mi::Rank rank : m_fleet.ranks()) {
    mi::GdbSession* gdb = m_fleet.session(rank);
    if (gdb->state() == mi::SessionState::Stopped) {
      gdb->run({}, [](const Status&) {});
    }
  }
  order(protocol::OpenGate{});
}

StopPlan DebugSession::planFor(const Goal& goal) const {
  std::vector<Serial> limits(m_state.rankInfos.size(), 0);
  if (goal.event.valid()) {
    const std::vector<Serial> cut = cutOf(goal);
    std::transform(cut.begin(), cut.end(), limits.begin(), [](Serial done) { return done + 1; });
  } else if (const auto ends =
                 m_store != nullptr ? app::stopsAtEnd(*m_store) : std::vector<std::uint64_t>();
             !ends.empty()) {
    limits = ends;
  }
  return planStops(m_state.whole().execution, m_state.whole().logicalTimes, m_state.ranksNow(),
                   limits, goal.event,
                   m_search ? std::vector<PendingStop>() : m_breakpoints.pendingStops());
}

Serial DebugSession::nextStopOf(int rank) const {
  return m_breakpoints.nextStopOf(
      rank, m_state.serialOf(rank) + (m_state.standsBeforeEvent(rank) ? 1 : 0));
}

/// Breakpoints have changed while ranks are on their way.
void DebugSession::replan() {
  if (m_state.phase == Phase::Running && m_awaitsCut && !m_state.diverged) {
    sendPlan(m_goal);
  }
}

void DebugSession::joinFocus() {
  const qsizetype before = m_focus.size();
  m_focus.unite(m_breakpoints.ownRanks());
  if (m_focus.size() != before) {
    Q_EMIT focusChanged(m_focus.values());
  }
}

void DebugSession::sendPlan(const Goal& goal) {
  const StopPlan next = planFor(goal);
  protocol::Plan plan;
  plan.stops = next.stops;
  if (next.target.valid()) {
    plan.targetRank = next.target.rank;
  }
  m_stops = plan.stops;
  m_awaitsCut = true;
  m_settling.ranks.clear();
  m_standing.clear();
  order(plan);
}

bool DebugSession::reachable(const Goal& goal) const {
  if (m_state.phase != Phase::Running || m_state.diverged) {
    return false;
  }
  const std::vector<Serial> cut = cutOf(goal);
  for (std::size_t r = 0; r < cut.size(); ++r) {
    const auto now = m_state.now.find(static_cast<int>(r));
    if (now == m_state.now.end() || now->second.exited || now->second.state.serial > cut[r]) {
      return false;
    }
  }
  return true;
}

bool DebugSession::mayGoOn(int rank) const {
  if (m_state.phase != Phase::Running || m_state.diverged || m_stepping.contains(rank) ||
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

void DebugSession::releaseGdbs(const std::vector<std::uint64_t>& stops) {
  for (const mi::Rank rank : m_fleet.ranks()) {
    mi::GdbSession* gdb = m_fleet.session(rank);
    const std::uint64_t stop = stops[static_cast<std::size_t>(rank)];
    // GDB has stopped it behind an event: the next one is still before it.
    const bool between = gdb->stop().reason != mi::StopReason::Event &&
                         m_state.now[rank].state.phase != RankPhase::Stopped;
    const Serial next = m_state.serialOf(rank) + (between ? 0 : 1);
    if (gdb->state() == mi::SessionState::Stopped && (stop == 0 || next < stop)) {
      sendOn(rank);
    }
  }
}

void DebugSession::sendOn(int rank) {
  mi::GdbSession* gdb = m_fleet.session(rank);
  if (gdb->stop().reason == mi::StopReason::Event) {
    m_state.now[rank].sentFrom = m_state.serialOf(rank) + 1;
  }
  gdb->run({}, [](const Status&) {});
}

void DebugSession::goTo(Goal goal) {
  if (!canReplay() || m_state.events.readsFirst([this, goal] { goTo(goal); })) {
    return;
  }
  if (!goal.event.valid() || !reachable(goal)) {
    startCycle(std::move(goal));
    return;
  }
  m_goal = std::move(goal);
  m_stepping.clear();
  Q_EMIT progress(tr("Replaying to %1 …").arg(m_goal.text));
  sendPlan(m_goal);
  releaseGdbs(m_stops);
}

void DebugSession::replayTo(const EventRef& event) {
  if (isOpen() && event.valid()) {
    goTo({event, tr("rank %1 before its event %2").arg(event.rank).arg(event.serial)});
  }
}

void DebugSession::restartCycle() {
  startCycle({{}, tr("to the end")});
}

void DebugSession::repeatCycle() {
  startCycle(m_goal.text.isEmpty() ? Goal{{}, tr("to the end")} : m_goal);
}

Serial DebugSession::nextReceive(int rank) const {
  const RankHistory& history = m_state.whole().execution.ranks[static_cast<std::size_t>(rank)];
  const auto now = m_state.now.find(rank);
  Serial from = 1;
  if (m_state.phase == Phase::Running && now != m_state.now.end()) {
    from = now->second.state.serial + (now->second.state.phase == RankPhase::Stopped ? 2 : 1);
  }
  for (Serial s = from; s <= history.events.size(); ++s) {
    if (app::receives(history, s)) {
      return s;
    }
  }
  return 0;
}

void DebugSession::stepToNextReceive() {
  if (!canReplay() || m_state.events.readsFirst([this] { stepToNextReceive(); })) {
    return;
  }
  const Serial serial = nextReceive(m_state.current);
  if (serial == 0) {
    Q_EMIT message(tr("Rank %1 receives nothing more in the recording.").arg(m_state.current),
                   false);
    return;
  }
  goTo({{m_state.current, serial},
        tr("next receive of rank %1 (event %2)").arg(m_state.current).arg(serial)});
}

void DebugSession::runToFailure() {
  if (!canReplay()) {
    return;
  }
  // A receive that the user marked has the last word.
  const EventRef target =
      m_bookmarks.failing().valid() ? m_bookmarks.failing() : m_state.trace->failure.event;
  if (!target.valid()) {
    Q_EMIT message(tr("No rank failed in this recording. Mark a receive as failing in the "
                      "diagram's menu, or use Replay to here."),
                   false);
    return;
  }
  if (!m_focus.contains(target.rank)) {
    m_focus.insert(target.rank);
  }
  m_inspector.selectRank(target.rank);
  goTo({target, tr("failing receive, rank %1 event %2").arg(target.rank).arg(target.serial)});
}

void DebugSession::letOthersFollow(int rank, Serial serial) {
  const RankHistory& history = m_state.whole().execution.ranks[static_cast<std::size_t>(rank)];
  std::vector<std::uint64_t> stops = m_stops;
  stops.resize(m_state.rankInfos.size(), 0);
  if (serial >= history.events.size()) {
    const auto ends = app::stopsAtEnd(*m_store);
    stops = ends.empty() ? std::vector<std::uint64_t>(m_state.rankInfos.size(), 0) : ends;
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
  order(plan);
  for (const mi::Rank other : m_fleet.ranks()) {
    mi::GdbSession* gdb = m_fleet.session(other);
    const std::uint64_t stop = stops[static_cast<std::size_t>(other)];
    const bool atEvent =
        gdb->state() == mi::SessionState::Stopped && gdb->stop().reason == mi::StopReason::Event;
    if (other != rank && atEvent && !m_stepping.contains(other) &&
        (stop == 0 || m_state.serialOf(other) + 1 < stop)) {
      sendOn(other);
    }
  }
}

void DebugSession::act(views::RankAction action, const QList<int>& ranks, const QString& who) {
  if (m_state.phase != Phase::Running) {
    if (action == views::RankAction::Continue) {
      restartCycle();
    }
    return;
  }
  if (!m_settling.ranks.isEmpty() && action != views::RankAction::Pause) {
    m_settling.then = [this, action, ranks, who] { act(action, ranks, who); };
    return;
  }
  std::vector<mi::Rank> withGdb;
  QList<int> debugless;
  for (const int rank : ranks) {
    const RankNow& now = m_state.now[rank];
    if (!now.exited && now.attached && m_fleet.session(rank) != nullptr) {
      withGdb.push_back(rank);
    } else if (!now.exited) {
      debugless.append(rank);
    }
  }
  if (m_state.source != Source::Recording && outsideAct(action, withGdb, debugless, who)) {
    return;
  }
  if (action == views::RankAction::Pause) {
    pauseRanks(withGdb, debugless, who);
  } else if (action == views::RankAction::Continue) {
    continueRanks(withGdb, debugless, who);
  } else {
    stepRanks(action, withGdb, debugless, who);
  }
}

void DebugSession::pauseRanks(const std::vector<mi::Rank>& withGdb, const QList<int>& debugless,
                              const QString& who) {
  QList<int> moving;
  for (const mi::Rank rank : withGdb) {
    if (m_fleet.session(rank)->state() != mi::SessionState::Stopped) {
      moving.append(rank);
    }
  }
  for (const int rank : debugless) {
    if (m_state.now[rank].state.phase != RankPhase::Stopped) {
      moving.append(rank);
    }
    order(protocol::SetStop{rank, m_state.serialOf(rank) + 1});
  }
  m_groupRun.begin(views::actionWord(views::RankAction::Pause), who, moving, {});
  m_fleet.pause(withGdb, [](const mi::GroupResult&) {});
}

void DebugSession::continueRanks(const std::vector<mi::Rank>& withGdb, const QList<int>& debugless,
                                 const QString& who) {
  m_stepping.clear();
  m_standing.clear();
  m_awaitsCut = true;
  m_goal = {{}, tr("on")};
  const QList<int> moving = QList<int>(withGdb.begin(), withGdb.end()) + debugless;
  if (static_cast<std::size_t>(moving.size()) >= m_state.rankInfos.size()) {
    sendPlan(m_goal);
  } else {
    const std::vector<std::uint64_t> stops = planFor(m_goal).stops;
    m_stops.resize(stops.size(), 0);
    for (const int rank : moving) {
      m_stops[static_cast<std::size_t>(rank)] = stops[static_cast<std::size_t>(rank)];
      order(protocol::SetStop{rank, stops[static_cast<std::size_t>(rank)]});
    }
  }
  m_groupRun.begin(views::actionWord(views::RankAction::Continue), who, moving, {});
  std::vector<mi::Rank> stopped;
  std::copy_if(withGdb.begin(), withGdb.end(), std::back_inserter(stopped), [this](mi::Rank rank) {
    return m_fleet.session(rank)->state() == mi::SessionState::Stopped;
  });
  m_fleet.run(stopped, {}, [](const mi::GroupResult&) {});
}

void DebugSession::stepRanks(views::RankAction action, const std::vector<mi::Rank>& withGdb,
                             const QList<int>& debugless, const QString& who) {
  if (withGdb.empty()) {
    Q_EMIT message(tr("Stepping needs a debugger on the rank: tick it in the ranks' list and "
                      "restart the cycle."),
                   false);
    return;
  }
  mi::RunCommand command;
  command.kind = action == views::RankAction::Step   ? mi::RunKind::Step
                 : action == views::RankAction::Next ? mi::RunKind::Next
                                                     : mi::RunKind::Finish;
  command.onlyThread = m_stepsOneThread;
  m_standing.clear();
  m_groupRun.begin(views::actionWord(action), who, QList<int>(withGdb.begin(), withGdb.end()),
                   debugless);
  std::vector<mi::Rank> others;
  for (const mi::Rank rank : withGdb) {
    if (m_fleet.session(rank)->state() != mi::SessionState::Stopped) {
      continue;  // still on its way from a step before: a straggler of this one, too
    }
    prepareStep(rank);
    if (rank == m_state.current) {
      mi::RunCommand chosen = command;
      chosen.frameLevel = m_inspector.frame();
      chosen.thread = m_inspector.thread();
      m_fleet.run({rank}, chosen, [](const mi::GroupResult&) {});
    } else {
      others.push_back(rank);
    }
  }
  if (!others.empty()) {
    m_fleet.run(others, command, [](const mi::GroupResult&) {});
  }
}

/// GDB moves this rank, to its next logical breakpoint at most; the others follow as far as it
/// needs them.
void DebugSession::prepareStep(int rank) {
  m_stepping.insert(rank);
  const Serial stop = nextStopOf(rank);
  if (static_cast<std::size_t>(rank) < m_stops.size()) {
    m_stops[static_cast<std::size_t>(rank)] = stop;
  }
  order(protocol::SetStop{rank, stop});
}

void DebugSession::runToLine(const QString& file, int line, const QList<int>& ranks,
                             const QString& who) {
  mi::RunCommand command;
  command.kind = mi::RunKind::RunTo;
  command.source = file.toStdString();
  command.line = line;
  std::vector<mi::Rank> moving;
  QList<int> debugless;
  for (const int rank : ranks.isEmpty() ? QList<int>{m_state.current} : ranks) {
    mi::GdbSession* gdb = m_state.now[rank].attached ? m_fleet.session(rank) : nullptr;
    if (gdb == nullptr) {
      debugless.append(rank);
    } else if (gdb->state() == mi::SessionState::Stopped) {
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
  m_fleet.run(moving, command, [](const mi::GroupResult&) {});
}

/// The daemon knows of a stop some milliseconds before GDB does: a key that is pressed in between
/// would find the rank running.
void DebugSession::settleOnceStopped(const QString& why) {
  constexpr int kLongestMs = 1000;
  m_settling = {{}, why, m_settling.number + 1, {}};
  for (const mi::Rank rank : m_fleet.ranks()) {
    const RankNow& now = m_state.now[rank];
    if (now.attached && !now.exited && now.state.phase == RankPhase::Stopped &&
        m_fleet.session(rank)->state() == mi::SessionState::Running) {
      m_settling.ranks.insert(rank);
    }
  }
  if (m_settling.ranks.isEmpty()) {
    endSettling();
    return;
  }
  QTimer::singleShot(kLongestMs, this, [this, number = m_settling.number] {
    if (number == m_settling.number && !m_settling.ranks.isEmpty()) {
      endSettling();
    }
  });
}

void DebugSession::endSettling() {
  const Settling settling = std::exchange(m_settling, {{}, {}, m_settling.number + 1, {}});
  if (m_state.phase != Phase::Running) {
    return;
  }
  const QString& inputs = m_cycles.last().inputs;
  Q_EMIT message(
      tr("Stopped: %1%2.")
          .arg(settling.why, inputs.isEmpty() ? QString() : QStringLiteral("; ") + inputs),
      false);
  settle(settling.why);
  if (settling.then) {
    settling.then();
  }
}

void DebugSession::settle(const QString& why) {
  if (m_cycles.isEmpty() || countedChanges()) {
    return;
  }
  Q_EMIT progress({});
  views::Cycle& cycle = m_cycles.last();
  cycle.summary = tr("stopped: %1").arg(why);
  if (!m_standing.isEmpty()) {
    const views::BreakpointHit hit = m_standing.first();
    cycle.summary = tr("stopped: %1, rank %2 before event %3")
                        .arg(m_breakpoints.standingText(hit.rank))
                        .arg(hit.rank)
                        .arg(hit.serial);
    m_inspector.selectRank(hit.rank);
  }
  if (cycle.match == views::CycleMatch::Unknown) {
    cycle.match = views::CycleMatch::Matches;
  }
  saveCycle();
  tellPositions();
  Q_EMIT settled();
}

void DebugSession::tellPositions() {
  Q_EMIT positionsChanged(m_state.positions());
}

void DebugSession::finishCycle(const QString& why, bool ranToEnd) {
  if (m_cycles.isEmpty() || !m_cycles.last().running) {
    return;
  }
  if (m_search && !m_next) {
    Q_EMIT message(tr("%1: not found.").arg(m_search->text), false);
    endSearch();
  }
  views::Cycle& cycle = m_cycles.last();
  cycle.running = false;
  if (ranToEnd && cycle.match == views::CycleMatch::Unknown) {
    cycle.match = views::CycleMatch::Matches;
  }
  cycle.summary = cycle.stops.isEmpty() || ranToEnd ? why : cycle.summary;
  saveCycle();
}

}  // namespace pf::session
