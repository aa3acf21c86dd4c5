// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/hit_search.h"

#include <algorithm>
#include <utility>

#include <QTimer>

#include "app/session/state/frame_values.h"

namespace pf::session {
namespace {

constexpr int kIgnoreAll = 1000000000;
constexpr int kLookEveryMs = 100;  ///< whether GDB has stopped a rank that stands
constexpr int kLooks = 100;
constexpr std::uint64_t kMostWatched = 32;  ///< bytes: four registers of the processor

/// `then`: what follows from that.
QString liesElsewhere(const QString& expression, const QString& then) {
  return HitSearch::tr(
             "%1 lies elsewhere in each run, so its last change cannot be found%2. "
             "'record --same-addresses' keeps it in its place: in the window, "
             "'Keep memory at the same addresses' where a run is recorded.")
      .arg(expression, then);
}

/// GDB's words, for the middle of a sentence.
QString withoutStop(const std::string& words) {
  QString text = toText(words);
  while (text.endsWith(QLatin1Char('.'))) {
    text.chop(1);
  }
  return text;
}

}  // namespace

/// The hits of the current rank in the last cycle, but the one that it stands at.
QList<values::BreakpointHit> HitSearch::trail() const {
  QList<values::BreakpointHit> hits;
  for (const values::BreakpointHit& hit : std::as_const(m_cycles.last().recorded)) {
    if (hit.rank == m_state.current && m_breakpoints.find(hit.breakpoint) != nullptr) {
      hits.append(hit);
    }
  }
  const bool standing = std::ranges::any_of(
      m_cycles.standing(),
      [this](const values::BreakpointHit& hit) { return hit.rank == m_state.current; });
  if (standing && !hits.isEmpty()) {
    hits.removeLast();
  }
  return hits;
}

/// Those that are left to go back over.
QList<values::BreakpointHit> HitSearch::hitsBefore() const {
  const bool followed = m_trailCycle == m_cycles.lastNumber() && m_trailRank == m_state.current;
  return m_cycles.none() ? QList<values::BreakpointHit>() : followed ? m_trail : trail();
}

QString HitSearch::whyNoPreviousHit() const {
  return !hitsBefore().isEmpty()
             ? QString()
             : tr("Rank %1 has hit no breakpoint before this place in this cycle.")
                   .arg(m_state.current);
}

QString HitSearch::previousWatch() const {
  const QList<values::BreakpointHit> hits = hitsBefore();
  const values::Breakpoint* const breakpoint =
      hits.isEmpty() ? nullptr : m_breakpoints.find(hits.last().breakpoint);
  return breakpoint != nullptr && breakpoint->kind == values::BreakpointKind::Watch
             ? breakpoint->expression.trimmed()
             : QString();
}

void HitSearch::toPreviousHit() {
  if (m_cycles.none()) {
    return;
  }
  m_trail = hitsBefore();
  m_trailRank = m_state.current;
  if (m_trail.isEmpty()) {
    Q_EMIT message(whyNoPreviousHit(), false);
    return;
  }
  const values::BreakpointHit hit = m_trail.takeLast();
  const auto number = std::ranges::count_if(m_trail, [&hit](const values::BreakpointHit& other) {
    return other.breakpoint == hit.breakpoint;
  });
  const values::Breakpoint* breakpoint = m_breakpoints.find(hit.breakpoint);
  m_trailCycle = m_cycles.lastNumber() + 1;
  if (breakpoint == nullptr) {
    return;
  }
  const QString name = tr("previous hit, breakpoint %1, rank %2").arg(hit.breakpoint).arg(hit.rank);
  if (breakpoint->kind == values::BreakpointKind::Logical) {
    m_startCycle({{hit.rank, hit.serial}, name});
    return;
  }
  Search search;
  search.rank = hit.rank;
  search.spec = m_breakpoints.specOf(hit.breakpoint);
  search.passes = breakpoint->ignoreCount + static_cast<int>(number);
  search.text = name;
  search.last = true;
  begin(std::move(search));
  runCycle({{}, name});
}

void HitSearch::toLastChange(const QString& expression,
                             const std::optional<ExpressionPlace>& place) {
  const int rank = m_state.current;
  if (m_state.phase != Phase::Running || expression.trimmed().isEmpty()) {
    Q_EMIT message(
        tr("Back to the last change needs a replay that has stopped, and an expression."), false);
    return;
  }
  if (const std::string& why = m_state.fleet.noWatchpoints(); !why.empty()) {
    Q_EMIT message(
        tr("The last change of %1 cannot be found: %2.").arg(expression.trimmed(), toText(why)),
        true);
    return;
  }
  const bool byAddress = place && !place->isStatic;
  if (byAddress && (place->size == 0 || place->size > kMostWatched)) {
    Q_EMIT message(tr("%1 has %2 bytes: at most %3 can be watched. Name a part of it.")
                       .arg(expression.trimmed())
                       .arg(place->size)
                       .arg(kMostWatched),
                   true);
    return;
  }
  const Serial begun = m_state.serialOf(rank);
  m_trailCycle = 0;
  Search search;
  search.rank = rank;
  search.expression = expression.trimmed();
  search.text = tr("last change of %1 on rank %2").arg(search.expression).arg(rank);
  Goal goal{{rank, begun + 1}, tr("counting the changes of %1").arg(search.expression)};
  if (!m_state.standsBeforeEvent(rank)) {
    if (const std::optional<Here> here = hitHere(rank)) {
      search.here = here;
      goal.event = {};
    } else {
      search.notAfter = std::max<Serial>(begun, 1);
      goal.event.serial = search.notAfter;
    }
  }
  mi::BreakpointSpec watch;
  watch.kind = mi::SpecKind::Watch;
  watch.expression = byAddress ? place->anywhere() : search.expression.toStdString();
  watch.ignoreCount = kIgnoreAll;
  watch.ranks = {rank};
  search.spec = m_state.fleet.addBreakpoint(watch);
  search.own = true;
  search.place = byAddress ? place : std::nullopt;
  begin(std::move(search));
  runCycle(std::move(goal));
}

/// The breakpoint of GDB's that the rank stands at, and how often it came there before.
std::optional<HitSearch::Here> HitSearch::hitHere(int rank) const {
  const auto& standing = m_cycles.standing();
  const auto hit = std::ranges::find(standing, rank, &values::BreakpointHit::rank);
  const values::Breakpoint* breakpoint =
      hit == standing.end() ? nullptr : m_breakpoints.find(hit->breakpoint);
  using values::BreakpointKind;
  if (breakpoint == nullptr ||
      (breakpoint->kind != BreakpointKind::Code && breakpoint->kind != BreakpointKind::Address)) {
    return {};
  }
  const auto times = std::ranges::count_if(
      m_cycles.last().recorded, [rank, breakpoint](const values::BreakpointHit& each) {
        return each.rank == rank && each.breakpoint == breakpoint->id;
      });
  return Here{m_breakpoints.specOf(breakpoint->id),
              breakpoint->ignoreCount + static_cast<int>(times) - 1};
}

/// What was not looked at.
QString HitSearch::reservation() const {
  return m_search->notAfter == 0
             ? QString()
             : tr(" (what changed it since event %1 began is not looked at: 'next event' first "
                  "looks there, too)")
                   .arg(m_search->notAfter);
}

/// Where the cycle that counted has left the rank, if that is another place than before.
QString HitSearch::movedTo() const {
  return m_search->notAfter == 0 ? QString()
                                 : tr(" Rank %1 stands before event %2 now.")
                                       .arg(m_search->rank)
                                       .arg(m_search->notAfter);
}

void HitSearch::begin(Search search) {
  m_search = std::move(search);
  m_search->from = std::max<Serial>(m_state.serialOf(m_search->rank), 1) +
                   (m_state.standsBeforeEvent(m_search->rank) ? 1 : 0);
  m_state.searching = true;
}

/// A cycle in which no breakpoint stops but the one that is looked for.
void HitSearch::runCycle(Goal goal) {
  for (mi::BreakpointSpec one : m_state.fleet.breakpoints()) {
    if (one.id != m_search->spec && m_breakpoints.idOf(one.id) != 0) {
      one.enabled = !m_search->last && m_search->here && one.id == m_search->here->spec;
      if (one.enabled) {
        one.ranks = {m_search->rank};
        one.ignoreCount = m_search->here->passes;
      }
      (void)m_state.fleet.changeBreakpoint(one);
    }
  }
  for (mi::BreakpointSpec one : m_state.fleet.breakpoints()) {
    if (one.id == m_search->spec && m_search->last) {
      one.ignoreCount = m_search->passes;
      one.enabled = true;
      (void)m_state.fleet.changeBreakpoint(one);
    }
  }
  m_startCycle(std::move(goal));
}

bool HitSearch::isAsFar(int rank, const mi::StopEvent& stop) const {
  return m_search && !m_search->last && m_search->here && rank == m_search->rank &&
         stop.breakpointNumber > 0 &&
         m_state.fleet.specOf(rank, stop.breakpointNumber) == m_search->here->spec;
}

bool HitSearch::counted() {
  if (!m_search || m_search->last) {
    return false;
  }
  const mi::BreakpointStatus status = m_state.fleet.status(m_search->spec, m_search->rank);
  if (status.gdbNumber == 0) {
    Q_EMIT message(tr("%1 cannot be watched from MPI_Init on: %2. What has an address in the "
                      "selected frame can.%3")
                       .arg(m_search->expression, withoutStop(status.problem), movedTo()),
                   true);
    end();
    return false;
  }
  if (m_search->place) {
    checkPlace(kLooks);
    return true;
  }
  if (status.hits == 0) {
    tellUnchanged();
    return false;
  }
  m_search->passes = status.hits - 1;
  runLast();
  return true;
}

void HitSearch::tellUnchanged() {
  Q_EMIT message(
      tr("%1 has not changed since MPI_Init%2.").arg(m_search->expression, reservation()), false);
  end();
}

void HitSearch::runLast() {
  m_search->last = true;
  runCycle({{}, m_search->text});
}

/// Memory lies at the same addresses in each run, unless something has moved it: the environment, an allocator of threads.
void HitSearch::checkPlace(int looks) {
  m_check.begin();
  // The daemon knows of a stop before GDB does, which then has counted all changes.
  if (m_state.stoppedDebugger(m_search->rank) == nullptr && looks > 0) {
    QTimer::singleShot(kLookEveryMs, this, [this, looks, guard = m_check.guard()] {
      if (guard && m_search) {
        checkPlace(looks - 1);
      }
    });
    return;
  }
  m_search->passes = m_state.fleet.status(m_search->spec, m_search->rank).hits - 1;
  askPlaceAgain(m_state, m_search->rank, m_search->place->in, m_search->expression.toStdString(),
                [this, guard = m_check.guard()](const std::optional<ExpressionPlace>& now) {
                  if (!guard || !m_search || m_search->last) {
                    return;
                  }
                  if (now && now->isWhere(*m_search->place)) {
                    if (m_search->passes >= 0) {
                      runLast();
                    } else {
                      tellUnchanged();
                      Q_EMIT gaveUp({});
                    }
                    return;
                  }
                  const QString told =
                      (now ? liesElsewhere(m_search->expression, {})
                           : tr("The last change of %1 was not found: %2 is not on the stack where "
                                "changes are counted to. 'next event' first looks further.")
                                 .arg(m_search->expression, toText(m_search->place->in.function))) +
                      movedTo();
                  end();
                  Q_EMIT message(told, true);
                  Q_EMIT gaveUp({});
                });
}

bool HitSearch::isFound(int rank, const mi::StopEvent& stop, QString* change) const {
  const bool found = m_search && m_search->last && rank == m_search->rank &&
                     stop.breakpointNumber > 0 &&
                     m_state.fleet.specOf(rank, stop.breakpointNumber) == m_search->spec;
  if (found && m_search->own) {
    *change =
        tr("%1: was %2, is %3").arg(m_search->text, toText(stop.oldValue), toText(stop.newValue)) +
        (m_search->place ? tr(" (its memory, %1)").arg(toText(m_search->place->anywhere()))
                         : QString()) +
        reservation();
  }
  return found;
}

void HitSearch::notFound(bool ranToEnd) {
  if (!m_search) {
    return;
  }
  const Goal back{{m_search->rank, m_search->from},
                  tr("event %1 of rank %2, as before").arg(m_search->from).arg(m_search->rank)};
  const mi::BreakpointStatus status = m_state.fleet.status(m_search->spec, m_search->rank);
  const QString why =
      status.gdbNumber == 0 && !status.problem.empty()  // else its GDB is gone, with the cycle
          ? tr(", as it cannot be set from MPI_Init on (%1)").arg(withoutStop(status.problem))
          : QString();
  const QString then = ranToEnd ? tr("; back to %1").arg(back.text) : QString();
  // A cycle counted the changes of this memory, and the next one has come past all of them.
  const bool moved = ranToEnd && m_search->last && m_search->place && why.isEmpty();
  Q_EMIT message(moved ? liesElsewhere(m_search->expression, then)
                       : tr("%1: not found%2%3.").arg(m_search->text, why, then),
                 ranToEnd);
  end();
  if (ranToEnd) {
    QMetaObject::invokeMethod(
        this, [this, back] { goBackTo(back); }, Qt::QueuedConnection);
  }
}

/// Unless the user has begun something else.
void HitSearch::goBackTo(const Goal& goal) {
  if (m_state.phase == Phase::Idle || m_state.phase == Phase::Ending) {
    m_startCycle(goal);
  }
}

void HitSearch::end() {
  if (!m_search) {
    return;
  }
  const Search search = *m_search;
  m_check.drop();
  m_search.reset();
  m_state.searching = false;
  if (search.own) {
    m_state.fleet.removeBreakpoint(search.spec);
  }
  m_breakpoints.giveToFleet();
  if (const mi::BreakpointStatus status = m_state.fleet.status(search.spec, search.rank);
      !search.own && status.gdbNumber > 0) {
    if (mi::GdbSession* gdb = m_state.fleet.session(search.rank); gdb != nullptr) {
      gdb->breakpoints().setIgnoreCount(status.gdbNumber, 0, {});  // it has passed over them
    }
  }
}

}  // namespace pf::session

#include "moc_hit_search.cpp"
