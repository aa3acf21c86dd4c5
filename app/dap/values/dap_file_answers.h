// SPDX-License-Identifier: GPL-3.0-or-later
// Answers that come from files: a source, and the races of a trace.
#pragma once

#include "app/dap/wire/dap_client.h"

namespace pf::headless {

/// 'source': sources have paths here, so clients read them themselves; this is for one that cannot.
void answerSource(DapClient& client, const Request& request);
/// 'photofinish/races'.
void answerRaces(DapClient& client, const Request& request, const QString& trace);

}  // namespace pf::headless
