// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/destinations.h"

#include <algorithm>
#include <utility>

#include "app/collation/failure.h"
#include "replay_engine/causality/cut_check.h"
#include "replay_engine/races/races.h"
#include "replay_engine/steering/logical_stops.h"

namespace pf::session {
namespace {

Error nowhere(const QString& sentence) {
  return {ErrorCode::Usage, sentence.toStdString(), {}};
}

QString noMoreRaces() {
  return QCoreApplication::translate("pf::session::Destinations",
                                     "No receive races from here on in the recording.");
}

}  // namespace

Result<Goal> Destinations::of(Move move, const EventRef& marked) const {
  const bool ofCurrent =
      move != Move::NextDeliveryAnywhere && move != Move::NextRace && move != Move::Failure;
  if (ofCurrent && !m_state.runs(m_state.current)) {
    return nowhere(m_state.notInReplay(m_state.current));
  }
  Result<Goal> goal = found(move, marked);
  if (goal && !m_state.runs(goal->event.rank)) {
    return nowhere(m_state.notInReplay(goal->event.rank));
  }
  return goal;
}

QString Destinations::whyNot(Move move, const EventRef& marked) const {
  const bool ofCurrent = move != Move::NextRace && move != Move::Failure;
  if (ofCurrent && !m_state.runs(m_state.current)) {
    return m_state.notInReplay(m_state.current);
  }
  if (move == Move::NextDelivery || move == Move::NextDeliveryAnywhere ||
      (move == Move::PreviousEvent && begun(m_state.current) > 0) ||
      (move == Move::NextRace && isRaceAhead())) {
    return {};
  }
  if (move == Move::NextRace) {
    return noMoreRaces();
  }
  const Result<Goal> goal = of(move, marked);
  return goal ? QString() : QString::fromStdString(goal.error().message);
}

Result<Goal> Destinations::found(Move move, const EventRef& marked) const {
  switch (move) {
    case Move::NextEvent:
      return nextEvent();
    case Move::PreviousEvent:
      return previousEvent();
    case Move::NextReceive:
      return nextReceive();
    case Move::PreviousReceive:
      return previousReceive();
    case Move::NextDelivery:
      return nextDelivery(false);
    case Move::NextDeliveryAnywhere:
      return nextDelivery(true);
    case Move::NextRace:
      return nextRace();
    case Move::Failure:
      break;
  }
  return failure(marked);
}

std::vector<Serial> Destinations::cutOf(const Goal& goal) const {
  return goal.cut.empty() ? cutBefore(m_state.whole().execution, goal.event) : goal.cut;
}

Serial Destinations::begun(int rank) const {
  return m_pending.empty() ? m_state.serialOf(rank) : m_pending[static_cast<std::size_t>(rank)];
}

bool Destinations::stands(int rank) const {
  return !m_pending.empty() || (m_state.phase == Phase::Running && m_state.standsBeforeEvent(rank));
}

std::vector<Serial> Destinations::done() const {
  return m_pending.empty() ? m_state.eventsDone() : m_pending;
}

Serial Destinations::upcoming(int rank) const {
  return !m_pending.empty() || m_state.phase == Phase::Running ? begun(rank) + 1 : 1;
}

const RankHistory& Destinations::history(int rank) const {
  return m_state.whole().execution.ranks[static_cast<std::size_t>(rank)];
}

std::uint32_t Destinations::timeOf(const EventRef& event) const {
  return m_state.whole().logicalTimes[static_cast<std::size_t>(event.rank)][event.serial - 1];
}

Result<Goal> Destinations::nextEvent() const {
  const int rank = m_state.current;
  const EventRef next{rank, upcoming(rank) + (stands(rank) ? 1 : 0)};
  if (next.serial > history(rank).events.size()) {
    return nowhere(tr("Rank %1 does nothing more in the recording.").arg(rank));
  }
  return Goal{next, tr("next event of rank %1 (event %2)").arg(rank).arg(next.serial)};
}

Result<Goal> Destinations::previousEvent() const {
  const int rank = m_state.current;
  const Serial last = begun(rank);
  if (last == 0) {
    return nowhere(tr("Rank %1 has done no event yet.").arg(rank));
  }
  std::vector<Serial> part = done();
  part[static_cast<std::size_t>(rank)] = last - 1;
  return Goal{{rank, last},
              tr("one event back: rank %1 before its event %2").arg(rank).arg(last),
              consistentPart(m_state.whole().execution, std::move(part)),
              true};
}

Result<Goal> Destinations::nextReceive() const {
  const int rank = m_state.current;
  const std::size_t events = history(rank).events.size();
  for (Serial serial = upcoming(rank) + (stands(rank) ? 1 : 0); serial <= events; ++serial) {
    if (app::receives(history(rank), serial)) {
      return Goal{{rank, serial}, tr("next receive of rank %1 (event %2)").arg(rank).arg(serial)};
    }
  }
  return nowhere(tr("Rank %1 receives nothing more in the recording.").arg(rank));
}

Result<Goal> Destinations::previousReceive() const {
  const int rank = m_state.current;
  const std::vector<Serial> receives = receivesOf(history(rank));
  const auto behind = std::lower_bound(receives.begin(), receives.end(), upcoming(rank));
  if (behind == receives.begin()) {
    return nowhere(tr("Rank %1 has received nothing yet.").arg(rank));
  }
  const Serial serial = *(behind - 1);
  return Goal{{rank, serial},
              tr("previous receive: rank %1 before its event %2").arg(rank).arg(serial),
              {},
              true};
}

EventRef Destinations::deliveryAfter(int rank, const std::vector<Serial>& done) const {
  const RankHistory& events = history(rank);
  for (Serial serial = done[static_cast<std::size_t>(rank)] + 1; serial <= events.events.size();
       ++serial) {
    if (app::receives(events, serial)) {
      return {rank, serial};
    }
  }
  return {};
}

Result<Goal> Destinations::nextDelivery(bool anywhere) const {
  const bool moving = !m_pending.empty() || m_state.goesOn();
  const std::vector<Serial> past =
      moving ? done() : std::vector<Serial>(m_state.rankInfos.size(), 0);
  EventRef next;
  for (int rank = 0; rank < static_cast<int>(past.size()); ++rank) {
    const bool meant = m_state.runs(rank) && (anywhere || rank == m_state.current);
    const EventRef event = meant ? deliveryAfter(rank, past) : EventRef{};
    if (event.valid() && (!next.valid() || timeOf(event) < timeOf(next))) {
      next = event;
    }
  }
  if (!next.valid()) {
    return nowhere(
        anywhere ? tr("No rank takes another message in the recording.")
                 : tr("Rank %1 takes no other message in the recording.").arg(m_state.current));
  }
  // Until it has been taken: the rank stops before the event behind it.
  const EventRef behind{next.rank, next.serial + 1};
  std::vector<Serial> cut = cutBefore(m_state.whole().execution, behind);
  for (std::size_t rank = 0; moving && rank < cut.size(); ++rank) {
    cut[rank] = std::max(cut[rank], begun(static_cast<int>(rank)));
  }
  return Goal{behind, tr("message taken by rank %1 in event %2").arg(next.rank).arg(next.serial),
              std::move(cut)};
}

bool Destinations::isRaceAhead() const {
  const bool moving = !m_pending.empty() || m_state.goesOn();
  const views::RaceTable& races = m_state.trace->races;
  for (std::size_t race = 0; race < races.size(); ++race) {
    const int rank = races.rank(race);
    if (!m_state.runs(rank)) {
      continue;
    }
    const Serial past = moving ? begun(rank) + (stands(rank) ? 1 : 0) : 0;
    const std::size_t at = races.index(race);
    const Serial serial =
        races.isProbe(race) ? history(rank).probes[at].event : history(rank).receives[at].post;
    if (serial > past) {
      return true;
    }
  }
  return false;
}

Result<Goal> Destinations::nextRace() const {
  const bool moving = !m_pending.empty() || m_state.goesOn();
  EventRef best;
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
    const Serial past = moving ? begun(event.rank) + (stands(event.rank) ? 1 : 0) : 0;
    if (m_state.runs(event.rank) && event.serial > past &&
        (!best.valid() || timeOf(event) < timeOf(best))) {
      best = event;
    }
  }
  if (!best.valid()) {
    return nowhere(noMoreRaces());
  }
  return Goal{best, tr("next racing receive: rank %1, event %2").arg(best.rank).arg(best.serial)};
}

Result<Goal> Destinations::failure(const EventRef& marked) const {
  // What the user marked has the last word.
  const EventRef target = marked.valid() ? marked : m_state.trace->failure.event;
  if (!target.valid()) {
    return nowhere(
        tr("No rank failed in this recording. Select the event where it went wrong, and take "
           "Replay, Mark as failing receive: this goes there then, and the races are weighed by "
           "it."));
  }
  return Goal{target, tr("failing receive, rank %1 event %2").arg(target.rank).arg(target.serial)};
}

}  // namespace pf::session
