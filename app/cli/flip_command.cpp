// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include "app/branching/flip.h"
#include "app/cli/command.h"
#include "app/cli/output.h"

namespace pf::cli {

void addFlip(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<app::FlipOptions>();
  CLI::App* command =
      parser.add_subcommand("flip", "The run again, but a racing receive takes another message");
  command->add_option("FILE", words->trace, "trace")->required();
  command
      ->add_option("WHAT", words->wishes,
                   "RACE or RACE:ALTERNATIVE, as 'races --all' counts them; or "
                   "RANK:EVENT=SENDER:EVENT: what that receive takes")
      ->required();
  command->add_option("-o,--output", words->output, "trace to make (default: FILE.flip.pft)");
  command->add_flag("--replace", words->replace, "overwrite it, if it is a trace");
  command->add_option("--launcher-option", words->launcherOptions,
                      "word to put behind the launcher's name");
  command->add_flag("--force", words->force, "though the program or its MPI library has changed");
  addTrust(*command);
  commands.push_back({command,
                      [words] {
                        const Result<app::Recorded> done = app::flip(*words);
                        return done ? done->exitStatus : fail(done.error());
                      },
                      [words] { return std::vector<std::string>{words->trace}; }});
}

}  // namespace pf::cli
