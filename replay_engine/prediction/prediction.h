// SPDX-License-Identifier: GPL-3.0-or-later
// What another order of the recorded messages leads to, found without running the program: deadlocks,
// receives whose message does not fit (truncation), messages that nobody receives.
//
// Of a recorded execution, all executions are looked at in which each rank makes the recorded calls, and
// each receive takes any message that MPI's matching rules let it take (encoding.h). So the answer is
// exact for single-path programs, whose calls do not depend on what was received: each prediction is
// reached, and what is not predicted is not reached. Another program may take another path, and a
// prediction for it may be wrong: only a run tells. A receive that names what a wildcard probe saw is one
// exception: it is taken to name what the probe sees in the other order.
//
// Rules of matching: communicator, source, tag; messages of one sender to one receiver in sending order,
// receives of a rank in posting order (MPI 3.1, 3.5); a blocking receive, and the wait for one that is not,
// ends when it has its message, a synchronous send when its message is taken (3.4, 3.7.3); a blocking
// standard send ends at once, or when its message is taken (3.4); a probe ends when a receive that is
// posted there would find a message (3.8); collectives wait along the flow of their data (5.1); MPI_Waitany
// and the like end when one of the requests is done that are open there, as the record does not say which
// of them were asked for. Calls that succeed in the record after failed polls (MPI_Test, MPI_Iprobe) are taken to
// be polled until they do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay_engine/base/result.h"
#include "replay_engine/execution/execution.h"

namespace pf {

enum class PredictionKind : std::uint8_t {
  Deadlock,    ///< some ranks wait for ever
  Truncation,  ///< a receive takes a message that is larger than its buffer
  Unreceived,  ///< all ranks end, and no receive has taken this message
};

/// A receive, or a probe, with another message than in the record.
struct PredictedMatch {
  EventRef receive;  ///< where it is posted; the probe, where that made the choice
  bool probe = false;
  EventRef send;
  EventRef recorded;  ///< what it took in the record; not valid: nothing
};

/// A rank that waits for ever.
struct BlockedRank {
  EventRef event;
  bool standardSend = false;  ///< for its receive, which it does only where MPI does not buffer it
};

struct Prediction {
  PredictionKind kind = PredictionKind::Deadlock;
  std::vector<PredictedMatch> flips;  ///< none can be left out; the rest is as recorded, or follows
  std::vector<PredictedMatch>
      order;  ///< all receives that take a message, in an order that MPI allows
  std::vector<BlockedRank> blocked;  ///< Deadlock
  EventRef receive;                  ///< Truncation
  EventRef send;                     ///< Truncation, Unreceived
  std::uint64_t bytes = 0;           ///< Truncation: of the message
  std::uint64_t room = 0;            ///< Truncation: of the receive's buffer, in bytes
};

/// What an execution does not hold.
struct PredictionFacts {
  std::vector<bool> cut;  ///< by rank: its record ends before MPI_Finalize
  /// In bytes, by rank and number in RankHistory::sends, ::receives. Empty: not known, truncation is not looked for.
  std::vector<std::vector<std::uint64_t>> sizes;
  std::vector<std::vector<std::optional<std::uint64_t>>> rooms;
};

struct PredictionLimits {
  std::chrono::milliseconds time{60000};
  std::size_t most = 10;          ///< predictions of each kind, one of each class of call sites
  std::size_t events = 200000;    ///< of all ranks
  std::size_t matches = 2000000;  ///< pairs of a receive and a message that it accepts
  std::size_t countFirst =
      20000;  ///< from so many on, how many messages there are is looked at first: that may be enough
};

struct Predictions {
  std::vector<Prediction> found;
  bool decided = true;            ///< false: the time was not enough to see whether there are more
  bool more = false;              ///< there are more than PredictionLimits::most of some kind
  bool truncationLooked = false;  ///< sizes of messages and buffers were known
  std::size_t receivesWithoutRoom = 0;  ///< then: of which it was not
  bool unreceivedLooked = false;        ///< no record is cut
  std::size_t messages = 0;
  std::size_t matches = 0;  ///< pairs of a receive and a message that it can take
};

/// Needs matchMessages(). Usage: calls that are not modelled, which it names; more events or matches than the limits.
[[nodiscard]] Result<Predictions> predict(const Execution& execution, const PredictionFacts& facts,
                                          const PredictionLimits& limits = {});

}  // namespace pf
