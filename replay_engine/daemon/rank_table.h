// SPDX-License-Identifier: GPL-3.0-or-later
// What the daemon knows of each rank, and who waits for whom.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/protocol/messages.h"

namespace pf::daemon {

using TimePoint = std::chrono::steady_clock::time_point;
using PeerId = std::uint64_t;  ///< 0 = none

struct RankRecord {
  PeerId agent = 0;  ///< 0 = gone
  protocol::RankHello hello;
  protocol::RankState state;
  std::uint64_t stopAt = 0;  ///< as last ordered
  bool exited = false;       ///< the program has ended, or its agent was lost
  bool gateOpen = false;
  TimePoint changed;  ///< when serial, phase or held last changed
  TimePoint moved;    ///< when its process last read or wrote, in a long wait
  TimePoint stopped;  ///< since when a signal has stopped it, if RankState::stopped
  bool stopTold = false;
};

/// Ranks that have come to MPI_Init.
using RankTable = std::map<std::int32_t, RankRecord>;

/// Its process runs, as far as we know.
[[nodiscard]] inline bool isLive(const RankRecord& rank) {
  return !rank.exited && rank.agent != 0;
}
[[nodiscard]] bool isStopped(const RankRecord& rank);
/// Live, in a call that may block, and not stopped.
[[nodiscard]] bool isWaiting(const RankRecord& rank);
/// Live, and a GDB or a signal stopped it elsewhere than at our stop.
[[nodiscard]] bool isHeld(const RankRecord& rank);

/// When a live rank last got on; `start` if none ever did.
[[nodiscard]] TimePoint lastProgress(const RankTable& table, TimePoint start);

/// " at main.c:57 (work)", or nothing where the place has no name.
[[nodiscard]] std::string at(const protocol::CodePlace& place);
/// "MPI_Send rank 0 tag 5 at main.c:57 (work)"
[[nodiscard]] std::string eventText(const protocol::PastEvent& event);
/// "rank 2 waits in MPI_Recv (event 17) for rank 1", "rank 0 is stopped before event 5", …
[[nodiscard]] std::string describe(const RankRecord& rank);
/// describe() of every rank, one a line, at most `most` lines.
[[nodiscard]] std::string describeAll(const RankTable& table, std::size_t most = 16);

/// When the process of a live rank last read or wrote; `start` if none ever did.
[[nodiscard]] TimePoint lastMove(const RankTable& table, TimePoint start);

/// Every live rank is in a call that may block, or has called MPI_Finalize, and one at least waits.
[[nodiscard]] bool everyRankWaits(const RankTable& table);

/// Of ranks that all wait, those that cannot go on whatever one waits, unless data are on their
/// way: each waits in a receive, a probe, a send or MPI_Wait for one that has ended or is among
/// them, or for any rank while all others have ended or are among them. Of who waits in a
/// collective, for several requests or in several threads, or knows other jobs, it is not known for whom; a send whose
/// receiver waits for just that message is under way.
[[nodiscard]] std::vector<std::int32_t> findKnot(const RankTable& table);

/// The ranks of a cycle in "waits for" within `among`, the first one repeated by nobody; empty if
/// there is none.
[[nodiscard]] std::vector<std::int32_t> findWaitForCycle(const RankTable& table,
                                                         const std::vector<std::int32_t>& among);

/// Why nothing gets on, when every live rank waits: names a peer that cannot send any more, else
/// the cycle or knot (these are `proven`), else lists who waits. Nothing if some live rank does not
/// wait.
[[nodiscard]] std::optional<protocol::Verdict> explainStall(const RankTable& table);

}  // namespace pf::daemon
