// SPDX-License-Identifier: GPL-3.0-or-later
// Answers that come from files: a source, and the races and events of a trace.
#pragma once

#include "app/dap/wire/dap_client.h"

namespace pf::headless {

/// 'source': sources have paths here, so clients read them themselves; this is for one that cannot.
void answerSource(DapClient& client, const Request& request);
/// 'photofinish/races'.
void answerRaces(DapClient& client, const Request& request, const QString& trace);
/// 'photofinish/events': 'rank', 'first' (1) and 'limit' (200, at most 1000). `count`: events of each rank.
void answerEvents(DapClient& client, const Request& request, const QString& trace,
                  const std::vector<std::size_t>& count);

}  // namespace pf::headless
