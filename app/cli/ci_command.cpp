// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include <algorithm>

#include "app/ci/ci_run.h"
#include "app/cli/command.h"
#include "app/cli/opening.h"
#include "app/cli/output.h"
#include "app/cli/wrong_words.h"
#include "app/collation/site_names.h"
#include "app/reports/ci_result.h"

namespace pf::cli {
namespace {

struct CiWords {
  app::CiWish wish;
  std::string sarif;
  std::string junit;
  std::string markdown;
  bool asBuilt = false;
  double endStuck = 0;
  CLI::Option* baseline = nullptr;
  CLI::Option* check = nullptr;
};

/// A report to write, and how it is made.
struct CiReport {
  const std::string& path;
  std::string (*text)(const app::CiResult& result);
};

std::vector<CiReport> ciReports(const CiWords& words) {
  std::vector<CiReport> all;
  for (const CiReport& each :
       {CiReport{words.sarif, app::ciSarif}, CiReport{words.junit, app::ciJunit},
        CiReport{words.markdown, app::ciMarkdown}}) {
    if (!each.path.empty()) {
      all.push_back(each);
    }
  }
  return all;
}

Status mayBeginCi(const CLI::App& command, const CiWords& words) {
  if (const Status good = isProgram(command, words.wish.command); !good) {
    return good;
  }
  if (*words.baseline && words.wish.baseline.empty()) {
    return Error{ErrorCode::Usage, "--baseline has no name",
                 "Name a file, as --baseline app.races."};
  }
  if (*words.check && words.wish.check.empty()) {
    return Error{ErrorCode::Usage, "--check has no command",
                 "Give one of the shell, for example --check 'grep -q OK'."};
  }
  for (const CiReport& each : ciReports(words)) {
    if (Status may = app::mayBeCiReport(each.path); !may) {
      return may;
    }
  }
  return {};
}

/// 5 where something is new; else 0. That what was new is known from now on is no failure, but for what cannot be.
int ciStatus(const app::CiResult& result) {
  const auto fails = [&result](const app::CiFinding& one) {
    return one.isNew && !(result.updated && one.survives);
  };
  return std::ranges::any_of(result.classes, fails) || std::ranges::any_of(result.outcomes, fails)
             ? kNewFound
             : 0;
}

int run(const CLI::App& command, CiWords& words) {
  words.wish.command = command.remaining();
  if (const Status good = mayBeginCi(command, words); !good) {
    return fail(good.error());
  }
  if (words.asBuilt) {
    app::takeSourcesAsBuilt();
  }
  words.wish.stallLimit = stallTime(words.endStuck);
  Result<app::CiEnd> end = app::runForCi(words.wish);
  if (!end) {
    return fail(end.error());
  }
  if (end->interrupted) {
    return end->exitStatus;
  }
  const app::CiResult& result = end->result;
  show(app::ciText(result));
  for (const CiReport& each : ciReports(words)) {
    if (const Status written = app::writeCiReport(each.path, each.text(result)); !written) {
      return fail(written.error());
    }
  }
  return ciStatus(result);
}

void addReportFiles(CLI::App& command, CiWords& words) {
  command.add_option("--sarif", words.sarif, "write what was found as SARIF 2.1.0");
  command.add_option("--junit", words.junit, "write it as JUnit's XML");
  command.add_option("--markdown", words.markdown, "write it as a short Markdown text");
  command.add_option("--trace", words.wish.trace,
                     "trace to keep, or a directory for it (default: PROGRAM-N.pft, where there is "
                     "something to see)");
  command.add_flag("--replace", words.wish.replace,
                   "a trace of that name goes; without this it is kept under a number");
}

}  // namespace

void addCi(CLI::App& parser, Commands& commands) {
  constexpr std::size_t kMostRuns = 1'000'000;
  auto words = std::make_shared<CiWords>();
  CLI::App* command =
      parser
          .add_subcommand("ci",
                          "Record a program, and fail where it has races or outcomes that are not "
                          "known")
          ->prefix_command();
  words->baseline =
      command->add_option("--baseline", words->wish.baseline, "file of known races, NAME.races");
  command->add_flag("--update-baseline", words->wish.update, "add what is new to it")
      ->needs(words->baseline);
  command
      ->add_option("--runs", words->wish.runs,
                   "record so often, each second time with --jitter (default: 1)")
      ->check(CLI::Range(std::size_t{1}, kMostRuns));
  command
      ->add_option("--explore", words->wish.explored,
                   "also run other orders of its messages, at most so many")
      ->check(CLI::Range(std::size_t{1}, kMostRuns));
  words->check = command->add_option(
      "--check", words->wish.check,
      "a run has failed, too, if this command of the shell does, which has as its input what the "
      "run printed");
  command->add_option("--jitter", words->wish.jitterSeed, "seed of the first run with delays");
  command
      ->add_option("--end-stuck", words->endStuck,
                   "also end a run in which every rank has waited for so many seconds")
      ->check(CLI::Range(0.1, 1e7));
  command->add_flag(
      "--sources-as-built", words->asBuilt,
      "the sources are those of the build, also where they are later than the program");
  addReportFiles(*command, *words);
  commands.push_back({command, [command, words] { return run(*command, *words); }, {}});
}

}  // namespace pf::cli
