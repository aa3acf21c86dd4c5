// SPDX-License-Identifier: GPL-3.0-or-later
// What a replay may be asked to stop at, and the survey that it takes to know.
#include <algorithm>

#include "app/collation/event_text.h"
#include "app/collation/failure.h"
#include "app/collation/logs_of_trace.h"
#include "app/replaying/replay.h"
#include "app/replaying/report_parts.h"
#include "replay_engine/causality/cut_check.h"
#include "replay_engine/groups/replay_groups.h"
#include "replay_engine/races/races.h"

namespace pf::app {
namespace {

constexpr Serial kUnknown = ~Serial{0};

/// Events that each rank must have begun before `target`, as the last checkpoint says.
Result<std::vector<std::uint32_t>> begunBefore(db::TraceStore& store, EventRef target) {
  std::vector<std::uint32_t> begun(static_cast<std::size_t>(store.run().ranks), 0);
  const Result<ClockCheckpoints> clocks = store.clockCheckpoints();
  if (!clocks) {
    return clocks.error();
  }
  const std::size_t before =
      clocks->every == 0 || target.serial == 0 ? 0 : (target.serial - 1) / clocks->every;
  if (const std::size_t n = std::min(before, clocks->count(target.rank)); n > 0) {
    const auto past = clocks->pastOf(target.rank, n - 1);
    begun.assign(past.begin(), past.end());
  }
  return begun;
}

/// Ranks that do not run have done what the events of those that do need.
void addNeeded(const Execution& execution, const std::vector<Rank>& running,
               std::vector<Serial>& done) {
  std::vector<Serial> needed(done.size(), 0);
  for (const Rank rank : running) {
    const Serial next = done[static_cast<std::size_t>(rank)] + 1;
    const std::vector<Serial> past = cutBefore(execution, {rank, next});
    for (std::size_t other = 0; other < past.size() && other < needed.size(); ++other) {
      needed[other] = std::max(needed[other], past[other]);
    }
  }
  for (std::size_t rank = 0; rank < done.size(); ++rank) {
    done[rank] = done[rank] == kUnknown ? needed[rank] : done[rank];
  }
}

}  // namespace

Status rankIsThere(const db::TraceStore& store, Rank rank) {
  if (rank >= 0 && rank < store.run().ranks) {
    return {};
  }
  return Error{ErrorCode::Usage, "the recording has no rank " + std::to_string(rank),
               "Its ranks are 0 to " + std::to_string(store.run().ranks - 1) + "."};
}

Status eventIsThere(const db::TraceStore& store, EventRef event) {
  if (Status status = rankIsThere(store, event.rank); !status) {
    return status;
  }
  const Serial last = store.ranks()[static_cast<std::size_t>(event.rank)].lastSerial;
  if (event.serial >= 1 && event.serial <= last) {
    return {};
  }
  return Error{
      ErrorCode::Usage,
      "rank " + std::to_string(event.rank) + " has no event " + std::to_string(event.serial),
      "Its events are 1 to " + std::to_string(last) + "; 'photofinish events' lists them."};
}

Result<Destination> destinationOf(const std::string& trace, EventRef target) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (Status status = rankIsThere(*store, target.rank); !status) {
    return status.error();
  }
  const Result<std::vector<std::uint32_t>> begun = begunBefore(*store, target);
  if (!begun) {
    return begun.error();
  }
  const Result<Execution> execution = store->readExecutionFrom(*begun);
  if (!execution) {
    return execution.error();
  }
  if (target.serial > execution->ranks[static_cast<std::size_t>(target.rank)].events.size()) {
    return Error{ErrorCode::Usage,
                 "the survey of this recording did not come to event " +
                     std::to_string(target.serial) + " of rank " + std::to_string(target.rank),
                 "'photofinish events' lists what it saw; 'record --mode all' keeps all events."};
  }
  return Destination{eventText(*execution, target), cutBefore(*execution, target, *begun)};
}

Result<Destination> destinationIn(const Execution& execution, EventRef target) {
  const auto rank = static_cast<std::size_t>(target.rank);
  if (rank >= execution.ranks.size() || target.serial > execution.ranks[rank].events.size()) {
    return Error{ErrorCode::Divergence,
                 "the ranks that run were run once more to see their events, and did not come to "
                 "event " +
                     std::to_string(target.serial) + " of rank " + std::to_string(target.rank),
                 "'record --mode all' keeps all events."};
  }
  return Destination{eventText(execution, target), cutBefore(execution, target)};
}

Result<std::vector<Serial>> cutBeforeAll(const db::TraceStore& store, const Execution& execution,
                                         const std::vector<Rank>& running,
                                         const std::vector<EventRef>& events) {
  std::vector<Serial> done(static_cast<std::size_t>(store.run().ranks), kUnknown);
  const auto runs = [&running](Rank rank) {
    return running.empty() || std::ranges::find(running, rank) != running.end();
  };
  for (const EventRef& event : events) {
    if (Status status = eventIsThere(store, event); !status) {
      return status.error();
    }
    if (!runs(event.rank)) {
      return Error{ErrorCode::Usage,
                   "the cut has an event of rank " + std::to_string(event.rank) +
                       ", which does not run in this replay",
                   "Name events of the ranks that do: " + rangesText(running) + "."};
    }
    Serial& one = done[static_cast<std::size_t>(event.rank)];
    if (one != kUnknown) {
      return Error{ErrorCode::Usage, "the cut names rank " + std::to_string(event.rank) + " twice",
                   "Give RANK:SERIAL once for each rank, separated by commas."};
    }
    one = event.serial - 1;
  }
  for (Rank rank = 0; rank < store.run().ranks; ++rank) {
    if (done[static_cast<std::size_t>(rank)] == kUnknown && runs(rank)) {
      return Error{ErrorCode::Usage, "the cut has no event of rank " + std::to_string(rank),
                   "Give RANK:SERIAL once for each rank" +
                       std::string(running.empty() ? "" : " that runs") +
                       ", separated by commas; or one alone, and the others stop where it needs "
                       "them."};
    }
  }
  if (!running.empty()) {
    addNeeded(execution, running, done);
  }
  if (const std::optional<Crossing> found = crossing(execution, done)) {
    const auto name = [&](EventRef event) {
      return eventName(event) + " (" + eventText(execution, event) + ")";
    };
    return Error{ErrorCode::Usage,
                 "this is no consistent cut: " +
                     std::string(found->message != kNone ? "the message of " : "what comes from ") +
                     name(found->from) + ", which is behind the cut, is needed by " +
                     name(found->to) + ", which is before it",
                 "Let rank " + std::to_string(found->from.rank) +
                     " do that event, too, or stop rank " + std::to_string(found->to.rank) +
                     " earlier."};
  }
  return done;
}

Result<std::optional<Rank>> rankWithThreads(db::TraceStore& store) {
  const Result<std::vector<RankLog>> logs = readLogs(store);
  if (!logs) {
    return logs.error();
  }
  for (const RankLog& log : *logs) {
    if (!log.lanes.empty()) {
      return std::optional(log.rank);
    }
  }
  return std::optional<Rank>();
}

Result<bool> needsSurvey(const std::string& trace) {
  Result<db::TraceStore> store = openTrace(trace, db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  Result<bool> known = store->hasExecution();
  return known ? Result<bool>(!*known) : known;
}

Status surveyIfNeeded(const std::string& trace) {
  Result<bool> needed = needsSurvey(trace);
  if (!needed || !*needed) {
    return needed ? Status() : Status(needed.error());
  }
  ReplayOptions options;
  options.trace = trace;
  options.survey = true;
  options.quiet = true;
  Result<int> done = replay(options);
  return done ? Status() : Status(done.error());
}

namespace {

Result<db::TraceStore> surveyed(const std::string& trace) {
  if (Status status = surveyIfNeeded(trace); !status) {
    return status.error();
  }
  return openTrace(trace, db::TraceStore::Mode::ReadOnly);
}

}  // namespace

Result<EventRef> failingReceiveOf(const std::string& trace) {
  Result<Loaded> loaded = load(trace);
  if (!loaded) {
    return loaded.error();
  }
  const std::optional<EventRef> event = failingReceive(loaded->store.ranks(), loaded->execution);
  if (!event || !event->valid()) {
    return Error{ErrorCode::Usage, "no rank of this run has failed",
                 "'photofinish info' says how each ended; --until RANK:SERIAL stops anywhere."};
  }
  return *event;
}

Result<EventRef> racingReceiveOf(const std::string& trace, std::uint64_t number) {
  Result<db::TraceStore> store = surveyed(trace);
  if (!store) {
    return store.error();
  }
  Result<std::vector<db::StoredRace>> races = store->races();
  if (!races) {
    return races.error();
  }
  if (number < 1 || number > races->size()) {
    return Error{ErrorCode::Usage, "there is no race " + std::to_string(number),
                 races->empty() ? "This run has none."
                                : "They are 1 to " + std::to_string(races->size()) +
                                      ", in the order of 'photofinish races'."};
  }
  Result<Execution> execution = loadExecution(*store);
  if (!execution) {
    return execution.error();
  }
  return raceEvent(*execution, (*races)[number - 1].race);
}

}  // namespace pf::app
