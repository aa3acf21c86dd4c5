// SPDX-License-Identifier: GPL-3.0-or-later
// Names of classes of races that survive edits of the program: by function and text of the source line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/collation/call_sites.h"
#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf::app {

/// From here on source files count as those that the program was built from, also those that are later than it: a
/// checkout anew makes them so.
void takeSourcesAsBuilt();

/// The names of an execution's places (replay_engine/races/race_baseline.h). Reads source files, each once; one that
/// is later than the module, cannot be read or is larger than 16 MiB gives no text. `execution` outlives it.
class SiteNames {
 public:
  explicit SiteNames(const Execution& execution) : m_execution(execution) {}

  /// Of the call of an event that is in the execution.
  const std::string& place(EventRef event);
  /// The function that a site is in, inlined or not; empty: not known.
  std::string functionOf(const CallSite& site);
  /// Of a race's class. Needs matchMessages() first.
  std::string ofClass(const Race& race);

 private:
  using Lines = std::vector<std::string>;  ///< as lineText() has them

  std::string name(const std::string& call, const CallSite& site);
  /// Its line is one of Python, and not of its module.
  bool isOfPython(const CallSite& site);
  /// Null: they cannot be known.
  const Lines* linesOf(const CallSite& site);

  const Execution& m_execution;
  FrameResolver m_resolver;
  std::map<std::pair<std::string, std::string>, std::optional<Lines>>
      m_lines;                                                             ///< by file and module
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::string> m_known;  ///< by site and call
};

}  // namespace pf::app
