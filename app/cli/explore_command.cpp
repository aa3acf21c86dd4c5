// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include <csignal>

#include "app/branching/explore.h"
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/wrong_words.h"

namespace pf::cli {
namespace {

constexpr int kSomeFailed = 5;

struct ExploreWords {
  app::ExploreOptions options;
  std::uint64_t mostRuns = 0;
  std::uint32_t bound = 0;
  double time = 0;
  double runTime = 60;
  bool json = false;
  CLI::Option* hasMostRuns = nullptr;
  CLI::Option* hasBound = nullptr;
  CLI::Option* hasTime = nullptr;
};

/// One word that names a trace, or a launcher's command.
void readWhat(const CLI::App& command, app::ExploreOptions& options) {
  std::vector<std::string> words = command.remaining();
  if (words.size() == 1 && words.front().ends_with(".pft")) {
    options.trace = words.front();
  } else {
    options.command = std::move(words);
  }
}

int run(const CLI::App& command, ExploreWords& words) {
  app::ExploreOptions& options = words.options;
  readWhat(command, options);
  if (options.trace.empty()) {
    if (const Status good = isProgram(command, options.command); !good) {
      return fail(good.error());
    }
  }
  if (*words.hasMostRuns) {
    options.mostRuns = words.mostRuns;
  }
  if (*words.hasBound) {
    options.bound = words.bound;
  }
  if (*words.hasTime) {
    options.time = std::chrono::duration<double>(words.time);
  }
  options.runTime = std::chrono::duration<double>(words.runTime);
  const Result<app::Exploration> found = app::explore(options);
  if (!found) {
    return fail(found.error());
  }
  words.json ? put(app::explorationJson(*found)) : show(app::explorationText(*found));
  if (found->interrupted) {
    return 128 + SIGINT;
  }
  return found->allEndedWell() ? 0 : kSomeFailed;
}

}  // namespace

void addExplore(CLI::App& parser, Commands& commands) {
  constexpr double kLongest = 1e7;  // seconds
  constexpr int kMostJobs = 64;
  auto words = std::make_shared<ExploreWords>();
  app::ExploreOptions& options = words->options;
  CLI::App* command =
      parser
          .add_subcommand("explore",
                          "Every order in which the messages of a program can be taken, each once")
          ->prefix_command();
  command->add_option("-o,--output", options.state,
                      "file of the exploration (default: PROGRAM.explore); one that is there is "
                      "gone on with");
  words->hasMostRuns =
      command->add_option("--max-runs", words->mostRuns, "at most so many runs now")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  words->hasTime = command->add_option("--time", words->time, "begin no run after so many seconds")
                       ->check(CLI::Range(0.1, kLongest));
  command->add_option("--run-time", words->runTime, "end a run after so many seconds (default: 60)")
      ->check(CLI::Range(0.1, kLongest));
  command->add_option("--jobs", options.jobs, "runs at once (default: by cores and ranks)")
      ->check(CLI::Range(1, kMostJobs));
  words->hasBound =
      command
          ->add_option("--bound", words->bound,
                       "only runs that differ from the first one by so many deliveries at most")
          ->check(CLI::Range(0U, 1U << 20U));
  command->add_option("--check", options.check,
                      "a run is wrong, too, if this command of the shell fails, which has as its "
                      "input what the run printed");
  command->add_flag("--first-failure", options.firstFailure,
                    "end with the first run that does not end well");
  command->add_flag("--matchings-only", options.matchingsOnly,
                    "leave to MPI which requests MPI_Waitany and its like give: fewer runs");
  command->add_flag("--force", options.force, "go on though the program has changed");
  command->add_flag("--json", words->json, "one JSON document");
  addTrust(*command);
  commands.push_back({command, [command, words] { return run(*command, *words); },
                      [command] {
                        app::ExploreOptions what;
                        readWhat(*command, what);
                        return what.trace.empty() ? std::vector<std::string>()
                                                  : std::vector<std::string>{what.trace};
                      }});
}

}  // namespace pf::cli
