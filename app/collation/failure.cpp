// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collation/failure.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>

#include "app/collation/collate.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf::app {

bool endedByItself(int signal) {
  return signal != SIGTERM && signal != SIGKILL && signal != SIGINT;
}

namespace {

/// How much a rank looks like the one that failed first: others are ended by the launcher because
/// of it.
enum class Guilt { None, Cut, Killed, Stuck, Status, Abort, Signal };

constexpr std::string_view kProven = "stuck inside ";
constexpr std::string_view kUnproven = "waiting inside ";
constexpr std::string_view kAt = " at ";
constexpr std::string_view kForRank = " for rank ";
constexpr std::string_view kForAny = " for any rank";

/// What stuckText() said of a rank.
struct StuckRank {
  Rank rank = kUnknownRank;
  bool proven = false;
  std::string call;  ///< "MPI_Recv at a.c:6 (main) for rank 1, tag 0"
  Rank peer = kUnknownRank;
};

/// `text` behind `mark`, and before it the rest.
std::string_view takeBehind(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view behind = text.substr(at + mark.size());
  text = text.substr(0, at);
  return behind;
}

std::optional<StuckRank> stuckIn(const db::RankInfo& rank) {
  std::string_view text = rank.state;
  StuckRank stuck;
  stuck.rank = rank.rank;
  stuck.proven = text.starts_with(kProven);
  if (rank.complete || (!stuck.proven && !text.starts_with(kUnproven))) {
    return std::nullopt;
  }
  takeBehind(text, "; core file: ");
  text.remove_prefix(stuck.proven ? kProven.size() : kUnproven.size());
  const std::size_t event = text.find(" (event ");
  const std::size_t end = text.find(')');
  if (event == std::string_view::npos || end == std::string_view::npos || end < event) {
    return std::nullopt;
  }
  stuck.call = std::string(text.substr(0, event)) + std::string(text.substr(end + 1));
  const std::string_view peer = takeBehind(text, kForRank);
  std::from_chars(peer.data(), peer.data() + peer.size(), stuck.peer);
  return stuck;
}

Guilt guiltOf(const db::RankInfo& rank) {
  const bool runs =  // as collate() says it of a recording that goes on
      rank.state.starts_with("was ") && !rank.exitSignal && !rank.exitStatus;
  if (runs) {
    return Guilt::None;
  }
  if (stuckIn(rank)) {
    return Guilt::Stuck;  // whatever ended it
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

/// "rank 1", "ranks 0, 2-63".
std::string rankNames(const std::vector<Rank>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (const char character : rangesText(ranks)) {
    text += character == '+' ? std::string(", ") : std::string(1, character);
  }
  return text;
}

/// How a run could not get on.
class Hang {
 public:
  explicit Hang(const std::vector<db::RankInfo>& ranks) {
    for (const db::RankInfo& rank : ranks) {
      if (std::optional<StuckRank> stuck = stuckIn(rank)) {
        m_ranks.emplace(rank.rank, std::move(*stuck));
      } else if (rank.complete) {
        m_finished.push_back(rank.rank);
      }
    }
    findCycle();
    for (const auto& [rank, stuck] : m_ranks) {
      if (std::ranges::find(m_cycle, rank) == m_cycle.end()) {
        m_others[stuck.call].push_back(rank);
      }
    }
  }

  /// Of those that wait for one another, else of the fewest that are in the same call.
  [[nodiscard]] Rank first() const {
    if (!m_cycle.empty()) {
      return m_cycle.front();
    }
    const auto fewest = std::ranges::min_element(m_others, {}, [](const auto& group) {
      return std::pair(group.second.size(), group.second);
    });
    return fewest == m_others.end() ? kUnknownRank : fewest->second.front();
  }

  [[nodiscard]] std::string sentence() const {
    std::vector<std::string> parts;
    for (const Rank rank : m_cycle) {
      parts.push_back("rank " + std::to_string(rank) + " waits in " + m_ranks.at(rank).call);
    }
    std::vector<const std::pair<const std::string, std::vector<Rank>>*> groups;
    for (const auto& group : m_others) {
      groups.push_back(&group);
    }
    std::ranges::sort(groups, [](const auto* a, const auto* b) {
      return std::pair(b->second.size(), a->second) < std::pair(a->second.size(), b->second);
    });
    for (const auto* group : groups) {
      parts.push_back(who(group->second, " is in ", " are in ") + group->first);
    }
    constexpr std::size_t kMostParts = 4;
    if (parts.size() > kMostParts) {
      const std::size_t more = parts.size() - kMostParts;
      parts.resize(kMostParts);
      parts.push_back("and " + std::to_string(more) + " more");
    }
    if (!m_finished.empty()) {
      parts.push_back(who(m_finished, " has finished", " have finished"));
    }
    const auto proven = [this](Rank rank) { return m_ranks.at(rank).proven; };
    const auto isProven = [](const auto& rank) { return rank.second.proven; };
    std::string text = !m_cycle.empty() && std::ranges::all_of(m_cycle, proven) ? "deadlock: "
                       : std::ranges::any_of(m_ranks, isProven) ? "no rank could get on: "
                                                                : "no rank got on: ";
    for (const std::string& part : parts) {
      text += (&part == &parts.front() ? "" : ", ") + part;
    }
    return text;
  }

 private:
  static std::string who(const std::vector<Rank>& ranks, const char* one, const char* several) {
    return rankNames(ranks) + (ranks.size() == 1 ? one : several);
  }

  void findCycle() {
    std::map<Rank, Rank> seenFrom;
    for (const auto& [start, stuck] : m_ranks) {
      std::vector<Rank> path;
      for (auto next = m_ranks.find(start); next != m_ranks.end();
           next = m_ranks.find(next->second.peer)) {
        const auto [seen, isNew] = seenFrom.emplace(next->first, start);
        if (!isNew && seen->second == start) {
          m_cycle.assign(std::ranges::find(path, next->first), path.end());
          return;
        }
        if (!isNew) {
          break;  // where a former start led to no cycle
        }
        path.push_back(next->first);
      }
    }
  }

  std::map<Rank, StuckRank> m_ranks;
  std::vector<Rank> m_cycle;  ///< each waits for the next, the last for the first
  std::vector<Rank> m_finished;
  std::map<std::string, std::vector<Rank>> m_others;  ///< by the call that they are in
};

/// Null: none.
const db::RankInfo* guiltiest(const std::vector<db::RankInfo>& ranks) {
  const auto worst = std::ranges::max_element(ranks, {}, guiltOf);
  if (worst == ranks.end() || guiltOf(*worst) == Guilt::None) {
    return nullptr;
  }
  return guiltOf(*worst) == Guilt::Stuck
             ? &*std::ranges::find(ranks, Hang(ranks).first(), &db::RankInfo::rank)
             : &*worst;
}

std::string signalName(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

constexpr std::string_view kEnded = "ended ";

/// "ended inside MPI_Recv (event 3)".
bool endedInCall(const db::RankInfo& rank) {
  return !rank.complete && rank.state.starts_with("ended inside MPI_");
}

std::string sentenceOf(const db::RankInfo& rank) {
  const std::string who = "rank " + std::to_string(rank.rank) + " ";
  const std::string event = "event " + std::to_string(rank.lastSerial);
  // An error that the call has found, most likely.
  const std::string where =
      endedInCall(rank) ? rank.state.substr(kEnded.size(), rank.state.find(';') - kEnded.size())
                        : "after " + event;
  switch (guiltOf(rank)) {
    case Guilt::Signal:
      return who + "was ended by " + signalName(*rank.exitSignal) + " " +
             (rank.complete ? "in MPI_Finalize or after it, its " + event : where);
    case Guilt::Abort:
      return who + "called MPI_Abort, its " + event +
             (rank.exitStatus ? ", and ended with exit status " + std::to_string(*rank.exitStatus)
                              : "");
    case Guilt::Status:
      return who + "ended with exit status " + std::to_string(*rank.exitStatus) + " " + where;
    case Guilt::Killed:
      return who + "was killed (SIGKILL) after " + event;
    case Guilt::Stuck:
    case Guilt::Cut:
    case Guilt::None:
      break;
  }
  const std::string state = rank.state.starts_with(kEnded) ? rank.state : "ended after " + event;
  return who + state + (rank.exitSignal ? ", by " + signalName(*rank.exitSignal) : "");
}

/// Somebody ended ranks that stood in MPI calls: a deadlock, or what waits for it.
bool hung(const std::vector<db::RankInfo>& ranks, const db::RankInfo& worst) {
  const Guilt guilt = guiltOf(worst);
  return guilt == Guilt::Stuck || ((guilt == Guilt::Cut || guilt == Guilt::Killed) &&
                                   std::ranges::all_of(ranks, [](const db::RankInfo& rank) {
                                     return rank.complete || endedInCall(rank);
                                   }));
}

}  // namespace

bool endedWell(const db::RankInfo& rank) {
  return rank.complete && guiltOf(rank) == Guilt::None;
}

bool mayBeEndedByLauncher(const db::RankInfo& rank, const std::vector<db::RankInfo>& ranks) {
  const int signal = rank.exitSignal.value_or(0);
  return (signal == SIGTERM || signal == SIGKILL) &&
         std::ranges::any_of(ranks, [&rank](const db::RankInfo& other) {
           return other.rank != rank.rank &&
                  (other.exitStatus.value_or(0) != 0 ||
                   (other.exitSignal && endedByItself(*other.exitSignal)));
         });
}

std::optional<WhatFailed> whatFailed(const std::vector<db::RankInfo>& ranks,
                                     std::optional<std::int32_t> exitStatus) {
  if (const db::RankInfo* const worst = guiltiest(ranks)) {
    return WhatFailed{worst->rank,
                      guiltOf(*worst) == Guilt::Stuck ? Hang(ranks).sentence() : sentenceOf(*worst),
                      hung(ranks, *worst)};
  }
  if (exitStatus.value_or(0) == 0) {
    return std::nullopt;
  }
  return WhatFailed{kUnknownRank, "the run ended with exit status " + std::to_string(*exitStatus) +
                                      ", though each rank ended well"};
}

std::string waitsText(const std::vector<db::RankInfo>& ranks) {
  std::string text;
  for (const db::RankInfo& rank : ranks) {
    if (const std::optional<StuckRank> stuck = stuckIn(rank)) {
      text += (text.empty() ? "" : "; ") + std::to_string(rank.rank) + " " +
              stuck->call.substr(0, stuck->call.find(' '));
      text += stuck->peer >= 0 ? " " + std::to_string(stuck->peer) : "";
    }
  }
  return text;
}

std::string stuckText(const std::string& call, Serial serial, const StuckIn& stuck) {
  std::string text = std::string(stuck.proven ? kProven : kUnproven) + call + " (event " +
                     std::to_string(serial) + ")";
  if (!stuck.place.empty()) {
    text += std::string(kAt) + stuck.place;
  }
  if (stuck.peer >= 0) {
    text += std::string(kForRank) + std::to_string(stuck.peer);
  } else if (stuck.peer == StuckIn::kAny) {
    text += kForAny;
  }
  if (stuck.peer != StuckIn::kNotKnown && stuck.tag >= 0) {
    text += ", tag " + std::to_string(stuck.tag);
  }
  return text;
}

namespace {

constexpr std::string_view kEvent = "event ";
constexpr char kNumbersPlace = '\0';

/// Takes the numbers out of each "event 12" in `text`.
std::vector<Serial> takeEvents(std::string& text) {
  std::vector<Serial> events;
  for (std::size_t at = text.find(kEvent); at != std::string::npos;
       at = text.find(kEvent, at + 1)) {
    const std::size_t digits = at + kEvent.size();
    const std::size_t end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    Serial event = 0;
    if (std::from_chars(text.data() + digits, text.data() + end, event).ec == std::errc{}) {
      text.replace(digits, end - digits, 1, kNumbersPlace);
      events.push_back(event);
    }
  }
  return events;
}

/// Ranks that are alike but for the numbers of their events.
struct AlikeRanks {
  std::string why;  ///< without the numbers
  std::vector<Rank> ranks;
  std::vector<std::pair<Serial, Serial>> events;  ///< of each number, the least and the greatest

  std::string line() const {
    std::string text = rankNames(ranks) + ": " + why;
    std::size_t at = 0;
    for (const auto& [least, greatest] : events) {
      at = text.find(kNumbersPlace, at);
      text.replace(
          at, 1,
          std::to_string(least) + (least == greatest ? "" : " to " + std::to_string(greatest)));
      if (least != greatest) {
        text.insert(at - 1, 1, 's');
      }
    }
    return text;
  }
};

}  // namespace

std::vector<std::string> cutLines(const std::vector<db::RankInfo>& ranks, bool withStates) {
  std::vector<AlikeRanks> groups;  // in the order of their first ranks
  for (const db::RankInfo& rank : ranks) {
    if (rank.complete) {
      continue;
    }
    std::string why = rank.cutReason + (withStates && !rank.state.empty() ? "; " + rank.state : "");
    std::erase(why, kNumbersPlace);
    const std::vector<Serial> events = takeEvents(why);
    auto group = std::ranges::find(groups, why, &AlikeRanks::why);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {why, {}, {}});
      std::ranges::transform(events, std::back_inserter(group->events),
                             [](Serial event) { return std::pair(event, event); });
    }
    group->ranks.push_back(rank.rank);
    for (std::size_t i = 0; i < events.size(); ++i) {
      auto& [least, greatest] = group->events[i];
      least = std::min(least, events[i]);
      greatest = std::max(greatest, events[i]);
    }
  }
  std::vector<std::string> lines;
  std::ranges::transform(groups, std::back_inserter(lines), &AlikeRanks::line);
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
  const Guilt guilt = guiltOf(*worst);
  if ((guilt == Guilt::Status || guilt == Guilt::Signal) && endedInCall(*worst)) {
    return EventRef{worst->rank, history.events.size()};  // the call itself
  }
  for (Serial serial = history.events.size(); serial > 0; --serial) {
    if (receives(history, serial)) {
      return EventRef{worst->rank, serial};
    }
  }
  return EventRef{worst->rank, history.events.size()};
}

}  // namespace pf::app
