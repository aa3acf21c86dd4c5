// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/script/ranks/rank_places.h"

#include "app/script/ranks/rank_text.h"
#include "mi_bridge/stop_values.h"

namespace pf::headless {

void RankPlaces::ask(std::function<void()> then) {
  m_places.clear();
  m_begun.clear();
  std::set<int> asked;
  for (const values::RankState& state : m_session.rankStates()) {
    if (m_ranks.canBeAsked(state)) {
      asked.insert(state.rank);
    }
  }
  m_awaited.ask(
      asked, [this](int rank) { askOne(rank); }, std::move(then));
}

void RankPlaces::askOne(int rank) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  gdb->inspect().frames(
      gdb->stop().thread, 0, mi::kFramesToUser,
      m_awaited.inTime([this, rank](const auto& frames) { takeFrames(rank, frames); }));
}

void RankPlaces::takeFrames(int rank, const Result<std::vector<mi::Frame>>& frames) {
  mi::GdbSession* gdb = m_session.debugger(rank);
  if (!frames || frames->empty() || gdb == nullptr) {
    m_awaited.answered(rank);
    return;
  }
  m_places[rank] = userPlaceText(*frames);
  mi::eventsBegun(*gdb,
                  m_awaited.inTime([this, rank](const auto& begun) { takeBegun(rank, begun); }));
}

void RankPlaces::takeBegun(int rank, const Result<std::uint64_t>& begun) {
  if (begun) {
    m_begun[rank] = *begun;
  }
  m_awaited.answered(rank);
}

QString RankPlaces::placeOf(int rank) const {
  const auto place = m_places.find(rank);
  return place == m_places.end() ? QString() : place->second;
}

Serial RankPlaces::serialOf(const values::RankState& state) const {
  const auto begun = m_begun.find(state.rank);
  return begun == m_begun.end() ? state.serial : begun->second;
}

}  // namespace pf::headless
