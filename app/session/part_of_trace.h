// SPDX-License-Identifier: GPL-3.0-or-later
// Loading a trace to replay a part of its job.
#pragma once

#include "app/replaying/part_of_job.h"
#include "app/trace_loading/trace_loader.h"

namespace pf::session {

/// As loadToReplay() (records/trusted_trace.h). Usage where the part cannot be replayed, which is found before a survey is
/// made. A survey runs all ranks, which is said.
[[nodiscard]] Result<LoadedTrace> loadPartToReplay(const QString& path, bool trusted,
                                                   const app::PartOfJob& part);

}  // namespace pf::session
