// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish sql FILE QUERY [--json]
#pragma once

#include <string>

#include "replay_engine/base/result.h"

namespace pf::app {

/// Prints the rows of one SELECT as they come: values separated by tabs under a line of names, or a
/// JSON array of objects. Makes the survey first if the trace has no events. Usage if the SQL is
/// wrong.
Status printQuery(const std::string& trace, const std::string& sql, bool inJson);

}  // namespace pf::app
