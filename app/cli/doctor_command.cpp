// SPDX-License-Identifier: GPL-3.0-or-later
// doctor: what works on this machine.
#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/doctor/doctor.h"
#include "app/job/job.h"

namespace pf::cli {

void addDoctor(CLI::App& parser, Commands& commands) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = parser.add_subcommand(
      "doctor", "What works on this machine, and what to do about what does not");
  command->add_flag("--json", *json, "one JSON document");
  addGdb(*command);
  commands.push_back({command,
                      [json] {
                        const app::Checks checks = app::examine(app::programDirectory());
                        const int printed = print(app::doctorReport(checks, *json), *json);
                        return printed != 0 ? printed : app::isFit(checks) ? 0 : 1;
                      },
                      {}});
}

}  // namespace pf::cli
