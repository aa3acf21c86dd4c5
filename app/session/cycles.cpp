// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/cycles.h"

#include <algorithm>
#include <utility>

#include <QDateTime>

#include "app/collation/collate.h"
#include "app/session/state/frame_values.h"
#include "mi_bridge/stop_values.h"

namespace pf::session {
namespace {

values::CycleStop stopOf(const db::CycleStop& row) {
  return {row.rank, row.serial,
          toText(row.file).section(QLatin1Char('/'), -1) +
              (row.line > 0 ? QStringLiteral(":%1").arg(row.line) : QString()),
          toText(row.reason)};
}

values::Cycle cycleOf(const db::Cycle& row, int number) {
  values::Cycle cycle;
  cycle.number = number;
  cycle.started = QDateTime::fromString(toText(row.startedUtc), Qt::ISODate).toLocalTime();
  cycle.summary = toText(row.reason);
  cycle.build = toText(row.buildId);
  cycle.match = !row.matchedRecording   ? values::CycleMatch::Unknown
                : *row.matchedRecording ? values::CycleMatch::Matches
                                        : values::CycleMatch::Diverged;
  return cycle;
}

db::Cycle rowOf(const values::Cycle& cycle, std::int64_t id) {
  db::Cycle row;
  row.id = id;
  row.startedUtc = cycle.started.toUTC().toString(Qt::ISODate).toStdString();
  row.finishedUtc =
      cycle.running ? std::string() : app::utcNow();  // as db/schema/schema_text.h has it
  row.reason = values::outcomeText(cycle).toStdString();
  row.buildId = cycle.build.toStdString();
  if (cycle.match != values::CycleMatch::Unknown) {
    row.matchedRecording = cycle.match == values::CycleMatch::Matches;
  }
  return row;
}

}  // namespace

void Cycles::open(db::TraceStore* store, bool writable) {
  m_keeper.reset();
  m_all.clear();
  m_ids.clear();
  m_hitIds.clear();
  m_openHits.clear();
  m_standing.clear();
  if (store == nullptr) {
    return;
  }
  if (writable) {
    m_keeper = std::make_unique<CycleKeeper>(*store);
  }
  read(*store);
}

void Cycles::keepIn(db::TraceStore& store) {
  m_keeper.reset();
  m_keeper = std::make_unique<CycleKeeper>(store);
}

void Cycles::read(db::TraceStore& store) {
  db::SessionTables tables = store.session();
  const auto rows = tables.all<db::Cycle>();
  const auto stops = tables.all<db::CycleStop>();
  const auto hits = tables.all<db::BreakpointHit>();
  if (!rows) {
    return;
  }
  for (const db::Cycle& row : *rows) {
    values::Cycle cycle = cycleOf(row, static_cast<int>(m_all.size()) + 1);
    m_ids[cycle.number] = row.id;
    for (const db::CycleStop& stop : stops ? *stops : std::vector<db::CycleStop>()) {
      if (stop.cycle == row.id) {
        cycle.stops.append(stopOf(stop));
      }
    }
    if (hits) {
      readHits(*hits, row.id, cycle);
    }
    const bool ended = !row.finishedUtc.empty();
    const EventRef place = ended ? EventRef{} : placeOf(cycle);
    if (!ended) {
      cycle.summary = tr("not ended; ") + cycle.summary;
    }
    m_all.append(cycle);
    if (!ended && &row == &rows->back()) {
      Q_EMIT takenUp(cycle.number, place);
    }
  }
}

/// Where a cycle that nobody ended had got to.
EventRef Cycles::placeOf(const values::Cycle& cycle) const {
  EventRef event;
  for (const values::CycleStop& stop : cycle.stops) {
    // As save() has it; GDB's own breakpoints are between events.
    const bool before =
        stop.why == tr("before event %1").arg(stop.serial) ||
        (stop.why.startsWith(tr("breakpoint ")) && stop.why.endsWith(QLatin1Char(')')));
    const EventRef next{stop.rank, stop.serial + (before ? 0 : 1)};
    const bool known =
        m_state.knows(stop.rank) && next.serial <= m_state.rankInfos[index(stop.rank)].lastSerial;
    const bool named = cycle.summary.contains(tr("rank %1 ").arg(stop.rank));
    if (known && (!event.valid() || named)) {
      event = next;
    }
  }
  return event;
}

void Cycles::readHits(const std::vector<db::BreakpointHit>& hits, std::int64_t row,
                      values::Cycle& cycle) {
  for (const db::BreakpointHit& hit : hits) {
    if (hit.cycle != row) {
      continue;
    }
    values::BreakpointHit known{static_cast<int>(hit.breakpoint), hit.rank, hit.serial, {}};
    for (std::size_t i = 0; i + 1 < hit.watched.size(); i += 2) {
      known.values.append({toText(hit.watched[i]), toText(hit.watched[i + 1])});
    }
    cycle.recorded.append(known);
    if (values::Breakpoint* breakpoint = m_breakpoints.find(known.breakpoint);
        breakpoint != nullptr) {
      if (breakpoint->hits.isEmpty() || breakpoint->hits.last().cycle != cycle.number) {
        breakpoint->hits.append({cycle.number, 0});
      }
      ++breakpoint->hits.last().hits;
    }
  }
  cycle.hits = static_cast<int>(cycle.recorded.size());
}

void Cycles::begin(const QString& summary) {
  values::Cycle cycle;
  cycle.number = lastNumber() + 1;
  cycle.started = QDateTime::currentDateTime();
  cycle.running = true;
  cycle.summary = summary;
  cycle.ranks = QList<int>(m_state.part.begin(), m_state.part.end());
  m_all.append(cycle);
  m_openHits.clear();
  m_standing.clear();
  save();
}

void Cycles::carry(int rank, Serial before) {
  if (m_all.size() < 2) {
    return;
  }
  values::Cycle& cycle = m_all.last();
  for (const values::BreakpointHit& hit : m_all.at(m_all.size() - 2).recorded) {
    values::Breakpoint* breakpoint = m_breakpoints.find(hit.breakpoint);
    if (hit.rank != rank || hit.serial >= before || breakpoint == nullptr) {
      continue;
    }
    cycle.recorded.append(hit);
    ++cycle.hits;
    m_breakpoints.counted(*breakpoint, cycle.number);
    keep({cycle.number, static_cast<int>(cycle.recorded.size()) - 1});
  }
}

void Cycles::end(const QString& why, bool ranToEnd) {
  if (none() || !last().running) {
    return;
  }
  values::Cycle& cycle = last();
  cycle.running = false;
  if (ranToEnd && cycle.match == values::CycleMatch::Unknown) {
    cycle.match = values::CycleMatch::Matches;
  }
  cycle.summary = cycle.stops.isEmpty() || ranToEnd ? why : cycle.summary;
  save();
}

QString Cycles::standingText() const {
  if (m_standing.isEmpty()) {
    return {};
  }
  const values::BreakpointHit& hit = m_standing.first();
  return tr("%1, rank %2 before event %3")
      .arg(m_breakpoints.standingText(hit.rank))
      .arg(hit.rank)
      .arg(hit.serial);
}

void Cycles::standsBecause(const QString& why) {
  last().summary = why;
  last().stands = true;
}

void Cycles::sentOn() {
  m_standing.clear();
  if (!none() && std::exchange(last().stands, false)) {
    Q_EMIT changed();
  }
}

void Cycles::settled(const QString& why) {
  values::Cycle& cycle = last();
  cycle.stands = true;
  const QString standing = standingText();
  const QString where = standing.isEmpty() ? why : standing;
  cycle.summary = where.isEmpty() ? tr("stopped") : tr("stopped: %1").arg(where);
  if (cycle.match == values::CycleMatch::Unknown) {
    cycle.match = values::CycleMatch::Matches;
  }
  save();
}

void Cycles::save() {
  if (none()) {
    return;
  }
  values::Cycle& cycle = last();
  cycle.stops.clear();
  std::vector<db::CycleStop> rows;
  for (const auto& [rank, now] : m_state.now) {
    const mi::GdbSession* gdb = m_state.fleet.session(rank);
    const bool byGdb = gdb != nullptr && gdb->state() == mi::SessionState::Stopped &&
                       gdb->stop().reason != mi::StopReason::Event;
    const bool before = !byGdb && now.state.phase == RankPhase::Stopped;
    const QString standing = before ? m_breakpoints.standingText(rank) : QString();
    const QString why = now.exited            ? now.end
                        : !before             ? now.why
                        : !standing.isEmpty() ? standing
                                              : tr("before event %1").arg(now.state.serial + 1);
    if (why.isEmpty()) {
      continue;
    }
    cycle.stops.append(
        {rank, now.state.serial + (now.state.phase == RankPhase::Stopped ? 1 : 0), now.where, why});
    db::CycleStop stop;
    stop.rank = rank;
    stop.serial = cycle.stops.last().serial;
    stop.reason = why.toStdString();
    stop.file = now.where.toStdString();
    rows.push_back(stop);
  }
  if (m_keeper != nullptr) {
    std::int64_t& id = m_ids[cycle.number];
    id = m_keeper->keep(rowOf(cycle, id), std::move(rows));
  }
  Q_EMIT changed();
}

bool Cycles::wasHit(int breakpoint, int rank, Serial serial) const {
  return !none() && std::ranges::any_of(last().recorded, [&](const values::BreakpointHit& hit) {
    return hit.breakpoint == breakpoint && hit.rank == rank && hit.serial == serial;
  });
}

int Cycles::hitBy(int rank, const mi::StopEvent& stop) const {
  const int spec =
      stop.breakpointNumber > 0 ? m_state.fleet.specOf(rank, stop.breakpointNumber) : 0;
  if (const int id = m_breakpoints.idOf(spec); id != 0) {
    return id;
  }
  return stop.breakpointNumber == 0 && stop.reason == mi::StopReason::Other && !none()
             ? caughtBy(rank)
             : 0;
}

/// GDB does not say that it was a signal's catchpoint that stopped: the one that has a hit more.
int Cycles::caughtBy(int rank) const {
  for (const values::Breakpoint& breakpoint : m_breakpoints.all()) {
    const int spec = m_breakpoints.specOf(breakpoint.id);
    if (breakpoint.kind != values::BreakpointKind::Catch || spec == 0) {
      continue;
    }
    const auto known = std::ranges::count_if(last().recorded, [&](const auto& hit) {
      return hit.breakpoint == breakpoint.id && hit.rank == rank;
    });
    if (m_state.fleet.status(spec, rank).hits > known) {
      return breakpoint.id;
    }
  }
  return 0;
}

void Cycles::addHit(int id, int rank, Serial serial) {
  values::Breakpoint* breakpoint = m_breakpoints.find(id);
  if (none() || breakpoint == nullptr) {
    return;
  }
  if (breakpoint->kind == values::BreakpointKind::Logical && wasHit(id, rank, serial)) {
    return;  // it stands there still
  }
  values::Cycle& cycle = last();
  cycle.recorded.append({id, rank, serial, {}});
  ++cycle.hits;
  m_standing.append(cycle.recorded.last());
  m_breakpoints.counted(*breakpoint, cycle.number);
  const HitKey key{cycle.number, static_cast<int>(cycle.recorded.size()) - 1};
  keep(key);
  m_openHits.push_back(key);
  Q_EMIT m_breakpoints.changed();
}

values::BreakpointHit* Cycles::hitAt(HitKey key) {
  for (values::Cycle& cycle : m_all) {
    if (cycle.number == key.cycle && key.index < cycle.recorded.size()) {
      return &cycle.recorded[key.index];
    }
  }
  return nullptr;
}

void Cycles::keep(HitKey key) {
  const values::BreakpointHit* hit = hitAt(key);
  if (hit == nullptr || hit->breakpoint <= 0 ||
      m_keeper == nullptr) {  // a passing one's is not kept
    return;
  }
  db::BreakpointHit row;
  row.id = m_hitIds[key];
  row.cycle = m_ids[key.cycle];
  row.breakpoint = hit->breakpoint;
  row.rank = hit->rank;
  row.serial = hit->serial;
  row.hits = 1;
  for (const values::Cycle& cycle : std::as_const(m_all)) {
    if (cycle.number == key.cycle) {
      row.hits +=
          std::count_if(cycle.recorded.begin(), cycle.recorded.begin() + key.index,
                        [&](const values::BreakpointHit& other) {
                          return other.breakpoint == hit->breakpoint && other.rank == hit->rank;
                        });
    }
  }
  for (const values::WatchedValue& value : hit->values) {
    row.watched.push_back(value.expression.toStdString());
    row.watched.push_back(value.value.toStdString());
  }
  m_hitIds[key] = m_keeper->keep(std::move(row));
}

void Cycles::completeHits(int rank, const QStringList& watches) {
  mi::GdbSession* gdb = m_state.stoppedDebugger(rank);
  if (gdb == nullptr || !m_state.now[rank].attached) {
    return;
  }
  for (std::size_t i = 0; i < m_openHits.size();) {
    const HitKey key = m_openHits[i];
    const values::BreakpointHit* hit = hitAt(key);
    if (hit != nullptr && hit->rank != rank) {
      ++i;
      continue;
    }
    m_openHits.erase(m_openHits.begin() + static_cast<std::ptrdiff_t>(i));
    if (hit != nullptr) {
      complete(*gdb, key, watches);
    }
  }
}

void Cycles::complete(mi::GdbSession& gdb, HitKey key, const QStringList& watches) {
  if (!gdb.stop().stoppedAtEvent()) {
    mi::eventsBegun(gdb, [this, key](const Result<std::uint64_t>& begun) {
      if (values::BreakpointHit* hit = hitAt(key);
          begun && hit != nullptr && hit->serial != *begun) {
        hit->serial = *begun;
        keep(key);
        Q_EMIT changed();
      }
    });
  }
  std::vector<std::string> expressions;
  for (const QString& watch : watches) {
    expressions.push_back(watch.toStdString());
  }
  mi::valuesAtStop(gdb, expressions, [this, key, watches](const mi::Values& values) {
    values::BreakpointHit* hit = hitAt(key);
    if (hit == nullptr || values.empty()) {
      return;
    }
    const mi::GdbSession* here = m_state.fleet.session(hit->rank);
    const bool answers = here != nullptr && here->state() != mi::SessionState::Lost;
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Not what was thrown away because the rank went on, or its GDB ended: that is no value.
      if (values[i] || (answers && values[i].error().code == ErrorCode::Peer)) {
        hit->values.append({watches[static_cast<qsizetype>(i)],
                            toText(values[i] ? *values[i] : values[i].error().message)});
      }
    }
    keep(key);
    Q_EMIT changed();
  });
}

}  // namespace pf::session

#include "moc_cycles.cpp"
