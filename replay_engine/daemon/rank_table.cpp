// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/daemon/rank_table.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

namespace pf::daemon {

using protocol::Verdict;
using protocol::VerdictKind;

namespace {

std::string event(std::uint64_t serial) {
  return "event " + std::to_string(serial);
}
std::string rankName(std::int32_t rank) {
  return "rank " + std::to_string(rank);
}

std::string callOf(const RankRecord& rank) {
  return rank.state.call.empty() ? "an MPI call" : rank.state.call;
}

const RankRecord* find(const RankTable& table, std::int32_t rank) {
  const auto it = table.find(rank);
  return it == table.end() ? nullptr : &it->second;
}

/// Why `rank` will send nothing any more; empty if it may.
std::string whySilent(const RankTable& table, std::int32_t rank) {
  const RankRecord* peer = find(table, rank);
  const std::string name = rankName(rank);
  if (peer == nullptr) {
    return name + ", which does not run here";
  }
  if (peer->state.phase == RankPhase::Diverged) {
    return name + ", which diverged from its recording at its " + event(peer->state.serial);
  }
  if (!isLive(*peer)) {
    return name + ", which has ended after its " + event(peer->state.serial);
  }
  if (peer->state.phase == RankPhase::Finalized) {
    return name + ", which has called MPI_Finalize (its " + event(peer->state.serial) + ")";
  }
  if (peer->state.pastEnd) {
    return name + ", whose record ends: it is at its " + event(peer->state.serial) +
           " and runs without a recording";
  }
  return {};
}

/// Why nobody will send to `rank`, which waits for any source; empty if somebody may.
std::string whyAllSilent(const RankTable& table, std::int32_t rank) {
  const bool silent = std::all_of(table.begin(), table.end(), [&](const auto& entry) {
    return entry.first == rank || !isLive(entry.second) ||
           entry.second.state.phase == RankPhase::Finalized;
  });
  return silent && table.size() > 1 ? "any rank, and all others have ended or called MPI_Finalize"
                                    : "";
}

/// It will neither send nor receive any more.
bool hasEnded(const RankTable& table, std::int32_t rank) {
  const RankRecord* peer = find(table, rank);
  return peer != nullptr && (!isLive(*peer) || peer->state.phase == RankPhase::Finalized);
}

bool contains(const std::vector<std::int32_t>& ranks, std::int32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

bool isOneOf(std::string_view call, std::initializer_list<std::string_view> names) {
  if (call.ends_with("_c")) {  // the form with large counts
    call.remove_suffix(2);
  }
  return std::find(names.begin(), names.end(), call) != names.end();
}

bool sends(const RankRecord& rank) {
  return isOneOf(rank.state.call, {"MPI_Send", "MPI_Ssend", "MPI_Rsend"});
}

bool receives(const RankRecord& rank) {
  return isOneOf(rank.state.call, {"MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Wait", "MPI_Waitall",
                                   "MPI_Waitany", "MPI_Waitsome"});
}

/// In a collective that does not end before the root is in it.
bool waitsForRoot(const RankRecord& rank) {
  return rank.state.waitPeer >= 0 && rank.state.waitPeer != rank.state.rank &&
         isOneOf(rank.state.call, {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"});
}

bool waitsForAll(const RankRecord& rank) {
  return rank.state.waitPeer == kWaitsForAll;
}

/// In a call that is over when the rank that it names, or any rank, does something, or when all are in it. An exchange
/// waits for two, and so may threads; other jobs are not known here.
bool knowsItsPeer(const RankRecord& rank) {
  const bool named = rank.state.waitPeer >= -1 && (sends(rank) || receives(rank));
  return !rank.state.uncertain && (named || waitsForRoot(rank) || waitsForAll(rank));
}

/// It is not in the collective that `rank` is in, and comes to none any more: it is one of `stuck`, or has ended.
bool staysAway(const RankTable& table, const RankRecord& rank, std::int32_t other,
               const std::set<std::int32_t>& stuck) {
  return other != rank.state.rank &&
         (hasEnded(table, other) ||
          (stuck.contains(other) && table.at(other).state.call != rank.state.call));
}

/// The receiver waits for this message: only a slow network is between them.
bool isUnderWay(const RankTable& table, const RankRecord& sender) {
  const RankRecord* peer = sends(sender) ? find(table, sender.state.waitPeer) : nullptr;
  if (peer == nullptr || !isWaiting(*peer) || !receives(*peer)) {
    return false;
  }
  const bool forIt = peer->state.waitPeer == sender.state.rank || peer->state.waitPeer == -1;
  return forIt && (peer->state.waitTag < 0 || peer->state.waitTag == sender.state.waitTag);
}

std::string deadlockText(const RankTable& table, const std::vector<std::int32_t>& stuck) {
  constexpr std::size_t kMost = 16;
  std::string text = "deadlock: ";
  for (std::size_t i = 0; i < stuck.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : "; ") + describe(table.at(stuck[i]));
  }
  if (stuck.size() > kMost) {
    text += "; and " + std::to_string(stuck.size() - kMost) + " more";
  }
  // In a collective with one that has ended, there is no circle.
  const bool missing = std::ranges::any_of(stuck, [&](std::int32_t each) {
    const RankRecord& rank = table.at(each);
    return waitsForAll(rank) || (waitsForRoot(rank) && hasEnded(table, rank.state.waitPeer));
  });
  const auto ended = std::find_if(table.begin(), table.end(), [&table](const auto& entry) {
    return hasEnded(table, entry.first);
  });
  return missing && ended != table.end() ? text + "; " + describe(ended->second) : text;
}

}  // namespace

bool isStopped(const RankRecord& rank) {
  return isLive(rank) && rank.state.phase == RankPhase::Stopped;
}

bool isWaiting(const RankRecord& rank) {
  const RankPhase phase = rank.state.phase;
  return isLive(rank) && rank.state.inCall != 0 &&
         (phase == RankPhase::Running || phase == RankPhase::Finalized);
}

bool isHeld(const RankRecord& rank) {
  return isLive(rank) && rank.state.held && !isStopped(rank);
}

TimePoint lastProgress(const RankTable& table, TimePoint start) {
  for (const auto& [number, rank] : table) {
    start = std::max(start, rank.changed);
  }
  return start;
}

TimePoint lastMove(const RankTable& table, TimePoint start) {
  for (const auto& [number, rank] : table) {
    start = std::max(start, rank.moved);
  }
  return start;
}

std::string at(const protocol::CodePlace& place) {
  return place.text.empty() ? std::string() : " at " + place.text;
}

std::string eventText(const protocol::PastEvent& event) {
  std::string text = event.call.empty() ? "an MPI call" : event.call;
  if (event.peer >= -1) {
    text += event.peer < 0 ? " any source" : " " + rankName(event.peer);
    text += event.tag < 0 ? " any tag" : " tag " + std::to_string(event.tag);
  }
  return text + at(event.place);
}

std::string describe(const RankRecord& rank) {
  const protocol::RankState& state = rank.state;
  const std::string name = rankName(state.rank);
  if (!isLive(rank)) {
    return name + " has ended after " + event(state.serial);
  }
  if (isStopped(rank)) {
    return name + " is stopped before " + event(state.serial + 1) +
           (state.call.empty() ? "" : " (" + state.call + ")");
  }
  if (isHeld(rank)) {
    return name + " is held by GDB or a signal after " + event(state.serial);
  }
  if (isWaiting(rank)) {
    std::string text =
        name + " waits in " + callOf(rank) + " (" + event(state.serial) + ")" + at(state.place);
    if (state.waitPeer >= 0) {
      text += " for " + rankName(state.waitPeer);
    } else if (state.waitPeer == -1) {
      text += " for any rank";
    } else if (waitsForAll(rank)) {
      text += " for all ranks";
    }
    return state.waitTag >= 0 ? text + ", tag " + std::to_string(state.waitTag) : text;
  }
  switch (state.phase) {
    case RankPhase::Launched:
    case RankPhase::Hello:
      return name + " is in MPI_Init";
    case RankPhase::Gated:
      return name + " is held at the end of MPI_Init";
    case RankPhase::Diverged:
      return name + " diverged at " + event(state.serial);
    case RankPhase::Finalized:
      return name + " has called MPI_Finalize";
    case RankPhase::Stopped:
    case RankPhase::Running:
      break;
  }
  return name + " computes after " + event(state.serial);
}

std::string describeAll(const RankTable& table, std::size_t most) {
  std::string text;
  std::size_t lines = 0;
  for (const auto& [number, rank] : table) {
    if (lines++ == most) {
      return text + "\n… and " + std::to_string(table.size() - most) + " more";
    }
    text += (text.empty() ? "" : "\n") + describe(rank);
  }
  return text;
}

std::vector<std::int32_t> findWaitForCycle(const RankTable& table,
                                           const std::vector<std::int32_t>& among) {
  for (const std::int32_t start : among) {
    std::vector<std::int32_t> path;
    const RankRecord* rank = find(table, start);
    while (rank != nullptr && contains(among, rank->state.rank) && rank->state.waitPeer >= 0) {
      const auto seen = std::find(path.begin(), path.end(), rank->state.rank);
      if (seen != path.end()) {
        return {seen, path.end()};
      }
      path.push_back(rank->state.rank);
      rank = find(table, rank->state.waitPeer);
    }
  }
  return {};
}

std::vector<std::int32_t> findKnot(const RankTable& table) {
  std::set<std::int32_t> knot;
  std::set<std::int32_t> able;  // to send something, for all that is known
  for (const auto& [number, rank] : table) {
    if (isWaiting(rank) && rank.state.phase == RankPhase::Running && knowsItsPeer(rank) &&
        !isUnderWay(table, rank)) {
      knot.insert(number);
    } else if (!hasEnded(table, number)) {
      able.insert(number);
    }
  }
  const auto mayGoOn = [&](std::int32_t number) {
    const RankRecord& rank = table.at(number);
    if (waitsForAll(rank)) {
      return std::none_of(table.begin(), table.end(), [&](const auto& entry) {
        return staysAway(table, rank, entry.first, knot);
      });
    }
    const std::int32_t peer = rank.state.waitPeer;
    return peer < 0 ? !able.empty() : able.contains(peer) || !table.contains(peer);
  };
  for (bool less = true; less;) {
    less = false;
    for (auto rank = knot.begin(); rank != knot.end();) {
      if (mayGoOn(*rank)) {
        able.insert(*rank);
        rank = knot.erase(rank);
        less = true;
      } else {
        ++rank;
      }
    }
  }
  return {knot.begin(), knot.end()};
}

bool everyRankWaits(const RankTable& table) {
  const bool someWait = std::any_of(table.begin(), table.end(),
                                    [](const auto& entry) { return isWaiting(entry.second); });
  return someWait && std::all_of(table.begin(), table.end(), [](const auto& entry) {
           const RankRecord& rank = entry.second;
           return !isLive(rank) || rank.state.phase == RankPhase::Finalized ||
                  (isWaiting(rank) && !isHeld(rank));
         });
}

std::optional<Verdict> explainStall(const RankTable& table) {
  if (!everyRankWaits(table)) {
    return std::nullopt;
  }
  const std::vector<std::int32_t> knot = findKnot(table);
  for (const auto& [number, rank] : table) {
    if (!isWaiting(rank) || rank.state.waitPeer < -1 || waitsForRoot(rank)) {
      continue;
    }
    const std::string why = rank.state.waitPeer < 0 ? whyAllSilent(table, number)
                                                    : whySilent(table, rank.state.waitPeer);
    if (!why.empty()) {
      Verdict verdict{
          VerdictKind::Stalled, number, rank.state.serial,
          rankName(number) + " waits in " + callOf(rank) + " (" + event(rank.state.serial) + ")" +
              at(rank.state.place) +
              (sends(rank) ? " for its message to be received by " : " for a message from ") + why +
              "\n" + describeAll(table)};
      verdict.proven = contains(knot, number);
      return verdict;
    }
  }
  if (knot.empty()) {
    return Verdict{VerdictKind::Stalled, -1, 0, "every rank waits:\n" + describeAll(table)};
  }
  const std::vector<std::int32_t> cycle = findWaitForCycle(table, knot);
  const std::vector<std::int32_t>& stuck = cycle.empty() ? knot : cycle;
  Verdict verdict{VerdictKind::Deadlock, stuck.front(), table.at(stuck.front()).state.serial,
                  deadlockText(table, stuck)};
  verdict.proven = true;
  return verdict;
}

}  // namespace pf::daemon
