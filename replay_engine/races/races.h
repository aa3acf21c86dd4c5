// SPDX-License-Identifier: MIT
// Message races of a recorded execution: Netzer and Miller (Optimal Tracing and Replay for
// Debugging Message-Passing Parallel Programs), Definition 3.2, on MPI's matching rules.
//
// A receive r with message a *races* when another message c could have been accepted by r instead:
// some consistent frontier has r just after it and a and c both sent (or about to be) and not yet
// received. On MPI that is, for posted receive r at rank p, and c from another process than a's:
//   1. c's envelope (communicator, tag, source) is one that r accepts;
//   2. c was received by a receive posted after r, or by none;
//   3. c is the first such message of its source in sending order (non-overtaking, MPI 3.5);
//   4. nothing that must come before r accepts c follows from r accepting a (below).
// So only wildcard sources race (but see threads, below). A wildcard probe makes its choice where it is, so it races by the
// same rules ("received by a receive posted after the probe"), and the receive by source after it
// does not.
//
// Threads. Where several threads of a rank call MPI, "the events of a rank follow one another" holds
// of each thread; two of them are ordered only by the program (RankHistory::threadLinks: locks,
// barriers, the making and joining of threads) or by messages. Two messages that threads of one rank
// send at once have no order (MPI 3.1, 3.5), so c can be of the process that sent a, then, and a
// receive that names that source races as well; rule 3 takes the first ones of those sent at once.
// Receives are taken in the order in which the rank's threads posted them.
//
// Rule 4 on MPI, where a message is delivered at a moment that no record holds. Take the entry and
// the exit of every event, and a delivery D(m) for every message m that was received. These happen
// before one another
//   - as the events of a rank follow one another, entry before exit;
//   - as data flows in collectives;
//   - from the entry of m's send and of the post of its receive to D(m); from D(m) to the exits of
//     the events that completed its receive and, if it was synchronous, its send; from the entry of
//     m's send to the exit of a probe that saw it;
//   - from what MPI's matching order demands (the prerequisites of giving m to a receive or probe
//     r): the delivery of each receive posted before r that accepts m, or its cancellation, and the
//     delivery of each earlier message of m's source and communicator that r accepts; to D(m), or
//     to the exit of the probe.
// r could have had c if and only if neither the entry of c's send nor any prerequisite of giving c
// to r follows from D(a). For a probe: from the exit of the probe.
//
// Why: hold r back and let all others go on as in the record. They get as far as what does not
// follow from D(a), and doing more never takes c away from r (rules 2 and 3), so c is an
// alternative where they stop or nowhere. Source: Netzer and Miller's Definitions 3.1 and 3.2 with
// MPI 3.1, 3.5 (order of matching), 3.4 and 3.7.3 (what completion of a synchronous send proves),
// 3.8.4 (cancel). The tests compare findRaces() with a brute-force search of all frontiers
// (tests/oracle.h), which knows none of these rules.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf {

/// A racing receive (or probe), the message it took, and those that it could have taken instead.
struct Race {
  Rank rank = kUnknownRank;
  bool probe = false;
  std::uint32_t index = kNone;              ///< into RankHistory::receives, or ::probes
  std::uint32_t taken = kNone;              ///< index into Execution::messages
  std::vector<std::uint32_t> alternatives;  ///< likewise, by (rank, serial) of their sends
};

/// Pairs sends with receives: the k-th send of (source, dest, comm, tag) is taken by the k-th
/// receive in posting order that took such a message: those that completed with it, and those
/// posted for exactly this source and tag whose completion is not in the record (a crash) if a
/// later receive got, or a later probe saw, such a message: they stood first in line. (Unless the
/// record has an MPI_Cancel after the post, which may have been theirs.) What other pending
/// receives took cannot be told; they count as not matched. Fills Execution::messages (in
/// the order of ranks and sends) and the `message` fields, also of such a pending receive; its
/// message's `completion` is 0. Receives and probes whose send is not in the record keep kNone.
void matchMessages(Execution& execution);

/// All racing receives and probes, by rank, then by event serial (a receive's: its post). A receive
/// that has no message, pending or of a send that is not in the record, is none. Needs
/// matchMessages() first.
[[nodiscard]] std::vector<Race> findRaces(const Execution& execution);

/// The smallest consistent cut in which `event` is the next event of its rank: for each rank the
/// number of events that it must have done (0 = none). Events are whole: a call that sends and
/// waits is in the cut with what it waits for, except for events of `event`'s own rank from `event`
/// on. A serial beyond the rank's last means after it. Needs matchMessages() first.
[[nodiscard]] std::vector<Serial> cutBefore(const Execution& execution, EventRef event);

/// The same, from what is known: ClockCheckpoints::pastOf() an event of `event`'s rank before it (empty:
/// nothing). Of each rank, the events before `begun` and what they send and post need not be in
/// `execution` then, but for the probes and the collectives: their values may be any that name no later event.
[[nodiscard]] std::vector<Serial> cutBefore(const Execution& execution, EventRef event,
                                            std::span<const std::uint32_t> begun);

/// Logical time of every event, [rank][serial - 1], from 1: one more than the latest event that
/// happens before it (Lamport), so that every message line goes forward in time. Calls that wait
/// for one another (a barrier, an exchange by MPI_Sendrecv) have the same time; a blocking
/// synchronous send comes before the blocking receive that took it. Needs matchMessages() first.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> logicalTimes(const Execution& execution);

}  // namespace pf
