// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/blame.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "app/branching/branch_job.h"
#include "app/branching/branch_runner.h"
#include "app/branching/delta.h"
#include "app/branching/good_run.h"
#include "app/branching/known_run.h"
#include "app/branching/parent_run.h"
#include "app/collation/event_text.h"
#include "app/files/passing_directory.h"
#include "app/files/paths.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

/// A run may take so much longer than the failing one, and this in any case.
constexpr int kTimesLonger = 10;
constexpr std::chrono::milliseconds kShortest(5000);

enum class Verdict : std::uint8_t { Fails, FailsOtherwise, Good, Unclear };
using Schedules = std::vector<std::vector<unsigned char>>;

/// A choice that the two runs made otherwise.
struct Difference {
  RunChoice choice;
  std::uint32_t failing = kNone;  ///< message, in the failing run
  std::uint32_t good = kNone;     ///< in the good one; kNone: it took none
};

ChosenName nameOf(const Execution& execution, std::uint32_t message) {
  return {execution.messages[message].send.rank, execution.messages[message].sendIndex};
}

ForcedChoice forced(const Execution& execution, const RunChoice& choice, std::uint32_t message) {
  return forcedTo(execution, choice, nameOf(execution, message));
}

/// A wildcard receive waits for a message of one rank, as it was told to, though one of another is there: no order of the program's own
/// hangs so.
bool hangsOnOurOrder(const Execution& execution) {
  for (const Message& message : execution.messages) {
    if (message.post != kNone || message.dest < 0 ||
        index(message.dest) >= execution.ranks.size()) {
      continue;
    }
    for (const PostedReceive& receive : execution.ranks[index(message.dest)].receives) {
      if (receive.state == ReceiveState::Pending && receive.wantedSource == kAnySource &&
          receive.comm == message.comm &&
          (receive.wantedTag == kAnyTag || receive.wantedTag == message.tag)) {
        return true;
      }
    }
  }
  return false;
}

class Search {
 public:
  /// `logs`: a directory for those of one run after the other, and with a number behind it of several at once; it must not be
  /// there.
  Search(const BlameOptions& options, KnownRun failing, BranchRunner& runner, std::string logs)
      : m_options(options),
        m_failing(std::move(failing)),
        m_runner(runner),
        m_logs(std::move(logs)) {}

  Status findOutcome();
  /// Usage: it is of another program.
  Result<Blame> findAgainst(const std::string& good);

 private:
  Result<Blame> find();
  void compare();
  /// May be called by several threads at once, each with its own `logs`.
  [[nodiscard]] Result<Verdict> run(const Schedules& schedules, std::uint64_t jitterSeed,
                                    const std::string& logs) const;
  [[nodiscard]] std::vector<ChoicesOfRun> with(const std::vector<std::size_t>& ofFailing) const;
  Result<Verdict> tryWith(const std::vector<std::size_t>& ofFailing);
  Status deliveriesDecide();
  Status counterCheck(const std::vector<std::size_t>& needed, Blame& blame);
  [[nodiscard]] ChoicesOfRun asInFailing(const std::vector<std::size_t>& which) const;
  [[nodiscard]] BlamedDelivery told(const Difference& difference) const;

  const BlameOptions& m_options;
  const KnownRun m_failing;
  KnownRun m_good;
  BranchRunner& m_runner;
  const std::string m_logs;
  std::string m_outcome;
  bool m_anyFailure = false;  ///< the deliveries make it fail, though not always in this way
  std::vector<Difference> m_differences;
  std::vector<std::pair<RunChoice, std::uint32_t>> m_alike;  ///< choices of the good run
  std::uint64_t m_runs = 0;
};

/// The failing run once more, all of it forced.
Status Search::findOutcome() {
  const Choices choices(m_failing.execution);
  const std::vector<bool> all(choices.count(), true);
  const auto schedules = schedulesOf(m_failing.logs, {choices.reach(all).done, {}});
  if (!schedules) {
    return schedules.error();
  }
  ++m_runs;
  const auto begun = std::chrono::steady_clock::now();
  const Result<MadeRun> made = m_runner.make(*schedules, m_logs);
  std::error_code ignored;
  fs::remove_all(m_logs, ignored);
  if (!made) {
    return made.error();
  }
  m_outcome = made->outcome.name;
  if (!wasCutOff(made->outcome)) {  // one that polls for what cannot come then is not waited for
    m_runner.endAfter(
        std::max(kShortest, std::chrono::duration_cast<std::chrono::milliseconds>(
                                kTimesLonger * (std::chrono::steady_clock::now() - begun))));
  }
  if (endedWell(made->outcome)) {
    return Error{ErrorCode::Usage, "this run did not fail: there is nothing to blame",
                 "Where only its output is wrong, --check COMMAND says so: a command of the shell "
                 "that fails for wrong output."};
  }
  return {};
}

void Search::compare() {
  const Choices failing(m_failing.execution);
  const Choices good(m_good.execution);
  for (const std::uint32_t number : failing.inOrder({})) {
    const RunChoice& choice = failing.at(number);
    const auto other = good.find(choice);
    const std::uint32_t took = failing.taken(number);
    if (!other ||
        nameOf(m_good.execution, good.taken(*other)) != nameOf(m_failing.execution, took)) {
      m_differences.push_back({choice, took, other ? good.taken(*other) : kNone});
    }
  }
  for (std::uint32_t number = 0; number < good.count(); ++number) {
    m_alike.emplace_back(good.at(number), good.taken(number));
  }
}

Result<Verdict> Search::run(const Schedules& schedules, std::uint64_t jitterSeed,
                            const std::string& logs) const {
  const Result<MadeRun> made = m_runner.make(schedules, logs, jitterSeed);
  std::error_code ignored;
  fs::remove_all(logs, ignored);
  if (!made) {
    return made.error().code == ErrorCode::Divergence ? Result<Verdict>(Verdict::Unclear)
                                                      : Result<Verdict>(made.error());
  }
  if (wasEnded(made->outcome) && hangsOnOurOrder(*made->seen.execution)) {
    return Verdict::Unclear;
  }
  if (endedWell(made->outcome)) {
    return Verdict::Good;
  }
  return m_anyFailure || made->outcome.name == m_outcome ? Verdict::Fails : Verdict::FailsOtherwise;
}

ChoicesOfRun Search::asInFailing(const std::vector<std::size_t>& which) const {
  ChoicesOfRun run{&m_failing.logs, {}};
  for (const std::size_t i : which) {
    run.choices.push_back(
        forced(m_failing.execution, m_differences[i].choice, m_differences[i].failing));
  }
  return run;
}

/// These differences as in the failing run, all else as in the good one, as far as its messages are not taken then.
std::vector<ChoicesOfRun> Search::with(const std::vector<std::size_t>& ofFailing) const {
  std::set<std::pair<Rank, std::uint32_t>> taken;
  std::vector<RunChoice> made;
  for (const std::size_t i : ofFailing) {
    made.push_back(m_differences[i].choice);
    if (m_differences[i].choice.by == ChosenBy::Receive) {  // a probe takes nothing away
      const ChosenName name = nameOf(m_failing.execution, m_differences[i].failing);
      taken.emplace(name.sender, name.send);
    }
  }
  const auto isTaken = [&](std::uint32_t message) {
    const ChosenName name = nameOf(m_good.execution, message);
    return taken.contains({name.sender, name.send});
  };
  // What their receives took in the good run is left for those whose messages they take.
  std::vector<std::uint32_t> left;
  for (const std::size_t i : ofFailing) {
    if (const std::uint32_t message = m_differences[i].good;
        m_differences[i].choice.by == ChosenBy::Receive && message != kNone && !isTaken(message)) {
      left.push_back(message);
    }
  }
  ChoicesOfRun good{&m_good.logs, {}};
  for (const auto& [choice, message] : m_alike) {
    if (std::ranges::find(made, choice) != made.end()) {
      continue;
    }
    if (choice.by == ChosenBy::Probe || !isTaken(message)) {
      good.choices.push_back(forced(m_good.execution, choice, message));
      continue;
    }
    const Rank rank = choice.rank;
    const auto instead = std::ranges::find(
        left, rank, [this](std::uint32_t each) { return m_good.execution.messages[each].dest; });
    if (instead != left.end()) {  // else it is free
      good.choices.push_back(forced(m_good.execution, choice, *instead));
      left.erase(instead);
    }
  }
  return {asInFailing(ofFailing), std::move(good)};
}

Result<Verdict> Search::tryWith(const std::vector<std::size_t>& ofFailing) {
  const auto schedules = schedulesOf(with(ofFailing));
  if (!schedules) {
    return schedules.error();
  }
  ++m_runs;
  return run(*schedules, 0, m_logs);
}

/// So often each: with what is needed, without it, and with it and all else free. None of these runs asks for another.
Status Search::counterCheck(const std::vector<std::size_t>& needed, Blame& blame) {
  constexpr std::size_t kWays = 3;
  std::array<Result<Schedules>, kWays> ways{schedulesOf(with(needed)), schedulesOf(with({})),
                                            schedulesOf({asInFailing(needed)})};
  for (const Result<Schedules>& way : ways) {
    if (!way) {
      return way.error();
    }
  }
  const auto checks = static_cast<std::size_t>(std::max(0, m_options.counterChecks));
  std::vector<Result<Verdict>> verdicts(kWays * checks, Verdict::Unclear);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < verdicts.size(); i = next++) {
      const std::uint64_t seed = i / kWays;  // 0: without delays
      verdicts[i] = run(*ways[i % kWays], seed, m_logs + std::to_string(i));
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < jobsAtOnce(m_failing.run.ranks); ++i) {
    others.emplace_back(work);
  }
  work();
  for (std::thread& other : others) {
    other.join();
  }
  m_runs += verdicts.size();
  blame.checks = m_options.counterChecks;
  const std::array<int*, kWays> failed{&blame.failedWith, &blame.failedWithout, &blame.failedAlone};
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (!verdicts[i]) {
      return verdicts[i].error();
    }
    const Verdict verdict = *verdicts[i];
    *failed[i % kWays] += verdict == Verdict::Fails ? 1 : 0;
    const bool otherwise = verdict == Verdict::Unclear || verdict == Verdict::FailsOtherwise;
    blame.unclear += otherwise && i % kWays != 2 ? 1 : 0;
  }
  return {};
}

BlamedDelivery Search::told(const Difference& difference) const {
  const Execution& execution = m_failing.execution;
  BlamedDelivery delivery;
  delivery.receive = {difference.choice.rank, askedAt(execution, difference.choice)};
  delivery.took = execution.messages[difference.failing].send;
  const Event& event =
      execution.ranks[index(difference.choice.rank)].events[delivery.receive.serial - 1];
  delivery.text = "rank " + std::to_string(difference.choice.rank) + "'s " +
                  (difference.choice.by == ChosenBy::Probe ? "probe" : "receive") + " at " +
                  siteText(execution, event.site) + " (event " +
                  std::to_string(delivery.receive.serial) + ")" +
                  (difference.choice.by == ChosenBy::Probe ? " sees rank " : " takes rank ") +
                  std::to_string(delivery.took.rank) + "'s message";
  if (difference.good != kNone) {
    delivery.tookInstead = m_good.execution.messages[difference.good].send;
    delivery.text += delivery.tookInstead.rank == delivery.took.rank
                         ? " of its event " + std::to_string(delivery.took.serial) +
                               ", not that of event " + std::to_string(delivery.tookInstead.serial)
                         : " before rank " + std::to_string(delivery.tookInstead.rank) + "'s";
  }
  return delivery;
}

/// Divergence unless it fails with all deliveries of the failing run, and does not with those of the good one.
Status Search::deliveriesDecide() {
  Result<Verdict> none = tryWith({});
  if (!none) {
    return none.error();
  }
  if (*none == Verdict::Fails) {
    return Error{ErrorCode::Divergence,
                 "with all deliveries of the good run forced, the program fails all the same",
                 "It is not deterministic beyond its messages, or fails also in other orders: "
                 "'photofinish explore' counts them."};
  }
  std::vector<std::size_t> all(m_differences.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  Result<Verdict> whole = tryWith(all);
  if (!whole) {
    return whole.error();
  }
  if (*whole == Verdict::FailsOtherwise) {
    m_anyFailure = true;
  } else if (*whole != Verdict::Fails) {
    return Error{ErrorCode::Divergence,
                 "with all its deliveries forced, the program does not fail again",
                 "It is not deterministic beyond its messages, or fails because of when something "
                 "came, not in what order."};
  }
  return {};
}

Result<Blame> Search::find() {
  compare();
  if (m_differences.empty()) {
    return Error{ErrorCode::Usage,
                 "both runs took the same messages: what makes the one fail is no delivery",
                 "Look at which requests MPI_Waitany and its like gave, and at what the ranks read "
                 "besides messages: 'photofinish diff' of the two."};
  }
  if (Status decide = deliveriesDecide(); !decide) {
    return decide.error();
  }
  const std::uint64_t before = m_runs;
  const Result<std::vector<std::size_t>> needed =
      minimalSet(m_differences.size(), [&](const std::vector<std::size_t>& tried) -> Result<bool> {
        if (m_runs - before >= m_options.mostRuns) {
          return Error{ErrorCode::Usage,
                       "no smaller set of deliveries was found in " +
                           std::to_string(m_options.mostRuns) + " runs",
                       "Give more of them: --max-runs."};
        }
        const Result<Verdict> verdict = tryWith(tried);
        return verdict ? Result<bool>(*verdict == Verdict::Fails) : Result<bool>(verdict.error());
      });
  if (!needed) {
    return needed.error();
  }
  Blame blame;
  blame.outcome = m_outcome;
  blame.anyFailure = m_anyFailure;
  if (Status checked = counterCheck(*needed, blame); !checked) {
    return checked.error();
  }
  blame.runs = m_runs;
  for (const std::size_t i : *needed) {
    blame.deliveries.push_back(told(m_differences[i]));
  }
  std::string what;
  for (const BlamedDelivery& each : blame.deliveries) {
    what += (what.empty() ? "" : ", and ") + each.text;
  }
  const bool always = blame.failedWith == blame.checks && blame.failedWithout == 0;
  const bool whateverElse = blame.failedAlone == blame.checks;
  blame.sentence = std::string(whateverElse ? "" : "all else as in the good run, it ") +
                   (always ? "fails if and only if " : "fails when ") + what;
  return blame;
}

Result<Blame> Search::findAgainst(const std::string& good) {
  Result<KnownRun> known = knownRun(good);
  if (!known) {
    return known.error();
  }
  if (known->run.program != m_failing.run.program || known->run.ranks != m_failing.run.ranks) {
    return Error{ErrorCode::Usage, good + " is of another program, or of another number of ranks",
                 "Give a run of the same program."};
  }
  m_good = std::move(*known);
  Result<Blame> found = find();
  if (found) {
    found->good = good;
  }
  return found;
}

}  // namespace

Result<Blame> blame(const BlameOptions& options) {
  Result<KnownRun> failing = knownRun(options.failing);
  if (!failing) {
    return failing.error();
  }
  const PassingDirectory place(absolutePath(options.failing) + ".blame-");
  if (Status made = place.made(); !made) {
    return made.error();
  }
  Result<JobOptions> job = branchJob(absolutePath(options.failing), {}, place.path(), 0, {}, false);
  if (!job) {
    return job.error();
  }
  static const std::atomic<bool> never = false;
  const auto runTime = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(options.runTime));
  BranchRunner runner(std::move(*job), factsOfBranch(failing->run),
                      {runTime, stuckTime(failing->run, runTime), options.check}, never);
  const ParentRun parent{failing->run.uuid, absolutePath(options.failing), "blame"};
  Search search(options, std::move(*failing), runner, place.file("run.d"));
  if (Status fails = search.findOutcome(); !fails) {
    return fails.error();
  }
  if (!options.good.empty()) {
    return search.findAgainst(options.good);
  }
  const Result<std::string> good = findGoodRun(options, place.path(), runner, parent);
  if (!good) {
    return good.error();
  }
  tell("an order that ends well is " + *good);
  return search.findAgainst(*good);
}

std::string blameText(const Blame& blame) {
  const std::string of = " of " + std::to_string(blame.checks);
  const std::string it = blame.deliveries.size() == 1 ? "it" : "these";
  std::string text =
      blame.outcome + (blame.anyFailure ? ", or otherwise: " : ": ") + blame.sentence + "\n";
  text += std::to_string(blame.failedWith) + of + " runs with " + it + " failed so, " +
          std::to_string(blame.failedWithout) + of + " without; with " + it +
          ", and all else free, " + std::to_string(blame.failedAlone) + of;
  if (blame.unclear > 0) {
    text += "; " + std::to_string(blame.unclear) + " ended otherwise";
  }
  text += " (" + std::to_string(blame.runs) + " runs in all)\n";
  return text + "a run that ends well: " + blame.good + "\n";
}

std::string blameJson(const Blame& blame) {
  using nlohmann::json;
  json document = {{"outcome", blame.outcome},
                   {"any_failure", blame.anyFailure},
                   {"sentence", blame.sentence},
                   {"good", blame.good},
                   {"runs", blame.runs},
                   {"checks", blame.checks},
                   {"failed_with", blame.failedWith},
                   {"failed_without", blame.failedWithout},
                   {"failed_with_all_else_free", blame.failedAlone},
                   {"unclear", blame.unclear},
                   {"deliveries", json::array()}};
  const auto event = [](EventRef each) {
    return each.valid() ? json{{"rank", each.rank}, {"event", each.serial}} : json();
  };
  for (const BlamedDelivery& each : blame.deliveries) {
    document["deliveries"].push_back({{"receive", event(each.receive)},
                                      {"took", event(each.took)},
                                      {"took_instead", event(each.tookInstead)},
                                      {"text", each.text}});
  }
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace pf::app
