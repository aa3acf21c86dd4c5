// SPDX-License-Identifier: GPL-3.0-or-later
// What is under way at a cut of an execution: receives that are posted, messages that no receive
// has been posted for yet, and which rank waits for which. Matching is the recorded one
// (MPI 3.1, 3.5). QtCore only.
#pragma once

#include <cstdint>
#include <vector>

#include <QString>

#include "views/trace/trace_index.h"
#include "views/values/space_time_types.h"

namespace pf::views {

/// How far each rank has come.
struct JobCut {
  std::vector<Serial> done;  ///< by rank: events that are over
  std::vector<bool> inside;  ///< by rank: its next event has begun
};

/// Where a replay is. Ranks that it says nothing of are not in it: what they did is given by the record, all of it.
[[nodiscard]] JobCut cutOf(const TraceIndex& trace, const std::vector<ReplayPosition>& positions);
/// The end of the record: a rank that its last call never let go is inside of it.
[[nodiscard]] JobCut cutAtEnd(const TraceIndex& trace);
/// The events that happen before `event`, and no other.
[[nodiscard]] JobCut cutJustBefore(const TraceIndex& trace, EventRef event);

struct QueueItem {
  enum class Kind {
    Posted,      ///< a receive whose completion has not been seen
    Unexpected,  ///< a message sent for which no receive has been posted
  };
  Kind kind = Kind::Posted;
  Rank rank = kUnknownRank;  ///< whose queue it is in
  Rank peer = kAnySource;    ///< source: asked for (Posted), or of the message
  Tag tag = kAnyTag;         ///< likewise
  std::uint32_t comm = kNone;
  std::uint64_t bytes = 0;        ///< of the message, where one is known
  EventRef event;                 ///< the post, or the send
  std::uint32_t message = kNone;  ///< Posted: the one that it takes, if that is sent already
};

/// The next event of `rank` cannot end before other ranks have gone on.
struct RankWait {
  Rank rank = kUnknownRank;
  std::vector<Rank> on;  ///< in ascending order; empty: not known
  bool anyOne = false;   ///< one of them suffices (a wildcard whose message is not known)
  bool sure = true;      ///< false: it may be something else that it waits for, or nobody
  EventRef event;
  QString why;  ///< "MPI_Recv from rank 2, tag 7"
};

struct JobState {
  std::vector<QueueItem> items;  ///< by rank; posted before unexpected; in posting or sending order
  std::vector<RankWait> waits;   ///< by rank
  /// Ranks that cannot go on whatever the others do: they wait for one another, or for a rank that
  /// has finished. Who waits for one that was ended, or aborted, might have gone on. Ascending.
  std::vector<Rank> stuck;
  /// Each waits for the next, the last for the first; empty = none. Where they are not stuck it only seems so.
  std::vector<Rank> cycle;
};

/// O(messages + receives + ranks). Of a job that was not recorded: by the calls that its ranks stand in (calls_now.h).
[[nodiscard]] JobState jobStateAt(const TraceIndex& trace, const JobCut& cut);

/// The queues as CSV with a heading line, and the waits as a graph for Graphviz's dot.
[[nodiscard]] QString queuesCsv(const TraceIndex& trace, const JobState& state);
[[nodiscard]] QString waitsDot(const JobState& state);

}  // namespace pf::views
