// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish: the command line. Without a subcommand it opens the window.
#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/headless.h"
#include "app/cli/script.h"
#include "app/export/export.h"
#include "app/files/paths.h"
#include "app/job/job.h"
#include "app/job/launcher.h"
#include "app/recording/record.h"
#include "app/replaying/replay.h"
#include "app/reports/query.h"
#include "app/reports/report.h"
#include "app/traces/own_traces.h"
#include "app/traces/redact.h"
#include "app/version.h"
#include "replay_engine/base/caught.h"
#include "replay_engine/base/shown_text.h"

namespace {

namespace fs = std::filesystem;

int fail(const pf::Error& error) {
  pf::tell(error.text());
  return pf::exitStatus(error.code);
}

/// Everything that is read by a person.
void show(std::string_view text) {
  const std::string visible = pf::shown(text);
  std::fwrite(visible.data(), 1, visible.size(), stdout);
}

/// Everything that is read by a program: JSON has escapes of its own.
void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int print(const pf::Result<std::string>& text, bool json) {
  if (!text) {
    return fail(text.error());
  }
  (json ? put : show)(*text);
  return 0;
}

int ended(const pf::Status& status) {
  return status ? 0 : fail(status.error());
}

/// Becomes the window, on `files` (a trace, or nothing).
int openWindow(const std::vector<std::string>& files) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr &&
      std::getenv("QT_QPA_PLATFORM") == nullptr) {
    return fail({pf::ErrorCode::System,
                 files.empty() ? "there is no display to open the window on"
                               : "there is no display to open " + files.back() + " on",
                 "Set DISPLAY, or use the command line: photofinish races, replay, events (see "
                 "photofinish --help)."});
  }
  pf::cli::become("photofinish-gui", files);
  const std::string gui = pf::app::programDirectory() + "/photofinish-gui";
  std::fprintf(stderr,
               "photofinish: the window (%s) is not installed\n  Build with APP_BUILD_GUI=ON, or "
               "use the command line: photofinish --help\n",
               gui.c_str());
  return 1;
}

/// --stall-after
std::chrono::milliseconds stallTime(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// What is asked of a trace of somebody else with --trust; says what that was.
int trust(const std::string& trace) {
  const pf::Status may = pf::app::mayRun(trace);
  if (may || may.error().code != pf::ErrorCode::Usage) {
    return may ? 0 : fail(may.error());
  }
  const auto facts = pf::db::readFacts(trace);
  const pf::Status taken = pf::app::takeOver(trace);
  if (!facts || (!taken && taken.error().code != pf::ErrorCode::System)) {
    return fail(facts ? taken.error() : facts.error());
  }
  std::fprintf(stderr, "photofinish: %s is taken over, with what it runs:\n%s",
               pf::app::shownWord(trace).c_str(), pf::app::whatItRuns(*facts).c_str());
  if (!taken) {
    std::fprintf(stderr, "photofinish: %s: it is taken over for this command only\n",
                 taken.error().message.c_str());
  }
  return 0;
}

int recordAndOpen(const std::vector<std::string>& command, double stallAfter = 0) {
  pf::app::RecordOptions options;
  options.command = command;
  options.stallAfter = stallTime(stallAfter);
  auto recorded = pf::app::record(options);
  if (!recorded || recorded->trace.empty()) {
    return recorded ? recorded->exitStatus : fail(recorded.error());
  }
  return openWindow({"--trust", recorded->trace});  // one's own
}

pf::Result<pf::EventRef> parseEvent(const std::string& text) {
  pf::EventRef event;
  char rest = 0;
  unsigned long long serial = 0;
  if (std::sscanf(text.c_str(), "%d:%llu%c", &event.rank, &serial, &rest) != 2) {
    return pf::Error{pf::ErrorCode::Usage, "'" + text + "' is not an event",
                     "Give RANK:SERIAL, for example --until 2:17."};
  }
  event.serial = serial;
  return event;
}

/// RANK:SERIAL, or one of each rank, separated by commas: a cut.
pf::Status parseUntil(const std::string& text, pf::app::ReplayOptions& options) {
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

int check(const std::string& trace) {
  auto recovered = pf::app::recoverTrace(trace);
  if (!recovered) {
    return fail(recovered.error());
  }
  auto findings = pf::db::checkTrace(pf::app::absolutePath(trace));
  if (!findings) {
    return fail(findings.error());
  }
  if (findings->empty()) {
    // Not what checksums can tell: whether the logs are of these ranks.
    auto store = pf::app::openTrace(trace, pf::db::TraceStore::Mode::ReadOnly);
    const pf::Status logs = store ? pf::app::logsAreTheirRanks(*store) : store.error();
    if (!logs) {
      return fail(logs.error());
    }
    std::printf("%s: whole, every checksum is right\n", trace.c_str());
    return 0;
  }
  for (const pf::db::Finding& finding : *findings) {
    show(finding.where + ": " + finding.what + "; lost: " + finding.lost + "\n");
  }
  return pf::exitStatus(pf::ErrorCode::Damaged);
}

int salvage(const std::string& from, const std::string& to) {
  const std::string source = pf::app::absolutePath(from);
  const std::string made = pf::app::absolutePath(to);
  auto report = pf::db::salvageTrace(source, made);
  if (!report) {
    return fail(report.error());
  }
  pf::app::noteCopy(source, made);
  for (const std::string& kept : report->kept) {
    show("kept " + kept + "\n");
  }
  for (const pf::db::Finding& finding : report->lost) {
    show("lost " + finding.where + ": " + finding.lost + " (" + finding.what + ")\n");
  }
  return 0;
}

int peek(const std::string& trace, const std::string& to, bool survey, bool trusted) {
  auto made = pf::app::peek(trace, to);
  if (!made) {
    return fail(made.error());
  }
  if (const int status = trusted ? trust(to) : 0; status != 0) {
    return status;
  }
  if (survey) {
    std::signal(SIGTERM,
                [](int) { pf::app::endReplays(); });  // the ranks of the survey end with us
    if (const pf::Status seen = pf::app::surveyIfNeeded(to); !seen) {
      return fail(seen.error());
    }
  }
  std::printf("%s: %d ranks, %llu wildcard receives so far\n", to.c_str(), made->ranks,
              static_cast<unsigned long long>(made->wildcardReceives));
  for (const std::string& cut : made->cuts) {
    show("  " + cut + "\n");
  }
  return 0;
}

/// As diff(1): 0 the same, 1 different.
int diff(const std::string& a, const std::string& b, bool json) {
  auto report = pf::app::diffReport(a, b, json);
  if (!report) {
    return fail(report.error());
  }
  (json ? put : show)(report->text);
  return report->same ? 0 : 1;
}

/// Takes the way out of "--force pinned" and "--force tagged" among the words of a replay: --force
/// alone is a flag, and a file may follow it.
pf::Result<std::string> takeForcedWay(std::vector<char*>& words) {
  std::string way;
  const auto isWay = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == word.npos &&
           word[0] != '-' && access(word.c_str(), F_OK) != 0;
  };
  for (std::size_t i = 2; i < words.size();) {
    const std::string word = words[i];
    const bool joined = word.rfind("--force=", 0) == 0;
    if (!joined && (word != "--force" || i + 1 == words.size() || !isWay(words[i + 1]))) {
      ++i;
      continue;
    }
    way = joined ? word.substr(word.find('=') + 1) : words[i + 1];
    if (way != "pinned" && way != "tagged") {
      return pf::Error{
          pf::ErrorCode::Usage, "'" + way + "' is no way to force deliveries",
          "Give --force pinned or --force tagged; --force alone replays another build."};
    }
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(first, first + (joined ? 1 : 2));
  }
  return way;
}

/// Takes out the "--" that may end the options of a command before a launcher: CLI11 would not take
/// what follows for the launcher. One among the launcher's own words stays.
void dropEndOfOptions(const CLI::App& command, std::vector<char*>& words) {
  std::size_t positionals =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); })
          .size();
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--") {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    if (word.size() < 2 || word[0] != '-') {
      if (positionals == 0) {
        return;  // the launcher
      }
      --positionals;
    } else if (const CLI::Option* option = command.get_option_no_throw(word); option != nullptr) {
      i += static_cast<std::size_t>(option->get_items_expected_max());
    }
  }
}

bool isSubcommand(const CLI::App& app, const std::string& word) {
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  return std::any_of(all.begin(), all.end(),
                     [&](const CLI::App* command) { return command->get_name() == word; });
}

constexpr const char* kFooter =
    "Plain form:  photofinish [debug] LAUNCHER… PROGRAM ARGS   records, then opens the run in the "
    "window\n"
    "             photofinish FILE                             opens a trace or a session in the "
    "window\n"
    "             photofinish                                  opens the window\n"
    "Exit status: the program's own for record and replay; diff: 1 they differ; 2 bad use, 3 "
    "replay "
    "divergence, 4 damaged file.";

int commandLine(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{
      "Photofinish: record the message races of an MPI program, and debug the same finish as often "
      "as you like"};
  app.set_version_flag("--version", pf::app::kVersion);
  app.footer(kFooter);
  app.require_subcommand(0, 1);

  pf::app::RecordOptions recording;
  auto* recordCommand =
      app.add_subcommand("record", "Run a program and record what MPI chose")->prefix_command();
  recordCommand->add_option("-o,--output", recording.output,
                            "trace file to write (default: PROGRAM-N.pft)");
  recordCommand->add_flag("--replace", recording.replace,
                          "a trace of that name goes; without this it is kept under a number");
  auto* modeOption =
      recordCommand
          ->add_option(
              "--mode", recording.mode,
              "outcomes: MPI's choices only, events by a replay (default); races: and races "
              "found while the program runs; all: every event at once")
          ->check(CLI::IsMember({"outcomes", "races", "all"}));
  auto* algorithmOption =
      recordCommand
          ->add_option("--algorithm", recording.algorithm,
                       "mode races: which deliveries are traced (default: meehan)")
          ->check(
              CLI::IsMember({"meehan", "netzer-miller", "algorithm-a", "algorithm-b", "naive"}));
  auto* windowOption =
      recordCommand
          ->add_option("--window", recording.window,
                       "mode races: as algorithm-b, but what is traced is decided when N more "
                       "wildcards have been received")
          ->check(CLI::Range(1U, 1024U));
  recordCommand->add_option("--jitter", recording.jitterSeed,
                            "delay MPI calls at random, by this seed, to provoke other orders");

  recordCommand->add_flag("--rdtsc", recording.cycles,
                          "also the rdtsc instruction, which then takes microseconds");
  const std::string untilProven = "proven";
  std::string endStuck;
  auto* endStuckFlag = recordCommand->add_flag(
      "--end-stuck{" + untilProven + "}", endStuck,
      "end the program once it is certain that it cannot get on (a cycle of waits, a wait for who "
      "has ended); --end-stuck=SECONDS: also once every rank has waited for so long");
  recordCommand->add_flag("--same-addresses", recording.sameAddresses,
                          "stack, heap, globals and libraries lie where they will in each replay");

  double stallAfter = 0;
  const auto addStallAfter = [&stallAfter](CLI::App* command) {
    command
        ->add_option("--stall-after", stallAfter,
                     "seconds for which every rank waits until a line tells of it")
        ->check(CLI::Range(0.1, 1e7));
  };
  addStallAfter(recordCommand);

  pf::app::ReplayOptions replaying;
  std::string until;
  auto* replayCommand =
      app.add_subcommand("replay", "Run the recorded program again with the same deliveries")
          ->prefix_command();
  replayCommand->add_option("FILE", replaying.trace, "trace")->required();
  replayCommand->add_option("--jitter", replaying.jitterSeed,
                            "delay MPI calls at random, by this seed: must change nothing");
  replayCommand->add_option(
      "--until", until,
      "RANK:SERIAL: stop that rank just before that event, the others at the cut that it needs; or "
      "a cut, RANK:SERIAL of each rank, separated by commas");
  auto* untilOption = replayCommand->get_option("--until");
  bool failing = false;
  auto* untilFailure = replayCommand->add_flag(
      "--until-failure", failing, "stop before the last receive of the rank that failed");
  std::uint64_t race = 0;
  auto* untilRace = replayCommand->add_option(
      "--until-race", race, "stop before racing receive N, in the order of 'races', from 1");
  untilOption->excludes(untilFailure)->excludes(untilRace);
  untilFailure->excludes(untilRace);
  replayCommand->add_flag("--stop-at-end", replaying.stopAtEnd,
                          "hold the ranks where a recording that is cut ends, for a debugger");
  addStallAfter(replayCommand);
  replayCommand->add_flag("--survey", replaying.survey,
                          "fill events and races of the trace by this replay");
  auto* bounded = replayCommand->add_flag(
      "--bounded-buffers", replaying.boundedBuffers,
      "hold each message back until its receiver is ready for it, so that none pile up");
  untilOption->excludes(bounded);
  untilFailure->excludes(bounded);
  untilRace->excludes(bounded);
  replayCommand->add_flag(
      "--same-addresses", replaying.sameAddresses,
      "refuse unless the trace was recorded so (then it is replayed so anyway)");
  std::string environment = "recorded";
  replayCommand
      ->add_option("--environment", environment,
                   "recorded: the ranks get the recorded variables again (default); now: those of "
                   "this shell")
      ->check(CLI::IsMember({"recorded", "now"}));
  replayCommand->add_flag(
      "--force", replaying.force,
      "replay although program, libraries, arguments, environment or MPI library "
      "are not the recorded ones");
  replayCommand->add_flag(
      "--ignore-contents", replaying.ignoreContents,
      "messages may hold something else than they did: said, but no divergence");
  replayCommand->footer(
      "--force pinned: wildcards ask for their recorded sources; --force tagged: traced messages "
      "go "
      "to their\nreceives over a communicator of their own. Default: by what the trace holds.");

  std::string trace;
  std::string madeFile;
  bool json = false;
  int rank = -1;
  auto* infoCommand =
      app.add_subcommand("info", "What is in a trace: ranks, command, messages, where it is cut");
  auto* racesCommand =
      app.add_subcommand("races", "Racing receives, and what each could have taken instead");
  auto* eventsCommand = app.add_subcommand("events", "Events of all ranks");
  auto* checkCommand = app.add_subcommand("check", "Verify every checksum; list what is lost");
  auto* salvageCommand =
      app.add_subcommand("salvage", "Copy what still verifies of a damaged trace into a new one");
  auto* redactCommand = app.add_subcommand(
      "redact",
      "Make a trace to give away: events, messages and races, without what may be private");
  auto* peekCommand = app.add_subcommand(
      "peek", "Make a trace of what a recording that goes on has so far, and let it go on");
  for (auto* command : {infoCommand, racesCommand, eventsCommand, checkCommand, salvageCommand,
                        redactCommand, peekCommand}) {
    command->add_option("FILE", trace, "trace")->required();
  }
  bool tracing = false;
  infoCommand->add_flag("--tracing", tracing,
                        "also what each of the papers' algorithms would trace, and the optimum");
  for (auto* command : {infoCommand, racesCommand, eventsCommand}) {
    command->add_flag("--json", json, "one JSON document");
  }
  auto* rankOption = eventsCommand->add_option("--rank", rank, "this rank only");
  salvageCommand->add_option("TO", madeFile, "new trace")->required();
  redactCommand->add_option("TO", madeFile, "new trace")->required();
  peekCommand->add_option("TO", madeFile, "new trace")->required();
  bool peekSurvey = false;
  peekCommand->add_flag(
      "--survey", peekSurvey,
      "where MPI's choices only are recorded, run the program once more at once to see its events");
  std::string other;
  auto* diffCommand = app.add_subcommand(
      "diff", "Where two recordings of a program part: first differences, first causes");
  diffCommand->add_option("A", trace, "trace")->required();
  diffCommand->add_option("B", other, "trace of the same program")->required();
  diffCommand->add_flag("--json", json, "one JSON document");
  std::string query;
  auto* sqlCommand = app.add_subcommand("sql", "Rows of one SELECT on a trace");
  sqlCommand->add_option("FILE", trace, "trace")->required();
  sqlCommand->add_option("QUERY", query, "SQL; tables are in docs/trace-format.md")->required();
  sqlCommand->add_flag("--json", json, "one JSON array of objects");
  std::string format;
  std::string output;
  auto* exportCommand = app.add_subcommand("export", "Write a trace in the format of other tools");
  exportCommand->add_option("FILE", trace, "trace")->required();
  exportCommand
      ->add_option("--format", format,
                   "csv: a row an event; chrome: Trace Event JSON, for Perfetto; shiviz: log with "
                   "vector clocks; otf2: archive")
      ->required()
      ->check(CLI::IsMember({"csv", "chrome", "shiviz", "otf2"}));
  exportCommand->add_option("-o,--output", output,
                            "file to make (a directory for otf2); default: standard output");
  auto* debugCommand =
      app.add_subcommand("debug", "Record, then open the run in the window, or report on it")
          ->prefix_command();
  pf::cli::OfflineOptions offline;
  auto* offlineFlag = debugCommand->add_flag(
      "--offline", offline.offline,
      "no window: replay the run (or FILE.pft) to its failure and write a report");
  auto* reportOption =
      debugCommand->add_option("-o,--output", offline.output, "--offline: NAME.html or NAME.txt")
          ->needs(offlineFlag);
  offlineFlag->needs(reportOption);
  const auto place = [](bool expression) {
    return CLI::Validator(
        [expression](std::string& text) { return pf::cli::wrongPlace(text, expression); },
        expression ? "FILE:LINE EXPRESSION" : "FILE:LINE");
  };
  debugCommand->add_option("--break", offline.breaks, "--offline: list the hits of this place")
      ->needs(offlineFlag)
      ->allow_extra_args(false)
      ->check(place(false));
  debugCommand
      ->add_option("--log", offline.logs, "--offline: list the values of an expression there")
      ->needs(offlineFlag)
      ->allow_extra_args(false)
      ->check(place(true));
  debugCommand
      ->add_option("--transcripts", offline.transcripts,
                   "--offline: save what passes between us and each GDB in this directory")
      ->needs(offlineFlag)
      ->check(CLI::ExistingDirectory);
  debugCommand
      ->add_option("--snapshot-every", offline.snapshotEvery,
                   "--offline: seconds between snapshots of all stacks; SIGUSR1 asks for one more")
      ->needs(offlineFlag)
      ->check(CLI::Range(0.1, 86400.0));
  addStallAfter(debugCommand);
  std::string script;
  debugCommand
      ->add_option("--script", script,
                   "no window: carry out the commands of this file on a replay of the run (or "
                   "FILE.pft), - is standard input; 'help' in it lists them")
      ->excludes(offlineFlag);
  int pid = 0;
  auto* attachCommand = app.add_subcommand("attach",
                                           "Debug a job that runs: none of its ranks is stopped "
                                           "before it is ticked, and nothing is replayed");
  auto* pidOption = attachCommand->add_option(
      "PID", pid,
      "process id of mpirun or of a rank; without it, the jobs that run here are listed");
  std::vector<std::string> cores;
  std::string coreProgram;
  auto* coreCommand = app.add_subcommand("core", "Look at the core files of ranks, one or several");
  coreCommand->add_option("CORE", cores, "core files")->required();
  coreCommand->add_option("--program", coreProgram, "what left them, if they do not say")
      ->check(CLI::ExistingFile);
  int port = -1;
  auto* dapCommand =
      app.add_subcommand("dap", "Debug Adapter Protocol on standard input and output, for editors");
  dapCommand->add_option("--port", port, "on this port of 127.0.0.1 instead; 0: any free one")
      ->check(CLI::Range(0, 65535));
  bool trusted = false;
  for (auto* command : {infoCommand, racesCommand, eventsCommand, peekCommand, diffCommand,
                        sqlCommand, exportCommand, replayCommand, debugCommand, dapCommand}) {
    command->add_flag("--trust", trusted,
                      "run what a trace says that you have not recorded on this machine; once is "
                      "enough");
  }

  // Plain forms: a trace, or a launcher's command.
  std::vector<std::string> given(argv + 1, argv + argc);
  const bool trustedFile = given.size() == 2 && std::erase(given, "--trust") == 1;
  if (trustedFile) {
    const std::string extension = fs::path(given.front()).extension().string();
    if (extension == ".pft" || extension == ".pfs") {
      const int status = extension == ".pft" ? trust(given.front()) : 0;
      return status != 0 ? status : openWindow({"--trust", given.front()});
    }
  }
  if (argc >= 2 && argv[1][0] != '-' && !isSubcommand(app, argv[1])) {
    const std::string first = argv[1];
    const std::string extension = fs::path(first).extension().string();
    const bool isTrace = first.size() > 4 && extension == ".pft";
    if (argc == 2 && first.size() > 4 && extension == ".pfs") {
      return pf::app::isFile(first) ? openWindow({first})
                                    : fail({pf::ErrorCode::NotFound, "there is no session " + first,
                                            "Check the name."});
    }
    if (argc == 2 && (isTrace || (pf::app::isFile(first) && pf::app::findInPath(first).empty()))) {
      auto opened = pf::app::openTrace(first, pf::db::TraceStore::Mode::ReadOnly);
      return opened ? openWindow({first}) : fail(opened.error());
    }
    return recordAndOpen({argv + 1, argv + argc});
  }
  std::vector<char*> words(argv, argv + argc);
  if (argc >= 2 && std::string(argv[1]) == "replay") {
    auto way = takeForcedWay(words);
    if (!way) {
      return fail(way.error());
    }
    replaying.deliveries = *way;
  }
  for (const CLI::App* command : {recordCommand, replayCommand, debugCommand}) {
    if (argc >= 2 && argv[1] == command->get_name()) {
      dropEndOfOptions(*command, words);
    }
  }
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (trusted && !*peekCommand && !*dapCommand) {
    if (*replayCommand) {
      trace = replaying.trace;
    } else if (*debugCommand && debugCommand->remaining().size() == 1 &&
               debugCommand->remaining().front().ends_with(".pft")) {
      trace = debugCommand->remaining().front();
    }
    for (const std::string& each : {trace, other}) {
      if (const int status = each.empty() ? 0 : trust(each); status != 0) {
        return status;
      }
    }
  }

  if (*recordCommand) {
    recording.command = recordCommand->remaining();
    recording.stallAfter = stallTime(stallAfter);
    recording.endStuck = endStuckFlag->count() > 0;
    if (recording.endStuck && endStuck != untilProven) {
      const double seconds = std::strtod(endStuck.c_str(), nullptr);
      if (!(seconds >= 0.1 && seconds <= 1e7)) {
        return fail(
            {pf::ErrorCode::Usage, "'" + endStuck + "' is no time for --end-stuck",
             "Give for how many seconds every rank may wait, for example --end-stuck=60, or "
             "--end-stuck alone."});
      }
      recording.stallLimit = stallTime(seconds);
    }
    if ((*algorithmOption || *windowOption) && *modeOption && recording.mode != "races") {
      return fail({pf::ErrorCode::Usage,
                   (*algorithmOption ? "--algorithm" : "--window") +
                       (" says what mode races traces, and the mode is " + recording.mode),
                   "Leave out --mode, or give --mode races."});
    }
    if (*windowOption && *algorithmOption && recording.algorithm != "algorithm-b") {
      return fail({pf::ErrorCode::Usage,
                   "--window delays Algorithm B, and the algorithm is " + recording.algorithm,
                   "Leave out --algorithm, or --window."});
    }
    if (*algorithmOption || *windowOption) {
      recording.mode = "races";
    }
    auto recorded = pf::app::record(recording);
    return recorded ? recorded->exitStatus : fail(recorded.error());
  }
  if (*replayCommand) {
    replaying.launcherOptions = replayCommand->remaining();
    replaying.stallAfter = stallTime(stallAfter);
    replaying.environmentOfNow = environment == "now";
    if (!until.empty()) {
      if (auto parsed = parseUntil(until, replaying); !parsed) {
        return fail(parsed.error());
      }
    } else if (*untilFailure || *untilRace) {
      auto event = *untilFailure ? pf::app::failingReceiveOf(replaying.trace)
                                 : pf::app::racingReceiveOf(replaying.trace, race);
      if (!event) {
        return fail(event.error());
      }
      replaying.until = *event;
    }
    auto status = pf::app::replay(replaying);
    return status ? *status : fail(status.error());
  }
  if (*infoCommand) {
    return print(pf::app::infoReport(trace, json, tracing), json);
  }
  if (*racesCommand) {
    return ended(pf::app::racesReport(trace, json, json ? put : show));
  }
  if (*eventsCommand) {
    return ended(pf::app::eventsReport(trace,
                                       *rankOption ? std::optional<pf::Rank>(rank) : std::nullopt,
                                       json, json ? put : show));
  }
  if (*checkCommand) {
    return check(trace);
  }
  if (*peekCommand) {
    return peek(trace, madeFile, peekSurvey, trusted);
  }
  if (*redactCommand) {
    return ended(pf::app::redactTrace(trace, madeFile));
  }
  if (*salvageCommand) {
    return salvage(trace, madeFile);
  }
  if (*diffCommand) {
    return diff(trace, other, json);
  }
  if (*sqlCommand) {
    const pf::Status done = pf::app::printQuery(trace, query, json);
    return done ? 0 : fail(done.error());
  }
  if (*exportCommand) {
    const pf::Status done = pf::app::exportTrace(trace, format, output);
    return done ? 0 : fail(done.error());
  }
  if (*debugCommand && !script.empty()) {
    auto status =
        pf::cli::debugByScript(debugCommand->remaining(), script, trusted, stallTime(stallAfter));
    return status ? *status : fail(status.error());
  }
  if (*debugCommand) {
    if (!offline.offline) {
      return recordAndOpen(debugCommand->remaining(), stallAfter);
    }
    offline.stallAfter = stallTime(stallAfter);
    offline.trusted = trusted;
    auto status = pf::cli::debugOffline(debugCommand->remaining(), offline);
    return status ? *status : fail(status.error());
  }
  if (*attachCommand && !*pidOption) {
    show(pf::cli::runningJobsText());
    return 0;
  }
  if (*attachCommand || *coreCommand) {
    auto opening =
        *coreCommand ? pf::cli::coreWords(cores, coreProgram) : pf::cli::attachWords(pid);
    return opening ? openWindow(*opening) : fail(opening.error());
  }
  if (*dapCommand) {
    std::vector<std::string> next{"dap", std::to_string(port)};
    if (trusted) {
      next.insert(next.begin() + 1, "--trust");
    }
    return fail(pf::cli::becomeHeadless(next));
  }
  return openWindow({});
}

}  // namespace

int main(int argc, char** argv) {
  const int status = pf::lastCatch("photofinish", commandLine, argc, argv);
  // What is lost here looks like a shorter answer.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && status == 0) {
    std::fprintf(stderr, "photofinish: the output could not be written: %s\n",
                 std::strerror(errno));
    return pf::exitStatus(pf::ErrorCode::System);
  }
  return status;
}
