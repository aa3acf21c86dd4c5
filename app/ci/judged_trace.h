// SPDX-License-Identifier: GPL-3.0-or-later
// One run for CI: its classes of races, and how it ended. Private to app/ci.
#pragma once

#include <string>
#include <vector>

#include "app/reports/ci_result.h"
#include "app/reports/judged_classes.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct JudgedTrace {
  std::vector<CiClass> classes;
  CiOutcome outcome;
};

/// The name of how a run ended: "ok", "exit 3", "signal 11", "deadlock", "no progress", "wrong output", "ended early"; behind
/// a wait, in further lines, the places where ranks waited. `wrong`: it ended well, and a check says that it is wrong.
CiOutcome outcomeOf(const Loaded& loaded, bool wrong);

/// `known`: the file of known races.
Result<JudgedTrace> judgeTrace(const std::string& trace, const RaceBaseline& known, bool wrong);

}  // namespace pf::app
