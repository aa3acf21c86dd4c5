// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/breakpoints.h"

#include <algorithm>
#include <set>
#include <utility>

#include <QHash>

#include "app/session/records/breakpoint_text.h"
#include "app/session/records/line_text.h"
#include "app/session/records/session_records.h"
#include "app/session/state/frame_values.h"
#include "app/traces/own_traces.h"
#include "replay_engine/steering/logical_stops.h"
#include "views/values/text.h"

namespace pf::session {
namespace {

/// A breakpoint of at most so many ranks brings these into the focus set.
constexpr std::size_t kOwnRanks = 4;
/// Marks of one breakpoint in the diagram.
constexpr qsizetype kMarks = 4000;

bool earlier(const EventRef& a, const EventRef& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.serial < b.serial;
}

bool isLogical(const values::Breakpoint& breakpoint) {
  return breakpoint.kind == values::BreakpointKind::Logical;
}

mi::SpecKind kindOf(const values::Breakpoint& breakpoint) {
  switch (breakpoint.kind) {
    case values::BreakpointKind::Watch:
      return mi::SpecKind::Watch;
    case values::BreakpointKind::ReadWatch:
      return mi::SpecKind::ReadWatch;
    case values::BreakpointKind::AccessWatch:
      return mi::SpecKind::AccessWatch;
    case values::BreakpointKind::Catch:
      return mi::SpecKind::Catch;
    case values::BreakpointKind::Code:
    case values::BreakpointKind::Address:
    case values::BreakpointKind::Logical:
      break;
  }
  return mi::SpecKind::Code;
}

StopScope scopeOf(const values::Breakpoint& breakpoint) {
  return breakpoint.stops == values::StopsWho::All     ? StopScope::All
         : breakpoint.stops == values::StopsWho::Group ? StopScope::Group
                                                       : StopScope::Alone;
}

}  // namespace

void Breakpoints::open(db::TraceStore* store) {
  m_store = store;
  m_all.clear();
  m_specs.clear();
  m_resolving = false;
  for (const mi::BreakpointSpec& spec : m_state.fleet.breakpoints()) {
    m_state.fleet.removeBreakpoint(spec.id);
  }
  if (store == nullptr) {
    Q_EMIT changed();
    return;
  }
  if (const auto rows = store->session().all<db::Breakpoint>(); rows) {
    for (const db::Breakpoint& row : *rows) {
      values::Breakpoint breakpoint = fromRow(row);
      if (!app::areKnownWords(app::wordsOf(row))) {
        breakpoint.enabled = false;
        breakpoint.note = tr("its condition or commands are not yours: off until you enable it");
      }
      m_all.append(breakpoint);
    }
  }
  for (values::Breakpoint& breakpoint : m_all) {
    resolve(breakpoint);
    give(breakpoint);
  }
  Q_EMIT changed();
}

void Breakpoints::keepIn(db::TraceStore* store) {
  m_store = store;
  resolveAll();
}

values::Breakpoint* Breakpoints::find(int id) {
  const auto found = std::find_if(m_all.begin(), m_all.end(),
                                  [id](const values::Breakpoint& each) { return each.id == id; });
  return found != m_all.end() ? &*found : nullptr;
}

int Breakpoints::specOf(int id) const {
  const auto spec = m_specs.find(id);
  return spec != m_specs.end() ? spec->second : 0;
}

int Breakpoints::idOf(int spec) const {
  const auto found = std::find_if(m_specs.begin(), m_specs.end(), [spec](const auto& each) {
    return spec != 0 && each.second == spec;
  });
  return found != m_specs.end() ? found->first : 0;
}

void Breakpoints::giveToFleet() {
  for (values::Breakpoint& breakpoint : m_all) {
    give(breakpoint);
  }
  Q_EMIT changed();
}

void Breakpoints::withdraw(int id) {
  if (const auto given = m_specs.find(id); given != m_specs.end()) {
    m_state.fleet.removeBreakpoint(given->second);
    m_specs.erase(given);
  }
}

void Breakpoints::give(values::Breakpoint& breakpoint) {
  if (breakpoint.enabled) {  // also one from elsewhere, by that
    app::keepWords(app::wordsOf(toRow(breakpoint)));
  }
  if (breakpoint.kind == values::BreakpointKind::Logical) {
    return;  // a stop in the plan of each cycle, no GDB needed
  }
  if (const Status may = mayBeGiven(breakpoint); !may) {
    withdraw(breakpoint.id);
    breakpoint.state = values::BreakpointState::Failed;
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
  for (const int rank : values::parseRankSet(breakpoint.ranks, ok)) {
    spec.ranks.insert(rank);
  }
  if (const auto known = m_specs.find(breakpoint.id); known != m_specs.end()) {
    spec.id = known->second;
    if (Status status = m_state.fleet.changeBreakpoint(spec); !status) {
      Q_EMIT message(toText(status.error().text()), true);
    }
  } else {
    m_specs[breakpoint.id] = m_state.fleet.addBreakpoint(spec);
  }
}

void Breakpoints::resolve(values::Breakpoint& breakpoint) {
  if (breakpoint.kind != values::BreakpointKind::Logical) {
    if (outsideRank(breakpoint) >= 0) {
      breakpoint.state = values::BreakpointState::Pending;
    }
    return;
  }
  breakpoint.events.clear();
  breakpoint.event = {};
  if (!m_state.events.areRead()) {
    breakpoint.state = values::BreakpointState::Pending;
    breakpoint.note = tr("its events are looked up once the trace's events have been read");
    if (!m_resolving) {
      m_resolving = true;
      (void)m_state.events.readsFirst([this] { resolveAll(); });
    }
    return;
  }
  breakpoint.state = values::BreakpointState::Failed;
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
  const QList<int> where = values::parseRankSet(breakpoint.ranks, ok);
  for (const EventRef& event : *events) {
    if (where.isEmpty() || where.contains(event.rank)) {
      breakpoint.events.append(event);
    }
  }
  if (stop->kind == LogicalKind::Divergence) {
    breakpoint.state = values::BreakpointState::Set;
    breakpoint.note = tr("a replay stops there by itself");
  } else if (breakpoint.events.isEmpty()) {
    breakpoint.note = tr("there is no such event in the recording");
  } else {
    breakpoint.state = values::BreakpointState::Set;
    breakpoint.event = breakpoint.events.first();
    breakpoint.note =
        stop->kind == LogicalKind::Start ? tr("behind MPI_Init: a replay cannot stop before")
        : breakpoint.events.size() == 1
            ? tr("rank %1, event %2").arg(breakpoint.event.rank).arg(breakpoint.event.serial)
            : tr("%1 events").arg(breakpoint.events.size());
    if (const int outside = outsideRank(breakpoint); outside >= 0) {
      breakpoint.state = values::BreakpointState::Pending;
      breakpoint.note = m_state.notInReplay(outside);
    }
  }
}

int Breakpoints::outsideRank(const values::Breakpoint& breakpoint) const {
  bool ok = true;
  QList<int> ranks = values::parseRankSet(breakpoint.ranks, ok);
  if (isLogical(breakpoint)) {
    ranks.clear();
    for (const EventRef& event : breakpoint.events) {
      ranks.append(event.rank);
    }
  }
  const bool some = std::ranges::any_of(ranks, [this](int rank) { return m_state.runs(rank); });
  return some || ranks.isEmpty() ? -1 : ranks.first();
}

void Breakpoints::resolveAll() {
  m_resolving = false;
  for (values::Breakpoint& breakpoint : m_all) {
    resolve(breakpoint);
  }
  Q_EMIT changed();
}

void Breakpoints::add(values::Breakpoint breakpoint) {
  if (m_state.trace == nullptr) {
    return;
  }
  if (breakpoint.line > 0 && breakpoint.lineText.isEmpty()) {
    const QStringList lines = linesOf(breakpoint.file);
    breakpoint.lineText = lines.value(breakpoint.line - 1).trimmed();
  }
  breakpoint.id = static_cast<int>(keepRow(m_store, toRow(breakpoint)));
  if (breakpoint.id == 0) {
    breakpoint.id = m_all.isEmpty() ? 1 : m_all.last().id + 1;
  }
  insert(breakpoint);
  if (const int outside = outsideRank(m_all.last()); outside >= 0) {
    Q_EMIT message(m_state.notInReplay(outside), false);
  }
  Q_EMIT marksChanged();
}

void Breakpoints::insert(const values::Breakpoint& breakpoint) {
  m_all.append(breakpoint);
  resolve(m_all.last());
  give(m_all.last());
  Q_EMIT planChanged();
  Q_EMIT changed();
}

int Breakpoints::addTransient(values::Breakpoint breakpoint) {
  breakpoint.id = -1;
  for (const values::Breakpoint& other : std::as_const(m_all)) {
    breakpoint.id = std::min(breakpoint.id, other.id - 1);
  }
  insert(breakpoint);
  return breakpoint.id;
}

void Breakpoints::setAside() {
  for (const auto& [id, spec] : std::exchange(m_specs, {})) {
    m_state.fleet.removeBreakpoint(spec);
  }
  m_all.clear();
  Q_EMIT changed();
  Q_EMIT marksChanged();
}

void Breakpoints::toggle(const QString& file, int line) {
  for (const values::Breakpoint& breakpoint : std::as_const(m_all)) {
    if (values::namesSource(breakpoint.file, file) && breakpoint.line == line) {
      remove({breakpoint.id});
      return;
    }
  }
  values::Breakpoint breakpoint;
  breakpoint.file = file;
  breakpoint.line = line;
  add(breakpoint);
}

void Breakpoints::breakAt(const EventRef& event) {
  values::Breakpoint breakpoint;
  breakpoint.kind = values::BreakpointKind::Logical;
  LogicalStop stop;
  stop.rank = event.rank;
  stop.number = event.serial;
  breakpoint.expression = toText(toText(stop));
  add(breakpoint);
}

void Breakpoints::keep(const values::Breakpoint& breakpoint) {
  if (breakpoint.id > 0) {  // else a passing one
    (void)keepRow(m_store, toRow(breakpoint));
  }
}

void Breakpoints::change(const values::Breakpoint& changed) {
  if (values::Breakpoint* breakpoint = find(changed.id); breakpoint != nullptr) {
    *breakpoint = changed;
    keep(changed);
    resolve(*breakpoint);
    give(*breakpoint);
    Q_EMIT planChanged();
    Q_EMIT this->changed();
    Q_EMIT marksChanged();
  }
}

void Breakpoints::remove(const QList<int>& ids) {
  for (const int id : ids) {
    withdraw(id);
    if (m_store != nullptr) {
      (void)m_store->session().remove<db::Breakpoint>(id);
    }
    m_all.removeIf([id](const values::Breakpoint& b) { return b.id == id; });
  }
  Q_EMIT planChanged();
  Q_EMIT changed();
  Q_EMIT marksChanged();
}

void Breakpoints::onStatus(const mi::BreakpointStatus& status, int cycle) {
  values::Breakpoint* breakpoint = find(idOf(status.spec));
  if (breakpoint != nullptr) {
    breakpoint->state = status.verified          ? values::BreakpointState::Set
                        : status.problem.empty() ? values::BreakpointState::Pending
                                                 : values::BreakpointState::Failed;
    breakpoint->note = toText(status.problem);
    int hits = 0;
    for (const mi::Rank rank : m_state.fleet.ranks()) {
      hits += m_state.fleet.status(status.spec, rank).hits;
    }
    breakpoint->hits.removeIf([cycle](const values::CycleHits& h) { return h.cycle == cycle; });
    if (hits > 0) {
      breakpoint->hits.append({cycle, hits});
    }
  }
  Q_EMIT changed();
}

std::vector<PendingStop> Breakpoints::pendingStops() const {
  std::vector<PendingStop> pending;
  for (const values::Breakpoint& breakpoint : m_all) {
    if (!breakpoint.enabled || !isLogical(breakpoint)) {
      continue;
    }
    bool ok = true;
    const QList<int> group = values::parseRankSet(breakpoint.group, ok);
    for (const EventRef& event : breakpoint.events) {
      if (m_state.runs(event.rank)) {
        pending.push_back({event, scopeOf(breakpoint), {group.begin(), group.end()}});
      }
    }
  }
  for (std::size_t rank = 0; rank < m_state.rankInfos.size(); ++rank) {
    if (const EventRef abort = abortOf(static_cast<int>(rank)); abort.valid()) {
      pending.push_back({abort, StopScope::All, {}});
    }
  }
  return pending;
}

/// The last event of the rank, if that is its MPI_Abort.
EventRef Breakpoints::abortOf(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  const bool aborts = m_stopsAtAborts && m_state.runs(rank) && index < m_state.trace->ends.size() &&
                      m_state.trace->ends[index].text == QLatin1String("MPI_Abort");
  return aborts ? EventRef{rank, m_state.whole().execution.ranks[index].events.size()} : EventRef{};
}

bool Breakpoints::isAbort(const EventRef& event) const {
  return event.valid() && abortOf(event.rank) == event;
}

Serial Breakpoints::nextStopOf(int rank, Serial past) const {
  const EventRef abort = abortOf(rank);
  Serial next = abort.valid() && abort.serial > past ? abort.serial : 0;
  for (const values::Breakpoint& breakpoint : m_all) {
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

void Breakpoints::followLines() {
  QHash<QString, QStringList> sources;
  for (values::Breakpoint& breakpoint : m_all) {
    if (breakpoint.line > 0 && !breakpoint.lineText.isEmpty()) {
      if (!sources.contains(breakpoint.file)) {
        sources[breakpoint.file] = linesOf(breakpoint.file);
      }
      followLine(breakpoint, sources[breakpoint.file]);
    }
  }
}

void Breakpoints::followLine(values::Breakpoint& breakpoint, const QStringList& lines) {
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
  give(breakpoint);
  Q_EMIT changed();
}

QSet<int> Breakpoints::ownRanks() const {
  QSet<int> own;
  for (const values::Breakpoint& breakpoint : m_all) {
    if (!breakpoint.enabled || breakpoint.id <= 0) {
      continue;  // whoever has set a passing one says who gets a GDB
    }
    bool ok = true;
    const QList<int> named = values::parseRankSet(breakpoint.ranks, ok);
    std::set<int> ranks(named.begin(), named.end());
    for (const EventRef& event : breakpoint.events) {
      if (ranks.insert(event.rank); ranks.size() > kOwnRanks) {
        break;
      }
    }
    if (ranks.size() <= kOwnRanks) {
      own.unite({ranks.begin(), ranks.end()});
    }
  }
  return own;
}

QList<int> Breakpoints::before(const EventRef& next) const {
  QList<int> ids;
  for (const values::Breakpoint& breakpoint : m_all) {
    if (breakpoint.enabled && isLogical(breakpoint) &&
        std::binary_search(breakpoint.events.begin(), breakpoint.events.end(), next, earlier)) {
      ids.append(breakpoint.id);
    }
  }
  return ids;
}

QList<int> Breakpoints::onDivergence() const {
  QList<int> ids;
  for (const values::Breakpoint& breakpoint : m_all) {
    if (breakpoint.enabled && isLogical(breakpoint) &&
        breakpoint.expression == QLatin1String("divergence")) {
      ids.append(breakpoint.id);
    }
  }
  return ids;
}

QString Breakpoints::standingText(int rank) const {
  const EventRef next{rank, m_state.serialOf(rank) + 1};
  for (const values::Breakpoint& breakpoint : m_all) {
    if (isLogical(breakpoint) &&
        std::binary_search(breakpoint.events.begin(), breakpoint.events.end(), next, earlier)) {
      return tr("breakpoint %1 (%2)").arg(breakpoint.id).arg(values::breakpointPlace(breakpoint));
    }
  }
  return isAbort(next) ? tr("about to call MPI_Abort") : QString();
}

void Breakpoints::counted(values::Breakpoint& breakpoint, int cycle) {
  if (isLogical(breakpoint)) {  // GDB counts the others
    if (breakpoint.hits.isEmpty() || breakpoint.hits.last().cycle != cycle) {
      breakpoint.hits.append({cycle, 0});
    }
    ++breakpoint.hits.last().hits;
  }
  if (breakpoint.temporary) {
    breakpoint.enabled = false;
    breakpoint.note = tr("hit in cycle %1").arg(cycle);
    keep(breakpoint);
    give(breakpoint);
    Q_EMIT marksChanged();
  }
}

std::vector<values::EventMark> Breakpoints::marks() const {
  std::vector<values::EventMark> marks;
  for (const values::Breakpoint& breakpoint : m_all) {
    if (!breakpoint.enabled || !isLogical(breakpoint)) {
      continue;
    }
    const QString name =
        tr("breakpoint %1: %2").arg(breakpoint.id).arg(values::breakpointPlace(breakpoint));
    for (qsizetype i = 0; i < std::min(breakpoint.events.size(), kMarks); ++i) {
      marks.push_back({breakpoint.events[i], values::MarkKind::Breakpoint, name});
    }
  }
  return marks;
}

}  // namespace pf::session

#include "moc_breakpoints.cpp"
