// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/branching/branches.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

constexpr std::size_t kAtOnce = 32;

std::uint64_t mixed(std::uint64_t value) {  // splitmix64
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

/// In whatever order they are added.
void add(BranchKey& key, const RunChoice& choice, const ChosenName& took) {
  const std::uint64_t kind = choice.by == ChosenBy::Completion ? 1U : 0U;
  const std::uint64_t who = std::uint64_t{static_cast<std::uint32_t>(choice.rank)} << 33U |
                            std::uint64_t{choice.by == ChosenBy::Probe ? 1U : 0U} << 32U |
                            choice.index;
  const std::uint64_t what =
      std::uint64_t{static_cast<std::uint32_t>(took.sender)} << 32U | took.send;
  for (std::size_t half = 0; half < key.size(); ++half) {
    key[half] += mixed(mixed(who + (half << 62U) + (kind << 61U)) ^ what);
  }
}

bool isMatchedProbe(const Execution& execution, std::size_t rank, const PostedReceive& receive) {
  const std::vector<Event>& events = execution.ranks[rank].events;
  if (receive.post == 0 || receive.post > events.size()) {
    return false;
  }
  const std::uint16_t call = events[receive.post - 1].call;
  return call < execution.callNames.size() && execution.callNames[call] == "MPI_Mprobe";
}

std::string stepText(const RunStep& step) {
  const char* const what = step.choice.by == ChosenBy::Probe        ? "probe "
                           : step.choice.by == ChosenBy::Completion ? "choice of requests "
                                                                    : "receive ";
  return what + std::to_string(step.choice.index + 1) + " of rank " +
         std::to_string(step.choice.rank);
}

/// The choices of a run by the numbers of its steps.
Result<std::vector<std::uint32_t>> numbersOf(const Choices& choices,
                                             std::span<const RunStep> steps) {
  std::vector<std::uint32_t> numbers;
  for (const RunStep& step : steps) {
    const auto number = choices.find(step.choice);
    if (!number) {
      return Error{ErrorCode::Divergence,
                   stepText(step) + " is not made, though all before it was as it had been",
                   "The program is not deterministic beyond its messages."};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

/// Those of `needed` that are not kept anyhow.
std::vector<std::uint32_t> othersOf(std::span<const std::uint32_t> needed,
                                    const std::vector<bool>& kept) {
  std::vector<std::uint32_t> others;
  std::ranges::copy_if(needed, std::back_inserter(others),
                       [&](std::uint32_t each) { return !kept[each]; });
  return others;
}

/// What a step could have taken instead, and the choices before that.
struct Alternative {
  ChosenName takes;
  std::vector<std::uint32_t> needed;
};

/// `race`: of the step's receive or probe; null: it has none.
std::vector<Alternative> alternativesOf(const Execution& execution, const Choices& choices,
                                        Choices::Made& made, const RunStep& step,
                                        const Race* race) {
  std::vector<Alternative> all;
  const std::uint32_t number = *choices.find(step.choice);
  if (step.open && race != nullptr) {
    for (const std::uint32_t message : race->alternatives) {
      const Message& m = execution.messages[message];
      all.push_back({{m.send.rank, m.sendIndex}, made.neededFor(number, message)});
    }
  } else if (step.open && step.choice.by == ChosenBy::Completion) {
    for (const GivenCode code : made.otherGiven(number)) {
      if (auto needed = made.neededToGive(number, code)) {
        all.push_back({{step.choice.rank, code}, std::move(*needed)});
      }
    }
  }
  return all;
}

/// The choices before what a branch takes; nothing: the run does not show that branch.
std::optional<std::vector<std::uint32_t>> neededBy(const Execution& execution,
                                                   const Choices& choices, Choices::Made& made,
                                                   std::uint32_t number, const ChosenName& takes) {
  if (choices.at(number).by == ChosenBy::Completion) {
    return made.neededToGive(number, takes.send);
  }
  const std::uint32_t message = messageNamed(execution, takes);
  return message != kNone ? std::optional(made.neededFor(number, message)) : std::nullopt;
}

Error notThere() {
  return {ErrorCode::Damaged,
          "the run has not the steps that are kept of it, or what its branch takes",
          {}};
}

}  // namespace

Result<std::vector<RunStep>> stepsOf(const Choices& choices, std::span<const RunStep> first) {
  const Result<std::vector<std::uint32_t>> numbers = numbersOf(choices, first);
  if (!numbers) {
    return numbers.error();
  }
  std::vector<RunStep> steps(first.begin(), first.end());
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (choices.chosen((*numbers)[i]) != first[i].took) {
      return Error{ErrorCode::Divergence,
                   stepText(first[i]) + (first[i].choice.by == ChosenBy::Completion
                                             ? " gave another request than it was to give"
                                             : " took another message than it was to take"),
                   "The program is not deterministic beyond its messages."};
    }
  }
  const std::vector<std::uint32_t> order = choices.inOrder(*numbers);
  for (std::size_t i = first.size(); i < order.size(); ++i) {
    steps.push_back({choices.at(order[i]), choices.chosen(order[i]), true});
  }
  return steps;
}

std::vector<Branch> branchesOf(const Execution& execution, const Choices& choices,
                               std::span<const Race> races, std::span<const RunStep> steps) {
  std::vector<const Race*> racing(choices.count(), nullptr);
  for (const Race& race : races) {
    if (const auto number = choices.find(
            {race.rank, race.probe ? ChosenBy::Probe : ChosenBy::Receive, race.index})) {
      racing[*number] = &race;
    }
  }
  std::vector<Branch> branches;
  std::vector<bool> kept(choices.count(), false);
  Choices::Made made(choices);
  std::vector<std::uint32_t> passed;  // kept, and not made yet: making looks at each rank
  BranchKey before{};
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const auto number = choices.find(steps[i].choice);
    if (!number) {
      break;
    }
    for (const Alternative& each :
         alternativesOf(execution, choices, made, steps[i], racing[*number])) {
      Branch branch{i, each.takes, before};
      branch.race = racing[*number] != nullptr
                        ? static_cast<std::uint32_t>(racing[*number] - races.data())
                        : kNone;
      for (const std::uint32_t other : othersOf(each.needed, kept)) {
        add(branch.key, choices.at(other), choices.chosen(other));
      }
      add(branch.key, steps[i].choice, branch.takes);
      branches.push_back(branch);
    }
    kept[*number] = true;
    passed.push_back(*number);
    if (passed.size() == kAtOnce) {
      made.make(passed);
      passed.clear();
    }
    add(before, steps[i].choice, steps[i].took);
  }
  return branches;
}

Result<BranchStart> startOf(const Execution& execution, const Choices& choices,
                            std::span<const RunStep> steps, const Branch& branch) {
  if (branch.step >= steps.size()) {
    return Error{ErrorCode::Damaged, "the run has not the step of its branch", {}};
  }
  const std::span<const RunStep> before = steps.first(branch.step);
  const Result<std::vector<std::uint32_t>> numbers = numbersOf(choices, before);
  const auto changed = choices.find(steps[branch.step].choice);
  if (!numbers || !changed) {
    return notThere();
  }
  Choices::Made made(choices);
  made.make(*numbers);
  const auto needed = neededBy(execution, choices, made, *changed, branch.takes);
  if (!needed) {
    return notThere();
  }
  std::vector<bool> kept(choices.count(), false);
  for (const std::uint32_t number : *numbers) {
    kept[number] = true;
  }
  const std::vector<std::uint32_t> others = othersOf(*needed, kept);
  const std::size_t first = made.order().size();
  made.make(others);
  BranchStart start;
  start.steps.assign(before.begin(), before.end());
  for (const std::uint32_t number : std::span(made.order()).subspan(first)) {
    start.steps.push_back({choices.at(number), choices.chosen(number), false});
  }
  if (start.steps.size() != before.size() + others.size()) {
    return notThere();
  }
  start.done = made.reach().done;
  start.steps.push_back({steps[branch.step].choice, branch.takes, false});
  for (const RunStep& step : start.steps) {
    if (shownAt(execution, step.choice) > start.done[index(step.choice.rank)]) {
      start.ahead.push_back(step);
    }
  }
  return start;
}

std::string matchingText(const Execution& execution) {
  // The number of each message among those of its sender to its receiver.
  std::vector<std::uint32_t> numbers(execution.messages.size(), 0);
  std::vector<std::uint32_t> sent;
  Rank sender = kUnknownRank;
  for (std::size_t i = 0; i < execution.messages.size(); ++i) {
    const Message& m = execution.messages[i];
    if (m.send.rank != sender) {
      sender = m.send.rank;
      sent.assign(execution.ranks.size(), 0);
    }
    if (isRank(execution, m.dest)) {
      numbers[i] = sent[index(m.dest)]++;
    }
  }
  std::string text;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    text += rank > 0 ? ";" : "";
    std::string own;
    for (const PostedReceive& receive : execution.ranks[rank].receives) {
      const bool took =
          receive.message < execution.messages.size() && receive.state == ReceiveState::Complete;
      if (!took && isMatchedProbe(execution, rank, receive)) {
        continue;  // it has matched nothing: no receive was posted
      }
      own += (own.empty() ? "" : ",") +
             (took ? std::to_string(execution.messages[receive.message].send.rank) + "." +
                         std::to_string(numbers[receive.message])
                   : std::string("-"));
    }
    text += own;
  }
  return text;
}

std::string givenTexts(const Execution& execution) {
  std::string text;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    text += rank > 0 ? ";" : "";
    std::string own;
    for (const OfferedCompletion& call : execution.ranks[rank].offers) {
      std::string given;
      for (const OfferedRequest& request : call.requests) {
        given += request.given ? (given.empty() ? "" : "+") + std::to_string(request.index) : "";
      }
      own += call.requests.size() > 1 ? (own.empty() ? "" : ",") + given : "";
    }
    text += own;
  }
  return text;
}

}  // namespace pf
