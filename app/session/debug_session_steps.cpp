// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of the whole run: one delivery on, one event back.
#include <algorithm>

#include "app/collation/failure.h"
#include "app/session/debug_session.h"
#include "replay_engine/causality/cut_check.h"
#include "replay_engine/races/races.h"

namespace pf::session {

std::vector<Serial> DebugSession::cutOf(const Goal& goal) const {
  return goal.cut.empty() ? cutBefore(whole().execution, goal.event) : goal.cut;
}

std::vector<Serial> DebugSession::eventsDone() const {
  std::vector<Serial> done(m_rankInfos.size(), 0);
  for (const auto& [rank, now] : m_now) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < done.size()) {
      const bool inside = now.state.phase == RankPhase::Running && now.state.inCall != 0;
      done[static_cast<std::size_t>(rank)] = now.state.serial - (inside ? 1 : 0);
    }
  }
  return done;
}

EventRef DebugSession::nextDelivery(int rank, const std::vector<Serial>& done) const {
  const auto index = static_cast<std::size_t>(rank);
  const RankHistory& history = whole().execution.ranks[index];
  for (Serial serial = done[index] + 1; serial <= history.events.size(); ++serial) {
    if (app::receives(history, serial)) {
      return {rank, serial};
    }
  }
  return {};
}

void DebugSession::deliverNext(bool anywhere) {
  if (!canReplay() || readsFirst([this, anywhere] { deliverNext(anywhere); })) {
    return;
  }
  const bool goesOn = m_phase == Phase::Running && !m_diverged;
  const std::vector<Serial> done =
      goesOn ? eventsDone() : std::vector<Serial>(m_rankInfos.size(), 0);
  const auto timeOf = [this](const EventRef& event) {
    return whole().logicalTimes[static_cast<std::size_t>(event.rank)][event.serial - 1];
  };
  EventRef next;
  for (int rank = 0; rank < static_cast<int>(done.size()); ++rank) {
    const EventRef event = anywhere || rank == m_current ? nextDelivery(rank, done) : EventRef{};
    if (event.valid() && (!next.valid() || timeOf(event) < timeOf(next))) {
      next = event;
    }
  }
  if (!next.valid()) {
    Q_EMIT message(anywhere ? tr("No rank takes another message in the recording.")
                            : tr("Rank %1 takes no other message in the recording.").arg(m_current),
                   false);
    return;
  }
  // Until it has been taken: the rank stops before the event behind it.
  const EventRef behind{next.rank, next.serial + 1};
  std::vector<Serial> cut = cutBefore(whole().execution, behind);
  for (std::size_t rank = 0; goesOn && rank < cut.size(); ++rank) {
    cut[rank] = std::max(cut[rank], serialOf(static_cast<int>(rank)));
  }
  setCurrentRank(next.rank);
  goTo({behind, tr("message taken by rank %1 in event %2").arg(next.rank).arg(next.serial),
        std::move(cut)});
}

void DebugSession::previousEvent() {
  if (!canReplay() || readsFirst([this] { previousEvent(); })) {
    return;
  }
  const Serial last = serialOf(m_current);
  if (last == 0) {
    Q_EMIT message(tr("Rank %1 has done no event yet.").arg(m_current), false);
    return;
  }
  std::vector<Serial> done = eventsDone();
  done[static_cast<std::size_t>(m_current)] = last - 1;
  goTo({{m_current, last},
        tr("one event back: rank %1 before its event %2").arg(m_current).arg(last),
        consistentPart(whole().execution, std::move(done))});
}

}  // namespace pf::session
