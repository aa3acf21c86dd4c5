// SPDX-License-Identifier: GPL-3.0-or-later
// Ways back and on that need to know the run: by events of the recording, and by hits that GDB counts in a re-execution.
//
// A hit of a GDB breakpoint has no number of its own in the recording, but in a replay the n-th is the n-th again. The last change of a
// watched expression: a first cycle counts the watchpoint's hits up to where the rank is (GDB ignores, and counts, all), a second
// one ignores all but the last. Not a bisection over events: a value may have changed and changed back.
#include <algorithm>

#include "app/session/debug_session.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::session {
namespace {

constexpr int kIgnoreAll = 1000000000;

}  // namespace

Serial DebugSession::upcoming(int rank) const {
  const auto now = m_state.now.find(rank);
  if (m_state.phase != Phase::Running || now == m_state.now.end()) {
    return 1;
  }
  return now->second.state.serial + 1;
}

void DebugSession::nextEvent() {
  if (!canReplay() || m_state.events.readsFirst([this] { nextEvent(); })) {
    return;
  }
  const auto now = m_state.now.find(m_state.current);
  const bool standing = m_state.phase == Phase::Running && now != m_state.now.end() &&
                        now->second.state.phase == RankPhase::Stopped;
  const EventRef next{m_state.current, upcoming(m_state.current) + (standing ? 1 : 0)};
  if (next.serial >
      m_state.whole().execution.ranks[static_cast<std::size_t>(m_state.current)].events.size()) {
    Q_EMIT message(tr("Rank %1 does nothing more in the recording.").arg(m_state.current), false);
    return;
  }
  goTo({next, tr("next event of rank %1 (event %2)").arg(m_state.current).arg(next.serial)});
}

void DebugSession::nextRacingReceive() {
  if (!canReplay() || m_state.events.readsFirst([this] { nextRacingReceive(); })) {
    return;
  }
  const RanksNow now = m_state.ranksNow();
  const bool goesOn = m_state.phase == Phase::Running && !m_state.diverged;
  EventRef best;
  std::uint32_t earliest = 0;
  const std::vector<Race> races = m_state.trace->races.list();
  for (std::size_t number = 1; number <= races.size(); ++number) {
    LogicalStop race;
    race.kind = LogicalKind::Race;
    race.number = number;
    const auto events = eventsOf(race, m_state.whole().execution, races);
    if (!events || events->empty()) {
      continue;
    }
    const EventRef event = events->front();
    const auto rank = static_cast<std::size_t>(event.rank);
    const Serial past = goesOn ? now.begun[rank] + (now.standing[rank] ? 1 : 0) : 0;
    const std::uint32_t time = m_state.whole().logicalTimes[rank][event.serial - 1];
    if (event.serial > past && (!best.valid() || time < earliest)) {
      best = event;
      earliest = time;
    }
  }
  if (!best.valid()) {
    Q_EMIT message(tr("No receive races from here on in the recording."), false);
    return;
  }
  m_inspector.selectRank(best.rank);
  goTo({best, tr("next racing receive: rank %1, event %2").arg(best.rank).arg(best.serial)});
}

void DebugSession::previousReceive() {
  if (!canReplay() || m_state.events.readsFirst([this] { previousReceive(); })) {
    return;
  }
  const std::vector<Serial> receives =
      receivesOf(m_state.whole().execution.ranks[static_cast<std::size_t>(m_state.current)]);
  const auto behind = std::lower_bound(receives.begin(), receives.end(), upcoming(m_state.current));
  if (behind == receives.begin()) {
    Q_EMIT message(tr("Rank %1 has received nothing yet.").arg(m_state.current), false);
    return;
  }
  const Serial serial = *(behind - 1);
  goTo({{m_state.current, serial},
        tr("previous receive: rank %1 before its event %2").arg(m_state.current).arg(serial)});
}

void DebugSession::previousHit() {
  if (!canReplay() || m_cycles.isEmpty()) {
    return;
  }
  const bool onTrail = m_trailCycle == m_cycles.last().number && m_trailRank == m_state.current;
  if (!onTrail) {
    m_trail.clear();
    for (const views::BreakpointHit& hit : m_cycles.last().recorded) {
      if (hit.rank == m_state.current && m_breakpoints.find(hit.breakpoint) != nullptr) {
        m_trail.append(hit);
      }
    }
    m_trailRank = m_state.current;
    const bool standing = std::any_of(
        m_standing.begin(), m_standing.end(),
        [this](const views::BreakpointHit& hit) { return hit.rank == m_state.current; });
    if (standing && !m_trail.isEmpty()) {
      m_trail.removeLast();
    }
  }
  if (m_trail.isEmpty()) {
    Q_EMIT message(
        tr("Rank %1 has hit no breakpoint before this place in this cycle.").arg(m_state.current),
        false);
    return;
  }
  const views::BreakpointHit hit = m_trail.takeLast();
  const auto number = std::count_if(
      m_trail.begin(), m_trail.end(),
      [&hit](const views::BreakpointHit& other) { return other.breakpoint == hit.breakpoint; });
  const views::Breakpoint* breakpoint = m_breakpoints.find(hit.breakpoint);
  m_trailCycle = m_cycles.last().number + 1;
  const QString name = tr("previous hit, breakpoint %1, rank %2").arg(hit.breakpoint).arg(hit.rank);
  if (breakpoint == nullptr) {
    return;
  }
  if (breakpoint->kind == views::BreakpointKind::Logical) {
    startCycle({{hit.rank, hit.serial}, name});
    return;
  }
  m_search = Search{};
  m_search->rank = hit.rank;
  m_search->spec = m_breakpoints.specOf(hit.breakpoint);
  m_search->passes = breakpoint->ignoreCount + static_cast<int>(number);
  m_search->text = name;
  m_search->last = true;
  searchCycle({{}, name});
}

void DebugSession::lastChange(const QString& expression) {
  const Serial place = upcoming(m_state.current);
  if (!canReplay() || m_state.phase != Phase::Running || expression.trimmed().isEmpty()) {
    Q_EMIT message(
        tr("Back to the last change needs a replay that has stopped, and an expression."), false);
    return;
  }
  m_trailCycle = 0;
  const auto now = m_state.now.find(m_state.current);
  const bool standing = now != m_state.now.end() && now->second.state.phase == RankPhase::Stopped;
  m_focus.insert(m_state.current);
  m_search = Search{};
  m_search->rank = m_state.current;
  m_search->expression = expression.trimmed();
  m_search->text =
      tr("last change of %1 on rank %2").arg(m_search->expression).arg(m_state.current);
  mi::BreakpointSpec watch;
  watch.kind = mi::SpecKind::Watch;
  watch.expression = m_search->expression.toStdString();
  watch.ignoreCount = kIgnoreAll;
  watch.ranks = {m_state.current};
  m_search->spec = m_fleet.addBreakpoint(watch);
  m_search->own = true;
  // In the middle of an interval: up to the event that the rank began last.
  searchCycle({{m_state.current, standing ? place : std::max<Serial>(place, 2) - 1},
               tr("counting the changes of %1").arg(m_search->expression)});
}

/// A cycle in which no breakpoint stops but the one that is looked for.
void DebugSession::searchCycle(Goal goal) {
  for (mi::BreakpointSpec one : m_fleet.breakpoints()) {
    if (one.id != m_search->spec && m_breakpoints.idOf(one.id) != 0) {
      one.enabled = false;
      (void)m_fleet.changeBreakpoint(one);
    }
  }
  for (mi::BreakpointSpec one : m_fleet.breakpoints()) {
    if (one.id == m_search->spec && m_search->last) {
      one.ignoreCount = m_search->passes;
      one.enabled = true;
      (void)m_fleet.changeBreakpoint(one);
    }
  }
  startCycle(std::move(goal));
}

/// The first cycle of lastChange() has come to where the rank was.
bool DebugSession::countedChanges() {
  if (!m_search || m_search->last) {
    return false;
  }
  const mi::BreakpointStatus status = m_fleet.status(m_search->spec, m_search->rank);
  if (status.gdbNumber == 0 || status.hits == 0) {
    Q_EMIT message(status.gdbNumber == 0
                       ? tr("%1 cannot be watched from MPI_Init on: %2. Variables that are known "
                            "there can: globals, "
                            "statics.")
                             .arg(m_search->expression, QString::fromStdString(status.problem))
                       : tr("%1 has not changed since MPI_Init.").arg(m_search->expression),
                   status.gdbNumber == 0);
    endSearch();
    return false;
  }
  m_search->passes = status.hits - 1;
  m_search->last = true;
  searchCycle({{}, m_search->text});
  return true;
}

/// A rank has stopped in the last cycle of a search: all breakpoints are as before again.
void DebugSession::endSearch() {
  if (!m_search) {
    return;
  }
  const Search search = *m_search;
  m_search.reset();
  if (search.own) {
    m_fleet.removeBreakpoint(search.spec);
  }
  m_breakpoints.giveToFleet();
  if (const mi::BreakpointStatus status = m_fleet.status(search.spec, search.rank);
      !search.own && status.gdbNumber > 0) {
    if (mi::GdbSession* gdb = m_fleet.session(search.rank); gdb != nullptr) {
      gdb->breakpoints().setIgnoreCount(status.gdbNumber, 0, {});  // it has passed over them
    }
  }
}

}  // namespace pf::session
