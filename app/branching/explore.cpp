// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/explore.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <list>
#include <mutex>
#include <thread>

#include "app/branching/branch_runner.h"
#include "app/branching/known_run.h"
#include "app/branching/packed_logs.h"
#include "app/branching/parent_run.h"
#include "app/collation/call_sites.h"
#include "app/collation/event_text.h"
#include "app/files/paths.h"
#include "app/recording/record.h"
#include "app/recording/recorded_logs.h"
#include "app/replaying/replay.h"
#include "replay_engine/base/shown_text.h"

namespace pf::app {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostKept = 100;  ///< traces of classes
constexpr std::size_t kParents = 8;     ///< runs that are kept in memory, to branch from
constexpr std::chrono::seconds kTellEvery(2);

std::atomic<bool> g_stop = false;
extern "C" void onStop(int /*signal*/) {
  g_stop = true;
}

/// Ctrl-C and SIGTERM end the exploration, and not us.
class StopOnSignal {
 public:
  StopOnSignal() {
    g_stop = false;
    struct sigaction stop {};
    stop.sa_handler = onStop;
    sigaction(SIGINT, &stop, &m_interrupt);
    sigaction(SIGTERM, &stop, &m_terminate);
  }
  ~StopOnSignal() {
    sigaction(SIGINT, &m_interrupt, nullptr);
    sigaction(SIGTERM, &m_terminate, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  struct sigaction m_interrupt {};
  struct sigaction m_terminate {};
};

/// A run that others branch from.
struct Parent {
  SeenRun seen;
  std::vector<RunStep> steps;
};

TakenInstead takenInstead(const SeenRun& parent, const RunStep& changed, FrameResolver& resolver) {
  const Execution& execution = *parent.execution;
  TakenInstead flip;
  flip.receive = {changed.choice.rank, askedAt(execution, changed.choice)};
  if (changed.choice.by == ChosenBy::Completion) {
    flip.text =
        gaveText(execution, flip.receive,
                 givenText(execution.ranks[index(changed.choice.rank)].offers[changed.choice.index],
                           changed.took.send),
                 resolver);
    return flip;
  }
  const RankHistory& sender = execution.ranks[index(changed.took.sender)];
  flip.send = {changed.took.sender, sender.sends[changed.took.send].event};
  flip.text = takenText(execution, flip.receive, flip.send, resolver);
  return flip;
}

constexpr const char* kRunPrefix = "run-";

class Explorer {
 public:
  Explorer(const ExploreOptions& options, ParentRun first, ExplorationFile file,
           BranchRunner runner, std::string directory)
      : m_options(options),
        m_first(std::move(first)),
        m_file(std::move(file)),
        m_runner(std::move(runner)),
        m_directory(std::move(directory)),
        m_begun(Clock::now()),
        m_told(m_begun) {}

  /// The first run, all of which is forced, if it has not been made.
  Status makeFirst(SeenRun recorded);
  /// The others.
  Status run();
  Result<Exploration> result();

 private:
  void work(int slot);
  Result<bool> makeNext(int slot, std::unique_lock<std::mutex>& lock);
  Result<bool> make(const OpenBranch& open, const Parent& parent, int slot,
                    std::unique_lock<std::mutex>& lock);
  Status fileRun(MadeRun made, std::vector<RunStep> steps, FiledRun run,
                 const std::optional<BranchKey>& key, const std::string& logs);
  Status keepIfNew(const MadeRun& made, const FiledRun& run, const std::string& logs);
  /// Between the first run and this one, which is not filed yet.
  Result<std::vector<TakenInstead>> flipsTo(const FiledRun& run);
  Result<std::shared_ptr<const Parent>> parent(std::int64_t number);
  [[nodiscard]] bool isEnough() const;
  void tellProgress();
  /// A directory that no other process takes: ranks of an exploration that was killed may go on for a while.
  [[nodiscard]] std::string logsOf(const std::string& run) const {
    return m_directory + "/" + kRunPrefix + std::to_string(getpid()) + "-" + run + ".d";
  }
  void dropFormerLogs() const;
  [[nodiscard]] std::uint32_t mostFlips() const { return m_options.bound.value_or(UINT32_MAX / 2); }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - m_begun).count();
  }

  const ExploreOptions& m_options;
  const ParentRun m_first;
  FrameResolver m_resolver;
  ExplorationFile m_file;
  const BranchRunner m_runner;
  const std::string m_directory;  ///< for logs and kept traces
  const Clock::time_point m_begun;
  std::mutex m_mutex;  ///< of all below and the file
  std::condition_variable m_changed;
  std::vector<BranchKey> m_taken;  ///< that are being made, in the order in which they were begun
  std::list<std::pair<std::int64_t, std::shared_ptr<const Parent>>> m_parents;
  std::uint64_t m_made = 0;
  bool m_failed = false;  ///< some run did not end well
  bool m_good = false;    ///< some run did
  std::optional<Error> m_error;
  Clock::time_point m_told;
};

/// Of explorations that were killed: the file is ours alone.
void Explorer::dropFormerLogs() const {
  std::vector<fs::path> former;
  std::error_code error;
  for (fs::directory_iterator at(m_directory, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(kRunPrefix)) {
      former.push_back(at->path());
    }
  }
  for (const fs::path& each : former) {
    fs::remove_all(each, error);
  }
}

Status Explorer::makeFirst(SeenRun recorded) {
  dropFormerLogs();
  Result<ExplorationFile::Counts> counts = m_file.counts(mostFlips());
  if (!counts || counts->runs > 0) {
    return counts ? Status() : Status(counts.error());
  }
  const std::string logs = logsOf("first");
  std::error_code ignored;
  fs::remove_all(logs, ignored);
  Result<std::vector<RunStep>> steps = stepsOf(*recorded.choices, {});
  if (!steps) {
    return steps.error();
  }
  std::vector<bool> all(recorded.choices->count(), true);
  BranchStart start{recorded.choices->reach(all).done, *steps, {}};
  const auto schedules = schedulesOf(recorded, start);
  if (!schedules) {
    return schedules.error();
  }
  Result<MadeRun> made = m_runner.make(*schedules, logs);
  if (!made) {
    fs::remove_all(logs, ignored);
    return made.error();
  }
  if (made->interrupted) {
    fs::remove_all(logs, ignored);
    return {};
  }
  steps = stepsOf(*made->seen.choices, *steps);
  if (steps) {  // the recorded run does not show what else completion calls were offered
    steps = stepsOf(*made->seen.choices, {});
  }
  if (!steps) {
    fs::remove_all(logs, ignored);
    return wasCutOff(made->outcome)
               ? Error{ErrorCode::Usage,
                       "the first run was made once more, and its time was up before it had "
                       "come to where it was recorded",
                       "Give runs more time: --run-time SECONDS."}
               : steps.error();
  }
  const Status filed = fileRun(std::move(*made), std::move(*steps), {}, {}, logs);
  fs::remove_all(logs, ignored);
  return filed;
}

Status Explorer::run() {
  std::vector<std::thread> workers;
  for (int slot = 1; slot < m_options.jobs; ++slot) {
    workers.emplace_back([this, slot] { work(slot); });
  }
  work(0);
  for (std::thread& worker : workers) {
    worker.join();
  }
  return m_error ? Status(*m_error) : Status();
}

bool Explorer::isEnough() const {
  return g_stop || m_error ||
         (m_options.mostRuns && m_made + m_taken.size() >= *m_options.mostRuns) ||
         (m_options.time && seconds() >= m_options.time->count()) ||
         (m_options.firstFailure && m_failed) || (m_options.firstGood && m_good);
}

void Explorer::work(int slot) {
  std::unique_lock lock(m_mutex);
  while (!isEnough()) {
    const Result<bool> made = makeNext(slot, lock);
    if (!made) {
      m_error = m_error.value_or(made.error());
    }
    m_changed.notify_all();
    if (!made || (!*made && m_taken.empty())) {
      return;
    }
    if (!*made) {  // what others are making may show more
      m_changed.wait_for(lock, std::chrono::milliseconds(200));
    }
    tellProgress();
  }
}

/// False: there is no branch that is left for now.
Result<bool> Explorer::makeNext(int slot, std::unique_lock<std::mutex>& lock) {
  const Result<std::optional<OpenBranch>> open =
      m_file.next(mostFlips(), m_taken, m_options.farthestFirst);
  if (!open || !*open) {
    return open ? Result<bool>(false) : Result<bool>(open.error());
  }
  const auto from = parent((*open)->run);
  if (!from) {
    return from.error();
  }
  m_taken.push_back((*open)->branch.key);
  Result<bool> made = make(**open, **from, slot, lock);
  std::erase(m_taken, (*open)->branch.key);
  return made;
}

Result<bool> Explorer::make(const OpenBranch& open, const Parent& parent, int slot,
                            std::unique_lock<std::mutex>& lock) {
  const std::string logs = logsOf(std::to_string(slot));
  std::error_code ignored;
  lock.unlock();
  fs::remove_all(logs, ignored);
  const Result<BranchStart> start =
      startOf(*parent.seen.execution, *parent.seen.choices, parent.steps, open.branch);
  const auto schedules = start ? schedulesOf(parent.seen, *start)
                               : Result<std::vector<std::vector<unsigned char>>>(start.error());
  Result<MadeRun> made =
      schedules ? m_runner.make(*schedules, logs) : Result<MadeRun>(schedules.error());
  Result<std::vector<RunStep>> steps = made ? stepsOf(*made->seen.choices, start->steps)
                                            : Result<std::vector<RunStep>>(made.error());
  lock.lock();
  // What is kept then is the first by the order of visiting, not by the clock.
  if (m_options.firstGood) {
    while (m_taken.front() != open.branch.key && !g_stop && !m_error) {
      m_changed.wait_for(lock, std::chrono::milliseconds(200));
    }
  }
  Status filed;
  if (g_stop && (!made || made->interrupted)) {
    // It was ended on its way: as if it had never been begun.
  } else if (steps) {
    FiledRun run;
    run.parent = open.run;
    run.flips = open.flips;
    run.flip = takenInstead(parent.seen, start->steps.back(), m_resolver);
    filed = fileRun(std::move(*made), std::move(*steps), std::move(run), open.branch.key, logs);
  } else if (steps.error().code == ErrorCode::Divergence) {
    filed = m_file.giveUp(open.branch.key,
                          made && wasCutOff(made->outcome)
                              ? "its time was up before it had come to what it was to take"
                              : steps.error().message);
  } else {
    filed = steps.error();
  }
  fs::remove_all(logs, ignored);
  return filed ? Result<bool>(true) : Result<bool>(filed.error());
}

Status Explorer::fileRun(MadeRun made, std::vector<RunStep> steps, FiledRun run,
                         const std::optional<BranchKey>& key, const std::string& logs) {
  const Execution& execution = *made.seen.execution;
  const std::vector<Race> races = findRaces(execution);
  const std::vector<RaceWeight> weights =
      weighRaces(execution, made.failed, races.size(),
                 [&races](std::size_t race) -> const Race& { return races[race]; });
  std::vector<OpenBranch> branches;
  for (const Branch& branch : branchesOf(execution, *made.seen.choices, races, steps)) {
    branches.push_back({branch, 0, run.flips + 1,
                        branch.race < weights.size() ? weights[branch.race] : RaceWeight::Other});
  }
  run.outcome = made.outcome;
  run.matching = matchingText(execution);
  run.given = givenTexts(execution);
  run.unvaried = made.seen.choices->unvaried();
  run.steps = std::move(steps);
  run.logs = packLogs(made.seen.files);
  if (Status kept = keepIfNew(made, run, logs); !kept) {
    return kept;
  }
  const Result<std::int64_t> number = m_file.file(run, branches, key);
  if (!number) {
    return number.error();
  }
  ++m_made;
  m_failed = m_failed || !endedWell(made.outcome);
  m_good = m_good || endedWell(made.outcome);
  auto parent = std::make_shared<Parent>();
  parent->seen = std::move(made.seen);
  parent->steps = std::move(run.steps);
  m_parents.emplace_front(*number, std::move(parent));
  if (m_parents.size() > kParents) {
    m_parents.pop_back();
  }
  return {};
}

Result<std::vector<TakenInstead>> Explorer::flipsTo(const FiledRun& run) {
  if (!run.flip) {
    return std::vector<TakenInstead>();
  }
  Result<std::vector<TakenInstead>> flips = m_file.flipsTo(run.parent);
  if (flips) {
    flips->push_back(*run.flip);
  }
  return flips;
}

Status Explorer::keepIfNew(const MadeRun& made, const FiledRun& run, const std::string& logs) {
  const Result<bool> known = m_file.isKept(made.outcome);
  const Result<std::size_t> kept = m_file.keptTraces();
  if (!known || !kept) {
    return known ? kept.error() : known.error();
  }
  if (*known || *kept >= kMostKept) {
    return {};
  }
  std::string name = made.outcome.name;
  std::ranges::replace(name, ' ', '-');
  std::string trace;
  std::error_code ignored;
  for (int number = 1; trace.empty() || fs::exists(trace, ignored); ++number) {
    trace = m_directory + "/" + name + (number > 1 ? "-" + std::to_string(number) : "") + ".pft";
  }
  if (Status written = keepRun(logs, made.facts, trace); !written) {
    return written;
  }
  const Result<std::vector<TakenInstead>> flips = flipsTo(run);
  const Status said = flips ? keepParent(trace, m_first, *flips) : Status(flips.error());
  if (!said) {
    return said;
  }
  return m_file.keep(made.outcome, trace);
}

Result<std::shared_ptr<const Parent>> Explorer::parent(std::int64_t number) {
  for (auto each = m_parents.begin(); each != m_parents.end(); ++each) {
    if (each->first == number) {
      m_parents.splice(m_parents.begin(), m_parents, each);
      return each->second;
    }
  }
  Result<FiledRun> run = m_file.run(number);
  if (!run) {
    return run.error();
  }
  Result<LogFiles> files = unpackLogs(run->logs);
  if (!files) {
    return files.error();
  }
  Rank most = 0;
  for (const auto& [rank, bytes] : *files) {
    most = std::max(most, rank);
  }
  Result<SeenRun> seen = seenRun(std::move(*files), most + 1);
  if (!seen) {
    return seen.error();
  }
  auto parent = std::make_shared<Parent>();
  parent->seen = std::move(*seen);
  parent->steps = std::move(run->steps);
  m_parents.emplace_front(number, parent);
  if (m_parents.size() > kParents) {
    m_parents.pop_back();
  }
  return std::shared_ptr<const Parent>(parent);
}

void Explorer::tellProgress() {
  if (Clock::now() - m_told < kTellEvery) {
    return;
  }
  m_told = Clock::now();
  const Result<ExplorationFile::Counts> counts = m_file.counts(mostFlips());
  if (counts) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%llu runs (%.1f a second), %llu branches left, about %.0f more runs",
                  static_cast<unsigned long long>(counts->runs),
                  static_cast<double>(m_made) / std::max(seconds(), 1e-3),
                  static_cast<unsigned long long>(counts->open), guessLeft(*counts, mostFlips()));
    tell(text);
  }
}

Result<Exploration> Explorer::result() {
  Exploration found;
  found.made = m_made;
  found.seconds = seconds();
  found.interrupted = g_stop;
  Result<ExplorationFile::Counts> counts = m_file.counts(mostFlips());
  Result<std::vector<OutcomeClass>> classes = m_file.outcomes();
  Result<std::vector<std::string>> reasons = m_file.reasonsGivenUp();
  if (!counts || !classes || !reasons) {
    return !counts ? counts.error() : !classes ? classes.error() : reasons.error();
  }
  found.counts = std::move(*counts);
  found.left = guessLeft(found.counts, mostFlips());
  found.givenUp = std::move(*reasons);
  for (OutcomeClass& each : *classes) {
    Result<std::vector<TakenInstead>> flips = m_file.flipsTo(each.nearest);
    if (!flips) {
      return flips.error();
    }
    found.outcomes.push_back({std::move(each), std::move(*flips)});
  }
  if (Status dropped = m_file.dropLogs(); !dropped) {
    return dropped.error();
  }
  return found;
}

/// Records the first run, if that has not been done.
Status recordFirst(const ExploreOptions& options, const std::string& trace) {
  std::error_code ignored;
  if (fs::exists(trace, ignored)) {
    return {};
  }
  RecordOptions first;
  first.command = options.command;
  first.output = trace;
  first.mode = "all";
  first.quiet = true;
  first.endStuck = true;
  first.stallAfter = std::chrono::seconds(1);
  first.stallLimit = std::chrono::duration_cast<std::chrono::milliseconds>(options.runTime);
  first.runLimit = first.stallLimit;  // it may poll for ever
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  first.standardOutput = null.get();
  const Result<Recorded> recorded = record(first);
  if (!recorded) {
    return recorded.error();
  }
  return recorded->trace.empty()
             ? Status(Error{ErrorCode::System, "no trace of the first run could be made",
                            "What it said is above."})
             : Status();
}

}  // namespace

bool Exploration::allEndedWell() const {
  return std::ranges::all_of(
      outcomes, [](const ExploredOutcome& each) { return endedWell(each.runs.outcome); });
}

double guessLeft(const ExplorationFile::Counts& counts, std::uint32_t mostFlips) {
  const auto at = [](const std::vector<std::uint64_t>& by, std::size_t flips) {
    return flips < by.size() ? static_cast<double>(by[flips]) : 0.0;
  };
  constexpr double kFades = 0.5;
  constexpr std::size_t kDeepest = 64;
  const std::size_t known = std::max(counts.runsByFlips.size(), counts.openByFlips.size());
  const std::size_t deepest = std::min<std::size_t>(known + kDeepest, mostFlips);
  std::vector<double> shown(deepest + 2, 0.0);  // branches that a run with so many flips has
  double last = 0;
  for (std::size_t flips = 0; flips <= deepest; ++flips) {
    const double runs = at(counts.runsByFlips, flips);
    last = runs > 0 ? (at(counts.runsByFlips, flips + 1) + at(counts.openByFlips, flips + 1)) / runs
                    : last * kFades;
    shown[flips] = last;
  }
  double below = 0;  // runs below one with so many flips, itself included
  double left = 0;
  for (std::size_t flips = deepest + 1; flips-- > 0;) {
    below = 1 + (flips < deepest ? shown[flips] * below : 0);
    left += at(counts.openByFlips, flips) * below;
  }
  return left;
}

namespace {

/// Where the state is kept: as asked for, or by the name of trace or program.
Result<std::string> stateOf(const ExploreOptions& options) {
  if (options.command.empty() && options.trace.empty()) {
    return Error{ErrorCode::Usage, "nothing to explore", "Give a launcher's command, or a trace."};
  }
  if (!options.state.empty()) {
    return absolutePath(options.state);
  }
  if (!options.trace.empty()) {
    const fs::path path(options.trace);
    return absolutePath((path.parent_path() / (path.stem().string() + ".explore")).string());
  }
  const Result<LaunchCommand> command = parseLaunch(options.command);
  return command ? absolutePath(command->title() + ".explore")
                 : Result<std::string>(command.error());
}

/// The trace that it begins with: given, or recorded now.
Result<std::string> firstTraceOf(const ExploreOptions& options, const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return systemError("cannot make " + directory, errno);
  }
  if (!options.trace.empty()) {
    return absolutePath(options.trace);
  }
  std::string trace = directory + "/first.pft";
  if (Status recorded = recordFirst(options, trace); !recorded) {
    return recorded.error();
  }
  return trace;
}

Result<ExplorationFile> openState(const std::string& state, const std::string& trace,
                                  const KnownRun& known, const ExploreOptions& options) {
  if (!options.command.empty() && known.run.command != options.command) {
    return Error{ErrorCode::Usage, state + " explores another command",
                 "Give another name with -o, or the same words as before."};
  }
  const std::string executable = known.ranks.empty() ? "" : known.ranks.front().executable;
  return ExplorationFile::open(state,
                               {trace, known.run.program, buildIdOf(executable), options.check,
                                known.run.ranks, options.matchingsOnly},
                               options.force);
}

}  // namespace

Result<Exploration> explore(const ExploreOptions& options) {
  const Result<std::string> place = stateOf(options);
  if (!place) {
    return place.error();
  }
  const std::string& state = *place;
  const std::string directory = state + ".d";
  const Result<std::string> trace = firstTraceOf(options, directory);
  if (!trace) {
    return trace.error();
  }
  Result<KnownRun> known = knownRun(*trace);
  if (!known) {
    return known.error();
  }
  Result<ExplorationFile> file = openState(state, *trace, *known, options);
  if (!file) {
    return file.error();
  }
  Result<JobOptions> job = branchJob(*trace, {}, directory, 0, {}, options.force);
  if (!job) {
    return job.error();
  }
  if (options.matchingsOnly) {
    job->session.mode &= ~static_cast<std::uint32_t>(kOffers);
  }
  const StopOnSignal stopOnSignal;
  const auto runTime = std::chrono::duration_cast<std::chrono::milliseconds>(options.runTime);
  ExploreOptions chosen = options;
  chosen.jobs = options.jobs > 0 ? options.jobs : jobsAtOnce(known->run.ranks);
  Explorer explorer(chosen, ParentRun{known->run.uuid, *trace, options.madeBy}, std::move(*file),
                    BranchRunner(std::move(*job), factsOfBranch(known->run),
                                 {runTime, stuckTime(known->run, runTime), options.check}, g_stop),
                    directory);
  Result<SeenRun> recorded = seenRun(std::move(known->logs), known->run.ranks);
  if (!recorded) {
    return recorded.error();
  }
  if (Status first = explorer.makeFirst(std::move(*recorded)); !first) {
    return first.error();
  }
  const Status made = explorer.run();
  Result<Exploration> found = explorer.result();
  if (!made) {
    return made.error();
  }
  if (found) {
    found->state = state;
    found->firstTrace = *trace;
    found->matchingsOnly = options.matchingsOnly;
  }
  return found;
}

}  // namespace pf::app
