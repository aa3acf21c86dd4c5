// SPDX-License-Identifier: GPL-3.0-or-later
// The formats of other tools: exporters as those of plugins are. Private to app/export.
#pragma once

#include <string>

#include "app/plugins/indexed_trace.h"
#include "plugins/api/plugin.h"

namespace pf::app {

/// An event's source or destination and tag mean something.
[[nodiscard]] inline bool hasEnvelope(EventKind kind) {
  return kind == EventKind::Send || kind == EventKind::Receive || kind == EventKind::SendReceive ||
         kind == EventKind::Post || kind == EventKind::Probe;
}

/// Goes by the interface of plugins only.
void exportCsv(const photofinish::Trace& trace, photofinish::Output& out);
Status exportChrome(const IndexedTrace& trace, photofinish::Output& out);
Status exportShiviz(const IndexedTrace& trace, photofinish::Output& out);
/// Makes the directory `output`, and leaves nothing behind if it fails.
Status exportOtf2(const IndexedTrace& trace, const std::string& output);
/// Usage where this build has no OTF2.
Status otf2IsThere();

}  // namespace pf::app
