// SPDX-License-Identifier: MIT
// Plugins of others: where they are looked for, and how one is loaded.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "plugins/host/registry.h"

namespace pf::plugins {

/// For how long a plugin may take to give its parts.
inline constexpr std::chrono::milliseconds kPatience{5000};

/// A folder where plugins may be.
struct Folder {
  std::string path;
  bool named = false;  ///< by PHOTOFINISH_PLUGIN_PATH: it has to be there
};

/// Folders of PHOTOFINISH_PLUGIN_PATH (absolute, ':' between them), then plugins/ of
/// $XDG_DATA_HOME/photofinish (~/.local/share/photofinish), then `installed`. What comes first wins.
[[nodiscard]] std::vector<Folder> searchPath(const std::string& installed);

/// Plugins in these folders: files "*.so" by their names. What may not be loaded is refused.
[[nodiscard]] std::vector<std::string> pluginFiles(const std::vector<Folder>& folders,
                                                   Registry& registry);

/// Loads the file into this process, for good, and asks for its parts.
[[nodiscard]] Result<Plugin> load(const std::string& path);

/// The same in a child of this process, which then ends: parts without anything to call. So one that
/// crashes or hangs is an error, too. Not where there are other threads.
[[nodiscard]] Result<Plugin> probe(const std::string& path,
                                   std::chrono::milliseconds patience = kPatience);

/// Every plugin of the search path that a probe finds whole, loaded into this process.
/// For programs of one thread.
void loadAll(const std::string& installed, Registry& registry);
/// The same as probe() has them.
void describeAll(const std::string& installed, Registry& registry);

}  // namespace pf::plugins
