// What the command line prints of a trace, for people and as JSON (design.md section 8: a
// contract).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "core/execution.h"

namespace pf::app {

/// photofinish info FILE [--json] [--tracing]
Result<std::string> infoReport(const std::string& trace, bool json, bool tracing = false);
/// photofinish races FILE [--json]
Result<std::string> racesReport(const std::string& trace, bool json);
/// photofinish events FILE [--rank R] [--json]
Result<std::string> eventsReport(const std::string& trace, std::optional<Rank> rank, bool json);

struct DiffReport {
  std::string text;
  bool same = false;
};
/// photofinish diff A B [--json]. Usage where they cannot be compared: other programs or ranks.
Result<DiffReport> diffReport(const std::string& a, const std::string& b, bool json);

}  // namespace pf::app
