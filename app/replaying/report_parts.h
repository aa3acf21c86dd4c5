// SPDX-License-Identifier: GPL-3.0-or-later
// What the reports have in common. Private to app/replaying.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "app/collation/collate.h"

namespace pf::app {

/// A trace with its events.
struct Loaded {
  db::TraceStore store;
  Execution execution;
};
/// Surveys the trace first if it has no events.
Result<Loaded> load(const std::string& trace);
/// The same of a trace that has its events.
Result<Loaded> loadSurveyed(const std::string& trace);

/// rank, serial, call, file, line, function of an event that is in the execution.
void putPlace(nlohmann::json& out, const Execution& execution, EventRef ref);
const char* kindText(EventKind kind);
/// Whose the times of events are, in JSON; null: there are none.
nlohmann::json timesName(TimeOrigin origin);
/// One document, as all commands print it.
std::string dump(const nlohmann::json& document);

}  // namespace pf::app
