// SPDX-License-Identifier: GPL-3.0-or-later
// The event that a request is about, of the recording.
#pragma once

#include <optional>

#include "app/dap/wire/dap_client.h"
#include "replay_engine/execution/execution.h"

namespace pf::headless {

/// By its 'rank' and 'serial'. Nothing: the recording has no such event, and the request is answered so.
[[nodiscard]] std::optional<EventRef> askedEvent(DapClient& client, const Request& request,
                                                 const Execution& execution);

}  // namespace pf::headless
