// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/steering/logical_stops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace pf {
namespace {

struct Form {
  std::string_view word;
  std::string_view text;
};
constexpr std::array kForms{
    Form{"event", "event RANK:SERIAL"},
    Form{"receive", "receive RANK#K"},
    Form{"message", "message from RANK [to RANK] [tag TAG] [comm NAME]"},
    Form{"race", "race N"},
    Form{"collective", "collective N [comm NAME]"},
    Form{"any", "any receive"},
    Form{"start", kStartOfMain},
    Form{"divergence", "divergence"},
};

constexpr std::string_view kBlanks = " \t";

/// Takes words off the front of a text.
class Words {
 public:
  explicit Words(std::string_view text) : m_rest(text) { skip(); }

  [[nodiscard]] bool done() const { return m_rest.empty(); }
  [[nodiscard]] std::string_view rest() const { return m_rest; }
  std::string_view next() {
    const std::string_view word = m_rest.substr(0, m_rest.find_first_of(kBlanks));
    m_rest.remove_prefix(word.size());
    skip();
    return word;
  }

 private:
  void skip() {
    const std::size_t first = m_rest.find_first_not_of(kBlanks);
    m_rest = first == std::string_view::npos ? std::string_view() : m_rest.substr(first);
    m_rest = m_rest.substr(0, m_rest.find_last_not_of(kBlanks) + 1);
  }
  std::string_view m_rest;
};

template <typename T>
std::optional<T> numberIn(std::string_view text, T least) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < least) {
    return std::nullopt;
  }
  return value;
}

Error badForm(std::string_view text) {
  const std::string_view word = Words(text).next();
  const auto* form = std::find_if(kForms.begin(), kForms.end(),
                                  [word](const Form& each) { return each.word == word; });
  std::string advice = "Write ";
  if (form != kForms.end()) {
    advice += "'" + std::string(form->text) + "'";
  } else {
    for (std::size_t i = 0; i < kForms.size(); ++i) {
      advice += (i == 0                   ? "'"
                 : i + 1 == kForms.size() ? " or '"
                                          : ", '") +
                std::string(kForms[i].text) + "'";
    }
  }
  return {ErrorCode::Usage, "'" + std::string(text) + "' is no logical breakpoint", advice + "."};
}

/// "R:S" or "R#K".
bool readPair(std::string_view word, char between, LogicalStop& stop) {
  const std::size_t at = word.find(between);
  if (at == std::string_view::npos) {
    return false;
  }
  const auto rank = numberIn<Rank>(word.substr(0, at), 0);
  const auto number = numberIn<std::uint64_t>(word.substr(at + 1), 1);
  stop.rank = rank.value_or(kUnknownRank);
  stop.number = number.value_or(0);
  return rank && number;
}

/// What follows "message": each word once, in any order, `comm` last.
bool readMessage(Words& words, LogicalStop& stop) {
  while (!words.done()) {
    const std::string_view word = words.next();
    if (word == "comm" && stop.comm.empty() && !words.done()) {
      stop.comm = words.rest();
      break;
    }
    const std::string_view value = words.next();
    if (word == "tag" && stop.tag == kAnyTag) {
      const auto tag = numberIn<Tag>(value, 0);
      if (!tag) {
        return false;
      }
      stop.tag = *tag;
      continue;
    }
    Rank* const rank = word == "from" ? &stop.source : word == "to" ? &stop.rank : nullptr;
    const auto number = numberIn<Rank>(value, 0);
    if (rank == nullptr || *rank != kUnknownRank || !number) {
      return false;
    }
    *rank = *number;
  }
  return stop.source != kUnknownRank;
}

bool readCollective(Words& words, LogicalStop& stop) {
  const auto number = numberIn<std::uint64_t>(words.next(), 1);
  stop.number = number.value_or(0);
  if (number && !words.done() && words.next() == "comm") {
    stop.comm = words.rest();
    return !stop.comm.empty();
  }
  return number && words.done();
}

Error notThere(const std::string& what, const std::string& advice) {
  return {ErrorCode::NotFound, "the recording has no " + what, advice};
}

std::string upTo(std::size_t count, const std::string& what) {
  return count == 0 ? "It has no " + what + "s."
                    : "Its " + what + "s are 1 to " + std::to_string(count) + ".";
}

Status checkRank(const Execution& execution, Rank rank) {
  if (rank == kUnknownRank || static_cast<std::size_t>(rank) < execution.ranks.size()) {
    return {};
  }
  return notThere("rank " + std::to_string(rank),
                  "Its ranks are 0 to " + std::to_string(execution.ranks.size() - 1) + ".");
}

const RankHistory& historyOf(const Execution& execution, Rank rank) {
  return execution.ranks[static_cast<std::size_t>(rank)];
}

/// By name, else by number. Several communicators may have one name: all of them.
Result<std::vector<std::uint32_t>> communicatorsOf(const Execution& execution,
                                                   const std::string& text) {
  std::vector<std::uint32_t> found;
  const auto count = static_cast<std::uint32_t>(execution.communicators.size());
  for (std::uint32_t comm = 0; comm < count; ++comm) {
    if (execution.communicators[comm].name == text) {
      found.push_back(comm);
    }
  }
  if (const auto number = numberIn<std::uint32_t>(text, 0);
      found.empty() && number && *number < count) {
    found.push_back(*number);
  }
  if (found.empty()) {
    std::string names;
    for (std::uint32_t comm = 0; comm < std::min(count, 8U); ++comm) {
      names +=
          (comm == 0 ? "" : ", ") + std::to_string(comm) + " " + execution.communicators[comm].name;
    }
    return notThere("communicator '" + text + "'",
                    "They are: " + names + (count > 8 ? " …" : "") + ".");
  }
  return found;
}

bool isIn(const std::vector<std::uint32_t>& comms, std::uint32_t comm) {
  return std::find(comms.begin(), comms.end(), comm) != comms.end();
}

Result<std::vector<EventRef>> ofMessages(const LogicalStop& stop, const Execution& execution) {
  if (Status status = checkRank(execution, stop.source); !status) {
    return status.error();
  }
  std::vector<std::uint32_t> comms;
  if (!stop.comm.empty()) {
    Result<std::vector<std::uint32_t>> named = communicatorsOf(execution, stop.comm);
    if (!named) {
      return named.error();
    }
    comms = std::move(*named);
  }
  std::vector<EventRef> events;
  for (const Message& message : execution.messages) {
    if (message.send.rank == stop.source && message.completion != 0 &&
        (stop.rank == kUnknownRank || message.dest == stop.rank) &&
        (stop.tag == kAnyTag || message.tag == stop.tag) &&
        (stop.comm.empty() || isIn(comms, message.comm))) {
      events.push_back({message.dest, message.completion});
    }
  }
  return events;
}

Result<std::vector<EventRef>> ofCollectives(const LogicalStop& stop, const Execution& execution) {
  Result<std::vector<std::uint32_t>> comms =
      communicatorsOf(execution, stop.comm.empty() ? "MPI_COMM_WORLD" : stop.comm);
  if (!comms) {
    return comms.error();
  }
  std::vector<EventRef> events;
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    for (const CollectivePart& part : execution.ranks[rank].collectives) {
      if (!isIn(*comms, part.comm)) {
        continue;
      }
      most = std::max<std::size_t>(most, part.ordinal + 1U);
      if (part.ordinal + 1U == stop.number) {
        events.push_back({static_cast<Rank>(rank), part.event});
      }
    }
  }
  if (events.empty()) {
    return notThere("collective " + std::to_string(stop.number) + " on " +
                        execution.communicators[comms->front()].name,
                    upTo(most, "collective"));
  }
  return events;
}

Result<std::vector<EventRef>> ofRace(const LogicalStop& stop, const Execution& execution,
                                     const std::vector<Race>& races) {
  if (stop.number > races.size()) {
    return notThere("race " + std::to_string(stop.number), upTo(races.size(), "race"));
  }
  const Race& race = races[stop.number - 1];
  const RankHistory& history = historyOf(execution, race.rank);
  const Serial serial =
      race.probe ? history.probes[race.index].event : history.receives[race.index].post;
  return std::vector<EventRef>{{race.rank, serial}};
}

Result<std::vector<EventRef>> ofReceive(const LogicalStop& stop, const Execution& execution) {
  const std::vector<Serial> all = receivesOf(historyOf(execution, stop.rank));
  if (stop.number > all.size()) {
    return notThere(
        "receive " + std::to_string(stop.number) + " of rank " + std::to_string(stop.rank),
        upTo(all.size(), "receive"));
  }
  return std::vector<EventRef>{{stop.rank, all[stop.number - 1]}};
}

Result<std::vector<EventRef>> unordered(const LogicalStop& stop, const Execution& execution,
                                        const std::vector<Race>& races) {
  if (Status status = checkRank(execution, stop.rank); !status) {
    return status.error();
  }
  switch (stop.kind) {
    case LogicalKind::Event: {
      const std::size_t count = historyOf(execution, stop.rank).events.size();
      if (stop.number > count) {
        return notThere(
            "event " + std::to_string(stop.number) + " of rank " + std::to_string(stop.rank),
            upTo(count, "event"));
      }
      return std::vector<EventRef>{{stop.rank, stop.number}};
    }
    case LogicalKind::Receive:
      return ofReceive(stop, execution);
    case LogicalKind::Message:
      return ofMessages(stop, execution);
    case LogicalKind::Race:
      return ofRace(stop, execution, races);
    case LogicalKind::Collective:
      return ofCollectives(stop, execution);
    case LogicalKind::AnyReceive: {
      std::vector<EventRef> events;
      for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
        for (const Serial serial : receivesOf(execution.ranks[rank])) {
          events.push_back({static_cast<Rank>(rank), serial});
        }
      }
      return events;
    }
    case LogicalKind::Start: {
      std::vector<EventRef> events;
      for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
        if (!execution.ranks[rank].events.empty()) {
          events.push_back({static_cast<Rank>(rank), 1});
        }
      }
      return events;
    }
    case LogicalKind::Divergence:
      break;
  }
  return std::vector<EventRef>{};
}

}  // namespace

std::vector<Serial> receivesOf(const RankHistory& rank) {
  std::vector<Serial> serials;
  for (std::size_t i = 0; i < rank.events.size(); ++i) {
    const EventKind kind = rank.events[i].kind;
    if (kind == EventKind::Receive || kind == EventKind::SendReceive) {
      serials.push_back(i + 1);
    }
  }
  for (const PostedReceive& receive : rank.receives) {
    if (receive.state == ReceiveState::Complete && receive.completion != 0) {
      serials.push_back(receive.completion);
    }
  }
  std::sort(serials.begin(), serials.end());
  serials.erase(std::unique(serials.begin(), serials.end()), serials.end());
  return serials;
}

bool isLogicalStop(std::string_view text) {
  Words words(text);
  const std::string_view first = words.next();
  if (first == "divergence") {
    return words.done();
  }
  // A word alone may be a function's name.
  return !words.done() && std::any_of(kForms.begin(), kForms.end(),
                                      [first](const Form& form) { return form.word == first; });
}

Result<LogicalStop> parseLogicalStop(std::string_view text) {
  Words words(text);
  LogicalStop stop;
  const std::string_view kind = words.next();
  bool good = false;
  if (kind == "event" || kind == "receive") {
    stop.kind = kind == "event" ? LogicalKind::Event : LogicalKind::Receive;
    good = readPair(words.next(), kind == "event" ? ':' : '#', stop) && words.done();
  } else if (kind == "message") {
    stop.kind = LogicalKind::Message;
    good = readMessage(words, stop);
  } else if (kind == "race") {
    stop.kind = LogicalKind::Race;
    const auto number = numberIn<std::uint64_t>(words.next(), 1);
    stop.number = number.value_or(0);
    good = number && words.done();
  } else if (kind == "collective") {
    stop.kind = LogicalKind::Collective;
    good = readCollective(words, stop);
  } else if (kind == "any") {
    stop.kind = LogicalKind::AnyReceive;
    good = words.next() == "receive" && words.done();
  } else if (kind == "start") {
    stop.kind = LogicalKind::Start;
    good = words.next() == "of" && words.next() == "main" && words.done();
  } else if (kind == "divergence") {
    stop.kind = LogicalKind::Divergence;
    good = words.done();
  }
  if (!good) {
    return badForm(text);
  }
  return stop;
}

std::string toText(const LogicalStop& stop) {
  const std::string comm = stop.comm.empty() ? "" : " comm " + stop.comm;
  switch (stop.kind) {
    case LogicalKind::Event:
      return "event " + std::to_string(stop.rank) + ":" + std::to_string(stop.number);
    case LogicalKind::Receive:
      return "receive " + std::to_string(stop.rank) + "#" + std::to_string(stop.number);
    case LogicalKind::Message:
      return "message from " + std::to_string(stop.source) +
             (stop.rank == kUnknownRank ? "" : " to " + std::to_string(stop.rank)) +
             (stop.tag == kAnyTag ? "" : " tag " + std::to_string(stop.tag)) + comm;
    case LogicalKind::Race:
      return "race " + std::to_string(stop.number);
    case LogicalKind::Collective:
      return "collective " + std::to_string(stop.number) + comm;
    case LogicalKind::AnyReceive:
      return "any receive";
    case LogicalKind::Start:
      return kStartOfMain;
    case LogicalKind::Divergence:
      break;
  }
  return "divergence";
}

Result<std::vector<EventRef>> eventsOf(const LogicalStop& stop, const Execution& execution,
                                       const std::vector<Race>& races) {
  Result<std::vector<EventRef>> events = unordered(stop, execution, races);
  if (events) {
    const auto before = [](EventRef a, EventRef b) {
      return a.rank != b.rank ? a.rank < b.rank : a.serial < b.serial;
    };
    std::sort(events->begin(), events->end(), before);
    events->erase(std::unique(events->begin(), events->end()), events->end());
  }
  return events;
}

}  // namespace pf
