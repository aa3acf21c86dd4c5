// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plugins/known_plugins.h"

#include <nlohmann/json.hpp>

#include "app/job/job.h"
#include "app/replaying/report_parts.h"
#include "plugins/host/loading.h"

namespace pf::app {
namespace {

using nlohmann::json;

std::string foldersText() {
  std::string text;
  for (const plugins::Folder& folder : plugins::searchPath(installedPlugins())) {
    text += "    " + folder.path + "\n";
  }
  return text;
}

std::string asText(const plugins::Registry& registry) {
  std::string text;
  for (const auto& plugin : registry.plugins()) {
    const bool bundled = plugin->path.empty();
    text += plugin->name + (plugin->version.empty() ? "" : " " + plugin->version) +
            (bundled ? ", bundled" : ", " + plugin->path) +
            (plugin->about.empty() ? "" : ": " + plugin->about) + "\n";
    for (const plugins::Part& part : plugin->parts) {
      text += std::string("    ") + nameOf(part.kind) + " " + part.id + ": " + part.title + "\n";
    }
  }
  for (const plugins::Refused& refused : registry.refused()) {
    text += "refused: " + refused.why.text() + "\n";
    if (refused.why.message.find(refused.path) == std::string::npos) {
      text += "  It is " + refused.path + "\n";
    }
  }
  return text + "looked for in\n" + foldersText();
}

json partsJson(const plugins::Plugin& plugin) {
  json parts = json::array();
  for (const plugins::Part& part : plugin.parts) {
    parts.push_back(
        {{"kind", nameOf(part.kind)}, {"id", part.id}, {"title", part.title}, {"help", part.help}});
  }
  return parts;
}

std::string asJson(const plugins::Registry& registry) {
  json all = json::array();
  for (const auto& plugin : registry.plugins()) {
    all.push_back({{"name", plugin->name},
                   {"version", plugin->version},
                   {"about", plugin->about},
                   {"path", plugin->path.empty() ? json() : json(plugin->path)},
                   {"parts", partsJson(*plugin)}});
  }
  json refused = json::array();
  for (const plugins::Refused& each : registry.refused()) {
    refused.push_back(
        {{"path", each.path}, {"why", each.why.message}, {"advice", each.why.advice}});
  }
  json folders = json::array();
  for (const plugins::Folder& folder : plugins::searchPath(installedPlugins())) {
    folders.push_back(folder.path);
  }
  return dump({{"interface", PHOTOFINISH_PLUGIN_INTERFACE},
               {"revision", PHOTOFINISH_PLUGIN_REVISION},
               {"plugins", all},
               {"refused", refused},
               {"folders", folders}});
}

}  // namespace

std::string installedPlugins() {
  return programDirectory() + "/plugins";
}

std::string pluginsReport(const plugins::Registry& registry, bool json) {
  return json ? asJson(registry) : asText(registry);
}

}  // namespace pf::app
