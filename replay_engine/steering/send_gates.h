// SPDX-License-Identifier: MIT
// Gates: which sends of a replay wait until their destination has come how far, so that messages do
// not pile up there (Netzer and Miller, section 4.2 and Figure 4: "bounded buffers").
//
// A rank's progress is a number: event `s` has begun at 2s - 1 and is done at 2s. A send waits for
// its gate: until the destination's progress is at least Gate::progress.
//
// The gates come from one order of all that the recording says, begins and ends of events, which
// obeys program order, messages, synchronous sends and collectives, and in which every send is put
// off for as long as all others can go on without it: if possible until its receive has been posted
// (or a probe asks for it). Only what such an order cannot do without is unexpected in it. In a
// replay with these gates no rank ever holds an unexpected message that it does not hold in that
// order, at the moment when the last of them is sent: all other sends wait for the post.
//
// Why no replay can hang by it. Look at the first step of that order that has not been done. Each
// gate waits only for steps before its send: all of these are done, so no gate holds this step
// back. Nor does MPI: what it waits for by the recording lies before it, too. That leaves calls
// that block although nothing in the record says so: large sends and waits for them, until they are
// received; collectives and MPI_Finalize, until all have come. The order takes each to do so, and
// believes the opposite only where the recorded run could not have got on otherwise: of a
// collective first, then of the smallest message, as MPI blocks on large ones rather than on small
// ones. Should that be wrong (an MPI that differs by pair of ranks), the interposer lets a send go
// after it has seen no rank move for ten seconds, and says so.
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf {

struct Gate {
  std::uint64_t event;     ///< serial of the send; a rank's gates are in its order
  std::uint64_t progress;  ///< of `rank`
  std::int32_t rank;       ///< the destination
  std::uint32_t reserved;
};

/// Gates of each rank's sends. Needs matchMessages() first, and one thread a rank.
[[nodiscard]] std::vector<std::vector<Gate>> sendGates(const Execution& execution);

/// The file that the ranks of a replay share holds the progress of each, a 64-bit number every so
/// many bytes.
inline constexpr std::size_t kGateStride = 64;

}  // namespace pf
