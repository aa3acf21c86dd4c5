// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks the client knows as stopped, and which as gone: what there is to tell of ranks that
// rest, run or have ended by now. Pure.
#pragma once

#include <set>
#include <vector>

namespace pf::headless {

/// How a rank stands. One that rests and whose process is no more rests.
struct RankStanding {
  int rank = 0;
  bool rests = false;
  bool gone = false;
};

class ToldRanks {
 public:
  struct Change {
    int rank = 0;
    bool gone = false;  ///< else it runs, and was told as stopped
    friend bool operator==(const Change&, const Change&) = default;
  };
  /// What the client does not know yet.
  struct News {
    std::vector<Change> changes;
    std::vector<int> stopped;  ///< the current rank first
    bool allStopped = true;    ///< of those that are not gone: one 'stopped' tells of all
    bool othersWere = false;   ///< other ranks have been told as stopped before
  };

  /// Tells: what the news are of is known from now on.
  News update(const std::vector<RankStanding>& ranks, int current);
  [[nodiscard]] bool knowsStopped(int rank) const { return m_stopped.contains(rank); }
  [[nodiscard]] const std::set<int>& stopped() const { return m_stopped; }
  void resumed(int rank) { m_stopped.erase(rank); }
  /// Other processes: none has gone.
  void forgetGone() { m_gone.clear(); }

 private:
  void updateRank(const RankStanding& rank, News& news);

  std::set<int> m_stopped;
  std::set<int> m_gone;
};

}  // namespace pf::headless
