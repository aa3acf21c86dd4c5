// SPDX-License-Identifier: GPL-3.0-or-later
// Of which run a trace is another order, as it is kept in the trace. Private to app/branching.
#pragma once

#include <string>
#include <vector>

#include "app/collation/call_sites.h"
#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf::app {

/// A receive or probe that took another message than in the run before, or a call of Waitany's kind that gave other requests.
struct TakenInstead {
  EventRef receive;  ///< what posts it; the probe; the call
  EventRef send;     ///< not valid: it is such a call
  std::string text;  ///< as takenText(), gaveText()
};

/// "rank 0's MPI_Recv at app.c:21 (event 2) takes rank 2's message (event 7)". Both are events of `execution`, whose call sites
/// need not be resolved.
std::string takenText(const Execution& execution, EventRef receive, EventRef send,
                      FrameResolver& resolver);

/// "rank 0's MPI_Waitany at app.c:21 (event 4) gives request 1"; `requests`: as givenText() has them.
std::string gaveText(const Execution& execution, EventRef call, const std::string& requests,
                     FrameResolver& resolver);

struct ParentRun {
  std::string uuid;    ///< RunInfo::uuid
  std::string file;    ///< absolute
  std::string madeBy;  ///< "flip", "explore" or "blame"
};

/// Keeps in the file `trace` whose branch it is; in the place of what it said of that.
Status keepParent(const std::string& trace, const ParentRun& parent,
                  const std::vector<TakenInstead>& flips);

}  // namespace pf::app
