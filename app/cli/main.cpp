// SPDX-License-Identifier: GPL-3.0-or-later
// photofinish: the command line. Without a subcommand it opens the window.
#include <CLI/CLI.hpp>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/command.h"
#include "app/cli/opening.h"
#include "app/cli/output.h"
#include "app/cli/wrong_words.h"
#include "app/files/paths.h"
#include "app/job/debugger_program.h"
#include "app/job/launcher.h"
#include "app/replaying/replay.h"
#include "app/traces/own_traces.h"
#include "app/version.h"
#include "replay_engine/base/caught.h"

namespace pf::cli {

std::shared_ptr<bool> addTrust(CLI::App& command) {
  auto given = std::make_shared<bool>(false);
  command.add_flag_callback(
      "--trust", [given] { *given = true; },
      "run what a trace says that you have not recorded on this machine; once is enough");
  return given;
}

void addGdb(CLI::App& command) {
  const auto obey = [](const std::string& path) {
    const Status used = app::useGdb(path);
    return used ? std::string() : used.error().text();
  };
  command.add_option("--gdb", "the GDB to use, a path or a name: cuda-gdb, rocgdb, a newer one")
      ->check(CLI::Validator(obey, "PATH"));
}

void addPart(CLI::App& command, app::PartOfJob& part) {
  CLI::Option* group =
      command.add_option("--group", part.group,
                         "run the ranks of this group alone, of a trace recorded with --groups");
  CLI::Option* ranks =
      command
          .add_option_function<std::string>(
              "--ranks",
              [&part](const std::string& text) {
                Result<std::vector<Rank>> read = app::ranksOfText(text);
                if (!read) {
                  throw CLI::ValidationError(read.error().message, read.error().advice);
                }
                part.ranks = std::move(*read);
              },
              "run these ranks alone, as 3 or 0-7,12: one or several whole groups")
          ->allow_extra_args(false);
  group->excludes(ranks);
}

std::shared_ptr<double> addStallAfter(CLI::App& command) {
  auto seconds = std::make_shared<double>(0);
  command
      .add_option("--stall-after", *seconds,
                  "seconds for which every rank waits until a line tells of it")
      ->check(CLI::Range(0.1, 1e7));
  return seconds;
}

namespace {

namespace fs = std::filesystem;

/// Takes the way out of "--force pinned" and "--force tagged" among the words of a replay: --force
/// alone is a flag, and a file may follow it.
Result<std::string> takeForcedWay(std::vector<char*>& words) {
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
      return Error{ErrorCode::Usage, "'" + way + "' is no way to force deliveries",
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
      i += option->get_items_expected_max() > 0 ? 1U : 0U;  // also of one that may come again
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
    "replay divergence, 4 damaged file; ci, predict, races --new-only: 5 something is found.";

int openGiven(const std::string& name, bool session) {
  if (session) {
    return app::isFile(name)
               ? openWindow({name})
               : fail({ErrorCode::NotFound, "there is no session " + name, "Check the name."});
  }
  auto opened = app::openTrace(name, db::TraceStore::Mode::ReadOnly);
  return opened ? openWindow({name}) : fail(opened.error());
}

/// The plain forms: a trace or a session, or a launcher's command. Nothing: it is neither.
std::optional<int> plainForm(const CLI::App& parser, const std::vector<std::string>& given) {
  std::vector<std::string> names = given;
  if (names.size() == 2 && std::erase(names, "--trust") == 1) {
    const std::string extension = fs::path(names.front()).extension().string();
    if (extension == ".pft" || extension == ".pfs") {
      const int status = extension == ".pft" ? trust(names.front()) : 0;
      return status != 0 ? status : openWindow({"--trust", names.front()});
    }
  }
  if (given.empty() || given.front().starts_with('-') || isSubcommand(parser, given.front())) {
    return std::nullopt;
  }
  const std::string& first = given.front();
  const std::string extension = first.size() > 4 ? fs::path(first).extension().string() : "";
  const bool isFile = app::isFile(first) && app::findInPath(first).empty();
  if (given.size() == 1 && (extension == ".pfs" || extension == ".pft" || isFile)) {
    return openGiven(first, extension == ".pfs");
  }
  return recordAndOpen(given);
}

int carryOut(const Command& command) {
  if (command.trusts && command.words->count("--trust") > 0) {
    for (const std::string& trace : command.trusts()) {
      if (const int status = trust(trace); status != 0) {
        return status;
      }
    }
  }
  return command.run();
}

int commandLine(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::vector<char*> words(argv, argv + argc);
  const std::string name = argc >= 2 ? argv[1] : "";
  const Result<std::string> forced =
      name == "replay" ? takeForcedWay(words) : Result<std::string>(std::string());
  if (!forced) {
    return fail(forced.error());
  }
  CLI::App parser{
      "Photofinish: record the message races of an MPI program, and debug the same finish as often "
      "as you like"};
  parser.set_version_flag("--version", app::kVersion);
  parser.footer(kFooter);
  parser.require_subcommand(0, 1);
  Commands commands;
  addRecord(parser, commands);
  addCi(parser, commands);
  addReplay(parser, commands, *forced);
  addReports(parser, commands);
  addGroups(parser, commands);
  addFlip(parser, commands);
  addExplore(parser, commands);
  addBlame(parser, commands);
  addRuns(parser, commands);
  addPredict(parser, commands);
  addPlugins(parser, commands);
  addDebugging(parser, commands);
  addTutorial(parser, commands);
  addDoctor(parser, commands);
  if (const auto status = plainForm(parser, {argv + 1, argv + argc})) {
    return *status;
  }
  for (const Command& command : commands) {
    if (command.words->get_name() == name && command.words->get_prefix_command()) {
      dropEndOfOptions(*command.words, words);
    }
  }
  try {
    parser.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      return parser.exit(error);
    }
    return fail(wrongWords(parser, error, {words.begin() + 1, words.end()}));
  }
  for (const Command& command : commands) {
    if (*command.words) {
      return carryOut(command);
    }
  }
  return openWindow({});
}

/// A pipe whose reader has gone.
bool nobodyReads(int fd) {
  pollfd pipe{fd, POLLOUT, 0};
  return poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

}  // namespace
}  // namespace pf::cli

int main(int argc, char** argv) {
  const int status = pf::lastCatch("photofinish", pf::cli::commandLine, argc, argv);
  // What is lost here looks like a shorter answer.
  if ((std::fflush(stdout) != 0 || std::ferror(stdout) != 0) && status == 0) {
    if (pf::cli::nobodyReads(STDOUT_FILENO)) {  // as 'head', once it has its lines
      return 128 + SIGPIPE;
    }
    std::fprintf(stderr, "photofinish: the output could not be written: %s\n",
                 std::strerror(errno));
    return pf::exitStatus(pf::ErrorCode::System);
  }
  return status;
}
