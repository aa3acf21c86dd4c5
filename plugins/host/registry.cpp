// SPDX-License-Identifier: MIT
#include "plugins/host/registry.h"

#include <cstring>
#include <new>
#include <utility>

namespace pf::plugins {
namespace {

constexpr std::size_t kLongestId = 64;      // bytes
constexpr std::size_t kLongestText = 4096;  // bytes

Error wrong(const std::string& who, const std::string& what) {
  return {ErrorCode::Usage, who + ": " + what, "Tell who has made it."};
}

bool isId(const char* id) {
  if (id == nullptr || *id < 'a' || *id > 'z') {
    return false;
  }
  const std::size_t length = strnlen(id, kLongestId + 1);
  return length <= kLongestId &&
         std::strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

bool isText(const char* text) {
  return text != nullptr && strnlen(text, kLongestText + 1) <= kLongestText;
}

/// Takes the parts of one plugin, and notes what is wrong with them first.
class GivenParts final : public photofinish::Parts {
 public:
  explicit GivenParts(Plugin& plugin) : m_plugin(plugin) {}
  ~GivenParts() = default;
  GivenParts(const GivenParts&) = delete;
  GivenParts& operator=(const GivenParts&) = delete;

  void pane(const photofinish::Description& description, photofinish::MakePane make) override {
    if (Part* const part = add(PartKind::Pane, description, make != nullptr)) {
      part->makePane = make;
    }
  }
  void exporter(const photofinish::Description& description, photofinish::ExportTo to,
                photofinish::Export write) override {
    if (Part* const part = add(PartKind::Exporter, description, write != nullptr)) {
      part->to = to;
      part->write = write;
    }
  }
  void judge(const photofinish::Description& description, photofinish::MakeJudge make) override {
    if (Part* const part = add(PartKind::Judge, description, make != nullptr)) {
      part->makeJudge = make;
    }
  }
  void command(const photofinish::Description& description, photofinish::Run run) override {
    if (Part* const part = add(PartKind::Command, description, run != nullptr)) {
      part->run = run;
    }
  }
  [[nodiscard]] const std::string& problem() const { return m_problem; }

 private:
  Part* add(PartKind kind, const photofinish::Description& description, bool callable) {
    const std::string what = nameOf(kind);
    if (!isId(description.id)) {
      note("the id of its " + what + " is not of small letters, digits, '_' and '-'");
    } else if (!isText(description.title) || *description.title == '\0' ||
               !isText(description.help)) {
      note("its " + what + " '" + description.id + "' has no title or help");
    } else if (!callable) {
      note("its " + what + " '" + description.id + "' has no function");
    } else {
      for (const Part& part : m_plugin.parts) {
        if (part.kind == kind && part.id == description.id) {
          note("it gives two of the name " + what + " '" + part.id + "'");
        }
      }
      m_plugin.parts.push_back(described(kind, description));
      return &m_plugin.parts.back();
    }
    return nullptr;
  }
  void note(const std::string& problem) {
    if (m_problem.empty()) {
      m_problem = problem;
    }
  }

  Plugin& m_plugin;
  std::string m_problem;
};

Status checkVersion(const PhotofinishPlugin& given, const std::string& who) {
  if (given.interface != PHOTOFINISH_PLUGIN_INTERFACE) {
    return Error{ErrorCode::Version,
                 who + " is made for version " + std::to_string(given.interface) +
                     " of the plugin interface, this is version " +
                     std::to_string(PHOTOFINISH_PLUGIN_INTERFACE),
                 "Build it again with this version's <photofinish/plugin.h>."};
  }
  if (given.revision > PHOTOFINISH_PLUGIN_REVISION) {
    return Error{ErrorCode::Version,
                 who + " needs revision " + std::to_string(given.revision) +
                     " of the plugin interface, this is revision " +
                     std::to_string(PHOTOFINISH_PLUGIN_REVISION),
                 "Use it with a newer Photofinish, or build it again with this one."};
  }
  return {};
}

}  // namespace

const char* nameOf(PartKind kind) {
  switch (kind) {
    case PartKind::Pane:
      return "pane";
    case PartKind::Exporter:
      return "exporter";
    case PartKind::Judge:
      return "judge";
    case PartKind::Command:
      return "command";
  }
  return "";
}

Error thrownBy(const std::string& who) {
  const auto error = [&who](const std::string& what) {
    return Error{ErrorCode::Internal, who + " failed: " + what, "Tell who has made it."};
  };
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::System, who + " failed: memory ran out", ""};
  } catch (const std::exception& thrown) {
    return error(thrown.what());
  } catch (...) {
    return error("it threw what is no std::exception");
  }
}

Part described(PartKind kind, const photofinish::Description& description) {
  Part part;
  part.kind = kind;
  part.id = description.id;
  part.title = description.title;
  part.help = description.help;
  return part;
}

Result<Plugin> pluginOf(const PhotofinishPlugin* given, const std::string& path) {
  const std::string who = path.empty() ? "a bundled plugin" : path;
  if (given == nullptr) {
    return wrong(who, "its photofinish_plugin() returns nothing");
  }
  if (Status version = checkVersion(*given, who); !version) {
    return version.error();
  }
  if (!isId(given->name) || !isText(given->version) || !isText(given->about) ||
      given->give == nullptr) {
    return wrong(who, "its photofinish_plugin() lacks name, version, about or give");
  }
  Plugin plugin{given->name, given->version, given->about, path, {}};
  GivenParts parts(plugin);
  if (Status status = guarded("plugin " + plugin.name, [&] { given->give(&parts); }); !status) {
    return status.error();
  }
  if (!parts.problem().empty()) {
    return wrong(who, parts.problem());
  }
  if (plugin.parts.empty()) {
    return wrong(who, "it gives nothing");
  }
  return plugin;
}

Status Registry::add(Plugin plugin) {
  const auto taken = [](const std::string& what, const Plugin& by) {
    return Error{ErrorCode::Usage,
                 "the name is taken: " + what + " is of " +
                     (by.path.empty() ? "Photofinish itself" : by.path),
                 "Take one of them out of the search path, or give it another name."};
  };
  for (const auto& other : m_plugins) {
    if (other->name == plugin.name) {
      return taken("plugin " + plugin.name, *other);
    }
  }
  for (const Part& part : plugin.parts) {
    if (const Part* const other = find(part.kind, part.id)) {
      return taken(std::string(nameOf(part.kind)) + " " + part.id, pluginWith(*other));
    }
  }
  m_plugins.push_back(std::make_unique<Plugin>(std::move(plugin)));
  return {};
}

void Registry::addOrRefuse(Result<Plugin> plugin, const std::string& path) {
  if (!plugin) {
    refuse(path, plugin.error());
  } else if (Status status = add(std::move(*plugin)); !status) {
    refuse(path, status.error());
  }
}

std::vector<const Part*> Registry::parts(PartKind kind) const {
  std::vector<const Part*> found;
  for (const auto& plugin : m_plugins) {
    for (const Part& part : plugin->parts) {
      if (part.kind == kind) {
        found.push_back(&part);
      }
    }
  }
  return found;
}

const Part* Registry::find(PartKind kind, std::string_view id) const {
  for (const Part* const part : parts(kind)) {
    if (part->id == id) {
      return part;
    }
  }
  return nullptr;
}

const Plugin& Registry::pluginWith(const Part& part) const {
  for (const auto& plugin : m_plugins) {
    for (const Part& each : plugin->parts) {
      if (&each == &part) {
        return *plugin;
      }
    }
  }
  return *m_plugins.front();
}

}  // namespace pf::plugins
