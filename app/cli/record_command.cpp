// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "app/cli/command.h"
#include "app/cli/opening.h"
#include "app/cli/output.h"
#include "app/cli/wrong_words.h"
#include "app/recording/record.h"
#include "app/recording/until_failure.h"
#include "app/replaying/locality_groups.h"
#include "replay_engine/groups/replay_groups.h"

namespace pf::cli {
namespace {

constexpr double kLongestRun = 1e7;  ///< seconds

const std::string kUntilProven = "proven";

struct RecordWords {
  app::RecordOptions options;
  std::string endStuck;
  CLI::Option* mode = nullptr;
  CLI::Option* algorithm = nullptr;
  CLI::Option* window = nullptr;
  CLI::Option* endStuckFlag = nullptr;
  CLI::Option* groups = nullptr;
  CLI::Option* untilFailure = nullptr;
  CLI::Option* check = nullptr;
  app::UntilFailure search;
  double time = 0;
  double runTime = 0;
  std::shared_ptr<double> stallAfter;
};

void addTracing(CLI::App& command, RecordWords& words) {
  words.mode = command
                   .add_option("--mode", words.options.mode,
                               "outcomes: MPI's choices only, events by a replay (default); races: "
                               "and races found while the program runs; all: every event at "
                               "once (default with --groups)")
                   ->check(CLI::IsMember({"outcomes", "races", "all"}));
  words.algorithm = command
                        .add_option("--algorithm", words.options.algorithm,
                                    "mode races: which deliveries are traced (default: meehan)")
                        ->check(CLI::IsMember(
                            {"meehan", "netzer-miller", "algorithm-a", "algorithm-b", "naive"}));
  words.window = command
                     .add_option("--window", words.options.window,
                                 "mode races: as algorithm-b, but what is traced is decided when N "
                                 "more wildcards have been received")
                     ->check(CLI::Range(1U, 1024U));
}

Status readEndStuck(RecordWords& words) {
  words.options.endStuck = words.endStuckFlag->count() > 0;
  if (!words.options.endStuck || words.endStuck == kUntilProven) {
    return {};
  }
  const double seconds = std::strtod(words.endStuck.c_str(), nullptr);
  if (!(seconds >= 0.1 && seconds <= 1e7)) {
    return Error{ErrorCode::Usage, "'" + words.endStuck + "' is no time for --end-stuck",
                 "Give for how many seconds every rank may wait, for example --end-stuck=60, or "
                 "--end-stuck alone."};
  }
  words.options.stallLimit = stallTime(seconds);
  return {};
}

Status readTracing(RecordWords& words) {
  app::RecordOptions& options = words.options;
  if ((*words.algorithm || *words.window) && *words.mode && options.mode != "races") {
    return Error{ErrorCode::Usage,
                 (*words.algorithm ? "--algorithm" : "--window") +
                     (" says what mode races traces, and the mode is " + options.mode),
                 "Leave out --mode, or give --mode races."};
  }
  if (*words.window && *words.algorithm && options.algorithm != "algorithm-b") {
    return Error{ErrorCode::Usage,
                 "--window delays Algorithm B, and the algorithm is " + options.algorithm,
                 "Leave out --algorithm, or --window."};
  }
  if (*words.algorithm || *words.window) {
    options.mode = "races";
  }
  return {};
}

/// Of how many ranks they are, the launcher says later; what can be no SPEC of any is refused here.
Status readGroups(RecordWords& words) {
  app::RecordOptions& options = words.options;
  if (options.groups.empty() && !*words.groups) {
    return {};
  }
  if (options.mode == "races") {
    return Error{
        ErrorCode::Usage,
        "--groups needs the source of every receive, of which mode races keeps those that race",
        "Leave out --mode races (and what says what it traces), or give --mode all."};
  }
  const Result<std::optional<std::size_t>> most = app::mostOfAutoGroups(options.groups);
  if (!most || *most) {
    return most ? Status() : Status(most.error());
  }
  constexpr std::int32_t kMostRanks = 1 << 20;
  const Result<ReplayGroups> groups = ReplayGroups::parse(options.groups, kMostRanks);
  return groups ? Status() : Status(groups.error());
}

/// Groups that are to be found are ranks from here on.
Status findGroups(RecordWords& words) {
  const Result<std::optional<std::size_t>> most = app::mostOfAutoGroups(words.options.groups);
  if (!most || !*most) {
    return most ? Status() : Status(most.error());
  }
  Result<std::string> groups = app::groupsByLocality(words.options, **most);
  if (!groups) {
    return groups.error();
  }
  words.options.groups = std::move(*groups);
  return {};
}

/// Events that are not recorded are seen by a replay of all ranks: for who debugs a group that may be more than the machine can
/// run. A trace of choices only is for who asks for it.
Status keepEvents(RecordWords& words) {
  app::RecordOptions& options = words.options;
  if (!*words.mode && !options.groups.empty() && options.groups != "all") {
    options.mode = "all";
  }
  return {};
}

int run(CLI::App& command, RecordWords& words) {
  words.options.command = command.remaining();
  if (const Status good = isProgram(command, words.options.command); !good) {
    return fail(good.error());
  }
  words.options.stallAfter = stallTime(*words.stallAfter);
  if (std::isnan(words.runTime)) {  // in no range, and outside of none
    return fail({ErrorCode::Usage, "'nan' is no time for --run-time", "Give seconds."});
  }
  words.options.runLimit = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(words.runTime));
  for (const auto read : {readEndStuck, readTracing, readGroups, findGroups, keepEvents}) {
    if (const Status good = read(words); !good) {
      return fail(good.error());
    }
  }
  if (*words.untilFailure) {
    if (std::isnan(words.time)) {  // in no range, and outside of none
      return fail({ErrorCode::Usage, "'nan' is no time for --time", "Give seconds."});
    }
    if (words.search.check.empty() && *words.check) {
      return fail({ErrorCode::Usage, "--check has no command",
                   "Give one of the shell, for example --check 'grep -q OK'."});
    }
    if (words.time > 0) {
      words.search.time = std::chrono::duration<double>(words.time);
    }
    auto tried = app::recordUntilFailure(words.options, words.search);
    return tried ? tried->exitStatus : fail(tried.error());
  }
  auto recorded = app::record(words.options);
  return recorded ? recorded->exitStatus : fail(recorded.error());
}

void addUntilFailure(CLI::App& command, RecordWords& words) {
  constexpr int kMostRuns = 1'000'000;
  words.untilFailure =
      command.add_flag("--until-failure")
          ->description(
              "again and again, in native timing and with --jitter in turn, until a run fails; "
              "keeps that "
              "one and a good one (NAME-good.pft). What hangs is ended, as with --end-stuck");
  command
      .add_option("--runs", words.search.runs, "--until-failure: at most so many (default: 100)")
      ->check(CLI::Range(1, kMostRuns))
      ->needs(words.untilFailure);
  command
      .add_option("--time", words.time,
                  "--until-failure: end the search after so many seconds; the run that goes on "
                  "then is kept")
      ->check(CLI::Range(0.1, kLongestRun))
      ->needs(words.untilFailure);
  words.check = command
                    .add_option("--check", words.search.check,
                                "--until-failure: a run has failed, too, if this command of the "
                                "shell does, which has as its input what the run printed")
                    ->needs(words.untilFailure);
}

}  // namespace

void addRecord(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<RecordWords>();
  app::RecordOptions& options = words->options;
  CLI::App* command =
      parser.add_subcommand("record", "Run a program and record what MPI chose")->prefix_command();
  command->add_option("-o,--output", options.output,
                      "trace file to write (default: PROGRAM-N.pft)");
  command->add_flag("--replace", options.replace,
                    "a trace of that name goes; without this it is kept under a number");
  addTracing(*command, *words);
  command->add_option("--jitter", options.jitterSeed,
                      "delay MPI calls at random, by this seed, to provoke other orders");
  words->groups = command->add_option(
      "--groups", options.groups,
      "keep the contents of messages between groups of ranks, so that a group can be replayed "
      "alone: each, all, ranks as 0-7,8-15, or auto:SIZE, which finds groups of at most so many");
  command->add_flag("--rdtsc", options.cycles,
                    "also the rdtsc instruction, which then takes microseconds");
  words->endStuckFlag = command->add_flag(
      "--end-stuck{" + kUntilProven + "}", words->endStuck,
      "end the program once it is certain that it cannot get on (a cycle of waits, a wait for who "
      "has ended); --end-stuck=SECONDS: also once every rank has waited for so long");
  command->add_flag("--same-addresses", options.sameAddresses,
                    "stack, heap, globals and libraries lie where they will in each replay");
  command
      ->add_option("--run-time", words->runTime,
                   "end the program once it has run for so many seconds: it has failed then")
      ->check(CLI::Range(0.1, kLongestRun));
  addUntilFailure(*command, *words);
  words->stallAfter = addStallAfter(*command);
  commands.push_back({command, [command, words] { return run(*command, *words); }, {}});
}

}  // namespace pf::cli
