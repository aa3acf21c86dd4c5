// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/program_context.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "replay_engine/base/percent_text.h"

namespace pf::protocol {
namespace {

/// Variables that change what a program does: how it finds its libraries, how many threads it
/// makes (and so the order of its sums), how it reads and sorts text. Not those of the MPI library:
/// launchers put what belongs to one run there.
constexpr std::array<std::string_view, 8> kNames{
    "LD_LIBRARY_PATH", "LD_PRELOAD", "LANG",          "LANGUAGE", "TZ",
    "PYTHONHASHSEED",  "PYTHONPATH", "GLIBC_TUNABLES"};
constexpr std::array<std::string_view, 6> kFamilies{"LC_",  "OMP_", "GOMP_",
                                                    "KMP_", "MKL_", "OPENBLAS_"};

}  // namespace

bool variableMatters(std::string_view name) {
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kFamilies.begin(), kFamilies.end(), [&](std::string_view family) {
           return name.substr(0, family.size()) == family;
         });
}

std::string factText(const ContextFact& fact) {
  return percentEncoded(fact.kind) + " " + percentEncoded(fact.name) + " " +
         percentEncoded(fact.value);
}

bool factFromText(std::string_view line, ContextFact& fact) {
  std::array<std::string*, 3> fields{&fact.kind, &fact.name, &fact.value};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = i + 1 < fields.size() ? line.find(' ') : line.size();
    if (end == std::string_view::npos) {
      return false;
    }
    std::optional<std::string> text = percentDecoded(line.substr(0, end));
    if (!text) {
      return false;
    }
    *fields[i] = std::move(*text);
    line.remove_prefix(end < line.size() ? end + 1 : end);
  }
  return !fact.kind.empty() && fact.kind.find(' ') == std::string::npos;
}

}  // namespace pf::protocol
