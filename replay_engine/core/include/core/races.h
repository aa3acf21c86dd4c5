// Message races of a recorded execution: Netzer and Miller (Optimal Tracing and Replay for Debugging
// Message-Passing Parallel Programs), Definition 3.2, on MPI's matching rules.
//
// A receive r with message a *races* when another message c could have been accepted by r instead:
// some consistent frontier has r just after it and a and c both sent (or about to be) and not yet
// received. On MPI that is, for posted receive r at rank p, and c from another process than a's:
//   1. c's envelope (communicator, tag, source) is one that r accepts;
//   2. c was received by a receive posted after r, or by none;
//   3. c is the first such message of its source in sending order (non-overtaking, MPI 3.5);
//   4. r's matching does not happen before c's send: neither complete(r) -> send(c), nor
//      complete(send of a) -> send(c) where a was sent synchronously.
// So only wildcard sources race. A wildcard probe makes its choice where it is, so it races by the same
// rule ("received by a receive posted after the probe"), and the receive by source after it does not.
#pragma once

#include <cstdint>
#include <vector>

#include "core/execution.h"

namespace pf {

/// A racing receive (or probe), the message it took, and those that it could have taken instead.
struct Race {
  Rank rank = kUnknownRank;
  bool probe = false;
  std::uint32_t index = kNone;              ///< into RankHistory::receives, or ::probes
  std::uint32_t taken = kNone;              ///< index into Execution::messages
  std::vector<std::uint32_t> alternatives;  ///< into Execution::messages, by (rank, serial) of their sends
};

/// Pairs sends with receives: the k-th send of (source, dest, comm, tag) is taken by the k-th receive in
/// posting order that completed with it. Fills Execution::messages and the `message` fields. Receives
/// and probes whose send is not in the record (a trace cut short) keep kNone.
void matchMessages(Execution& execution);

/// All racing receives and probes, by rank, then by event serial. Needs matchMessages() first.
[[nodiscard]] std::vector<Race> findRaces(const Execution& execution);

/// The smallest consistent cut in which `event` is the next event of its rank: for each rank the number
/// of events that it must have done (0 = none). Needs matchMessages() first.
[[nodiscard]] std::vector<Serial> cutBefore(const Execution& execution, EventRef event);

/// Logical time of every event, [rank][serial - 1], from 1: one more than the latest event that happens
/// before it (Lamport), so that every message line goes forward in time. Needs matchMessages() first.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> logicalTimes(const Execution& execution);

}  // namespace pf
