// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/daemon/stop_planner.h"

#include <algorithm>
#include <set>

namespace pf::daemon {

using protocol::Verdict;
using protocol::VerdictKind;

namespace {

bool atStop(const RankRecord& rank, std::uint64_t stop) {
  return isStopped(rank) && rank.state.serial + 1 >= stop;
}

}  // namespace

void StopPlanner::setPlan(const protocol::Plan& plan, TimePoint now) {
  m_plan = plan;
  m_since = now;
  m_lastNudge = now;
  m_active = std::any_of(plan.stops.begin(), plan.stops.end(), [](auto stop) { return stop != 0; });
}

void StopPlanner::setStop(std::int32_t rank, std::uint64_t serial, TimePoint now) {
  protocol::Plan plan = m_plan;
  const auto index = static_cast<std::size_t>(rank);
  if (plan.stops.size() <= index) {
    plan.stops.resize(index + 1);
  }
  plan.stops[index] = serial;
  setPlan(plan, now);
}

std::uint64_t StopPlanner::stopOf(std::int32_t rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return rank >= 0 && index < m_plan.stops.size() ? m_plan.stops[index] : 0;
}

/// Every other rank with a stop is there, or cannot get there by itself.
bool StopPlanner::settled(const RankTable& table, TimePoint now) const {
  return std::all_of(table.begin(), table.end(), [&](const auto& entry) {
    const RankRecord& rank = entry.second;
    if (isLive(rank) && isStopped(rank) && stopOf(entry.first) != 0) {
      // One whose stop has been moved on stands there only until its GDB lets it go.
      return atStop(rank, stopOf(entry.first));
    }
    if (!isLive(rank) || stopOf(entry.first) == 0 || isHeld(rank) ||
        rank.state.phase == RankPhase::Finalized || rank.state.phase == RankPhase::Diverged) {
      return true;
    }
    return isWaiting(rank) && now - rank.changed >= m_times.settleAfter;
  });
}

Verdict StopPlanner::reached(const RankTable& table) {
  m_active = false;
  const auto target = table.find(m_plan.targetRank);
  Verdict verdict{VerdictKind::CutReached, m_plan.targetRank, 0, describeAll(table)};
  if (target != table.end()) {
    verdict.serial = target->second.state.serial + 1;
  }
  return verdict;
}

std::vector<std::int32_t> StopPlanner::whomToNudge(const RankTable& table) const {
  std::set<std::int32_t> seen;
  for (auto rank = table.find(m_plan.targetRank); rank != table.end();) {
    if (rank->first != m_plan.targetRank && isStopped(rank->second)) {
      return {rank->first};
    }
    if (!seen.insert(rank->first).second || !isWaiting(rank->second)) {
      break;
    }
    rank = table.find(rank->second.state.waitPeer);
  }
  std::vector<std::int32_t> all;
  for (const auto& [number, rank] : table) {
    if (number != m_plan.targetRank && isStopped(rank)) {
      all.push_back(number);
    }
  }
  return all;
}

StopPlanner::Step StopPlanner::stepToTarget(const RankTable& table, const RankRecord& target,
                                            TimePoint now) {
  Step out;
  if (!isLive(target) || target.state.phase == RankPhase::Finalized) {
    m_active = false;
    const std::string name = "rank " + std::to_string(m_plan.targetRank);
    const std::string before = " before its event " + std::to_string(stopOf(m_plan.targetRank));
    out.verdict = Verdict{
        VerdictKind::Ended, m_plan.targetRank, target.state.serial,
        (isLive(target) ? name + " has called MPI_Finalize" : name + " has ended") + before};
    return out;
  }
  const bool busy = std::any_of(table.begin(), table.end(), [](const auto& entry) {
    const RankRecord& rank = entry.second;
    return rank.state.phase == RankPhase::Running && isLive(rank) && !isWaiting(rank);
  });
  const auto patience = busy ? m_times.nudgeAfterBusy : m_times.nudgeAfter;
  if (now - lastProgress(table, m_lastNudge) >= patience) {
    out.nudge = whomToNudge(table);
    m_lastNudge = now;
  }
  return out;
}

StopPlanner::Step StopPlanner::step(const RankTable& table, TimePoint now) {
  const bool starting = std::any_of(table.begin(), table.end(), [](const auto& entry) {
    return isLive(entry.second) && (entry.second.state.phase == RankPhase::Launched ||
                                    entry.second.state.phase == RankPhase::Hello ||
                                    entry.second.state.phase == RankPhase::Gated);
  });
  if (!m_active || starting || table.empty()) {
    return {};
  }
  const auto target = table.find(m_plan.targetRank);
  const bool hasTarget = target != table.end() && stopOf(m_plan.targetRank) != 0;
  if (hasTarget && !atStop(target->second, stopOf(m_plan.targetRank))) {
    const bool held = std::any_of(table.begin(), table.end(),
                                  [](const auto& entry) { return isHeld(entry.second); });
    return held ? Step{} : stepToTarget(table, target->second, now);
  }
  const bool someStop = std::any_of(table.begin(), table.end(), [this](const auto& entry) {
    return stopOf(entry.first) != 0 && atStop(entry.second, stopOf(entry.first));
  });
  const bool late = now - lastProgress(table, m_since) >= m_times.giveUpAfter;
  if (someStop && (late || settled(table, now))) {
    return Step{{}, reached(table)};
  }
  return {};
}

}  // namespace pf::daemon
