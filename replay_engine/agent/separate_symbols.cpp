// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/agent/separate_symbols.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "replay_engine/agent/build_id.h"

namespace pf::agent {
namespace {

/// Of Debian's libc6: the beginnings of the names of its files.
constexpr std::array<std::string_view, 14> kCLibrary{
    "libc.so",    "libc-", "ld-linux", "ld-2.",     "libm.so", "libm-",   "libmvec",
    "libpthread", "libdl", "librt.so", "libresolv", "libnss_", "libutil", "libthread_db"};

bool ofTheCLibrary(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return std::ranges::any_of(
      kCLibrary, [path](std::string_view beginning) { return path.starts_with(beginning); });
}

bool isThere(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

bool hasSeparateSymbols(const std::string& path, const std::string& directory) {
  const std::string id = buildId(path);
  return isThere(directory + path + ".debug") || isThere(directory + path) ||
         (id.size() > 2 &&
          isThere(directory + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug"));
}

}  // namespace

bool onlyTheCLibraryIsThere(const std::vector<Mapping>& mappings,
                            const std::string& debugDirectory) {
  std::set<std::string> files;
  for (const Mapping& mapping : mappings) {
    if (mapping.code && !ofTheCLibrary(mapping.path)) {
      files.insert(mapping.path);
    }
  }
  return !files.empty() && std::ranges::none_of(files, [&debugDirectory](const std::string& file) {
    return hasSeparateSymbols(file, debugDirectory);
  });
}

}  // namespace pf::agent
