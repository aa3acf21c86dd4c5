// SPDX-License-Identifier: GPL-3.0-or-later
// The brute-force oracle for message races: Netzer and Miller's Definition 3.2 carried out
// literally.
//
// It shares no idea with races.cpp (no clocks, no rules): it *executes* the recorded execution P on
// a small model of MPI's matching and looks at every state that can be reached. A *frontier* is the
// number of events that each rank has finished; the next event of every rank is "just after the
// frontier": begun (its message is sent, its receives are posted, the collective is entered), not
// finished. An event can finish when what it waits for has happened in the model. So the frontiers
// reached from "no event finished" are exactly Definition 3.1's: every event before one did what it
// did in P, with P's deliveries. Of a frontier the oracle asks which messages an unmatched receive
// could accept there.
//
// Where the definition has to be read for MPI:
//  - Just after the frontier are a whole set of events (the next of each rank), not only a, c and
//  r.
//    Beginning an event never waits for anything, so this adds no ordering.
//  - A receive event of the paper is the *delivery* of a message to a posted receive, which MPI
//  makes
//    somewhere between post and observed completion. r "just after the frontier": posted, not
//    delivered to. So r's rank may be far beyond the post, up to the event that completes r.
//  - A delivery of P happens in the model as soon as MPI allows it: message sent, receive posted,
//  no
//    earlier posted receive still in the queue that accepts the message, no earlier message of the
//    same source and communicator still on its way that the receive accepts. Early deliveries are
//    harmless to the question "could r accept c": they only clear the way, and r itself is held
//    back.
//  - A synchronous send finishes when its message is delivered; a probe when its message is
//  visible.
//  - A cancelled receive is in the queue until MPI_Cancel after its post (or its completion) is
//  done.
//  - What the record does not hold orders nothing: a delivery whose send is not recorded, the part
//  of a
//    collective that is not recorded, the receive that a completed synchronous send went to. A
//    receive whose completion is not recorded is never in the way. A message with no recorded
//    receive stays in flight, in the way of alternatives but not of P's own deliveries. See
//    decided().
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::oracle {

/// All racing receives and probes, by rank, receives before probes, then by index. Visits every
/// frontier once for each receive and probe: for executions of about 40 events. Needs messages to
/// be matched.
[[nodiscard]] std::vector<Race> oracleRaces(const Execution& execution);

/// The same answer, for recorded executions of any size. Holding r back, everything that the model
/// does only enables more, so there is one largest frontier without r, and every alternative shows
/// there: run until nothing moves, look once. oracle_test checks it against oracleRaces().
[[nodiscard]] std::vector<Race> largestFrontierRaces(const Execution& execution);

/// Why a receive (or probe) could, or could not, have taken this message instead of its own.
[[nodiscard]] std::string explain(const Execution& execution, Rank rank, bool probe,
                                  std::uint32_t index, std::uint32_t message);

/// Fills Execution::messages (by rank and sending order) and the `message` fields, independently of
/// matchMessages().
void oracleMatch(Execution& execution);

/// Does the record say who took what? Not if a receive whose completion is not recorded, and which
/// matchMessages() gave none, may have taken a recorded message: then the pairing is a guess, and
/// races are compared with the oracle in vain.
[[nodiscard]] bool decided(const Execution& execution);

/// Events that the model could not finish; none for an execution that MPI allows.
[[nodiscard]] std::vector<EventRef> unreachableEvents(const Execution& execution);

/// The number of frontiers of the execution, or `most` if there are more.
[[nodiscard]] std::size_t countFrontiers(const Execution& execution, std::size_t most = SIZE_MAX);

/// For people: one line per event, and one per race.
[[nodiscard]] std::string toText(const Execution& execution);
[[nodiscard]] std::string toText(const Execution& execution, const std::vector<Race>& races);

/// For comparisons. "0 r0: 1:1 | 3:1 3:2+1": rank 0's first receive took what rank 1's event 1
/// sent, and could have taken what rank 3's event 1, or the second message that its event 2, sent.
[[nodiscard]] std::set<std::string> toLines(const Execution& execution,
                                            const std::vector<Race>& races);

}  // namespace pf::oracle
