// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include "app/branching/run_tree.h"
#include "app/cli/command.h"
#include "app/cli/output.h"

namespace pf::cli {

void addRuns(CLI::App& parser, Commands& commands) {
  struct Words {
    std::string trace;
    bool json = false;
  };
  auto words = std::make_shared<Words>();
  CLI::App* command = parser.add_subcommand(
      "runs", "The tree of a run and its other orders: what each took, and how it ended");
  command->add_option("FILE", words->trace, "trace")->required();
  command->add_flag("--json", words->json, "as JSON");
  commands.push_back({command,
                      [words] {
                        const Result<app::RunTree> tree = app::runTree(words->trace);
                        if (!tree) {
                          return fail(tree.error());
                        }
                        words->json ? put(app::runTreeJson(*tree)) : show(app::runTreeText(*tree));
                        return 0;
                      },
                      {}});
}

}  // namespace pf::cli
