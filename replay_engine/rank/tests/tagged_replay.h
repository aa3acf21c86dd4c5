// SPDX-License-Identifier: GPL-3.0-or-later
// Turns a recording of rank 0 into a replay by tags, whose messages come over shadows (tagged.h).
#pragma once

#include "replay_engine/rank/tests/rank_run.h"

namespace pf::test {

struct TaggedReplay {
  std::vector<unsigned char> schedule;
  fake::Script script;  ///< what its senders send, as they know of the tags
};

/// All messages that the recorded rank received are tagged; others of `script` come as they are.
/// `recorded`: with events.
TaggedReplay taggedReplay(const RankRun& recorded, const fake::Script& script);

}  // namespace pf::test
