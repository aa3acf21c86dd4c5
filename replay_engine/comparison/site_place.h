// SPDX-License-Identifier: GPL-3.0-or-later
// What is one place in two executions, wherever the program lies.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "replay_engine/execution/execution.h"

namespace pf {

/// Of native code, the module's name and the offset; debug information may be there for one execution only. Of Python, whose
/// calls all come from the same few offsets of a library, the function as well, which the log has: not the line, as the
/// source may have been edited between the two, which no build-id tells.
struct SitePlace {
  std::string module;
  std::uint64_t offset = 0;
  std::string source;
  std::string function;

  friend auto operator<=>(const SitePlace&,
                          const SitePlace&) =
      default;  // NOLINT(modernize-use-nullptr): it has none
};

[[nodiscard]] inline SitePlace placeOf(const CallSite& site) {
  const auto name = [](const std::string& path) { return path.substr(path.find_last_of('/') + 1); };
  SitePlace place{name(site.module), site.offset, {}, {}};
  if (site.file.ends_with(".py")) {
    place.source = name(site.file);
    place.function = site.function;
  }
  return place;
}

}  // namespace pf
