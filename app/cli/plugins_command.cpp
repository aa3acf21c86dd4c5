// SPDX-License-Identifier: GPL-3.0-or-later
// Plugins: which there are, and commands of theirs.
#include "app/cli/plugins_command.h"

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/export/export.h"
#include "app/plugins/known_plugins.h"
#include "app/plugins/part_output.h"
#include "app/plugins/trace_facts.h"
#include "app/version.h"
#include "plugins/host/bundled_panes.h"
#include "plugins/host/loading.h"
#include "replay_engine/base/shown_text.h"

namespace pf::cli {
namespace {

using plugins::PartKind;
using plugins::Registry;

/// Ours. The panes are those of the window: only their names are here.
void addBundled(Registry& registry) {
  for (const photofinish::Description& pane : plugins::kBundledPanes) {
    registry.addOrRefuse(
        plugins::Plugin{pane.id, app::kVersion, "", "", {plugins::described(PartKind::Pane, pane)}},
        pane.id);
  }
  registry.addOrRefuse(plugins::pluginOf(app::bundledExporters(), ""), "exporters");
}

int listPlugins(bool json) {
  Registry registry;
  addBundled(registry);
  plugins::describeAll(app::installedPlugins(), registry);
  return print(app::pluginsReport(registry, json), json);
}

struct CommandWords {
  std::string id;
  std::string trace;
  std::vector<std::string> words;
  std::string output;
  std::shared_ptr<bool> trusted;
};

Error noSuchCommand(const std::string& id, const Registry& registry) {
  std::string known;
  for (const plugins::Part* const part : registry.parts(PartKind::Command)) {
    known += (known.empty() ? "" : ", ") + part->id;
  }
  return {ErrorCode::Usage, "no plugin has a command '" + id + "'",
          (known.empty() ? "There are none. " : "There are " + known + ". ") +
              "'photofinish plugins' lists all, and what was refused."};
}

int runCommand(const CommandWords& given) {
  const Registry& registry = loadedPlugins();
  const plugins::Part* const part = registry.find(PartKind::Command, given.id);
  if (part == nullptr) {
    return fail(noSuchCommand(given.id, registry));
  }
  Result<app::TextOutput> out = app::TextOutput::open(given.output == "-" ? "" : given.output);
  if (!out) {
    return fail(out.error());
  }
  const Result<app::IndexedTrace> trace = app::loadIndexed(given.trace);
  if (!trace) {
    return fail(trace.error());
  }
  const std::vector<photofinish::Text> words(given.words.begin(), given.words.end());
  app::PartOutput written(*out);
  int status = 0;
  const std::string name = app::partName(registry.pluginWith(*part), *part);
  if (Status ran = written.run(
          name,
          [&] {
            status = part->run(app::TraceFacts(*trace), {words.data(), words.size()}, written);
          });
      !ran) {
    return fail(ran.error());
  }
  if (Status finished = out->finish(); !finished) {
    return fail(finished.error());
  }
  return status >= 0 && status <= 125
             ? status
             : fail({ErrorCode::Internal, name + " ended with " + std::to_string(status),
                     "Its exit status has to be 0 to 125: tell who has made it."});
}

}  // namespace

const Registry& loadedPlugins() {
  static const Registry registry = [] {
    Registry made;
    addBundled(made);
    plugins::loadAll(app::installedPlugins(), made);
    if (const std::size_t refused = made.refused().size(); refused > 0) {
      tell(std::to_string(refused) + (refused == 1 ? " plugin was" : " plugins were") +
           " not loaded: 'photofinish plugins' says why");
    }
    return made;
  }();
  return registry;
}

void addPlugins(CLI::App& parser, Commands& commands) {
  auto json = std::make_shared<bool>(false);
  CLI::App* list = parser.add_subcommand(
      "plugins", "Plugins that are there, and those that were refused, and why");
  list->add_flag("--json", *json, "one JSON document");
  commands.push_back({list, [json] { return listPlugins(*json); }, {}});

  auto words = std::make_shared<CommandWords>();
  CLI::App* command = parser.add_subcommand("command", "Run a command of a plugin on a trace");
  command->add_option("ID", words->id, "command, as 'photofinish plugins' names it")->required();
  command->add_option("FILE", words->trace, "trace")->required();
  command->add_option("WORD", words->words,
                      "what the command takes; after -- also what begins with -");
  command->add_option("-o,--output", words->output, "file to make; default: standard output");
  words->trusted = addTrust(*command);
  commands.push_back({command, [words] { return runCommand(*words); },
                      [words] { return std::vector<std::string>{words->trace}; }});
}

}  // namespace pf::cli
