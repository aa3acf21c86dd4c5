// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dap/ranks/dap_told_ranks.h"

#include <algorithm>

namespace pf::headless {

ToldRanks::News ToldRanks::update(const std::vector<RankStanding>& ranks, int current) {
  News news;
  for (const RankStanding& rank : ranks) {
    updateRank(rank, news);
  }
  news.othersWere = !m_stopped.empty();
  m_stopped.insert(news.stopped.begin(), news.stopped.end());
  std::stable_partition(news.stopped.begin(), news.stopped.end(),
                        [current](int rank) { return rank == current; });
  return news;
}

void ToldRanks::updateRank(const RankStanding& rank, News& news) {
  if (!rank.rests && rank.gone) {
    if (m_gone.insert(rank.rank).second) {
      m_stopped.erase(rank.rank);
      news.changes.push_back({rank.rank, true});
    }
    return;
  }
  news.allStopped = news.allStopped && rank.rests;
  const bool told = m_stopped.contains(rank.rank);
  if (rank.rests && !told) {
    news.stopped.push_back(rank.rank);
  } else if (!rank.rests && told) {
    m_stopped.erase(rank.rank);
    news.changes.push_back({rank.rank, false});
  }
}

}  // namespace pf::headless
