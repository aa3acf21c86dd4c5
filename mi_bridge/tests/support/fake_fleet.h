// SPDX-License-Identifier: GPL-3.0-or-later
// A fleet observer that remembers.
#pragma once

#include <string>
#include <vector>

#include "mi_bridge/fleet.h"

namespace pf::mi::test {

class RecordingFleetObserver : public FleetObserver {
 public:
  void onRankState(Rank rank, SessionState state) override {
    log.push_back(std::to_string(rank) + " " + std::string(toString(state)));
  }
  void onRankStopped(Rank rank, const StopEvent& stop) override { stops.emplace_back(rank, stop); }
  void onBreakpointStatus(const BreakpointStatus& status) override { statuses.push_back(status); }
  void onForeignBreakpoint(Rank rank, BreakpointChange, const Breakpoint& bp) override {
    foreign.emplace_back(rank, bp.number);
  }
  void onWatch(const WatchValue& value) override { watches.push_back(value); }
  void onRankConsole(Rank, StreamKind, std::string_view) override {}
  void onRankLost(Rank rank, const std::string&) override {
    log.push_back(std::to_string(rank) + " lost");
  }
  void onRankEscalate(Rank, Escalation) override {}
  void onRankToolAction(Rank, ToolAction, std::string_view) override {}
  void onRankSlow(Rank, const std::string&, bool) override {}
  void onRankValuesChanged(Rank) override {}
  void onGroupProgress(const GroupResult& result) override { progress.push_back(result.summary()); }

  std::vector<std::string> log;
  std::vector<std::pair<Rank, StopEvent>> stops;
  std::vector<BreakpointStatus> statuses;
  std::vector<std::pair<Rank, int>> foreign;
  std::vector<WatchValue> watches;
  std::vector<std::string> progress;
};

}  // namespace pf::mi::test
