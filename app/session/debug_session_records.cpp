// Breakpoints, watches, cycles and bookmarks: kept in the trace, back in every cycle.
#include "debug_session.h"

namespace pf::session {
namespace {

QString text(const std::string& s) {
  return QString::fromStdString(s);
}

db::Breakpoint toRow(const views::Breakpoint& b) {
  db::Breakpoint row;
  row.id = b.id;
  row.kind = b.event.valid() ? "event" : !b.function.isEmpty() ? "function" : "line";
  row.file = b.file.toStdString();
  row.line = b.line;
  row.function = b.function.toStdString();
  row.condition = b.condition.toStdString();
  row.ignoreCount = b.ignoreCount;
  row.enabled = b.enabled;
  bool ok = true;
  for (const int rank : views::parseRankSet(b.ranks, ok)) {
    row.ranks.push_back(rank);
  }
  if (b.event.valid()) {
    row.ranks = {b.event.rank};
    row.line = static_cast<std::int32_t>(b.event.serial);
  }
  return row;
}

views::Breakpoint fromRow(const db::Breakpoint& row) {
  views::Breakpoint b;
  b.id = static_cast<int>(row.id);
  b.enabled = row.enabled;
  b.condition = text(row.condition);
  b.ignoreCount = row.ignoreCount;
  if (row.kind == "event" && !row.ranks.empty()) {
    b.event = {row.ranks.front(), static_cast<Serial>(row.line)};
    b.state = views::BreakpointState::Set;
    return b;
  }
  b.file = text(row.file);
  b.line = row.line;
  b.function = text(row.function);
  QList<int> ranks(row.ranks.begin(), row.ranks.end());
  b.ranks = ranks.isEmpty() ? QString() : views::rankSetText(ranks);
  return b;
}

}  // namespace

template <typename T>
std::int64_t DebugSession::store(const T& value) {
  if (m_store == nullptr) {
    return 0;
  }
  if (value.id != 0) {
    if (Status status = m_store->session().update(value); status) {
      return value.id;
    }
  }
  Result<std::int64_t> id = m_store->session().add(value);
  return id ? *id : 0;
}
template std::int64_t DebugSession::store<db::BreakpointHit>(const db::BreakpointHit&);

void DebugSession::readRecords() {
  m_breakpoints.clear();
  m_watches.clear();
  m_cycles.clear();
  m_cycleIds.clear();
  m_bookmarks.clear();
  m_groups.clear();
  m_groupIds.clear();
  Result<db::TraceStore> store =
      db::TraceStore::open(m_path.toStdString(), db::TraceStore::Mode::ReadWrite);
  if (!store) {
    store = db::TraceStore::open(m_path.toStdString(), db::TraceStore::Mode::ReadOnly);
    Q_EMIT message(tr("The trace cannot be written: breakpoints, cycles and notes of this session "
                      "will not be kept."),
                   false);
  }
  if (!store) {
    return;
  }
  m_store = std::make_unique<db::TraceStore>(std::move(*store));
  db::SessionTables tables = m_store->session();
  if (const auto rows = tables.all<db::Breakpoint>(); rows) {
    for (const db::Breakpoint& row : *rows) {
      m_breakpoints.append(fromRow(row));
    }
  }
  if (const auto rows = tables.all<db::Watch>(); rows) {
    for (const db::Watch& row : *rows) {
      m_watches.append(text(row.expression));
    }
  }
  if (const auto rows = tables.all<db::Note>(); rows) {
    for (const db::Note& row : *rows) {
      if (isGroup(row)) {
        readGroup(row);
        continue;
      }
      m_bookmarks.push_back({{row.rank, row.serial}, views::MarkKind::Bookmark, text(row.text)});
    }
  }
  const auto stops = tables.all<db::CycleStop>();
  const auto hits = tables.all<db::BreakpointHit>();
  if (const auto rows = tables.all<db::Cycle>(); rows) {
    int number = 0;
    for (const db::Cycle& row : *rows) {
      views::Cycle cycle;
      cycle.number = ++number;
      cycle.started = QDateTime::fromString(text(row.startedUtc), Qt::ISODate).toLocalTime();
      cycle.summary = text(row.reason);
      cycle.match = !row.matchedRecording   ? views::CycleMatch::Unknown
                    : *row.matchedRecording ? views::CycleMatch::Matches
                                            : views::CycleMatch::Diverged;
      m_cycleIds[number] = row.id;
      if (stops) {
        for (const db::CycleStop& stop : *stops) {
          if (stop.cycle == row.id) {
            cycle.stops.append(
                {stop.rank, stop.serial,
                 text(stop.file).section(QLatin1Char('/'), -1) +
                     (stop.line > 0 ? QStringLiteral(":%1").arg(stop.line) : QString()),
                 text(stop.reason)});
          }
        }
      }
      if (hits) {
        cycle.hits = static_cast<int>(
            std::count_if(hits->begin(), hits->end(),
                          [&](const db::BreakpointHit& hit) { return hit.cycle == row.id; }));
      }
      m_cycles.append(cycle);
    }
  }
  m_specOf.clear();
  for (const mi::BreakpointSpec& spec : m_fleet.breakpoints()) {
    m_fleet.removeBreakpoint(spec.id);
  }
  applyBreakpoints();
  setWatches(m_watches);
  Q_EMIT watchesChanged(m_watches);
  Q_EMIT groupsChanged();
  Q_EMIT cyclesChanged();
  publishMarks();
}

void DebugSession::saveCycle() {
  if (m_cycles.isEmpty()) {
    return;
  }
  views::Cycle& cycle = m_cycles.last();
  db::Cycle row;
  row.id = m_cycleIds[cycle.number];
  row.startedUtc = cycle.started.toUTC().toString(Qt::ISODate).toStdString();
  row.finishedUtc = app::utcNow();
  row.reason = cycle.summary.toStdString();
  if (!m_rankInfos.empty()) {
    row.buildId = m_rankInfos.front().buildId;
  }
  if (cycle.match != views::CycleMatch::Unknown) {
    row.matchedRecording = cycle.match == views::CycleMatch::Matches;
  }
  m_cycleIds[cycle.number] = store(row);
  cycle.stops.clear();
  std::vector<db::CycleStop> rows;
  for (const auto& [rank, now] : m_now) {
    const QString why = now.exited           ? now.end
                        : !now.why.isEmpty() ? now.why
                        : now.state.phase == RankPhase::Stopped
                            ? tr("before event %1").arg(now.state.serial + 1)
                            : QString();
    if (why.isEmpty()) {
      continue;
    }
    cycle.stops.append(
        {rank, now.state.serial + (now.state.phase == RankPhase::Stopped ? 1 : 0), now.where, why});
    db::CycleStop stop;
    stop.cycle = m_cycleIds[cycle.number];
    stop.rank = rank;
    stop.serial = cycle.stops.last().serial;
    stop.reason = why.toStdString();
    stop.file = now.where.toStdString();
    rows.push_back(stop);
  }
  if (m_store != nullptr) {
    db::SessionTables tables = m_store->session();
    if (const auto old = tables.all<db::CycleStop>(); old) {
      for (const db::CycleStop& stop : *old) {
        if (stop.cycle == m_cycleIds[cycle.number]) {
          (void)tables.remove<db::CycleStop>(stop.id);
        }
      }
    }
    (void)tables.addAll(rows);
  }
  Q_EMIT cyclesChanged();
}

views::Breakpoint* DebugSession::find(int id) {
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    if (breakpoint.id == id) {
      return &breakpoint;
    }
  }
  return nullptr;
}

void DebugSession::addToFleet(views::Breakpoint& breakpoint) {
  if (breakpoint.event.valid()) {
    return;  // a logical breakpoint: a stop in the plan of each cycle, no GDB needed
  }
  mi::BreakpointSpec spec;
  spec.source = breakpoint.file.toStdString();
  spec.line = breakpoint.line;
  spec.function = breakpoint.function.toStdString();
  spec.condition = breakpoint.condition.toStdString();
  spec.ignoreCount = breakpoint.ignoreCount;
  spec.enabled = breakpoint.enabled;
  bool ok = true;
  for (const int rank : views::parseRankSet(breakpoint.ranks, ok)) {
    spec.ranks.insert(rank);
  }
  if (const auto known = m_specOf.find(breakpoint.id); known != m_specOf.end()) {
    spec.id = known->second;
    if (Status status = m_fleet.changeBreakpoint(spec); !status) {
      Q_EMIT message(text(status.error().text()), true);
    }
  } else {
    m_specOf[breakpoint.id] = m_fleet.addBreakpoint(spec);
  }
}

void DebugSession::applyBreakpoints() {
  for (views::Breakpoint& breakpoint : m_breakpoints) {
    addToFleet(breakpoint);
  }
  Q_EMIT breakpointsChanged();
}

void DebugSession::addBreakpoint(views::Breakpoint breakpoint) {
  if (!isOpen()) {
    return;
  }
  breakpoint.id = static_cast<int>(store(toRow(breakpoint)));
  if (breakpoint.id == 0) {
    breakpoint.id = m_breakpoints.isEmpty() ? 1 : m_breakpoints.last().id + 1;
  }
  m_breakpoints.append(breakpoint);
  addToFleet(m_breakpoints.last());
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
  breakpoint.event = event;
  breakpoint.state = views::BreakpointState::Set;
  addBreakpoint(breakpoint);
}

void DebugSession::changeBreakpoint(const views::Breakpoint& changed) {
  if (views::Breakpoint* breakpoint = find(changed.id); breakpoint != nullptr) {
    *breakpoint = changed;
    store(toRow(changed));
    addToFleet(*breakpoint);
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
    breakpoint->note = text(status.problem);
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

void DebugSession::setWatches(const QStringList& expressions) {
  for (auto it = m_watchIds.begin(); it != m_watchIds.end();) {
    if (!expressions.contains(text(it->first))) {
      m_fleet.removeWatch(it->second);
      it = m_watchIds.erase(it);
    } else {
      ++it;
    }
  }
  for (const QString& expression : expressions) {
    if (m_watchIds.count(expression.toStdString()) == 0) {
      m_watchIds[expression.toStdString()] = m_fleet.addWatch(expression.toStdString());
    }
  }
  if (m_store != nullptr && expressions != m_watches) {
    db::SessionTables tables = m_store->session();
    if (const auto rows = tables.all<db::Watch>(); rows) {
      for (const db::Watch& row : *rows) {
        (void)tables.remove<db::Watch>(row.id);
      }
    }
    for (const QString& expression : expressions) {
      (void)tables.add(db::Watch{0, expression.toStdString()});
    }
  }
  m_watches = expressions;
  m_fleet.refreshWatches();
}

void DebugSession::bookmark(const EventRef& event, const QString& words) {
  db::Note note;
  note.rank = event.rank;
  note.serial = event.serial;
  note.text = words.toStdString();
  note.createdUtc = app::utcNow();
  note.kind = words == QLatin1String("failing receive") ? "receive-mark" : "bookmark";
  store(note);
  m_bookmarks.push_back({event, views::MarkKind::Bookmark, words});
  publishMarks();
}

void DebugSession::publishMarks() {
  std::vector<views::EventMark> marks = m_bookmarks;
  for (const views::Breakpoint& breakpoint : std::as_const(m_breakpoints)) {
    if (breakpoint.event.valid() && breakpoint.enabled) {
      marks.push_back(
          {breakpoint.event, views::MarkKind::Breakpoint, tr("breakpoint %1").arg(breakpoint.id)});
    }
  }
  Q_EMIT marksChanged(marks);
}

}  // namespace pf::session
