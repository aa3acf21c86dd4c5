// SPDX-License-Identifier: GPL-3.0-or-later
// Where two executions of one program part: for each rank the first thing that MPI or the program
// did otherwise, and which of these differences others follow from.
//
// Ranks are aligned by their serials: up to its first difference a rank did the same calls with the
// same outcomes in both. Two deliveries are the same if they took the same message: the n-th of its
// source, communicator and tag. (Its send may have another serial; then the sender has differed.)
//
// d(q) *precedes* d(r), the first differences of ranks q and r, if it happens before it in one of
// the executions: along messages (also the one that was taken at d(r)), synchronous sends and
// collectives. A *first cause* is one that no other precedes. In one execution the one, in the
// other the other can precede (each rank took a message of the other's that it would not have
// had); so precisely: d(r) is a first cause if whatever precedes it is also preceded by it, and
// nothing precedes what r did before d(r). There always is one. By Netzer and Miller's Replay
// Theorem a program that depends on nothing but its messages has deliveries, probes and outcomes
// for first causes, never calls: those tell of time, input or chance.
//
// The *cone* of differences is what happens after them: on each rank all from some event on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay_engine/execution/execution.h"

namespace pf {

enum class DifferenceKind : std::uint8_t {
  Delivery,  ///< a receive took another message
  Probe,     ///< a probe saw another message
  Outcome,   ///< what a test, Waitany, Waitsome, cancel … came to; also where a test succeeded in
             ///< one, and the other, where it failed, goes on with another call
  Call,      ///< the call itself, its place or its arguments
  End,       ///< one goes on where the other ended
};

/// A choice that MPI made and that an Execution does not hold.
struct ObservedChoice {
  Serial event = 0;                    ///< that it was made at; 0 = cannot be told
  std::uint64_t failedPolls = 0;       ///< failed tests (probes) before it
  std::vector<std::uint64_t> payload;  ///< what the call returned, as the log has it
  friend bool operator==(const ObservedChoice&, const ObservedChoice&) = default;
};

enum class RecordEnd : std::uint8_t {
  Finished,  ///< the rank reached MPI_Finalize
  Failed,    ///< it ended by itself: a crash, MPI_Abort, an exit
  Cut,       ///< it was ended, or its record is not whole: what followed is not known
};

/// What is known of a rank beyond its history.
struct RankFacts {
  RecordEnd end = RecordEnd::Finished;
  std::optional<std::int32_t> exitStatus;            ///< of a rank that was not killed
  std::vector<std::vector<ObservedChoice>> choices;  ///< streams, in the same order in both
};

struct ComparedRun {
  const Execution& execution;    ///< messages matched
  std::vector<RankFacts> ranks;  ///< may be fewer: the others finished
};

/// What one execution did at a difference.
struct DifferenceSide {
  bool there = false;                  ///< its record has the event
  std::uint32_t receive = kNone;       ///< post of the receive that this is about
  std::uint32_t probe = kNone;         ///< into RankHistory::probes
  std::uint64_t failedPolls = 0;       ///< failed tests before the event
  std::vector<std::uint64_t> payload;  ///< ObservedChoice::payload
};

struct Difference {
  Rank rank = kUnknownRank;
  Serial serial = 0;
  DifferenceKind kind = DifferenceKind::Delivery;
  DifferenceSide a;
  DifferenceSide b;
  std::uint32_t ordinal = 0;  ///< the k-th receive (probe) of its rank for its communicator and tag
  bool otherCall = false;     ///< the calls at the event differ
  bool onlyFailedPolls = false;  ///< Outcome: nothing differs but how often tests failed
  bool cause = false;
  std::vector<Rank> after;  ///< whose first differences precede it
  /// Of a first cause: by rank the first event that happens after it (its own at its own rank); 0:
  /// none.
  std::vector<Serial> coneA;
  std::vector<Serial> coneB;
};

/// How often tests failed before they succeeded. Programs that poll differ in this most of the
/// time, so it counts as a rank's difference only where nothing else does, and precedes nothing.
struct PollsDifference {
  Serial event = 0;  ///< of the success; 0 = cannot be told
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

struct Comparison {
  std::vector<std::optional<Difference>> ranks;
  std::vector<std::optional<PollsDifference>> failedPolls;  ///< first one, not after the difference
  std::vector<Serial> compared;                             ///< events that are the same
  std::vector<Rank> firstCauses;
  std::vector<Serial> coneA;  ///< of all differences, as Difference::coneA
  std::vector<Serial> coneB;
  [[nodiscard]] bool same() const;
};

/// Both must have the same number of ranks. `sites`: places of calls count, too (module and offset:
/// two recordings of one build). Communicators are told apart by their keys, calls by their names.
[[nodiscard]] Comparison compareExecutions(const ComparedRun& a, const ComparedRun& b, bool sites);

}  // namespace pf
