// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of the whole run: one delivery on, one event back.
#include <algorithm>

#include "app/collation/failure.h"
#include "app/session/debug_session.h"
#include "replay_engine/causality/cut_check.h"
#include "replay_engine/races/races.h"

namespace pf::session {

std::vector<Serial> DebugSession::cutOf(const Goal& goal) const {
  return goal.cut.empty() ? cutBefore(m_state.whole().execution, goal.event) : goal.cut;
}

EventRef DebugSession::nextDelivery(int rank, const std::vector<Serial>& done) const {
  const auto index = static_cast<std::size_t>(rank);
  const RankHistory& history = m_state.whole().execution.ranks[index];
  for (Serial serial = done[index] + 1; serial <= history.events.size(); ++serial) {
    if (app::receives(history, serial)) {
      return {rank, serial};
    }
  }
  return {};
}

void DebugSession::deliverNext(bool anywhere) {
  if (!canReplay() || m_state.events.readsFirst([this, anywhere] { deliverNext(anywhere); })) {
    return;
  }
  const bool goesOn = m_state.phase == Phase::Running && !m_state.diverged;
  const std::vector<Serial> done =
      goesOn ? m_state.eventsDone() : std::vector<Serial>(m_state.rankInfos.size(), 0);
  const auto timeOf = [this](const EventRef& event) {
    return m_state.whole().logicalTimes[static_cast<std::size_t>(event.rank)][event.serial - 1];
  };
  EventRef next;
  for (int rank = 0; rank < static_cast<int>(done.size()); ++rank) {
    const EventRef event =
        anywhere || rank == m_state.current ? nextDelivery(rank, done) : EventRef{};
    if (event.valid() && (!next.valid() || timeOf(event) < timeOf(next))) {
      next = event;
    }
  }
  if (!next.valid()) {
    Q_EMIT message(
        anywhere ? tr("No rank takes another message in the recording.")
                 : tr("Rank %1 takes no other message in the recording.").arg(m_state.current),
        false);
    return;
  }
  // Until it has been taken: the rank stops before the event behind it.
  const EventRef behind{next.rank, next.serial + 1};
  std::vector<Serial> cut = cutBefore(m_state.whole().execution, behind);
  for (std::size_t rank = 0; goesOn && rank < cut.size(); ++rank) {
    cut[rank] = std::max(cut[rank], m_state.serialOf(static_cast<int>(rank)));
  }
  m_inspector.selectRank(next.rank);
  goTo({behind, tr("message taken by rank %1 in event %2").arg(next.rank).arg(next.serial),
        std::move(cut)});
}

void DebugSession::previousEvent() {
  if (!canReplay() || m_state.events.readsFirst([this] { previousEvent(); })) {
    return;
  }
  const Serial last = m_state.serialOf(m_state.current);
  if (last == 0) {
    Q_EMIT message(tr("Rank %1 has done no event yet.").arg(m_state.current), false);
    return;
  }
  std::vector<Serial> done = m_state.eventsDone();
  done[static_cast<std::size_t>(m_state.current)] = last - 1;
  goTo({{m_state.current, last},
        tr("one event back: rank %1 before its event %2").arg(m_state.current).arg(last),
        consistentPart(m_state.whole().execution, std::move(done))});
}

}  // namespace pf::session
