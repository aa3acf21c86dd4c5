// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish predict: what another order of the recorded messages leads to.
#pragma once

#include <chrono>
#include <string>

#include "app/reports/confirmation.h"
#include "replay_engine/base/result.h"

namespace pf::app {

struct PredictOptions {
  bool json = false;
  std::chrono::milliseconds time{60000};
  Confirm confirm;     ///< empty: predictions are not confirmed
  std::string whyNot;  ///< then: why
};

struct PredictReport {
  std::string text;
  bool predicted = false;  ///< or recorded: the run itself hangs
  bool decided = true;     ///< false: the time was over before all was looked at
};

/// photofinish predict FILE [--json] [--time T]. Surveys the trace if it has no events. Usage: what the program used is not
/// modelled, or there is too much of it.
Result<PredictReport> predictReport(const std::string& trace, const PredictOptions& options);

}  // namespace pf::app
