// SPDX-License-Identifier: GPL-3.0-or-later
// What each rank does, taken from one execution and freed of its outcomes: which events send and post,
// and what each of them waits for. It is the program of all executions that differ from the recorded
// one only in which message each receive takes (a single-path program: Forejt, Joshi, Kroening,
// Narayanaswamy and Sharma, A Precise Predictive Analysis for Discovering Communication Deadlocks in
// MPI Programs, 2). Private to the prediction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf::prediction {

/// A message of the program, in the order of ranks and sends.
struct ModelMessage {
  Rank source = kUnknownRank;
  Serial event = 0;
  Rank dest = kUnknownRank;
  std::uint32_t comm = kNone;
  Tag tag = 0;
  std::uint32_t recorded = kNone;  ///< into Execution::messages
  std::uint32_t taker = kNone;     ///< ModelReceive that took it in the record
};

/// A receive of the program, in the order of ranks and posts.
struct ModelReceive {
  Rank rank = kUnknownRank;
  Serial post = 0;
  std::uint32_t number = 0;  ///< into RankHistory::receives
  std::uint32_t comm = kNone;
  Rank source = kAnySource;
  Tag tag = kAnyTag;
  Serial waitedBy = 0;          ///< the first event that cannot end without it; 0: none
  std::uint32_t taken = kNone;  ///< ModelMessage that it took in the record
  std::uint32_t probe = kNone;  ///< ModelProbe whose choice it carries out
};

struct ModelProbe {
  Rank rank = kUnknownRank;
  Serial event = 0;
  std::uint32_t comm = kNone;
  Rank source = kAnySource;
  Tag tag = kAnyTag;
  std::uint32_t postsBefore = 0;  ///< receives of its rank that were posted before
};

/// A rank's part in a collective: it ends once these events have begun.
struct ModelCollective {
  std::vector<EventRef> awaits;
  bool never = false;  ///< a part that it needs is not in the record
};

enum class WaitKind : std::uint8_t {
  Receive,          ///< for a ModelReceive to have its message
  SynchronousSend,  ///< for a ModelMessage to be taken
  Collective,       ///< for a ModelCollective
};

/// A request, or what a blocking call waits for.
struct Wait {
  WaitKind kind = WaitKind::Receive;
  std::uint32_t index = kNone;
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// How many of its requests a completion asks for.
enum class Completes : std::uint8_t {
  All,   ///< each that the record says: Wait, Waitall, Test, Testall
  One,   ///< Waitany, Testany
  Some,  ///< Waitsome, Testsome: one, or more of them
};

struct ModelEvent {
  std::vector<Wait> waits;  ///< it ends only after all of these
  Completes completes = Completes::All;
  std::vector<Wait> open;       ///< unless Completes::All: requests that it may complete
  std::uint32_t probe = kNone;  ///< the ModelProbe that it waits for
  std::uint32_t standardSend =
      kNone;  ///< ModelMessage of a blocking standard send: may wait for its receive
};

struct ProgramModel {
  std::vector<std::vector<ModelEvent>> ranks;  ///< by serial - 1
  std::vector<ModelMessage> messages;
  std::vector<ModelReceive> receives;
  std::vector<ModelProbe> probes;
  std::vector<ModelCollective> collectives;
  std::vector<bool> cut;  ///< by rank: it may go on after its record
  std::vector<std::string>
      notModelled;  ///< calls whose effect on the order of messages is not known here, by name
};

/// Needs matchMessages(). `cut`: of each rank whether its record ends before MPI_Finalize.
[[nodiscard]] ProgramModel modelOf(const Execution& execution, const std::vector<bool>& cut);

[[nodiscard]] inline bool accepts(const ModelReceive& receive, const ModelMessage& message) {
  return receive.rank == message.dest && receive.comm == message.comm &&
         (receive.source == kAnySource || receive.source == message.source) &&
         (receive.tag == kAnyTag || receive.tag == message.tag);
}

[[nodiscard]] inline bool accepts(const ModelProbe& probe, const ModelMessage& message) {
  return probe.rank == message.dest && probe.comm == message.comm &&
         (probe.source == kAnySource || probe.source == message.source) &&
         (probe.tag == kAnyTag || probe.tag == message.tag);
}

}  // namespace pf::prediction
