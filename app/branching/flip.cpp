// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/flip.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "app/branching/branch_job.h"
#include "app/branching/known_run.h"
#include "app/branching/parent_run.h"
#include "app/branching/seen_run.h"
#include "app/collation/event_text.h"
#include "app/files/paths.h"
#include "app/recording/recorded_logs.h"
#include "app/replaying/replay.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

/// A choice of the recorded run, and the message that it is to take.
struct Flip {
  WildcardChoice choice;
  std::uint32_t message = kNone;
};

std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

/// "3:17"
std::optional<EventRef> eventOf(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto rank = numberOf(text.substr(0, colon));
  const auto serial = numberOf(text.substr(colon + 1));
  return rank && serial && *rank < 1U << 30U
             ? std::optional(EventRef{static_cast<Rank>(*rank), *serial})
             : std::nullopt;
}

Error badWish(const std::string& wish) {
  return {ErrorCode::Usage, "'" + wish + "' says not which message is to be taken",
          "Give the number of a race, as 'photofinish races --all' counts them: 3, or 3:2 for its "
          "second alternative; or RANK:EVENT=SENDER:EVENT, as 0:14=2:9."};
}

/// Turns what a user asks for into choices of the run.
class Wishes {
 public:
  /// `alone`: there is one wish only, which must change something.
  Wishes(const KnownRun& known, bool alone)
      : m_known(known), m_execution(known.execution), m_alone(alone) {}

  Result<Flip> read(const std::string& wish) const {
    const std::size_t equals = wish.find('=');
    if (equals != std::string::npos) {
      const auto taker = eventOf(std::string_view(wish).substr(0, equals));
      const auto sender = eventOf(std::string_view(wish).substr(equals + 1));
      return taker && sender ? ofEvents(*taker, *sender) : Result<Flip>(badWish(wish));
    }
    const std::size_t colon = wish.find(':');
    const auto race = numberOf(std::string_view(wish).substr(0, colon));
    const auto alternative = colon == std::string::npos
                                 ? std::optional<std::uint64_t>(1)
                                 : numberOf(std::string_view(wish).substr(colon + 1));
    return race && alternative ? ofRace(*race, *alternative) : Result<Flip>(badWish(wish));
  }

 private:
  Result<Flip> ofRace(std::uint64_t number, std::uint64_t alternative) const {
    const auto& races = m_known.races;
    if (number < 1 || number > races.size()) {
      return Error{ErrorCode::Usage, "there is no race " + std::to_string(number),
                   races.empty() ? "This run has none."
                                 : "They are 1 to " + std::to_string(races.size()) +
                                       ": 'photofinish races --all' lists them."};
    }
    const Race& race = races[number - 1];
    if (alternative < 1 || alternative > race.alternatives.size()) {
      return Error{
          ErrorCode::Usage,
          "race " + std::to_string(number) + " has no alternative " + std::to_string(alternative),
          "They are 1 to " + std::to_string(race.alternatives.size()) + "."};
    }
    return Flip{{race.rank, race.probe, race.index}, race.alternatives[alternative - 1]};
  }

  Result<Flip> ofEvents(EventRef taker, EventRef sender) const {
    const Result<WildcardChoice> choice = choiceAt(taker);
    if (!choice) {
      return choice.error();
    }
    const auto message = std::ranges::find_if(m_execution.messages, [&](const Message& each) {
      return EventRef(each.send) == sender && each.dest == taker.rank;
    });
    if (message == m_execution.messages.end()) {
      return Error{ErrorCode::Usage,
                   eventName(sender) + " sends nothing to rank " + std::to_string(taker.rank),
                   "'photofinish events FILE --rank " + std::to_string(sender.rank) +
                       "' lists what it does."};
    }
    const auto index = static_cast<std::uint32_t>(message - m_execution.messages.begin());
    const std::uint32_t taken = takenBy(*choice);
    if (taken == index && m_alone) {
      return Error{ErrorCode::Usage, eventName(taker) + " took that message in the recorded run",
                   "Name another one."};
    }
    if (!accepts(*choice, *message)) {
      return Error{ErrorCode::Usage,
                   eventName(taker) + " does not accept " + messageText(m_execution, index),
                   "Its communicator or tag is another one."};
    }
    return Flip{*choice, index};
  }

  /// The wildcard receive or probe that this event posts or makes.
  Result<WildcardChoice> choiceAt(EventRef event) const {
    const bool there = event.rank >= 0 && pf::index(event.rank) < m_execution.ranks.size() &&
                       event.serial >= 1 &&
                       event.serial <= m_execution.ranks[pf::index(event.rank)].events.size();
    if (!there) {
      return Error{ErrorCode::Usage, "there is no " + eventName(event), {}};
    }
    const RankHistory& history = m_execution.ranks[pf::index(event.rank)];
    for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
      const PostedReceive& receive = history.receives[i];
      if (receive.wantedSource == kAnySource && receive.post == event.serial) {
        return WildcardChoice{event.rank, false, i};
      }
    }
    for (std::uint32_t i = 0; i < history.probes.size(); ++i) {
      if (history.probes[i].wantedSource == kAnySource && history.probes[i].event == event.serial) {
        return WildcardChoice{event.rank, true, i};
      }
    }
    return Error{ErrorCode::Usage,
                 eventLine(m_execution, event) + " asks for no message of any source",
                 "Name an event that posts a wildcard receive, or a wildcard probe."};
  }

  [[nodiscard]] std::uint32_t takenBy(const WildcardChoice& choice) const {
    const RankHistory& history = m_execution.ranks[pf::index(choice.rank)];
    return choice.probe ? history.probes[choice.index].message
                        : history.receives[choice.index].message;
  }

  [[nodiscard]] bool accepts(const WildcardChoice& choice, const Message& message) const {
    const RankHistory& history = m_execution.ranks[pf::index(choice.rank)];
    const std::uint32_t comm =
        choice.probe ? history.probes[choice.index].comm : history.receives[choice.index].comm;
    const Tag tag = choice.probe ? history.probes[choice.index].wantedTag
                                 : history.receives[choice.index].wantedTag;
    return message.comm == comm && (tag == kAnyTag || tag == message.tag);
  }

  const KnownRun& m_known;
  const Execution& m_execution;
  const bool m_alone;
};

/// What of the run stays, and what is forced behind that.
struct Plan {
  Reach reach;
  ForcedPrefix prefix;
};

ForcedChoice forcedTo(const Execution& execution, const WildcardChoice& choice,
                      std::uint32_t message) {
  return {choice, execution.messages[message].send.rank, execution.messages[message].tag};
}

Result<Plan> planOf(const Execution& execution, const Choices& choices,
                    const std::vector<Flip>& flips) {
  std::vector<bool> may(choices.count(), true);
  for (const Flip& flip : flips) {
    if (const auto number = choices.find(flip.choice)) {
      may[*number] = false;
    }
  }
  Plan plan{choices.reach(may), {}};
  plan.prefix.done = plan.reach.done;
  for (std::uint32_t number = 0; number < choices.count(); ++number) {
    const WildcardChoice& choice = choices.at(number);
    const Serial completion =
        choice.probe ? 0 : execution.ranks[index(choice.rank)].receives[choice.index].completion;
    if (plan.reach.made[number] && completion > plan.reach.done[index(choice.rank)]) {
      plan.prefix.choices.push_back(forcedTo(execution, choice, choices.taken(number)));
    }
  }
  for (const Flip& flip : flips) {
    plan.prefix.choices.push_back(forcedTo(execution, flip.choice, flip.message));
  }
  if (flips.size() == 1) {  // of several, one may be what another needs
    const Message& wanted = execution.messages[flips.front().message];
    if (wanted.send.serial > plan.reach.done[index(wanted.send.rank)] + 1) {
      return Error{ErrorCode::Usage,
                   messageText(execution, flips.front().message) +
                       ", is sent only because of what this receive took",
                   "It can never be taken in its place."};
    }
  }
  return plan;
}

bool sameMessage(const Execution& one, std::uint32_t a, const Execution& other, std::uint32_t b) {
  return a < one.messages.size() && b < other.messages.size() &&
         one.messages[a].send.rank == other.messages[b].send.rank &&
         one.messages[a].sendIndex == other.messages[b].sendIndex;
}

/// The message that a choice took in the new run; kNone: it took none.
std::uint32_t takenIn(const Execution& execution, const WildcardChoice& choice) {
  if (index(choice.rank) >= execution.ranks.size()) {
    return kNone;
  }
  const RankHistory& history = execution.ranks[index(choice.rank)];
  if (choice.probe) {
    return choice.index < history.probes.size() ? history.probes[choice.index].message : kNone;
  }
  return choice.index < history.receives.size() &&
                 history.receives[choice.index].state == ReceiveState::Complete
             ? history.receives[choice.index].message
             : kNone;
}

std::string takerText(const Execution& execution, const WildcardChoice& choice) {
  const RankHistory& history = execution.ranks[index(choice.rank)];
  return eventLine(execution, {choice.rank, choice.probe ? history.probes[choice.index].event
                                                         : history.receives[choice.index].post});
}

/// Why the new run is none of those that were asked for; nothing: it is.
Status check(const Execution& before, const Choices& choices, const Plan& plan,
             const std::vector<Flip>& flips, const Execution& after) {
  for (std::uint32_t number = 0; number < choices.count(); ++number) {
    const WildcardChoice& choice = choices.at(number);
    if (plan.reach.made[number] &&
        !sameMessage(before, choices.taken(number), after, takenIn(after, choice))) {
      return Error{ErrorCode::Divergence,
                   takerText(before, choice) +
                       " took another message than in the recorded run, though nothing before it "
                       "was changed",
                   "The program is not deterministic beyond its messages: threads, shared memory, "
                   "or something outside that it reads."};
    }
  }
  for (const Flip& flip : flips) {
    const std::uint32_t taken = takenIn(after, flip.choice);
    if (sameMessage(before, flip.message, after, taken)) {
      continue;
    }
    const std::string wanted = messageText(before, flip.message);
    if (taken == kNone) {
      return Error{ErrorCode::Divergence,
                   takerText(before, flip.choice) + " cannot take " + wanted +
                       ": when all else is as it was, that is never sent",
                   "It is sent only after this receive, or by another way of the program."};
    }
    return Error{ErrorCode::Divergence,
                 takerText(before, flip.choice) + " cannot take " + wanted + ": " +
                     messageText(after, taken) + ", comes first",
                 "Messages of one sender do not overtake one another (MPI 4.0, 3.5)."};
  }
  return {};
}

std::string endOf(const Recorded& recorded) {
  return recorded.failed ? recorded.failed->sentence
                         : "it ended well (status " + std::to_string(recorded.exitStatus) + ")";
}

}  // namespace

std::string flipName(const std::string& trace) {
  const std::filesystem::path path(trace);
  return (path.parent_path() / (path.stem().string() + ".flip.pft")).string();
}

namespace {

Result<std::vector<Flip>> flipsOf(const KnownRun& known, const std::vector<std::string>& wanted) {
  const Wishes wishes(known, wanted.size() == 1);
  std::vector<Flip> flips;
  for (const std::string& wish : wanted) {
    Result<Flip> read = wishes.read(wish);
    if (!read) {
      return read.error();
    }
    if (std::ranges::find(flips, read->choice, &Flip::choice) != flips.end()) {
      return Error{ErrorCode::Usage, "'" + wish + "' names a receive that was named before", {}};
    }
    flips.push_back(*read);
  }
  return flips;
}

/// Logs of which no trace is made are not kept.
class EndsLogs {
 public:
  explicit EndsLogs(RecordedLogs& logs) : m_logs(&logs) {}
  ~EndsLogs() {
    if (m_logs != nullptr) {
      m_logs->end();
    }
  }
  EndsLogs(const EndsLogs&) = delete;
  EndsLogs& operator=(const EndsLogs&) = delete;
  void keep() { m_logs = nullptr; }

 private:
  RecordedLogs* m_logs;
};

/// Its exit status, with the run in `logs`.
Result<int> runForced(const FlipOptions& options, const KnownRun& known, const ForcedPrefix& prefix,
                      RecordedLogs& logs) {
  Result<std::vector<std::vector<unsigned char>>> schedules = schedulesOf(known.logs, prefix);
  if (!schedules) {
    return schedules.error();
  }
  if (known.run.input) {
    if (Status kept = logs.keepInput(known.run.input->bytes); !kept) {
      return kept.error();
    }
  }
  Result<JobOptions> job =
      branchJob(absolutePath(options.trace), std::move(*schedules), logs.path(), logs.facts().salt,
                options.launcherOptions, options.force);
  return job ? logs.run(std::move(*job), {false, nullptr, true}) : Result<int>(job.error());
}

/// The new trace says of which run it is a branch, and by what.
Status keepFlips(const Recorded& recorded, const FlipOptions& options, const KnownRun& known,
                 const std::vector<Flip>& flips, const Execution& after) {
  FrameResolver resolver;
  std::vector<TakenInstead> taken;
  for (const Flip& flip : flips) {
    if (takenIn(after, flip.choice) == kNone) {  // it was ended before
      continue;
    }
    const RankHistory& history = after.ranks[index(flip.choice.rank)];
    const EventRef receive{flip.choice.rank, flip.choice.probe
                                                 ? history.probes[flip.choice.index].event
                                                 : history.receives[flip.choice.index].post};
    const EventRef send = after.messages[takenIn(after, flip.choice)].send;
    taken.push_back({receive, send, takenText(after, receive, send, resolver)});
  }
  return keepParent(recorded.trace, {known.run.uuid, absolutePath(options.trace), "flip"}, taken);
}

Result<SeenRun> seenIn(const RecordedLogs& logs, std::int32_t ranks) {
  Result<LogFiles> files = readLogFiles(logs.path());
  return files ? seenRun(std::move(*files), ranks) : Result<SeenRun>(files.error());
}

}  // namespace

Result<Recorded> flip(const FlipOptions& options) {
  const Result<KnownRun> known = knownRun(options.trace);
  if (!known) {
    return known.error();
  }
  const Result<std::vector<Flip>> flips = flipsOf(*known, options.wishes);
  if (!flips) {
    return flips.error();
  }
  const Choices choices(known->execution);
  const Result<Plan> plan = planOf(known->execution, choices, *flips);
  if (!plan) {
    return plan.error();
  }
  Recorded recorded;
  recorded.trace = options.output.empty() ? flipName(options.trace) : options.output;
  if (Status place = makePlace(recorded.trace, options.replace); !place) {
    return place.error();
  }
  RecordedLogs logs(factsOfBranch(known->run), recorded.trace, options.replace);
  if (Status begun = logs.begin(); !begun) {
    return begun.error();
  }
  EndsLogs ending(logs);
  const Result<int> status = runForced(options, *known, plan->prefix, logs);
  if (!status) {
    return status.error();
  }
  recorded.exitStatus = *status;
  recorded.interrupted = RecordedLogs::interrupted();
  const Result<SeenRun> seen = seenIn(logs, known->run.ranks);
  if (!seen) {
    return seen.error();
  }
  if (Status right = check(known->execution, choices, *plan, *flips, *seen->execution);
      !right && !recorded.interrupted) {
    return right.error();
  }
  ending.keep();
  const Result<std::optional<Collated>> made = logs.makeTrace();
  if (!made) {
    return made.error();
  }
  if (*made) {
    recorded.racing = (*made)->racing;
    recorded.failed = (*made)->failed;
    if (Status kept = keepFlips(recorded, options, *known, *flips, *seen->execution); !kept) {
      return kept.error();
    }
    for (const Flip& flip : *flips) {
      tell(takerText(known->execution, flip.choice) + " took " +
           messageText(known->execution, flip.message));
    }
    tell(endOf(recorded) + " -> " + recorded.trace);
  }
  return recorded;
}

}  // namespace pf::app
