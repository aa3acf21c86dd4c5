// SPDX-License-Identifier: GPL-3.0-or-later
// All differences of two executions of one program, not only the first of each rank: after a difference the events of a
// rank are aligned again.
//
// Two events of a rank are the same if they have call, kind, call site, communicator, peer, tag, and took or saw messages
// of the same sources and tags. What both have is a longest common subsequence of such events (sequence_alignment.h: as
// long as it can be found in bounded time); the n-th of each, where the rank did the same calls in both. What lies between two aligned events is a *row* of differences.
// In it, events that ask for the same and took something else are put beside each other; where both ask for the same at
// its begin they stay so whatever is aligned, since there MPI chose.
//
// A difference *follows* from an earlier one
//   - if it is none of MPI's choices (what the same receive or probe from any source took, what Waitany came to, that a test
//     succeeded) and the rank
//     has differed before, or its first difference follows from another rank's (Difference::after): by Netzer and
//     Miller's Replay Theorem a program does the same as long as it takes the same;
//   - if it is a choice of the same call site as one before it in its row, or took what that one left;
//   - if it took a message that was sent in that execution only: it follows from the sender's difference.
// Else it is listed by itself. Those that happen before the failure of a run come first, as races do (race_weight.h).
#pragma once

#include <cstdint>
#include <vector>

#include "replay_engine/comparison/difference.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/races/race_weight.h"

namespace pf {

enum class AlignedKind : std::uint8_t {
  Order,     ///< both took (did) it, at another place in their order
  Delivery,  ///< the same request took, saw or completed something that the other has not
  Size,      ///< a message of another size
  OnlyA,     ///< an event of A alone
  OnlyB,
};

/// Two events side by side, or one alone; serial 0: none.
struct AlignedDifference {
  Rank rank = kUnknownRank;
  AlignedKind kind = AlignedKind::Order;
  Serial a = 0;
  Serial b = 0;
  bool choice = false;        ///< both asked for it and MPI chose, so it can be a cause
  std::size_t root = 0;       ///< the difference that it follows from; its own number: none
  std::size_t followers = 0;  ///< of a root: how many follow from it
  RaceWeight weight = RaceWeight::Other;
  Serial besideA =
      0;  ///< a, or the event of A before which B's would be; may be one more than there are
  Serial besideB = 0;
};

struct AlignedDifferences {
  /// By rank, then in the order in which the rank did them.
  std::vector<AlignedDifference> all;
  /// Numbers of those that follow from none: weightiest first, then by rank and event.
  std::vector<std::size_t> roots;
  bool exact = true;  ///< every alignment is a longest one
};

/// The run that failed, and where: what the weights go by.
struct FailedRun {
  bool any = false;
  bool inB = true;
  Rank rank = kUnknownRank;
};

/// `first`: compareExecutions() of the same; ranks that do not differ there are not looked at. Events that a record may lack, behind what
/// is known of a rank that was ended (RecordEnd::Cut), are no differences.
/// Takes O(N log N) time for N events, and some 50 bytes an event of the larger rank, 100 a difference. Needs
/// matchMessages() first.
[[nodiscard]] AlignedDifferences alignDifferences(const ComparedRun& a, const ComparedRun& b,
                                                  bool sites, const Comparison& first,
                                                  const FailedRun& failed);

}  // namespace pf
