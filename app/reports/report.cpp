// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/reports/report.h"

#include <nlohmann/json.hpp>

#include "app/collation/logs_of_trace.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"

namespace pf::app {

using nlohmann::json;

std::string dump(const json& document) {
  return document.dump(1, ' ', true, json::error_handler_t::replace) + "\n";
}

void putPlace(json& out, const Execution& execution, EventRef ref) {
  out["rank"] = ref.rank;
  out["serial"] = ref.serial;
  const Event& event = execution.ranks[static_cast<std::size_t>(ref.rank)].events[ref.serial - 1];
  out["call"] = event.call < execution.callNames.size() ? execution.callNames[event.call] : "";
  if (event.site < execution.sites.size()) {
    const CallSite& site = execution.sites[event.site];
    out["file"] = site.file.empty() ? json(nullptr) : json(site.file);
    out["line"] = site.file.empty() ? json(nullptr) : json(site.line);
    out["function"] = site.function;
  } else {
    out["file"] = nullptr;
    out["line"] = nullptr;
  }
}

Result<Loaded> load(const std::string& trace) {
  if (Status status = surveyIfNeeded(trace); !status) {
    return status.error();
  }
  return loadSurveyed(trace);
}

Result<Loaded> loadSurveyed(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Result<Execution> execution = loadExecution(*store);
  if (!execution) {
    return execution.error();
  }
  return Loaded{std::move(*store), std::move(*execution)};
}

json timesName(TimeOrigin origin) {
  switch (origin) {
    case TimeOrigin::Recording:
      return "recording";
    case TimeOrigin::Reexecution:
      return "survey";
    case TimeOrigin::None:
      break;
  }
  return nullptr;
}

const char* kindText(EventKind kind) {
  switch (kind) {
    case EventKind::Send:
      return "send";
    case EventKind::Receive:
      return "receive";
    case EventKind::SendReceive:
      return "send-receive";
    case EventKind::Post:
      return "post";
    case EventKind::Completion:
      return "completion";
    case EventKind::Probe:
      return "probe";
    case EventKind::Collective:
      return "collective";
    case EventKind::CollectivePost:
      return "collective-post";
    case EventKind::Local:
      return "local";
    case EventKind::Start:
      return "start";
  }
  return "";
}

}  // namespace pf::app
