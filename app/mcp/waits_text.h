// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for whom, in words. The judgement is that of views/trace/analyses/job_state.h.
#pragma once

#include <optional>
#include <string>

#include "views/trace/analyses/job_state.h"

namespace pf::headless {

/// Lines. `replay`: how far its ranks have come; nothing: at the end of the record.
[[nodiscard]] std::string waitsText(const views::TraceIndex& trace,
                                    const std::optional<views::JobCut>& replay);

}  // namespace pf::headless
