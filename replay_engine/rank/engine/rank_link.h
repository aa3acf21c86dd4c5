// SPDX-License-Identifier: MIT
// The rank's end of the page that it shares with its agent (replay_engine/protocol/rank_page.h).
#pragma once

#include <cstdint>

namespace pf {

struct RankPage;

/// What layers below the engine do while it joins its agent. Each: null, or why it cannot be.
struct JoinSteps {
  const char* (*beforeHello)(const RankPage&);  ///< nothing was asked of MPI yet
  const char* (*recordingOpened)(const RankPage&);
  const char* (*replayOpened)(const RankPage&);
  void (*inChild)();  ///< of fork(): what it has is the parent's
};

/// Maps the page named by the environment and says hello on it; waits to be configured, opens the
/// log and the schedule. False: this process is not to be recorded or replayed.
bool joinAgent(const JoinSteps& steps);
/// Holds the rank at the gate, if it was told to wait there.
void passGate();
/// A line on standard error.
void sayOfRank(const char* text);
/// Wakes the agent: something on the page has changed.
void tellAgent();
/// Sleeps until the agent wakes this rank after `seen`, or for a while.
void waitForAgent(std::uint32_t seen);

}  // namespace pf
