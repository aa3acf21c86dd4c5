// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank's program was started with, as far as a replay must find it again: libraries,
// arguments, and the variables of its environment that matter (docs/command-line.md). The agent
// reads it at MPI_Init (replay_engine/agent/read_context.h); in a recording it leaves it beside the
// rank's log, in a replay it says it in RankHello.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pf::protocol {

/// One fact. By kind:
///   "library"   file name, identity ("build-id HEX" or "crc32c HEX")
///   "program"   no name, identity of the executable, if it has no build-id
///   "argument"  number from 0, the word
///   "variable"  name, value
///   "place"     name, value of what the launcher said (place_in_job.h); in a recording
///   "version"   kContextVersion
struct ContextFact {
  std::string kind;
  std::string name;
  std::string value;
  std::string place{};  ///< of a library: its path; not compared, not kept

  template <typename Self, typename Visitor>
  static void visit(Self& m, Visitor& field) {
    field(1, m.kind);
    field(2, m.name);
    field(3, m.value);
    field(4, m.place);
  }
  friend bool operator==(const ContextFact&, const ContextFact&) = default;
};
using LaunchContext = std::vector<ContextFact>;

/// Grows when other variables are looked at: then variables cannot be compared.
inline constexpr const char* kContextVersion = "1";

/// Whether a variable of this name is looked at in any case.
[[nodiscard]] bool variableMatters(std::string_view name);

/// A fact as one line of printable ASCII, and back (false: it is none).
[[nodiscard]] std::string factText(const ContextFact& fact);
[[nodiscard]] bool factFromText(std::string_view line, ContextFact& fact);

/// Beside rank-N.log.
[[nodiscard]] inline std::string contextPath(const std::string& logDirectory, int rank) {
  return logDirectory + "/rank-" + std::to_string(rank) + ".world";
}

}  // namespace pf::protocol
