// SPDX-License-Identifier: GPL-3.0-or-later
// Loading a trace to replay it, which is more than to look at it.
#pragma once

#include "app/trace_loading/trace_loader.h"

namespace pf::session {

/// A property of the application: all traces that it is asked for are taken over.
constexpr const char* kTrusted = "trusted";

/// As loadTrace(), but for the trace of somebody else (app/traces/own_traces.h), which is Usage unless it
/// is `trusted`: that takes it over.
[[nodiscard]] Result<LoadedTrace> loadToReplay(const QString& path, bool trusted);

}  // namespace pf::session
