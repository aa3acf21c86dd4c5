// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include "app/branching/blame.h"
#include "app/cli/command.h"
#include "app/cli/output.h"

namespace pf::cli {

void addBlame(CLI::App& parser, Commands& commands) {
  struct Words {
    app::BlameOptions options;
    bool json = false;
  };
  constexpr std::uint64_t kMostRuns = 1'000'000;
  constexpr double kLongest = 1e7;  // seconds
  auto words = std::make_shared<Words>();
  app::BlameOptions& options = words->options;
  CLI::App* command =
      parser.add_subcommand("blame", "Which deliveries decide between failing and not");
  command->add_option("FAILING", options.failing, "trace of a run that failed")->required();
  command->add_option("GOOD", options.good,
                      "trace of one that did not (default: one is looked for, and kept as "
                      "FAILING-good.pft)");
  command->add_option("--check", options.check,
                      "a run has failed, too, if this command of the shell does, which has as its "
                      "input what the run printed");
  command
      ->add_option("--runs", options.counterChecks,
                   "for the counter-check: runs with what was found, and as many without "
                   "(default: 5)")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--max-runs", options.mostRuns,
                   "to look for a good run, and again for the deliveries (default: 200)")
      ->check(CLI::Range(std::uint64_t{1}, kMostRuns));
  command
      ->add_option("--run-time", options.runTime, "end a run after so many seconds (default: 60)")
      ->check(CLI::Range(0.1, kLongest));
  command->add_flag("--json", words->json, "one JSON document");
  addTrust(*command);
  commands.push_back({command,
                      [words] {
                        const Result<app::Blame> found = app::blame(words->options);
                        if (!found) {
                          return fail(found.error());
                        }
                        words->json ? put(app::blameJson(*found)) : show(app::blameText(*found));
                        return 0;
                      },
                      [words] {
                        std::vector<std::string> traces{words->options.failing};
                        if (!words->options.good.empty()) {
                          traces.push_back(words->options.good);
                        }
                        return traces;
                      }});
}

}  // namespace pf::cli
