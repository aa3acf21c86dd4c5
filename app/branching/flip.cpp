// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/flip.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <optional>

#include "app/branching/branch_runner.h"
#include "app/branching/known_run.h"
#include "app/branching/parent_run.h"
#include "app/branching/seen_run.h"
#include "app/collation/event_text.h"
#include "app/files/passing_directory.h"
#include "app/files/paths.h"
#include "app/recording/recorded_logs.h"
#include "app/replaying/replay.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace {

/// A flip may lead to a deadlock, which is then an answer and no accident: it is ended once it is proven.
constexpr std::chrono::seconds kFlipStuckAfter(1);
/// Or once no rank has got on for so long, where nobody knows how long the ranks of this program wait.
constexpr std::chrono::seconds kMostStuck(60);

/// A choice of the recorded run, and the message that it is to take, or the requests that it is to give.
struct Flip {
  RunChoice choice;
  ChosenName takes;
};

std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

/// "0+2": indices in an array of requests, ascending.
std::optional<std::vector<std::uint64_t>> indicesOf(std::string_view text) {
  std::vector<std::uint64_t> indices;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    const auto index = numberOf(text.substr(at, end - at));
    if (!index || (!indices.empty() && *index <= indices.back())) {
      return std::nullopt;
    }
    indices.push_back(*index);
    at = end + 1;
  }
  return indices;
}

/// Whether a wish names requests of a call: RANK:EVENT=INDEX+…
bool isOfRequests(const std::string& wish) {
  const std::size_t equals = wish.find('=');
  return equals != std::string::npos && wish.find(':', equals) == std::string::npos;
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
          "second alternative; or RANK:EVENT=SENDER:EVENT, as 0:14=2:9; or, of MPI_Waitany and its "
          "like, RANK:EVENT=INDEX, as 0:14=1, and INDEX+INDEX of those that give several."};
}

/// Turns what a user asks for into choices of the run.
class Wishes {
 public:
  /// `alone`: there is one wish only, which must change something.
  Wishes(const KnownRun& known, bool alone)
      : m_known(known), m_execution(known.execution), m_alone(alone) {}

  /// Of requests: the execution must be one that was recorded with what its calls were offered.
  Result<Flip> readRequests(const std::string& wish) const {
    const std::size_t equals = wish.find('=');
    const auto call = eventOf(std::string_view(wish).substr(0, equals));
    const auto indices = indicesOf(std::string_view(wish).substr(equals + 1));
    return call && indices ? ofRequests(*call, *indices) : Result<Flip>(badWish(wish));
  }

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
    return Flip{{race.rank, race.probe ? ChosenBy::Probe : ChosenBy::Receive, race.index},
                nameOf(race.alternatives[alternative - 1])};
  }

  [[nodiscard]] ChosenName nameOf(std::uint32_t message) const {
    const Message& m = m_execution.messages[message];
    return {m.send.rank, m.sendIndex};
  }

  Result<Flip> ofRequests(EventRef event, const std::vector<std::uint64_t>& indices) const {
    if (Status there = exists(event); !there) {
      return there.error();
    }
    const auto& offers = m_execution.ranks[pf::index(event.rank)].offers;
    const auto call = std::ranges::find(offers, event.serial, &OfferedCompletion::event);
    if (call == offers.end() || call->requests.size() < 2) {
      return Error{ErrorCode::Usage, eventLine(m_execution, event) + " has no choice of requests",
                   "Name a call of MPI_Waitany, MPI_Waitsome, MPI_Testany or MPI_Testsome that "
                   "has several active requests."};
    }
    GivenCode code = 0;
    GivenCode now = 0;
    std::size_t found = 0;
    for (std::uint32_t place = 0; place < call->requests.size(); ++place) {
      const bool wanted = std::ranges::find(indices, call->requests[place].index) != indices.end();
      const GivenCode bit = !call->some ? place : place < 32 ? GivenCode{1} << place : 0;
      code |= wanted ? bit : 0;
      now |= call->requests[place].given ? bit : 0;
      found += wanted ? 1 : 0;
    }
    if (found != indices.size() || (!call->some && found != 1)) {
      return Error{ErrorCode::Usage,
                   eventLine(m_execution, event) + " was not offered these requests",
                   "Its active ones are " + offeredText(*call) +
                       (call->some ? "; several are joined by +." : "; it gives one of them.")};
    }
    if (code == now && m_alone) {
      return Error{ErrorCode::Usage, eventName(event) + " gave that in the recorded run",
                   "Its active requests are " + offeredText(*call) + "."};
    }
    return Flip{
        {event.rank, ChosenBy::Completion, static_cast<std::uint32_t>(call - offers.begin())},
        {event.rank, code}};
  }

  static std::string offeredText(const OfferedCompletion& call) {
    std::string text;
    for (const OfferedRequest& request : call.requests) {
      text += (text.empty() ? "" : ", ") + std::to_string(request.index);
    }
    return text;
  }

  Status exists(EventRef event) const {
    const bool there = event.rank >= 0 && pf::index(event.rank) < m_execution.ranks.size() &&
                       event.serial >= 1 &&
                       event.serial <= m_execution.ranks[pf::index(event.rank)].events.size();
    return there ? Status()
                 : Status(Error{ErrorCode::Usage, "there is no " + eventName(event), {}});
  }

  Result<Flip> ofEvents(EventRef taker, EventRef sender) const {
    const Result<RunChoice> choice = choiceAt(taker);
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
    return Flip{*choice, nameOf(index)};
  }

  /// The wildcard receive or probe that this event posts or makes.
  Result<RunChoice> choiceAt(EventRef event) const {
    if (Status there = exists(event); !there) {
      return there.error();
    }
    const RankHistory& history = m_execution.ranks[pf::index(event.rank)];
    for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
      const PostedReceive& receive = history.receives[i];
      if (receive.wantedSource == kAnySource && receive.post == event.serial) {
        return RunChoice{event.rank, ChosenBy::Receive, i};
      }
    }
    for (std::uint32_t i = 0; i < history.probes.size(); ++i) {
      if (history.probes[i].wantedSource == kAnySource && history.probes[i].event == event.serial) {
        return RunChoice{event.rank, ChosenBy::Probe, i};
      }
    }
    return Error{ErrorCode::Usage,
                 eventLine(m_execution, event) + " asks for no message of any source",
                 "Name an event that posts a wildcard receive, or a wildcard probe."};
  }

  [[nodiscard]] std::uint32_t takenBy(const RunChoice& choice) const {
    const RankHistory& history = m_execution.ranks[pf::index(choice.rank)];
    return choice.by == ChosenBy::Probe ? history.probes[choice.index].message
                                        : history.receives[choice.index].message;
  }

  [[nodiscard]] bool accepts(const RunChoice& choice, const Message& message) const {
    const RankHistory& history = m_execution.ranks[pf::index(choice.rank)];
    const bool probe = choice.by == ChosenBy::Probe;
    const std::uint32_t comm =
        probe ? history.probes[choice.index].comm : history.receives[choice.index].comm;
    const Tag tag =
        probe ? history.probes[choice.index].wantedTag : history.receives[choice.index].wantedTag;
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

/// Whether what a flip asks for can come, as far as the recorded run shows.
Status mayCome(const Execution& execution, const Choices& choices, const Plan& plan,
               const Flip& flip) {
  if (flip.choice.by == ChosenBy::Completion) {
    const auto number = choices.find(flip.choice);
    return number && choices.neededToGive(*number, flip.takes.send)
               ? Status()
               : Status(Error{
                     ErrorCode::Usage,
                     eventLine(execution, {flip.choice.rank, askedAt(execution, flip.choice)}) +
                         " could not give that: a request of it is not done before the "
                         "call has ended",
                     "It can never be given there."});
  }
  const std::uint32_t message = messageNamed(execution, flip.takes);
  if (message != kNone &&
      execution.messages[message].send.serial > plan.reach.done[index(flip.takes.sender)] + 1) {
    return Error{
        ErrorCode::Usage,
        messageText(execution, message) + ", is sent only because of what this receive took",
        "It can never be taken in its place."};
  }
  return {};
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
    const RunChoice& choice = choices.at(number);
    if (plan.reach.made[number] && choice.by == ChosenBy::Receive &&
        shownAt(execution, choice) > plan.reach.done[index(choice.rank)]) {
      plan.prefix.choices.push_back(forcedTo(execution, choice, choices.chosen(number)));
    }
  }
  for (const Flip& flip : flips) {
    const bool next =
        flip.choice.by != ChosenBy::Completion ||
        askedAt(execution, flip.choice) == plan.reach.done[index(flip.choice.rank)] + 1;
    if (!next) {
      return Error{ErrorCode::Usage,
                   eventName({flip.choice.rank, askedAt(execution, flip.choice)}) +
                       " comes only behind another flip of the same run",
                   "Flip that one first, and then a call of its run."};
    }
    plan.prefix.choices.push_back(forcedTo(execution, flip.choice, flip.takes));
  }
  if (flips.size() == 1) {  // of several, one may be what another needs
    if (Status comes = mayCome(execution, choices, plan, flips.front()); !comes) {
      return comes.error();
    }
  }
  return plan;
}

/// What a choice chose in the new run; nothing: it was not made.
std::optional<ChosenName> chosenIn(const Choices& choices, const RunChoice& choice) {
  const auto number = choices.find(choice);
  return number ? std::optional(choices.chosen(*number)) : std::nullopt;
}

std::string takerText(const Execution& execution, const RunChoice& choice) {
  return eventLine(execution, {choice.rank, askedAt(execution, choice)});
}

/// "the message that …", "request 1"
std::string chosenText(const Execution& execution, const RunChoice& choice,
                       const ChosenName& chosen) {
  if (choice.by == ChosenBy::Completion) {
    return "request " +
           givenText(execution.ranks[index(choice.rank)].offers[choice.index], chosen.send);
  }
  const std::uint32_t message = messageNamed(execution, chosen);
  return message != kNone ? messageText(execution, message) : "a message";
}

Error notTaken(const Execution& before, const Flip& flip, const Execution& after,
               const std::optional<ChosenName>& taken) {
  const std::string taker = takerText(before, flip.choice);
  const std::string wanted = chosenText(before, flip.choice, flip.takes);
  if (flip.choice.by == ChosenBy::Completion) {
    return {ErrorCode::Divergence,
            taker + " cannot give " + wanted + ": when all else is as it was, that is never done",
            "It is done only after this call, or by another way of the program."};
  }
  if (!taken) {
    return {ErrorCode::Divergence,
            taker + " cannot take " + wanted + ": when all else is as it was, that is never sent",
            "It is sent only after this receive, or by another way of the program."};
  }
  return {ErrorCode::Divergence,
          taker + " cannot take " + wanted + ": " + chosenText(after, flip.choice, *taken) +
              ", comes first",
          "Messages of one sender do not overtake one another (MPI 4.0, 3.5)."};
}

/// Why the new run is none of those that were asked for; nothing: it is.
Status check(const Execution& before, const Choices& choices, const Plan& plan,
             const std::vector<Flip>& flips, const SeenRun& after) {
  for (std::uint32_t number = 0; number < choices.count(); ++number) {
    const RunChoice& choice = choices.at(number);
    if (plan.reach.made[number] && chosenIn(*after.choices, choice) != choices.chosen(number)) {
      return Error{ErrorCode::Divergence,
                   takerText(before, choice) +
                       (choice.by == ChosenBy::Completion ? " gave another request"
                                                          : " took another message") +
                       " than in the recorded run, though nothing before it was changed",
                   "The program is not deterministic beyond its messages: threads, shared memory, "
                   "or something outside that it reads."};
    }
  }
  for (const Flip& flip : flips) {
    const auto taken = chosenIn(*after.choices, flip.choice);
    if (taken != flip.takes) {
      return notTaken(before, flip, *after.execution, taken);
    }
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

/// The run again, all of it as it was, with what its calls of Waitany's kind were offered.
Status seeOffers(const FlipOptions& options, KnownRun& known) {
  const Choices choices(known.execution);
  const Result<std::vector<RunStep>> steps = stepsOf(choices, {});
  const PassingDirectory place(absolutePath(options.trace) + ".flip-");
  if (Status made = place.made(); !made) {
    return made;
  }
  const auto schedules = schedulesOf(
      known.logs, ForcedPrefix{choices.reach(std::vector<bool>(choices.count(), true)).done, {}});
  Result<JobOptions> job = branchJob(absolutePath(options.trace), {}, place.path(), 0,
                                     options.launcherOptions, options.force);
  if (!steps || !schedules || !job) {
    return !steps ? steps.error() : !schedules ? schedules.error() : job.error();
  }
  static const std::atomic<bool> never = false;
  const BranchRunner runner(std::move(*job), factsOfBranch(known.run), {}, never);
  Result<MadeRun> made = runner.make(*schedules, place.file("run.d"));
  if (!made) {
    return made.error();
  }
  const auto same = stepsOf(*made->seen.choices, *steps);
  if (!same) {
    return same.error();
  }
  known.logs = std::move(made->seen.files);
  known.execution = std::move(*made->seen.execution);
  return {};
}

Result<std::vector<Flip>> flipsOf(const FlipOptions& options, KnownRun& known) {
  const std::vector<std::string>& wanted = options.wishes;
  std::vector<Flip> flips;
  // Messages have names that hold in the run that is made for the requests, too.
  for (const bool ofRequests : {false, true}) {
    if (ofRequests && std::ranges::any_of(wanted, isOfRequests)) {
      if (Status seen = seeOffers(options, known); !seen) {
        return seen.error();
      }
    }
    const Wishes wishes(known, wanted.size() == 1);
    for (const std::string& wish : wanted) {
      if (isOfRequests(wish) != ofRequests) {
        continue;
      }
      Result<Flip> read = ofRequests ? wishes.readRequests(wish) : wishes.read(wish);
      if (!read) {
        return read.error();
      }
      if (std::ranges::find(flips, read->choice, &Flip::choice) != flips.end()) {
        return Error{ErrorCode::Usage, "'" + wish + "' names a receive that was named before", {}};
      }
      flips.push_back(*read);
    }
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
  if (!job) {
    return job.error();
  }
  job->stallAfter = kFlipStuckAfter;
  job->stallLimit = stuckTime(known.run, kMostStuck);
  return logs.run(std::move(*job), {.ownInput = false, .endStuck = true});
}

/// The new trace says of which run it is a branch, and by what.
Status keepFlips(const Recorded& recorded, const FlipOptions& options, const KnownRun& known,
                 const std::vector<Flip>& flips, const SeenRun& after) {
  FrameResolver resolver;
  std::vector<TakenInstead> taken;
  for (const Flip& flip : flips) {
    const auto chosen = chosenIn(*after.choices, flip.choice);
    if (!chosen) {  // it was ended before
      continue;
    }
    TakenInstead one{{flip.choice.rank, askedAt(*after.execution, flip.choice)}, {}, {}};
    if (flip.choice.by == ChosenBy::Completion) {
      one.text = gaveText(
          *after.execution, one.receive,
          givenText(after.execution->ranks[index(flip.choice.rank)].offers[flip.choice.index],
                    chosen->send),
          resolver);
    } else {
      one.send = after.execution->messages[messageNamed(*after.execution, *chosen)].send;
      one.text = takenText(*after.execution, one.receive, one.send, resolver);
    }
    taken.push_back(std::move(one));
  }
  return keepParent(recorded.trace, {known.run.uuid, absolutePath(options.trace), "flip"}, taken);
}

Result<SeenRun> seenIn(const RecordedLogs& logs, std::int32_t ranks) {
  Result<LogFiles> files = readLogFiles(logs.path());
  return files ? seenRun(std::move(*files), ranks) : Result<SeenRun>(files.error());
}

}  // namespace

Result<Recorded> flip(const FlipOptions& options) {
  Result<KnownRun> known = knownRun(options.trace);
  if (!known) {
    return known.error();
  }
  const Result<std::vector<Flip>> flips = flipsOf(options, *known);
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
  if (Status right = check(known->execution, choices, *plan, *flips, *seen);
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
    if (Status kept = keepFlips(recorded, options, *known, *flips, *seen); !kept) {
      return kept.error();
    }
    for (const Flip& flip : *flips) {
      tell(takerText(known->execution, flip.choice) +
           (flip.choice.by == ChosenBy::Completion ? " gave " : " took ") +
           chosenText(known->execution, flip.choice, flip.takes));
    }
    tell(endOf(recorded) + " -> " + recorded.trace);
  }
  return recorded;
}

}  // namespace pf::app
