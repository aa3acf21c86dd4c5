// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/replaying/locality_groups.h"
#include "app/reports/groups_report.h"

namespace pf::cli {
namespace {

struct GroupsWords {
  std::string trace;
  app::GroupsOptions options;
};

Status pictureIsSvg(const std::string& name) {
  if (name.empty() || name.ends_with(".svg")) {
    return {};
  }
  return Error{ErrorCode::Usage, "'" + name + "' is no name of an SVG picture",
               "Name a file that ends with .svg: --picture groups.svg"};
}

}  // namespace

void addGroups(CLI::App& parser, Commands& commands) {
  auto words = std::make_shared<GroupsWords>();
  CLI::App* command = parser.add_subcommand(
      "groups", "Which ranks to replay together, so that least is to be logged");
  command->add_option("FILE", words->trace, "trace")->required();
  command
      ->add_option("--max", words->options.most,
                   "ranks in a group at most (default: twice the processors of this machine)")
      ->check(CLI::Range(std::size_t{1}, app::kMostInAGroup));
  command->add_flag("--json", words->options.json, "one JSON document");
  command->add_option("--picture", words->options.picture,
                      "SVG file to make: who gets how much from whom, groups framed");
  addTrust(*command);
  commands.push_back({command,
                      [words] {
                        if (const Status named = pictureIsSvg(words->options.picture); !named) {
                          return fail(named.error());
                        }
                        return print(app::groupsReport(words->trace, words->options),
                                     words->options.json);
                      },
                      [words] { return std::vector<std::string>{words->trace}; }});
}

}  // namespace pf::cli
