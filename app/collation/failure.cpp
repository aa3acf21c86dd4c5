// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/failure.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "replay_engine/groups/replay_groups.h"

namespace pf::app {

bool endedByItself(int signal) {
  return signal != SIGTERM && signal != SIGKILL && signal != SIGINT;
}

namespace {

/// How much a rank looks like the one that failed first: others are ended by the launcher because
/// of it.
enum class Guilt { None, Cut, Killed, Status, Abort, Signal };

Guilt guiltOf(const db::RankInfo& rank) {
  const bool runs =  // as collate() says it of a recording that goes on
      rank.state.starts_with("was ") && !rank.exitSignal && !rank.exitStatus;
  if (runs) {
    return Guilt::None;
  }
  if (rank.exitSignal && endedByItself(*rank.exitSignal)) {
    return Guilt::Signal;
  }
  if (!rank.complete && rank.state.starts_with("ended inside MPI_Abort ")) {
    return Guilt::Abort;
  }
  if (rank.exitStatus && *rank.exitStatus != 0) {
    return Guilt::Status;
  }
  if (rank.complete) {
    return Guilt::None;
  }
  if (rank.exitSignal && *rank.exitSignal == SIGKILL) {
    return Guilt::Killed;
  }
  return rank.lastSerial == 0 ? Guilt::None : Guilt::Cut;
}

/// Null: none.
const db::RankInfo* guiltiest(const std::vector<db::RankInfo>& ranks) {
  const auto worst = std::ranges::max_element(ranks, {}, guiltOf);
  return worst == ranks.end() || guiltOf(*worst) == Guilt::None ? nullptr : &*worst;
}

std::string signalName(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

std::string sentenceOf(const db::RankInfo& rank) {
  const std::string who = "rank " + std::to_string(rank.rank) + " ";
  const std::string event = "event " + std::to_string(rank.lastSerial);
  switch (guiltOf(rank)) {
    case Guilt::Signal:
      return who + "was ended by " + signalName(*rank.exitSignal) + " after " + event;
    case Guilt::Abort:
      return who + "called MPI_Abort, its " + event +
             (rank.exitStatus ? ", and ended with exit status " + std::to_string(*rank.exitStatus)
                              : "");
    case Guilt::Status:
      return who + "ended with exit status " + std::to_string(*rank.exitStatus) + " after " + event;
    case Guilt::Killed:
      return who + "was killed (SIGKILL) after " + event;
    case Guilt::Cut:
    case Guilt::None:
      break;
  }
  // "ended inside MPI_Recv (event 3)"
  const std::string state = rank.state.starts_with("ended ") ? rank.state : "ended after " + event;
  return who + state + (rank.exitSignal ? ", by " + signalName(*rank.exitSignal) : "");
}

}  // namespace

bool endedWell(const db::RankInfo& rank) {
  return rank.complete && guiltOf(rank) == Guilt::None;
}

std::optional<WhatFailed> whatFailed(const std::vector<db::RankInfo>& ranks,
                                     std::optional<std::int32_t> exitStatus) {
  if (const db::RankInfo* const worst = guiltiest(ranks)) {
    return WhatFailed{worst->rank, sentenceOf(*worst)};
  }
  if (exitStatus.value_or(0) == 0) {
    return std::nullopt;
  }
  return WhatFailed{kUnknownRank, "the run ended with exit status " + std::to_string(*exitStatus) +
                                      ", though each rank ended well"};
}

std::vector<std::string> cutLines(const std::vector<db::RankInfo>& ranks) {
  constexpr std::size_t kMostLines = 4;
  std::vector<std::string> lines;
  std::map<std::string, std::vector<Rank>> alike;
  for (const db::RankInfo& rank : ranks) {
    if (!rank.complete) {
      lines.push_back("rank " + std::to_string(rank.rank) + ": " + rank.cutReason);
      alike[rank.cutReason.substr(0, rank.cutReason.find(", after event "))].push_back(rank.rank);
    }
  }
  if (lines.size() <= kMostLines) {
    return lines;
  }
  lines.clear();
  for (const auto& [why, which] : alike) {
    lines.push_back((which.size() == 1 ? "rank " : "ranks ") + rangesText(which) + ": " + why);
  }
  return lines;
}

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
  const db::RankInfo* const worst = guiltiest(ranks);
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
