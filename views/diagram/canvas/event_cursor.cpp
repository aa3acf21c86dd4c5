// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/diagram/canvas/event_cursor.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "views/diagram/canvas/space_time_viewport.h"
#include "views/trace/analyses/trace_causality.h"
#include "views/values/text.h"

namespace pf::views {

namespace {

/// What the receive at `event` could have taken instead; none where it does not race.
std::vector<std::uint32_t> alternativesAt(const TraceIndex& trace, EventRef event) {
  const auto races = trace.races().at(event);
  return races.empty() ? std::vector<std::uint32_t>()
                       : trace.data().races[races.front()].alternatives;
}

Message messageOf(const TraceIndex& trace, std::uint32_t number) {
  return number < trace.messages().count() ? trace.execution().messages[number] : Message();
}

/// The number that alternative `number` at `event` has in `newer`; 0: it is none there.
int sameAlternative(int number, EventRef event, const TraceIndex& trace, const TraceIndex& newer) {
  const std::vector<std::uint32_t> mine = alternativesAt(trace, event);
  if (number == 0 || mine.size() < at(number)) {
    return 0;
  }
  const Message chosen = messageOf(trace, mine[at(number - 1)]);
  const std::vector<std::uint32_t> all = alternativesAt(newer, event);
  const auto same = std::find_if(all.begin(), all.end(), [&](std::uint32_t one) {
    const Message other = messageOf(newer, one);
    return other.send == chosen.send && other.dest == chosen.dest && other.tag == chosen.tag;
  });
  return same == all.end() ? 0 : static_cast<int>(same - all.begin()) + 1;
}

}  // namespace

void EventCursor::select(EventRef event, bool reveal) {
  const TraceIndexPtr& trace = m_viewport.trace();
  if (!trace || (event.valid() && !trace->contains(event))) {
    return;
  }
  const bool changed = !(event == m_selected);
  m_selected = event;
  if (changed) {
    m_alternative = 0;
  }
  if (reveal && event.valid()) {
    m_viewport.reveal(event);
  }
  if (changed) {
    Q_EMIT selectionChanged(event);
  }
}

/// Selects the first event in view.
void EventCursor::enter() {
  const TraceIndex& trace = *m_viewport.trace();
  const SpaceTimeGeometry g = m_viewport.geometry();
  const std::vector<Rank> ranks = g.ranksInView();
  select(trace.times().nearest(ranks.empty() ? 0 : ranks.front(),
                               static_cast<std::uint32_t>(std::max(0.0, g.t0 + margin(trace)))),
         true);
}

void EventCursor::moveAlongRank(int step) {
  const TraceIndexPtr& trace = m_viewport.trace();
  const EventRef from = m_selected;
  if (!trace) {
    return;
  }
  if (!from.valid()) {
    enter();
    return;
  }
  const Serial last = trace->lastSerial(from.rank);
  const Serial next =
      step < 0 ? (from.serial > 1 ? from.serial - 1 : 1) : std::min(last, from.serial + 1);
  select({from.rank, next}, true);
}

void EventCursor::moveAcrossRanks(int step) {
  const TraceIndexPtr& trace = m_viewport.trace();
  if (!trace || !m_selected.valid()) {
    moveAlongRank(step);
    return;
  }
  const std::uint32_t time = trace->time(m_selected);
  const SpaceTimeGeometry g = m_viewport.geometry();
  for (int row = g.rowOf(m_selected.rank) + step; row >= 0 && row < g.rows; row += step) {
    for (const Rank rank : g.ranksOf(row)) {
      if (const EventRef found = trace->times().nearest(rank, time); found.valid()) {
        select(found, true);
        return;
      }
    }
  }
}

void EventCursor::selectEnd(bool last) {
  const TraceIndexPtr& trace = m_viewport.trace();
  const Rank rank = m_selected.valid() ? m_selected.rank : 0;
  if (trace && trace->lastSerial(rank) > 0) {
    select({rank, last ? trace->lastSerial(rank) : 1}, true);
  }
}

void EventCursor::selectRace(int direction) {
  const TraceIndexPtr& trace = m_viewport.trace();
  if (!trace || trace->racing().empty()) {
    return;
  }
  const auto& races = trace->racing();
  const auto key = [&](EventRef r) { return std::tuple(trace->time(r), r.rank, r.serial); };
  const auto before = [&](EventRef a, EventRef b) { return key(a) < key(b); };
  const EventRef from = m_selected;
  if (direction > 0) {
    const auto it =
        from.valid() ? std::upper_bound(races.begin(), races.end(), from, before) : races.begin();
    select(it == races.end() ? races.front() : *it, true);
  } else {
    const auto it =
        from.valid() ? std::lower_bound(races.begin(), races.end(), from, before) : races.end();
    select(it == races.begin() ? races.back() : *(it - 1), true);
  }
}

void EventCursor::selectPartner() {
  if (const TraceIndexPtr& trace = m_viewport.trace()) {
    const auto partners = partnersOf(*trace, m_selected);
    if (!partners.empty()) {
      select(partners.front(), true);
    }
  }
}

void EventCursor::chooseAlternative(int number) {
  if (number != m_alternative) {
    m_alternative = number;
    Q_EMIT alternativeChanged(number);
  }
}

void EventCursor::stepAlternative(int step) {
  const TraceIndexPtr& trace = m_viewport.trace();
  const int count = trace ? toInt(alternativesAt(*trace, m_selected).size()) : 0;
  const int from = m_alternative;
  chooseAlternative(count == 0              ? 0
                    : from == 0 && step < 0 ? count
                                            : (from - 1 + step + count) % count + 1);
}

void EventCursor::zoomToSelection() {
  const TraceIndexPtr& trace = m_viewport.trace();
  if (trace && trace->contains(m_selected)) {
    const TimeSpan span = spanOfPartners(m_selected, *trace);
    m_viewport.zoomTo(span.t0, span.t1);
    m_viewport.reveal(m_selected);
  }
}

void EventCursor::forget() {
  m_selected = {};
  m_alternative = 0;
}

void EventCursor::renewTrace(const TraceIndex& newer) {
  m_alternative = sameAlternative(m_alternative, m_selected, *m_viewport.trace(), newer);
}

}  // namespace pf::views

#include "moc_event_cursor.cpp"
