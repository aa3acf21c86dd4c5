// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/forced_prefix.h"

#include "mpi_calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "app/collation/collate.h"
#include "app/collation/logs_of_trace.h"
#include "replay_engine/log/log_prefix.h"

namespace pf::app {
namespace {

bool isMatchedProbe(std::uint32_t call) {
  return call == kCallMprobe || call == kCallImprobe;
}

/// Its rank in the group that a receive's sources are of.
std::optional<std::int32_t> rankInGroup(const RankLog& log, std::uint32_t comm, Rank world) {
  if (comm >= log.communicators.size()) {
    return std::nullopt;
  }
  const LoggedCommunicator& known = log.communicators[comm];
  const std::size_t first = known.inter ? known.groupSize : 0;
  const std::size_t count = known.inter ? known.remoteSize : known.groupSize;
  for (std::size_t i = 0; i < count && first + i < known.members.size(); ++i) {
    if (known.members[first + i] == world) {
      return static_cast<std::int32_t>(i);
    }
  }
  return std::nullopt;
}

std::uint32_t callOf(const RankLog& log, Serial event) {
  return event >= 1 && event <= log.history.events.size() ? log.history.events[event - 1].call : 0;
}

/// How many receives before it MPI_ANY_SOURCE was asked for in.
std::uint32_t wildNumber(const RankLog& log, std::uint32_t receive) {
  return static_cast<std::uint32_t>(std::count_if(
      log.history.receives.begin(), log.history.receives.begin() + receive,
      [&](const PostedReceive& each) {
        return each.wantedSource == kAnySource && !isMatchedProbe(callOf(log, each.post));
      }));
}

ChoiceKind probeKind(std::uint32_t call) {
  return call == kCallIprobe    ? ChoiceKind::Iprobe
         : call == kCallImprobe ? ChoiceKind::Improbe
         : call == kCallMprobe  ? ChoiceKind::Mprobe
                                : ChoiceKind::Probe;
}

/// The next probe of this kind, which may fail first as it did.
void forceProbe(RankLog& forced, std::uint32_t call, std::int32_t source, Tag tag) {
  const auto k = static_cast<std::size_t>(probeKind(call));
  forced.choices[k].push_back(
      {forced.finalFailedPolls[k],
       {static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(tag)}});
  forced.finalFailedPolls[k] = 0;
}

std::optional<ChoiceKind> completionKind(std::uint32_t call) {
  switch (call) {
    case kCallWaitany:
      return ChoiceKind::Waitany;
    case kCallWaitsome:
      return ChoiceKind::Waitsome;
    case kCallTestany:
      return ChoiceKind::Testany;
    case kCallTestsome:
      return ChoiceKind::Testsome;
    default:
      return std::nullopt;
  }
}

/// The next call of this kind, which may fail first as it did.
Status forceGiven(RankLog& forced, const RankLog& whole, const ForcedChoice& choice) {
  const auto& offers = whole.history.offers;
  const std::uint32_t index = choice.choice.index;
  const auto kind = index < offers.size() ? completionKind(callOf(whole, offers[index].event))
                                          : std::optional<ChoiceKind>();
  const auto places = kind ? placesIn(offers[index], choice.given) : std::vector<std::uint32_t>();
  if (places.empty()) {
    return Error{ErrorCode::Damaged, "the log has not the request that is to be given", {}};
  }
  const auto k = static_cast<std::size_t>(*kind);
  RecordedChoice recorded{forced.finalFailedPolls[k], {}};
  if (offers[index].some) {
    recorded.payload.push_back(places.size() + 1);
  }
  for (const std::uint32_t place : places) {
    recorded.payload.push_back(std::uint64_t{offers[index].requests[place].index} +
                               (offers[index].some ? 0 : 1));
  }
  forced.choices[k].push_back(std::move(recorded));
  forced.finalFailedPolls[k] = 0;
  return {};
}

/// What a receive or probe is to take, as its rank will be told.
struct WantedMessage {
  std::uint32_t call = 0;
  bool isProbe = false;     ///< matched ones, too
  std::int32_t source = 0;  ///< in the group of its communicator
  Tag tag = 0;
};

/// `whole`: the log that the choice is of.
Result<WantedMessage> wantedBy(const RankLog& whole, const ForcedChoice& choice) {
  const RankHistory& history = whole.history;
  const bool probe = choice.choice.by == ChosenBy::Probe;
  const std::uint32_t index = choice.choice.index;
  if (index >= (probe ? history.probes.size() : history.receives.size())) {
    return Error{ErrorCode::Damaged, "the log has not the receive that is to be forced", {}};
  }
  const std::uint32_t comm = probe ? history.probes[index].comm : history.receives[index].comm;
  const Serial event = probe ? history.probes[index].event : history.receives[index].post;
  const std::optional<std::int32_t> source = rankInGroup(whole, comm, choice.source);
  if (!source) {
    return Error{ErrorCode::Usage,
                 "rank " + std::to_string(choice.source) + " is none of those that rank " +
                     std::to_string(choice.choice.rank) + " receives from there",
                 {}};
  }
  const std::uint32_t call = callOf(whole, event);
  return WantedMessage{call, probe || isMatchedProbe(call), *source, choice.tag};
}

bool isPolled(ChoiceKind kind) {
  return kind == ChoiceKind::Iprobe || kind == ChoiceKind::Improbe;
}

/// How many probes of its kind before it have left a choice: those for MPI_ANY_SOURCE, and of polled ones all that saw something.
std::uint32_t probeNumber(const RankLog& whole, const RunChoice& choice, std::uint32_t call) {
  const RankHistory& history = whole.history;
  const bool polled = isPolled(probeKind(call));
  const auto counts = [&](Serial event, Rank wanted) {
    return callOf(whole, event) == call && (polled || wanted == kAnySource);
  };
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < choice.index; ++i) {
    const bool before = choice.by == ChosenBy::Probe
                            ? counts(history.probes[i].event, history.probes[i].wantedSource)
                            : counts(history.receives[i].post, history.receives[i].wantedSource);
    number += before ? 1U : 0U;
  }
  return number;
}

/// Probes that are to see a message, by kind and number, and nothing of those between them.
class PlacedProbes {
 public:
  /// `whole`: the log that the choice is of.
  void add(const RankLog& whole, const RunChoice& choice, const WantedMessage& wanted) {
    m_all[static_cast<std::size_t>(probeKind(wanted.call))].emplace(
        probeNumber(whole, choice, wanted.call),
        std::vector<std::uint64_t>{static_cast<std::uint64_t>(wanted.source),
                                   static_cast<std::uint64_t>(wanted.tag)});
  }
  void force(RankLog& forced) const {
    for (std::size_t k = 0; k < m_all.size(); ++k) {
      const std::uint64_t polls = isPolled(static_cast<ChoiceKind>(k)) ? kUntilThere : 0;
      for (const auto& [number, seen] : m_all[k]) {
        while (forced.choices[k].size() < number) {
          forced.choices[k].push_back({polls, {kSeesAny, kSeesAny}});
        }
        forced.choices[k].push_back({polls, seen});
      }
    }
  }

 private:
  std::array<std::map<std::uint32_t, std::vector<std::uint64_t>>, kChoiceKinds> m_all;
};

/// `orNothing`: a rank that was ended before MPI had begun has left no log: of so many ranks, and nothing is forced of it.
Result<LogPrefix> prefixOf(const LogFiles& logs, std::size_t rank, Serial events,
                           std::size_t orNothing) {
  const auto file = logs.find(static_cast<Rank>(rank));
  if (file == logs.end() && rank < orNothing) {
    const RankLog none = emptyLog(static_cast<Rank>(rank), static_cast<std::int32_t>(orNothing),
                                  "it has left no log");
    return LogPrefix{none, none};
  }
  return file != logs.end()
             ? readLogPrefix(file->second, events)
             : Result<LogPrefix>(Error{
                   ErrorCode::Usage, "rank " + std::to_string(rank) + " has left no log", {}});
}

/// `placed`: where probes go of a rank that makes other choices in between, and none of Waitany's kind then; null: each is the
/// next one of its kind.
Status force(RankLog& forced, const RankLog& whole, const ForcedChoice& choice,
             PlacedProbes* placed) {
  if (choice.choice.by == ChosenBy::Completion) {
    return placed == nullptr ? forceGiven(forced, whole, choice) : Status();
  }
  const Result<WantedMessage> wanted = wantedBy(whole, choice);
  if (!wanted) {
    return wanted.error();
  }
  if (!wanted->isProbe) {
    forced.wildSources.set(wildNumber(whole, choice.choice.index), wanted->source);
  } else if (placed != nullptr) {
    placed->add(whole, choice.choice, *wanted);
  } else {
    forceProbe(forced, wanted->call, wanted->source, wanted->tag);
  }
  return {};
}

Status forceAll(RankLog& forced, const RankLog& whole, std::size_t rank,
                const std::vector<ForcedChoice>& choices, PlacedProbes* placed) {
  for (const ForcedChoice& choice : choices) {
    if (choice.choice.rank == static_cast<Rank>(rank)) {
      if (Status status = force(forced, whole, choice, placed); !status) {
        return status;
      }
    }
  }
  return {};
}

}  // namespace

ForcedChoice forcedTo(const Execution& execution, const RunChoice& choice,
                      const ChosenName& chosen) {
  if (choice.by == ChosenBy::Completion) {
    return {choice, kUnknownRank, 0, chosen.send};
  }
  const auto& sends = execution.ranks[index(chosen.sender)].sends;
  return {choice, chosen.sender, sends[chosen.send].tag, 0};
}

Result<std::vector<std::vector<unsigned char>>> schedulesOf(const std::vector<ChoicesOfRun>& runs) {
  std::vector<std::vector<unsigned char>> schedules;
  for (std::size_t rank = 0; rank < runs.front().logs->size(); ++rank) {
    std::optional<RankLog> forced;
    PlacedProbes probes;
    for (const ChoicesOfRun& run : runs) {
      Result<LogPrefix> log = prefixOf(*run.logs, rank, 0, 0);
      if (!log) {
        return log.error();
      }
      if (!forced) {
        forced = std::move(log->forced);
        std::ranges::fill(forced->finalFailedPolls, 0U);  // they are of another run's way
      }
      if (Status status = forceAll(*forced, log->whole, rank, run.choices, &probes); !status) {
        return status.error();
      }
    }
    probes.force(*forced);
    schedules.push_back(compileSchedule(*forced));
  }
  return schedules;
}

Result<std::vector<std::vector<unsigned char>>> schedulesOf(const LogFiles& logs,
                                                            const ForcedPrefix& prefix) {
  std::vector<std::vector<unsigned char>> schedules;
  for (std::size_t rank = 0; rank < prefix.done.size(); ++rank) {
    Result<LogPrefix> log = prefixOf(logs, rank, prefix.done[rank], prefix.done.size());
    if (!log) {
      return log.error();
    }
    if (Status status = forceAll(log->forced, log->whole, rank, prefix.choices, nullptr); !status) {
      return status.error();
    }
    schedules.push_back(compileSchedule(log->forced));
  }
  return schedules;
}

}  // namespace pf::app
