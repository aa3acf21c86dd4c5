// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/e2e/rounds.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pf::check {
namespace {

/// The event at each rank.
using Line = std::vector<Serial>;

std::size_t at(Rank rank) {
  return static_cast<std::size_t>(rank);
}

bool ofAllRanks(const Execution& execution, const CollectivePart& part) {
  const Communicator& comm = execution.communicators[part.comm];
  return part.completion == part.event && part.flow == CollectiveFlow::AllToAll &&
         part.contributes && part.takes && comm.remote.empty() &&
         comm.group.size() == execution.ranks.size();
}

/// In their order.
std::vector<Line> collectivesOfAll(const Execution& execution) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Line> lines;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> parts;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    for (const CollectivePart& part : execution.ranks[rank].collectives) {
      if (ofAllRanks(execution, part)) {
        Line& line = lines[{part.comm, part.ordinal}];
        line.resize(execution.ranks.size());
        line[rank] = part.event;
        ++parts[{part.comm, part.ordinal}];
      }
    }
  }
  std::vector<Line> found;
  for (const auto& [name, line] : lines) {
    if (parts[name] == execution.ranks.size()) {
      found.push_back(line);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// One that nothing flows in may be over without that being seen: MPI has one request for all of
/// these.
bool flows(const Execution& execution, const CollectivePart& part) {
  const Communicator& comm = execution.communicators[part.comm];
  return part.flow != CollectiveFlow::None && (part.contributes || part.takes) &&
         comm.group.size() + comm.remote.size() > 1;
}

/// Began before the line, and is not over there.
bool crosses(Serial begin, Serial end, Serial line) {
  return begin < line && (end == 0 || end > line);
}

bool nothingIsOpen(const Execution& execution, const Line& line) {
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const RankHistory& history = execution.ranks[rank];
    const Serial here = line[rank];
    const bool open =
        std::any_of(history.receives.begin(), history.receives.end(),
                    [&](const PostedReceive& r) { return crosses(r.post, r.completion, here); }) ||
        std::any_of(history.collectives.begin(), history.collectives.end(),
                    [&](const CollectivePart& part) {
                      return flows(execution, part) && crosses(part.event, part.completion, here);
                    }) ||
        std::any_of(history.sends.begin(), history.sends.end(), [&](const SentMessage& send) {
          return send.syncCompletion != 0 && crosses(send.event, send.syncCompletion, here);
        });
    if (open) {
      return false;
    }
  }
  return std::none_of(execution.messages.begin(), execution.messages.end(), [&](const Message& m) {
    return m.send.serial < line[at(m.send.rank)] &&
           (m.completion == 0 || m.completion > line[at(m.dest)]);
  });
}

/// Those whose event is between the two. What they name is named anew by `adapt`.
template <typename T, typename Adapt>
std::uint32_t take(const std::vector<T>& from, std::vector<T>& to, Serial T::*event, Serial after,
                   Serial before, Adapt adapt) {
  std::uint32_t earlier = 0;
  for (const T& each : from) {
    earlier += each.*event <= after ? 1U : 0U;
    if (each.*event > after && each.*event < before) {
      to.push_back(each);
      to.back().*event -= after;
      adapt(to.back());
    }
  }
  return earlier;
}

void takeRank(const RankHistory& from, Serial after, Serial before, Round& round) {
  RankHistory& to = round.execution.ranks.emplace_back();
  const auto since = [&](Serial& serial) { serial -= serial != 0 ? after : 0; };
  to.events.assign(from.events.begin() + static_cast<std::ptrdiff_t>(after),
                   from.events.begin() + static_cast<std::ptrdiff_t>(before - 1));
  const std::uint32_t posts = take(from.receives, to.receives, &PostedReceive::post, after, before,
                                   [&](PostedReceive& receive) { since(receive.completion); });
  round.receivesBefore.push_back(posts);
  round.probesBefore.push_back(take(from.probes, to.probes, &ProbeHit::event, after, before,
                                    [&](ProbeHit& probe) { probe.postsBefore -= posts; }));
  round.sendsBefore.push_back(take(from.sends, to.sends, &SentMessage::event, after, before,
                                   [&](SentMessage& send) { since(send.syncCompletion); }));
  take(from.collectives, to.collectives, &CollectivePart::event, after, before,
       [&](CollectivePart& part) { since(part.completion); });
}

/// Only those that it uses, for who reads it.
void dropCommunicators(Execution& execution) {
  std::map<std::uint32_t, std::uint32_t> used;
  std::vector<Communicator> kept;
  const auto rename = [&](std::uint32_t& comm) {
    if (comm != kNone) {
      const auto [known, added] = used.emplace(comm, static_cast<std::uint32_t>(kept.size()));
      if (added) {
        kept.push_back(execution.communicators[comm]);
      }
      comm = known->second;
    }
  };
  const auto renameAll = [&](auto& all) {
    for (auto& each : all) {
      rename(each.comm);
    }
  };
  for (RankHistory& history : execution.ranks) {
    renameAll(history.events);
    renameAll(history.receives);
    renameAll(history.probes);
    renameAll(history.sends);
    renameAll(history.collectives);
  }
  execution.communicators = std::move(kept);
}

/// The whole's message as the round's, kNone if it is another round's.
std::uint32_t messageOf(const Round& round, const Execution& whole, std::uint32_t index) {
  const Message& message = whole.messages[index];
  for (std::uint32_t m = 0; m < round.execution.messages.size(); ++m) {
    const Message& mine = round.execution.messages[m];
    if (mine.send.rank == message.send.rank &&
        mine.sendIndex + round.sendsBefore[at(mine.send.rank)] == message.sendIndex) {
      return m;
    }
  }
  return kNone;
}

}  // namespace

std::vector<Round> cutIntoRounds(const Execution& whole) {
  std::vector<Round> rounds;
  std::vector<Line> lines{Line(whole.ranks.size(), 0)};
  for (const Line& line : collectivesOfAll(whole)) {
    if (nothingIsOpen(whole, line)) {
      lines.push_back(line);
    }
  }
  Line& end = lines.emplace_back();
  for (const RankHistory& history : whole.ranks) {
    end.push_back(history.events.size() + 1);
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    Round round{{{}, whole.communicators, {}, whole.callNames, {}}, {}, {}, {}};
    for (std::size_t rank = 0; rank < whole.ranks.size(); ++rank) {
      takeRank(whole.ranks[rank], lines[i][rank], lines[i + 1][rank], round);
    }
    dropCommunicators(round.execution);
    matchMessages(round.execution);
    if (!round.execution.messages.empty()) {
      rounds.push_back(std::move(round));
    }
  }
  return rounds;
}

std::optional<std::vector<Race>> racesOf(const Round& round, const Execution& whole,
                                         const std::vector<Race>& races, std::string& why) {
  std::vector<Race> own;
  for (Race race : races) {
    const RankHistory& history = round.execution.ranks[at(race.rank)];
    const std::size_t count = race.probe ? history.probes.size() : history.receives.size();
    race.index -= (race.probe ? round.probesBefore
                              : round.receivesBefore)[at(race.rank)];  // wraps if it is earlier
    if (race.index >= count) {
      continue;
    }
    race.taken = messageOf(round, whole, race.taken);
    for (std::uint32_t& other : race.alternatives) {
      other = messageOf(round, whole, other);
    }
    if (race.taken == kNone ||
        std::count(race.alternatives.begin(), race.alternatives.end(), kNone) != 0) {
      why = (race.probe ? "probe " : "receive ") + std::to_string(race.rank) + '.' +
            std::to_string(race.index) + " races with a message of another round";
      return std::nullopt;
    }
    own.push_back(std::move(race));
  }
  return own;
}

}  // namespace pf::check
