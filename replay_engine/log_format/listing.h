// SPDX-License-Identifier: MIT
// What a directory's listing is known by: the interposer keeps it, a replay compares it. Names in
// the order in which the system gives them, which a program may depend on.
#pragma once

#include <dirent.h>

#include <cstdint>
#include <cstring>

#include "replay_engine/log_format/system_values.h"

namespace pf {

struct Listing {
  std::uint64_t names = 0;
  std::uint64_t checksum = 0;
};

/// False: it cannot be read.
[[nodiscard]] inline bool listingOf(const char* path, Listing* listing) {
  DIR* directory = ::opendir(path);
  if (directory == nullptr) {
    return false;
  }
  *listing = {};
  while (const dirent* entry = ::readdir(directory)) {
    if (std::strstr(entry->d_name, ".pft") != nullptr) {
      continue;  // a trace, which the recording itself puts there
    }
    ++listing->names;
    listing->checksum = listing->checksum * 0x100000001B3ULL + pathHash(entry->d_name);
  }
  ::closedir(directory);
  return true;
}

}  // namespace pf
