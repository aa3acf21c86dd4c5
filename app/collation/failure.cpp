// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/failure.h"

#include <algorithm>
#include <csignal>
#include <string>

namespace pf::app {

bool endedByItself(int signal) {
  return signal != SIGTERM && signal != SIGKILL && signal != SIGINT;
}

namespace {

bool isAbort(const Execution& execution, const Event& event) {
  return event.call < execution.callNames.size() && execution.callNames[event.call] == "MPI_Abort";
}

/// How much a rank looks like the one that failed first: others are ended by the launcher because
/// of it.
int guilt(const db::RankInfo& rank, const RankHistory& history, const Execution& execution) {
  const bool runs =  // as collate() says it of a recording that goes on
      rank.state.starts_with("was ") && !rank.exitSignal && !rank.exitStatus;
  if (rank.complete || runs) {
    return 0;
  }
  const bool aborted = !history.events.empty() && isAbort(execution, history.events.back());
  if (rank.exitSignal && endedByItself(*rank.exitSignal)) {
    return 6;
  }
  if (aborted) {
    return 5;
  }
  if (rank.exitStatus && *rank.exitStatus != 0) {
    return 4;
  }
  if (rank.exitSignal && *rank.exitSignal == SIGKILL) {
    return 3;
  }
  return history.events.empty() ? 0 : 1;
}

}  // namespace

bool receives(const RankHistory& rank, Serial serial) {
  if (serial == 0 || serial > rank.events.size()) {
    return false;
  }
  const EventKind kind = rank.events[serial - 1].kind;
  if (kind == EventKind::Receive || kind == EventKind::SendReceive || kind == EventKind::Probe) {
    return true;
  }
  return kind == EventKind::Completion &&
         std::any_of(rank.receives.begin(), rank.receives.end(), [&](const PostedReceive& receive) {
           return receive.completion == serial && receive.state == ReceiveState::Complete;
         });
}

std::optional<EventRef> failingReceive(const std::vector<db::RankInfo>& ranks,
                                       const Execution& execution) {
  const db::RankInfo* worst = nullptr;
  int most = 0;
  for (const db::RankInfo& rank : ranks) {
    const int g = guilt(rank, execution.ranks[static_cast<std::size_t>(rank.rank)], execution);
    if (g > most) {
      most = g;
      worst = &rank;
    }
  }
  if (worst == nullptr) {
    return std::nullopt;
  }
  const RankHistory& history = execution.ranks[static_cast<std::size_t>(worst->rank)];
  for (Serial serial = history.events.size(); serial > 0; --serial) {
    if (receives(history, serial)) {
      return EventRef{worst->rank, serial};
    }
  }
  return EventRef{worst->rank, history.events.size()};
}

}  // namespace pf::app
