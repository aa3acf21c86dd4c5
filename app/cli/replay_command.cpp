// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "app/cli/command.h"
#include "app/cli/opening.h"
#include "app/cli/output.h"
#include "app/cli/wrong_words.h"
#include "app/replaying/replay.h"

namespace pf::cli {
namespace {

struct ReplayWords {
  app::ReplayOptions options;
  std::string until;
  bool failing = false;
  std::uint64_t race = 0;
  std::string environment = "recorded";
  CLI::Option* untilFailure = nullptr;
  CLI::Option* untilRace = nullptr;
  std::shared_ptr<double> stallAfter;
};

Result<EventRef> parseEvent(const std::string& text) {
  EventRef event;
  char rest = 0;
  unsigned long long serial = 0;
  if (std::sscanf(text.c_str(), "%d:%llu%c", &event.rank, &serial, &rest) != 2) {
    return Error{ErrorCode::Usage, "'" + text + "' is not an event",
                 "Give RANK:SERIAL, for example --until 2:17."};
  }
  event.serial = serial;
  return event;
}

/// RANK:SERIAL, or one of each rank, separated by commas: a cut.
Status parseUntil(const std::string& text, app::ReplayOptions& options) {
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    auto event = parseEvent(text.substr(from, comma - from));
    if (!event) {
      return event.error();
    }
    options.cut.push_back(*event);
    from = comma + 1;
  }
  if (options.cut.size() == 1) {
    options.until = options.cut.front();
    options.cut.clear();
  }
  return {};
}

/// Where it ends: one of the three, or none.
void addUntil(CLI::App& command, ReplayWords& words) {
  CLI::Option* until = command.add_option(
      "--until", words.until,
      "RANK:SERIAL: stop that rank just before that event, the others at the cut that it needs; or "
      "a cut, RANK:SERIAL of each rank, separated by commas");
  words.untilFailure = command.add_flag("--until-failure", words.failing,
                                        "stop before the last receive of the rank that failed");
  words.untilRace = command.add_option(
      "--until-race", words.race, "stop before racing receive N, in the order of 'races', from 1");
  until->excludes(words.untilFailure)->excludes(words.untilRace);
  words.untilFailure->excludes(words.untilRace);
}

void addConditions(CLI::App& command, ReplayWords& words) {
  app::ReplayOptions& options = words.options;
  CLI::Option* bounded = command.add_flag(
      "--bounded-buffers", options.boundedBuffers,
      "hold each message back until its receiver is ready for it, so that none pile up");
  for (CLI::Option* until : {command.get_option("--until"), words.untilFailure, words.untilRace}) {
    until->excludes(bounded);
  }
  command.add_flag("--same-addresses", options.sameAddresses,
                   "refuse unless the trace was recorded so (then it is replayed so anyway)");
  command
      .add_option("--environment", words.environment,
                  "recorded: the ranks get the recorded variables again (default); now: those of "
                  "this shell")
      ->check(CLI::IsMember({"recorded", "now"}));
  command.add_flag("--force", options.force,
                   "replay although program, libraries, arguments, environment or MPI library "
                   "are not the recorded ones");
  command.add_flag("--ignore-contents", options.ignoreContents,
                   "messages may hold something else than they did: said, but no divergence");
  command.footer(
      "--force pinned: wildcards ask for their recorded sources; --force tagged: traced messages "
      "go "
      "to their\nreceives over a communicator of their own. Default: by what the trace holds.");
}

int run(CLI::App& command, ReplayWords& words) {
  app::ReplayOptions& options = words.options;
  options.launcherOptions = command.remaining();
  if (const Status launcher = areOfLauncher(command, options.launcherOptions); !launcher) {
    return fail(launcher.error());
  }
  options.stallAfter = stallTime(*words.stallAfter);
  options.environmentOfNow = words.environment == "now";
  if (!words.until.empty()) {
    if (auto parsed = parseUntil(words.until, options); !parsed) {
      return fail(parsed.error());
    }
  } else if (*words.untilFailure || *words.untilRace) {
    auto event = *words.untilFailure ? app::failingReceiveOf(options.trace)
                                     : app::racingReceiveOf(options.trace, words.race);
    if (!event) {
      return fail(event.error());
    }
    options.until = *event;
  }
  auto status = app::replay(options);
  if (status) {
    return *status;
  }
  Error error = status.error();
  if (*words.untilRace && !options.part.isWhole() && error.code == ErrorCode::Usage) {
    error.message = "race " + std::to_string(words.race) + " is at rank " +
                    std::to_string(options.until->rank) + ": " + error.message;
  }
  return fail(error);
}

}  // namespace

void addReplay(CLI::App& parser, Commands& commands, const std::string& forced) {
  auto words = std::make_shared<ReplayWords>();
  app::ReplayOptions& options = words->options;
  options.deliveries = forced;
  CLI::App* command =
      parser.add_subcommand("replay", "Run the recorded program again with the same deliveries")
          ->prefix_command();
  command->add_option("FILE", options.trace, "trace")->required();
  command->add_option("--jitter", options.jitterSeed,
                      "delay MPI calls at random, by this seed: must change nothing");
  addUntil(*command, *words);
  command->add_flag("--stop-at-end", options.stopAtEnd,
                    "hold the ranks where a recording that is cut ends, for a debugger");
  addPart(*command, options.part);
  words->stallAfter = addStallAfter(*command);
  command->add_flag("--survey", options.survey,
                    "fill events and races of the trace by this replay; of a part of the job, the "
                    "events of its ranks");
  addConditions(*command, *words);
  addTrust(*command);
  commands.push_back({command, [command, words] { return run(*command, *words); },
                      [words] { return std::vector<std::string>{words->options.trace}; }});
}

}  // namespace pf::cli
