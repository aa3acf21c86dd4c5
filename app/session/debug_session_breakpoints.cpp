// SPDX-License-Identifier: GPL-3.0-or-later
// Breakpoints of both kinds: the GDBs' and the logical ones, which are events of the recording.
#include <algorithm>

#include "app/replaying/replay.h"
#include "app/session/breakpoint_text.h"
#include "app/session/debug_session.h"
#include "app/session/frame_values.h"
#include "app/session/line_text.h"
#include "app/traces/own_traces.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::session {
namespace {

/// A breakpoint of at most so many ranks brings these into the focus set.
constexpr std::size_t kOwnRanks = 4;
/// Marks of one breakpoint in the diagram.
constexpr qsizetype kMarks = 4000;

bool earlier(const EventRef& a, const EventRef& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.serial < b.serial;
}

bool isLogical(const views::Breakpoint& breakpoint) {
  return breakpoint.kind == views::BreakpointKind::Logical;
}

mi::SpecKind kindOf(const views::Breakpoint& breakpoint) {
  switch (breakpoint.kind) {
    case views::BreakpointKind::Watch:
      return mi::SpecKind::Watch;
    case views::BreakpointKind::ReadWatch:
      return mi::SpecKind::ReadWatch;
    case views::BreakpointKind::AccessWatch:
      return mi::SpecKind::AccessWatch;
    case views::BreakpointKind::Catch:
      return mi::SpecKind::Catch;
    case views::BreakpointKind::Code:
    case views::BreakpointKind::Address:
    case views::BreakpointKind::Logical:
      break;
  }
  return mi::SpecKind::Code;
}

StopScope scopeOf(const views::Breakpoint& breakpoint) {
  return breakpoint.stops == views::StopsWho::All     ? StopScope::All
         : breakpoint.stops == views::StopsWho::Group ? StopScope::Group
                                                      : StopScope::Alone;
}

}  // namespace

views::Breakpoint* DebugSession::find(int id) {
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    if (breakpoint.id == id) {
      return &breakpoint;
    }
  }
  return nullptr;
}

void DebugSession::addToFleet(views::Breakpoint& breakpoint) {
  if (breakpoint.enabled) {  // also one from elsewhere, by that
    app::keepWords(app::wordsOf(toRow(breakpoint)));
  }
  if (breakpoint.kind == views::BreakpointKind::Logical) {
    return;  // a stop in the plan of each cycle, no GDB needed
  }
  if (const Status may = mayBeGiven(breakpoint); !may) {
    if (const auto given = m_specOf.find(breakpoint.id); given != m_specOf.end()) {
      m_fleet.removeBreakpoint(given->second);
      m_specOf.erase(given);
    }
    breakpoint.state = views::BreakpointState::Failed;
    breakpoint.note = toText(may.error().message);
    return;
  }
  mi::BreakpointSpec spec;
  spec.source = breakpoint.file.toStdString();
  spec.line = breakpoint.line;
  spec.function = breakpoint.function.toStdString();
  spec.condition = breakpoint.condition.toStdString();
  spec.kind = kindOf(breakpoint);
  spec.expression = breakpoint.expression.toStdString();
  for (const QString& command : breakpoint.commands) {
    spec.commands.push_back(command.toStdString());
  }
  spec.log = breakpoint.log.toStdString();
  spec.ignoreCount = breakpoint.ignoreCount;
  spec.enabled = breakpoint.enabled;
  bool ok = true;
  for (const int rank : views::parseRankSet(breakpoint.ranks, ok)) {
    spec.ranks.insert(rank);
  }
  if (const auto known = m_specOf.find(breakpoint.id); known != m_specOf.end()) {
    spec.id = known->second;
    if (Status status = m_fleet.changeBreakpoint(spec); !status) {
      Q_EMIT message(toText(status.error().text()), true);
    }
  } else {
    m_specOf[breakpoint.id] = m_fleet.addBreakpoint(spec);
  }
}

void DebugSession::applyBreakpoints() {
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    resolve(breakpoint);
    addToFleet(breakpoint);
  }
  Q_EMIT breakpointsChanged();
}

void DebugSession::resolve(views::Breakpoint& breakpoint) {
  if (breakpoint.kind != views::BreakpointKind::Logical) {
    return;
  }
  breakpoint.events.clear();
  breakpoint.event = {};
  if (!m_state.events.areRead()) {
    breakpoint.state = views::BreakpointState::Pending;
    breakpoint.note = tr("its events are looked up once the trace's events have been read");
    if (!m_resolving) {
      m_resolving = true;
      (void)m_state.events.readsFirst([this] { resolveAll(); });
    }
    return;
  }
  breakpoint.state = views::BreakpointState::Failed;
  const Result<LogicalStop> stop = parseLogicalStop(breakpoint.expression.toStdString());
  const bool isRace = stop && stop->kind == LogicalKind::Race;
  const Result<std::vector<EventRef>> events =
      stop ? eventsOf(*stop, m_state.whole().execution,
                      isRace ? m_state.trace->races.list() : std::vector<Race>())
           : Result<std::vector<EventRef>>(stop.error());
  if (!events) {
    breakpoint.note = toText(events.error().message + ". " + events.error().advice);
    return;
  }
  bool ok = true;
  const QList<int> where = views::parseRankSet(breakpoint.ranks, ok);
  for (const EventRef& event : *events) {
    if (where.isEmpty() || where.contains(event.rank)) {
      breakpoint.events.append(event);
    }
  }
  if (stop->kind == LogicalKind::Divergence) {
    breakpoint.state = views::BreakpointState::Set;
    breakpoint.note = tr("a replay stops there by itself");
  } else if (breakpoint.events.isEmpty()) {
    breakpoint.note = tr("there is no such event in the recording");
  } else {
    breakpoint.state = views::BreakpointState::Set;
    breakpoint.event = breakpoint.events.first();
    breakpoint.note =
        breakpoint.events.size() == 1
            ? tr("rank %1, event %2").arg(breakpoint.event.rank).arg(breakpoint.event.serial)
            : tr("%n event(s)", nullptr, static_cast<int>(breakpoint.events.size()));
  }
}

void DebugSession::resolveAll() {
  m_resolving = false;
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    resolve(breakpoint);
  }
  Q_EMIT breakpointsChanged();
}

void DebugSession::addBreakpoint(views::Breakpoint breakpoint) {
  if (!isOpen()) {
    return;
  }
  if (breakpoint.line > 0 && breakpoint.lineText.isEmpty()) {
    const QStringList lines = linesOf(breakpoint.file);
    breakpoint.lineText = lines.value(breakpoint.line - 1).trimmed();
  }
  breakpoint.id = static_cast<int>(store(toRow(breakpoint)));
  if (breakpoint.id == 0) {
    breakpoint.id = m_breakpoints.isEmpty() ? 1 : m_breakpoints.last().id + 1;
  }
  m_breakpoints.append(breakpoint);
  resolve(m_breakpoints.last());
  addToFleet(m_breakpoints.last());
  replan();
  Q_EMIT breakpointsChanged();
  publishMarks();
}

void DebugSession::toggleBreakpoint(const QString& file, int line) {
  for (const views::Breakpoint& breakpoint : std::as_const(m_breakpoints)) {
    if (breakpoint.file == file && breakpoint.line == line) {
      removeBreakpoints({breakpoint.id});
      return;
    }
  }
  views::Breakpoint breakpoint;
  breakpoint.file = file;
  breakpoint.line = line;
  addBreakpoint(breakpoint);
}

void DebugSession::breakAt(const EventRef& event) {
  views::Breakpoint breakpoint;
  breakpoint.kind = views::BreakpointKind::Logical;
  LogicalStop stop;
  stop.rank = event.rank;
  stop.number = event.serial;
  breakpoint.expression = toText(toText(stop));
  addBreakpoint(breakpoint);
}

void DebugSession::keep(const views::Breakpoint& breakpoint) {
  if (breakpoint.id > 0) {  // else a passing one
    store(toRow(breakpoint));
  }
}

void DebugSession::changeBreakpoint(const views::Breakpoint& changed) {
  if (views::Breakpoint* breakpoint = find(changed.id); breakpoint != nullptr) {
    *breakpoint = changed;
    keep(changed);
    resolve(*breakpoint);
    addToFleet(*breakpoint);
    replan();
    Q_EMIT breakpointsChanged();
    publishMarks();
  }
}

void DebugSession::removeBreakpoints(const QList<int>& ids) {
  for (const int id : ids) {
    if (const auto spec = m_specOf.find(id); spec != m_specOf.end()) {
      m_fleet.removeBreakpoint(spec->second);
      m_specOf.erase(spec);
    }
    if (m_store != nullptr) {
      (void)m_store->session().remove<db::Breakpoint>(id);
    }
    m_breakpoints.removeIf([id](const views::Breakpoint& b) { return b.id == id; });
  }
  replan();
  Q_EMIT breakpointsChanged();
  publishMarks();
}

void DebugSession::onBreakpointStatus(const mi::BreakpointStatus& status) {
  for (const auto& [id, spec] : m_specOf) {
    views::Breakpoint* breakpoint = spec == status.spec ? find(id) : nullptr;
    if (breakpoint == nullptr) {
      continue;
    }
    breakpoint->state = status.verified          ? views::BreakpointState::Set
                        : status.problem.empty() ? views::BreakpointState::Pending
                                                 : views::BreakpointState::Failed;
    breakpoint->note = toText(status.problem);
    const int cycle = m_cycles.isEmpty() ? 0 : m_cycles.last().number;
    int hits = 0;
    for (const mi::Rank rank : m_fleet.ranks()) {
      hits += m_fleet.status(spec, rank).hits;
    }
    breakpoint->hits.removeIf([cycle](const views::CycleHits& h) { return h.cycle == cycle; });
    if (hits > 0) {
      breakpoint->hits.append({cycle, hits});
    }
  }
  Q_EMIT breakpointsChanged();
}

void DebugSession::onForeignBreakpoint(mi::Rank rank, mi::BreakpointChange change,
                                       const mi::Breakpoint& bp) {
  if (change == mi::BreakpointChange::Created) {
    Q_EMIT consoleText(
        rank,
        tr("(breakpoint %1 is this GDB's own: it does not come back in the next cycle)\n")
            .arg(bp.number),
        false);
  }
}

std::vector<PendingStop> DebugSession::pendingStops() const {
  std::vector<PendingStop> pending;
  if (m_search) {
    return pending;
  }
  for (const views::Breakpoint& breakpoint : m_breakpoints) {
    if (!breakpoint.enabled || !isLogical(breakpoint)) {
      continue;
    }
    bool ok = true;
    const QList<int> group = views::parseRankSet(breakpoint.group, ok);
    for (const EventRef& event : breakpoint.events) {
      pending.push_back({event, scopeOf(breakpoint), {group.begin(), group.end()}});
    }
  }
  return pending;
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
                   limits, goal.event, pendingStops());
}

Serial DebugSession::nextStopOf(int rank) const {
  const auto now = m_state.now.find(rank);
  const Serial past =
      now == m_state.now.end()
          ? 0
          : now->second.state.serial + (now->second.state.phase == RankPhase::Stopped ? 1 : 0);
  Serial next = 0;
  for (const views::Breakpoint& breakpoint : m_breakpoints) {
    if (!breakpoint.enabled || !isLogical(breakpoint)) {
      continue;
    }
    const auto found = std::upper_bound(breakpoint.events.begin(), breakpoint.events.end(),
                                        EventRef{rank, past}, earlier);
    if (found != breakpoint.events.end() && found->rank == rank) {
      next = next == 0 ? found->serial : std::min(next, found->serial);
    }
  }
  return next;
}

/// Breakpoints have changed while ranks are on their way.
void DebugSession::replan() {
  if (m_state.phase == Phase::Running && m_awaitsCut && !m_state.diverged) {
    sendPlan(m_goal);
  }
}

void DebugSession::followLines() {
  QHash<QString, QStringList> sources;
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    if (breakpoint.line > 0 && !breakpoint.lineText.isEmpty()) {
      if (!sources.contains(breakpoint.file)) {
        sources[breakpoint.file] = linesOf(breakpoint.file);
      }
      followLine(breakpoint, sources[breakpoint.file]);
    }
  }
}

void DebugSession::followLine(views::Breakpoint& breakpoint, const QStringList& lines) {
  const QString program =
      m_state.rankInfos.empty() ? QString() : toText(m_state.rankInfos.front().executable);
  if (lines.isEmpty() || lines.value(breakpoint.line - 1).trimmed() == breakpoint.lineText) {
    return;
  }
  const QString name = breakpoint.file.section(QLatin1Char('/'), -1);
  if (isNewer(breakpoint.file, program)) {
    Q_EMIT message(tr("%1 is newer than the program: breakpoint %2 stays at line %3. Rebuild it.")
                       .arg(name)
                       .arg(breakpoint.id)
                       .arg(breakpoint.line),
                   false);
    return;
  }
  const int found = findLine(lines, breakpoint.line, breakpoint.lineText);
  if (found == 0) {
    breakpoint.note = tr("line %1 is no longer '%2'").arg(breakpoint.line).arg(breakpoint.lineText);
    Q_EMIT message(tr("Breakpoint %1: no line of %2 is '%3' any more; it stays at line %4.")
                       .arg(breakpoint.id)
                       .arg(name, breakpoint.lineText)
                       .arg(breakpoint.line),
                   true);
    return;
  }
  Q_EMIT message(tr("Breakpoint %1 has moved with its text from line %2 of %3 to line %4.")
                     .arg(breakpoint.id)
                     .arg(breakpoint.line)
                     .arg(name)
                     .arg(found),
                 false);
  breakpoint.line = found;
  keep(breakpoint);
  addToFleet(breakpoint);
  Q_EMIT breakpointsChanged();
}

void DebugSession::onRankLog(mi::Rank rank, int spec, std::uint64_t serial,
                             const std::string& words) {
  for (const auto& [id, fleetId] : m_specOf) {
    if (fleetId == spec && !m_cycles.isEmpty()) {
      Q_EMIT logged({m_cycles.last().number, rank, serial != 0 ? serial : m_state.serialOf(rank),
                     id, toText(words)});
    }
  }
}

void DebugSession::joinFocus() {
  const qsizetype before = m_focus.size();
  for (const views::Breakpoint& breakpoint : std::as_const(m_breakpoints)) {
    if (!breakpoint.enabled || breakpoint.id <= 0) {
      continue;  // whoever has set a passing one says who gets a GDB
    }
    bool ok = true;
    const QList<int> named = views::parseRankSet(breakpoint.ranks, ok);
    std::set<int> ranks(named.begin(), named.end());
    for (const EventRef& event : breakpoint.events) {
      if (ranks.insert(event.rank); ranks.size() > kOwnRanks) {
        break;
      }
    }
    if (ranks.size() <= kOwnRanks) {
      m_focus.unite({ranks.begin(), ranks.end()});
    }
  }
  if (m_focus.size() != before) {
    Q_EMIT focusChanged(m_focus.values());
  }
}

void DebugSession::noteStanding(int rank) {
  const EventRef next{rank, m_state.serialOf(rank) + 1};
  for (qsizetype i = 0; i < m_breakpoints.size(); ++i) {
    const views::Breakpoint& breakpoint = m_breakpoints[i];
    if (breakpoint.enabled && isLogical(breakpoint) &&
        std::binary_search(breakpoint.events.begin(), breakpoint.events.end(), next, earlier)) {
      addHit(breakpoint.id, rank, next.serial);
    }
  }
}

void DebugSession::noteDivergence(const EventRef& at) {
  for (qsizetype i = 0; i < m_breakpoints.size(); ++i) {
    if (m_breakpoints[i].enabled && isLogical(m_breakpoints[i]) &&
        m_breakpoints[i].expression == QLatin1String("divergence")) {
      addHit(m_breakpoints[i].id, at.rank, at.serial);
    }
  }
}

QString DebugSession::standingText(int rank) const {
  const EventRef next{rank, m_state.serialOf(rank) + 1};
  for (const views::Breakpoint& breakpoint : m_breakpoints) {
    if (isLogical(breakpoint) &&
        std::binary_search(breakpoint.events.begin(), breakpoint.events.end(), next, earlier)) {
      return tr("breakpoint %1 (%2)").arg(breakpoint.id).arg(views::breakpointPlace(breakpoint));
    }
  }
  return {};
}

/// Others stop with a rank that GDB has stopped at a breakpoint: at once, or at their next event.
void DebugSession::stopOthers(const views::Breakpoint& breakpoint, int rank) {
  if (breakpoint.stops == views::StopsWho::Alone) {
    return;
  }
  bool ok = true;
  const QList<int> group = views::parseRankSet(breakpoint.group, ok);
  std::vector<mi::Rank> withGdb;
  for (int other = 0; other < static_cast<int>(m_state.rankInfos.size()); ++other) {
    const bool meant = breakpoint.stops == views::StopsWho::All || group.contains(other);
    if (other == rank || !meant || m_state.now[other].exited) {
      continue;
    }
    mi::GdbSession* gdb = m_fleet.session(other);
    if (gdb != nullptr && m_state.now[other].attached) {
      if (gdb->state() == mi::SessionState::Running) {
        m_pausing.insert(other);
        withGdb.push_back(other);
      }
    } else if (m_state.now[other].state.phase != RankPhase::Stopped) {
      order(protocol::SetStop{other, m_state.serialOf(other) + 1});
    }
  }
  m_fleet.pause(withGdb, [](const mi::GroupResult&) {});
}

void DebugSession::publishMarks() {
  std::vector<views::EventMark> marks = m_bookmarks;
  for (const views::Breakpoint& breakpoint : std::as_const(m_breakpoints)) {
    if (!breakpoint.enabled || !isLogical(breakpoint)) {
      continue;
    }
    const QString name =
        tr("breakpoint %1: %2").arg(breakpoint.id).arg(views::breakpointPlace(breakpoint));
    for (qsizetype i = 0; i < std::min(breakpoint.events.size(), kMarks); ++i) {
      marks.push_back({breakpoint.events[i], views::MarkKind::Breakpoint, name});
    }
  }
  Q_EMIT marksChanged(marks);
}

}  // namespace pf::session
