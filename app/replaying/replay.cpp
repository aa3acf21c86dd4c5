// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/replaying/replay.h"

#include <algorithm>

#include "app/collation/logs_of_trace.h"
#include "app/replaying/forced_deliveries.h"
#include "app/replaying/part_of_job.h"
#include "app/replaying/replay_run.h"
#include "app/traces/own_traces.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf::app {
namespace {

/// Surveys of a run that was cut: the rank that ends it may be quicker than it was, and take another with it.
constexpr int kSurveys = 3;

/// Events of these ranks, of a trace without events: those that surveys of them have left there, or of one that is made for it.
Result<Execution> seenByPart(const ReplayOptions& options, db::TraceStore& store,
                             const std::vector<Rank>& ranks) {
  Result<std::optional<Execution>> known = knownOfPart(store, ranks);
  if (!known || *known) {
    return known ? Result<Execution>(std::move(**known)) : Result<Execution>(known.error());
  }
  ReplayOptions survey;
  survey.trace = options.trace;
  survey.part.ranks = ranks;
  survey.survey = survey.quiet = true;
  survey.force = options.force;
  survey.launcherOptions = options.launcherOptions;
  ReplayRun look(survey, store);
  const Result<int> done = look.run();
  return done ? Result<Execution>(std::move(look.seen())) : Result<Execution>(done.error());
}

/// Of a trace without events. A survey would run all ranks, which may be too many for this machine: where the others of a
/// part are when its ranks are at some events, a survey of the part tells.
Result<int> replayPart(const ReplayOptions& options, db::TraceStore& store) {
  const Result<std::vector<Rank>> ranks = ranksOfPart(store, options.part);
  if (!ranks) {
    return ranks.error();
  }
  ReplayRun replay(options, store);
  if (options.until && ranks->size() == 1) {  // there is nobody else to stop
    Destination destination;
    destination.cut.assign(static_cast<std::size_t>(store.run().ranks), 0);
    destination.cut[static_cast<std::size_t>(options.until->rank)] = options.until->serial - 1;
    replay.goTo(std::move(destination));
    return replay.run();
  }
  if (!options.until) {  // what is wrong with it without its events
    if (const auto cut = cutBeforeAll(store, Execution{}, *ranks, options.cut); !cut) {
      return cut.error();
    }
  }
  Result<Execution> seen = seenByPart(options, store, *ranks);
  if (!seen) {
    return seen.error();
  }
  if (options.until) {
    Result<Destination> found = destinationIn(*seen, *options.until);
    if (!found) {
      return found.error();
    }
    replay.goTo(std::move(*found));
  } else {
    replay.know(std::move(*seen));
  }
  return replay.run();
}

/// What to ask for, so that a rank runs that is to be stopped.
std::string whoRuns(const db::TraceStore& store, Rank rank) {
  const std::string other = "name an event of a rank that does.";
  const Result<ReplayGroups> groups =
      ReplayGroups::parse(store.run().groups.value_or("all"), store.run().ranks);
  if (!groups || rank < 0 || rank >= store.run().ranks) {
    return "N" + other.substr(1);
  }
  const std::uint32_t group = groups->groupOf(rank);
  return "--group " + std::to_string(group) +
         " runs that rank (its group: " + rangesText(groups->members(group)) + "); or " + other;
}

/// Usage unless a part of the job that is asked for can be replayed, with the rank that is to be stopped in it.
Status partIsThere(db::TraceStore& store, const ReplayOptions& options) {
  if (options.part.isWhole()) {
    return {};
  }
  const Result<std::vector<Rank>> ranks = ranksOfPart(store, options.part);
  if (!ranks) {
    return ranks.error();
  }
  if (options.deliveries == "tagged") {
    return Error{ErrorCode::Usage,
                 "a part of the job has no tags of its own for messages from outside",
                 "Leave out --force tagged."};
  }
  if (options.boundedBuffers) {
    return Error{
        ErrorCode::Usage,
        "--bounded-buffers holds messages back until their receivers are ready, and a part "
        "of the job has receivers that do not run",
        "Leave out --bounded-buffers, or replay all ranks."};
  }
  if (options.until && std::ranges::find(*ranks, options.until->rank) == ranks->end()) {
    return Error{ErrorCode::Usage,
                 "event " + std::to_string(options.until->serial) + " is of rank " +
                     std::to_string(options.until->rank) +
                     ", which is to be stopped, but does not run in this replay",
                 whoRuns(store, options.until->rank)};
  }
  return {};
}

/// Usage where a rank called MPI with several threads.
Status canHoldBack(db::TraceStore& store) {
  const Result<std::optional<Rank>> threaded = rankWithThreads(store);
  if (!threaded) {
    return threaded.error();
  }
  return !*threaded ? Status()
                    : Status(Error{ErrorCode::Usage,
                                   "rank " + std::to_string(**threaded) +
                                       " calls MPI with several threads: its messages cannot be "
                                       "held back",
                                   "Replay it without --bounded-buffers."});
}

}  // namespace

Result<int> replay(const ReplayOptions& options) {
  if (Status may = mayRun(options.trace); !may) {
    return may.error();
  }
  const auto mode =
      options.survey ? db::TraceStore::Mode::ReadWrite : db::TraceStore::Mode::ReadOnly;
  Result<db::TraceStore> store =
      openTrace(options.trace, options.deliveries.empty() ? mode : db::TraceStore::Mode::ReadOnly);
  if (!store) {
    return store.error();
  }
  if (Status status = partIsThere(*store, options); !status) {
    return status.error();
  }
  if (options.until) {  // before a survey is made for it
    if (Status status = eventIsThere(*store, *options.until); !status) {
      return status.error();
    }
  }
  if (options.boundedBuffers) {
    if (Status can = canHoldBack(*store); !can) {
      return can.error();
    }
  }
  if (((options.until || !options.cut.empty() || options.boundedBuffers) && !options.survey) ||
      !options.deliveries.empty()) {
    Result<bool> known = store->hasExecution();
    if (!known) {
      return known.error();
    }
    if (!*known && !options.part.isWhole() && (options.until || !options.cut.empty())) {
      return replayPart(options, *store);
    }
    if (!*known && options.part.isWhole()) {
      if (Status status = surveyIfNeeded(options.trace); !status) {
        return status.error();
      }
    }
    store = openTrace(options.trace, mode);
    if (!store) {
      return store.error();
    }
  }
  if (Status status = canForce(*store, options.deliveries); !status) {
    return status.error();
  }
  for (int left = store->run().complete ? 1 : kSurveys;; --left) {
    ReplayRun replay(options, *store);
    Result<int> done = replay.run();
    if (done || !replay.cameShort() || left == 1) {
      return done;
    }
  }
}

}  // namespace pf::app
