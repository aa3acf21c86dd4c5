// SPDX-License-Identifier: MIT
// The plugins of a process: what each gives, and which were refused, and why. Bundled ones come
// through the same entry as others.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/api/plugin.h"
#include "replay_engine/base/result.h"

namespace pf::plugins {

enum class PartKind : std::uint8_t { Pane, Exporter, Judge, Command };
/// "pane", "exporter" …
[[nodiscard]] const char* nameOf(PartKind kind);

/// Something that a plugin gives. Of one that is only described, there is nothing to call.
struct Part {
  PartKind kind = PartKind::Pane;
  std::string id;
  std::string title;
  std::string help;
  photofinish::MakePane makePane = nullptr;
  photofinish::ExportTo to = photofinish::ExportTo::Text;
  photofinish::Export write = nullptr;
  photofinish::MakeJudge makeJudge = nullptr;
  photofinish::Run run = nullptr;
};

struct Plugin {
  std::string name;
  std::string version;
  std::string about;
  std::string path;  ///< its file; empty: bundled
  std::vector<Part> parts;
};

struct Refused {
  std::string path;  ///< a file, or a folder of the search path
  Error why;
};

/// What an entry returned, looked at before anything of it is called, and its parts. Version where
/// it is of another interface; Usage where it is not as plugin.h has it, or throws.
[[nodiscard]] Result<Plugin> pluginOf(const PhotofinishPlugin* given, const std::string& path);

/// The part with these words and nothing to call: of what another program has.
[[nodiscard]] Part described(PartKind kind, const photofinish::Description& description);

class Registry {
 public:
  /// All of it, or, where a name of it is taken, nothing.
  Status add(Plugin plugin);
  /// add(), or refuse() with what is wrong.
  void addOrRefuse(Result<Plugin> plugin, const std::string& path);
  void refuse(const std::string& path, Error why) { m_refused.push_back({path, std::move(why)}); }

  [[nodiscard]] const std::vector<std::unique_ptr<Plugin>>& plugins() const { return m_plugins; }
  [[nodiscard]] const std::vector<Refused>& refused() const { return m_refused; }
  /// In the order in which they came. They stay.
  [[nodiscard]] std::vector<const Part*> parts(PartKind kind) const;
  /// Null: there is none.
  [[nodiscard]] const Part* find(PartKind kind, std::string_view id) const;
  /// Of a part of this registry.
  [[nodiscard]] const Plugin& pluginWith(const Part& part) const;

 private:
  std::vector<std::unique_ptr<Plugin>> m_plugins;
  std::vector<Refused> m_refused;
};

/// In a catch block: what `who` has thrown, as an error.
[[nodiscard]] Error thrownBy(const std::string& who);

/// Runs what a plugin gives; what it throws becomes an error that names `who`.
template <typename Call>
Status guarded(const std::string& who, Call&& call) {
  try {
    call();
    return {};
  } catch (...) {
    return thrownBy(who);
  }
}

}  // namespace pf::plugins
