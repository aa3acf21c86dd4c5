// SPDX-License-Identifier: GPL-3.0-or-later
// Words of GDB's command line that may be abbreviated.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace pf::mi {

struct Verb {
  std::string_view name;
  std::size_t shortest = 0;  ///< letters of an abbreviation
};

/// Whether `word` is the verb, or an abbreviation of it.
[[nodiscard]] constexpr bool isVerb(std::string_view word, const Verb& verb) {
  return word.size() >= verb.shortest && verb.name.substr(0, word.size()) == word;
}

template <std::size_t N>
[[nodiscard]] bool isOneOf(std::string_view word, const std::array<Verb, N>& verbs) {
  return std::any_of(verbs.begin(), verbs.end(),
                     [word](const Verb& verb) { return isVerb(word, verb); });
}

}  // namespace pf::mi
