// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes another program of ours: the window, or photofinish-headless.
#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/headless.h"
#include "app/cli/opening.h"
#include "app/cli/output.h"
#include "app/cli/script.h"
#include "app/cli/wrong_words.h"

namespace pf::cli {
namespace {

struct DebugWords {
  OfflineOptions offline;
  ScriptOptions script;
  std::shared_ptr<double> stallAfter;
  std::shared_ptr<bool> trusted;
};

CLI::Validator place(bool expression) {
  return CLI::Validator([expression](std::string& text) { return wrongPlace(text, expression); },
                        expression ? "FILE:LINE EXPRESSION" : "FILE:LINE");
}

/// The report of a replay without a window.
CLI::Option* addOffline(CLI::App& command, OfflineOptions& offline) {
  CLI::Option* flag =
      command.add_flag("--offline", offline.offline,
                       "no window: replay the run (or FILE.pft) to its failure and write a report");
  CLI::Option* report =
      command.add_option("-o,--output", offline.output, "--offline: NAME.html or NAME.txt")
          ->needs(flag);
  flag->needs(report);
  command.add_option("--break", offline.breaks, "--offline: list the hits of this place")
      ->needs(flag)
      ->allow_extra_args(false)
      ->check(place(false));
  command.add_option("--log", offline.logs, "--offline: list the values of an expression there")
      ->needs(flag)
      ->allow_extra_args(false)
      ->check(place(true));
  command
      .add_option("--transcripts", offline.transcripts,
                  "--offline: save what passes between us and each GDB in this directory")
      ->needs(flag)
      ->check(CLI::ExistingDirectory);
  command
      .add_option("--snapshot-every", offline.snapshotEvery,
                  "--offline: seconds between snapshots of all stacks; SIGUSR1 asks for one more")
      ->needs(flag)
      ->check(CLI::Range(0.1, 86400.0));
  return flag;
}

int debug(const CLI::App& parsed, DebugWords& words) {
  const std::vector<std::string> command = parsed.remaining();
  if (const Status good = commandOrTrace(parsed, command); !good) {
    return fail(good.error());
  }
  const std::chrono::milliseconds stallAfter = stallTime(*words.stallAfter);
  const bool byScript = !words.script.script.empty();
  if (!byScript && !words.offline.offline) {
    if (!words.script.part.isWhole()) {
      return fail({ErrorCode::Usage, "--group and --ranks want --script or --offline",
                   "In the window, tick the ranks: Replay, Debug only these ranks."});
    }
    return recordAndOpen(command, stallAfter);
  }
  words.offline.stallAfter = stallAfter;
  words.offline.trusted = *words.trusted;
  words.offline.part = words.script.part;
  words.script.stallAfter = stallAfter;
  words.script.trusted = *words.trusted;
  auto status =
      byScript ? debugByScript(command, words.script) : debugOffline(command, words.offline);
  return status ? *status : fail(status.error());
}

void addDebug(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<DebugWords>();
  CLI::App* command =
      parser.add_subcommand("debug", "Record, then open the run in the window, or report on it")
          ->prefix_command();
  CLI::Option* offline = addOffline(*command, words->offline);
  words->stallAfter = addStallAfter(*command);
  CLI::Option* script =
      command
          ->add_option("--script", words->script.script,
                       "no window: carry out the commands of this file on a replay of the run (or "
                       "FILE.pft), - is standard input; 'help' in it lists them")
          ->excludes(offline);
  command
      ->add_flag("--force", words->script.force,
                 "--script: replay although program, libraries, arguments or environment are not "
                 "the recorded ones")
      ->needs(script);
  command
      ->add_flag(
          "--keep-going", words->script.keepGoing,
          "--script: a command that fails does not end the script; the exit status is 1 then")
      ->needs(script);
  addPart(*command, words->script.part);
  addGdb(*command);
  words->trusted = addTrust(*command);
  commands.push_back({command, [command, words] { return debug(*command, *words); },
                      [command] {
                        const std::vector<std::string> given = command->remaining();
                        const bool one = given.size() == 1 && given.front().ends_with(".pft");
                        return one ? given : std::vector<std::string>{};
                      }});
}

int openOn(const Result<std::vector<std::string>>& words) {
  return words ? openWindow(*words) : fail(words.error());
}

void addAttach(CLI::App& parser, Commands& commands) {
  auto pid = std::make_shared<int>(0);
  CLI::App* command = parser.add_subcommand("attach",
                                            "Debug a job that runs: none of its ranks is stopped "
                                            "before it is ticked, and nothing is replayed");
  CLI::Option* given = command->add_option(
      "PID", *pid,
      "process id of mpirun or of a rank; without it, the jobs that run here are listed");
  addGdb(*command);
  commands.push_back({command,
                      [given, pid] {
                        if (*given) {
                          return openOn(attachWords(*pid));
                        }
                        show(runningJobsText());
                        return 0;
                      },
                      {}});
}

void addCore(CLI::App& parser, Commands& commands) {
  struct CoreWords {
    std::vector<std::string> cores;
    std::string program;
  };
  auto words = std::make_shared<CoreWords>();
  CLI::App* command =
      parser.add_subcommand("core", "Look at the core files of ranks, one or several");
  command->add_option("CORE", words->cores, "core files")->required();
  command->add_option("--program", words->program, "what left them, if they do not say")
      ->check(CLI::ExistingFile);
  addGdb(*command);
  commands.push_back(
      {command, [words] { return openOn(coreWords(words->cores, words->program)); }, {}});
}

void addDap(CLI::App& parser, Commands& commands) {
  auto port = std::make_shared<int>(-1);
  CLI::App* command = parser.add_subcommand(
      "dap", "Debug Adapter Protocol on standard input and output, for editors");
  command->add_option("--port", *port, "on this port of 127.0.0.1 instead; 0: any free one")
      ->check(CLI::Range(0, 65535));
  addGdb(*command);
  const std::shared_ptr<bool> trusted = addTrust(*command);  // of what a client asks for
  commands.push_back({command,
                      [port, trusted] {
                        std::vector<std::string> words{"dap", std::to_string(*port)};
                        if (*trusted) {
                          words.insert(words.begin() + 1, "--trust");
                        }
                        return fail(becomeHeadless(words));
                      },
                      {}});
}

void addMcp(CLI::App& parser, Commands& commands) {
  auto console = std::make_shared<bool>(false);
  CLI::App* command = parser.add_subcommand(
      "mcp", "Model Context Protocol on standard input and output, for assistants");
  command->add_flag("--allow-console", *console,
                    "clients may give GDB any command, and expressions may assign and call "
                    "functions: a client then can run programs as you can");
  const std::shared_ptr<bool> trusted = addTrust(*command);  // of what a client asks for
  commands.push_back({command,
                      [console, trusted] {
                        std::vector<std::string> words{"mcp"};
                        if (*trusted) {
                          words.emplace_back("--trust");
                        }
                        if (*console) {
                          words.emplace_back("--allow-console");
                        }
                        return fail(becomeHeadless(words));
                      },
                      {}});
}

}  // namespace

void addDebugging(CLI::App& parser, Commands& commands) {
  addDebug(parser, commands);
  addAttach(parser, commands);
  addCore(parser, commands);
  addDap(parser, commands);
  addMcp(parser, commands);
}

}  // namespace pf::cli
