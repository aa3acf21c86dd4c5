// SPDX-License-Identifier: GPL-3.0-or-later
// Turns a recording of rank 0 into a replay by shadow routes, whose messages come over shadows (shadow.h).
#pragma once

#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {

struct ShadowReplay {
  std::vector<unsigned char> schedule;
  fake::Script script;  ///< what its senders send, as they know of the shadow routes
};

/// All messages that the recorded rank received are routed; others of `script` come as they are.
/// `recorded`: with events.
ShadowReplay taggedReplay(const RankRun& recorded, const fake::Script& script);

}  // namespace pf::test
