// SPDX-License-Identifier: GPL-3.0-or-later
// Watches, cycles and bookmarks: kept in the trace, back in every cycle.
#include <algorithm>

#include "app/session/debug_session.h"
#include "app/session/records/session_records.h"
#include "app/session/state/frame_values.h"
#include "app/traces/own_traces.h"

namespace pf::session {

void DebugSession::readRecords() {
  m_watches.clear();
  m_cycles.clear();
  m_cycleIds.clear();
  m_hitRows.clear();
  m_openHits.clear();
  m_keeper.reset();
  Result<db::TraceStore> store =
      db::TraceStore::open(m_state.path.toStdString(), db::TraceStore::Mode::ReadWrite);
  const bool writable = store.ok();
  if (!store) {
    store = db::TraceStore::open(m_state.path.toStdString(), db::TraceStore::Mode::ReadOnly);
    Q_EMIT message(tr("The trace cannot be written: breakpoints, cycles and notes of this session "
                      "will not be kept."),
                   false);
  }
  if (!store) {
    m_breakpoints.open(nullptr);
    m_groups.open(nullptr);
    m_bookmarks.open(nullptr);
    return;
  }
  m_store = std::make_unique<db::TraceStore>(std::move(*store));
  m_groups.open(m_store.get());
  m_bookmarks.open(m_store.get());
  if (writable) {
    m_keeper = std::make_unique<CycleKeeper>(*m_store);
  }
  db::SessionTables tables = m_store->session();
  m_breakpoints.open(m_store.get());
  if (const auto rows = tables.all<db::Watch>(); rows) {
    for (const db::Watch& row : *rows) {
      if (app::areKnownWords(row.expression)) {
        m_watches.append(toText(row.expression));
      } else {
        Q_EMIT message(
            tr("The watch '%1' of this trace is not yours, and is left out: add it to have it.")
                .arg(toText(row.expression)),
            false);
      }
    }
  }
  const auto stops = tables.all<db::CycleStop>();
  const auto hits = tables.all<db::BreakpointHit>();
  if (const auto rows = tables.all<db::Cycle>(); rows) {
    int number = 0;
    const int last = static_cast<int>(rows->size());
    for (const db::Cycle& row : *rows) {
      views::Cycle cycle;
      cycle.number = ++number;
      cycle.started = QDateTime::fromString(toText(row.startedUtc), Qt::ISODate).toLocalTime();
      cycle.summary = toText(row.reason);
      cycle.build = toText(row.buildId);
      cycle.match = !row.matchedRecording   ? views::CycleMatch::Unknown
                    : *row.matchedRecording ? views::CycleMatch::Matches
                                            : views::CycleMatch::Diverged;
      m_cycleIds[number] = row.id;
      if (stops) {
        for (const db::CycleStop& stop : *stops) {
          if (stop.cycle == row.id) {
            cycle.stops.append(
                {stop.rank, stop.serial,
                 toText(stop.file).section(QLatin1Char('/'), -1) +
                     (stop.line > 0 ? QStringLiteral(":%1").arg(stop.line) : QString()),
                 toText(stop.reason)});
          }
        }
      }
      if (hits) {
        readHits(*hits, row.id, cycle);
      }
      if (row.finishedUtc.empty()) {
        cycle.summary = tr("not ended; ") + cycle.summary;
        if (number == last) {
          takeUp(cycle);
        }
      }
      m_cycles.append(cycle);
    }
  }
  setWatches(m_watches);
  Q_EMIT watchesChanged(m_watches);
  Q_EMIT m_groups.changed();
  Q_EMIT cyclesChanged();
  publishMarks();
}

void DebugSession::takeUp(views::Cycle& cycle) {
  EventRef event;
  for (const views::CycleStop& stop : std::as_const(cycle.stops)) {
    // As saveCycle() has it; GDB's own breakpoints are between events.
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
  m_goal = event.valid()
               ? Goal{event, tr("rank %1 before its event %2").arg(event.rank).arg(event.serial)}
               : Goal{{}, tr("to the end")};
  Q_EMIT message(tr("Cycle %1 has not ended: what ran it was killed, or has this trace open now. "
                    "Repeat Cycle goes there again (%2).")
                     .arg(cycle.number)
                     .arg(m_goal.text),
                 false);
}

void DebugSession::readHits(const std::vector<db::BreakpointHit>& hits, std::int64_t row,
                            views::Cycle& cycle) {
  for (const db::BreakpointHit& hit : hits) {
    if (hit.cycle != row) {
      continue;
    }
    views::BreakpointHit known{static_cast<int>(hit.breakpoint), hit.rank, hit.serial, {}};
    for (std::size_t i = 0; i + 1 < hit.watched.size(); i += 2) {
      known.values.append({toText(hit.watched[i]), toText(hit.watched[i + 1])});
    }
    cycle.recorded.append(known);
    if (views::Breakpoint* breakpoint = m_breakpoints.find(known.breakpoint);
        breakpoint != nullptr) {
      if (breakpoint->hits.isEmpty() || breakpoint->hits.last().cycle != cycle.number) {
        breakpoint->hits.append({cycle.number, 0});
      }
      ++breakpoint->hits.last().hits;
    }
  }
  cycle.hits = static_cast<int>(cycle.recorded.size());
}

void DebugSession::saveCycle() {
  if (m_cycles.isEmpty()) {
    return;
  }
  views::Cycle& cycle = m_cycles.last();
  db::Cycle row;
  std::int64_t& id = m_cycleIds[cycle.number];
  row.id = id;
  row.startedUtc = cycle.started.toUTC().toString(Qt::ISODate).toStdString();
  row.finishedUtc =
      cycle.running ? std::string() : app::utcNow();  // as db/schema/schema_text.h has it
  row.reason = cycle.summary.toStdString();
  if (!cycle.inputs.isEmpty()) {
    row.reason += "; " + cycle.inputs.toStdString();
  }
  row.buildId = cycle.build.toStdString();
  if (cycle.match != views::CycleMatch::Unknown) {
    row.matchedRecording = cycle.match == views::CycleMatch::Matches;
  }
  cycle.stops.clear();
  std::vector<db::CycleStop> rows;
  for (const auto& [rank, now] : m_state.now) {
    const mi::GdbSession* gdb = m_fleet.session(rank);
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
    id = m_keeper->keep(std::move(row), std::move(rows));
  }
  Q_EMIT cyclesChanged();
}

void DebugSession::setWatches(const QStringList& expressions) {
  for (auto it = m_watchIds.begin(); it != m_watchIds.end();) {
    if (!expressions.contains(toText(it->first))) {
      m_fleet.removeWatch(it->second);
      it = m_watchIds.erase(it);
    } else {
      ++it;
    }
  }
  for (const QString& expression : expressions) {
    if (m_watchIds.count(expression.toStdString()) == 0) {
      app::keepWords(expression.toStdString());
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

void DebugSession::setBenign(const QString& key, const QString& reason) {
  if (!m_benign.set(key, reason)) {
    Q_EMIT message(tr("The trace cannot be written: that this class of races is benign is kept for "
                      "this user only."),
                   false);
  }
  Q_EMIT benignRacesChanged();
}

void DebugSession::clearBenign(const QString& key) {
  (void)m_benign.clear(key);
  Q_EMIT benignRacesChanged();
}

void DebugSession::bookmark(const EventRef& event, const QString& words) {
  m_bookmarks.add(event, words);
  publishMarks();
}

void DebugSession::markFailing(const EventRef& event) {
  m_bookmarks.add(event, tr("failing receive"), true);
  publishMarks();
}

}  // namespace pf::session
