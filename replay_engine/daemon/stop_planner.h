// SPDX-License-Identifier: GPL-3.0-or-later
// Brings the ranks to a consistent cut.
//
// Problem: the cut says how many events each rank needs to have done before the target's event;
// each stops there. But MPI may need more of a rank than the cut says: a large message only moves
// while its sender is in a call. Then the target waits for a rank that is stopped. So when nothing
// gets on, the planner *nudges*: the stopped rank that the target waits for (through others, if
// need be), or else all stopped ranks, go on by one event; and again, until the target is at its
// stop. Limits: whether something gets on is seen by serials and phases only; a rank that computes,
// or polls with tests that fail, delays the nudge from `nudgeAfter` to `nudgeAfterBusy`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay_engine/daemon/rank_table.h"
#include "replay_engine/protocol/messages.h"

namespace pf::daemon {

struct StopTimes {
  std::chrono::milliseconds nudgeAfter{150};
  std::chrono::milliseconds nudgeAfterBusy{2500};
  std::chrono::milliseconds settleAfter{150};  ///< a rank in a call for so long counts as waiting
  std::chrono::milliseconds giveUpAfter{
      5000};  ///< target is at its stop, others never come to theirs
};

class StopPlanner {
 public:
  explicit StopPlanner(StopTimes times) : m_times(times) {}

  void setPlan(const protocol::Plan& plan, TimePoint now);
  /// One rank's stop, outside a plan or changing it.
  void setStop(std::int32_t rank, std::uint64_t serial, TimePoint now);
  /// No verdict and no nudge any more.
  void cancel() { m_active = false; }

  [[nodiscard]] const protocol::Plan& plan() const { return m_plan; }
  /// Where `rank` shall stop by the plan; 0 = nowhere.
  [[nodiscard]] std::uint64_t stopOf(std::int32_t rank) const;
  [[nodiscard]] bool active() const { return m_active; }

  struct Step {
    std::vector<std::int32_t> nudge;  ///< let each go on by one event
    std::optional<protocol::Verdict> verdict;
  };
  [[nodiscard]] Step step(const RankTable& table, TimePoint now);

 private:
  [[nodiscard]] Step stepToTarget(const RankTable& table, const RankRecord& target, TimePoint now);
  [[nodiscard]] bool settled(const RankTable& table, TimePoint now) const;
  [[nodiscard]] std::vector<std::int32_t> whomToNudge(const RankTable& table) const;
  [[nodiscard]] protocol::Verdict reached(const RankTable& table);

  StopTimes m_times;
  protocol::Plan m_plan;
  bool m_active = false;
  TimePoint m_since;  ///< the plan was made
  TimePoint m_lastNudge;
};

}  // namespace pf::daemon
