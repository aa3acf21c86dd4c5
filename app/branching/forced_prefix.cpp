// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/forced_prefix.h"

#include "mpi_calls.h"

#include <algorithm>
#include <optional>

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

/// The next probe of this kind, which may fail first as it did.
void forceProbe(LogPrefix& log, std::uint32_t call, std::int32_t source, Tag tag) {
  const ChoiceKind kind = call == kCallIprobe    ? ChoiceKind::Iprobe
                          : call == kCallImprobe ? ChoiceKind::Improbe
                          : call == kCallMprobe  ? ChoiceKind::Mprobe
                                                 : ChoiceKind::Probe;
  const auto k = static_cast<std::size_t>(kind);
  std::vector<RecordedChoice>& choices = log.forced.choices[k];
  choices.push_back({log.forced.finalFailedPolls[k],
                     {static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(tag)}});
  log.forced.finalFailedPolls[k] = 0;
}

Status force(LogPrefix& log, const ForcedChoice& forced) {
  const RankHistory& history = log.whole.history;
  const std::uint32_t index = forced.choice.index;
  if (index >= (forced.choice.probe ? history.probes.size() : history.receives.size())) {
    return Error{ErrorCode::Damaged, "the log has not the receive that is to be forced", {}};
  }
  const std::uint32_t comm =
      forced.choice.probe ? history.probes[index].comm : history.receives[index].comm;
  const Serial event =
      forced.choice.probe ? history.probes[index].event : history.receives[index].post;
  const std::optional<std::int32_t> source = rankInGroup(log.whole, comm, forced.source);
  if (!source) {
    return Error{ErrorCode::Usage,
                 "rank " + std::to_string(forced.source) + " is none of those that rank " +
                     std::to_string(forced.choice.rank) + " receives from there",
                 {}};
  }
  const std::uint32_t call = callOf(log.whole, event);
  if (forced.choice.probe || isMatchedProbe(call)) {
    forceProbe(log, call, *source, forced.tag);
  } else {
    log.forced.wildSources.set(wildNumber(log.whole, index), *source);
  }
  return {};
}

}  // namespace

Result<std::vector<std::vector<unsigned char>>> schedulesOf(const LogFiles& logs,
                                                            const ForcedPrefix& prefix) {
  std::vector<std::vector<unsigned char>> schedules;
  for (std::size_t rank = 0; rank < prefix.done.size(); ++rank) {
    const auto file = logs.find(static_cast<Rank>(rank));
    if (file == logs.end()) {
      return Error{ErrorCode::Usage, "rank " + std::to_string(rank) + " has left no log", {}};
    }
    Result<LogPrefix> log = readLogPrefix(file->second, prefix.done[rank]);
    if (!log) {
      return log.error();
    }
    for (const ForcedChoice& forced : prefix.choices) {
      if (forced.choice.rank == static_cast<Rank>(rank)) {
        if (Status status = force(*log, forced); !status) {
          return status.error();
        }
      }
    }
    schedules.push_back(compileSchedule(log->forced));
  }
  return schedules;
}

}  // namespace pf::app
