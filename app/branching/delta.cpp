// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/delta.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace pf::app {
namespace {

using Set = std::vector<std::size_t>;

/// The n-th of so many parts of about the same size.
Set part(const Set& all, std::size_t parts, std::size_t n) {
  return {all.begin() + static_cast<std::ptrdiff_t>(all.size() * n / parts),
          all.begin() + static_cast<std::ptrdiff_t>(all.size() * (n + 1) / parts)};
}

Set without(const Set& all, const Set& left) {
  Set rest;
  std::ranges::set_difference(all, left, std::back_inserter(rest));
  return rest;
}

/// A part of `needed`, or what is left without one, that has the effect; nothing: none has, of so many parts.
struct Smaller {
  Set set;
  bool isComplement = false;
};
Result<std::optional<Smaller>> smaller(const Set& needed, std::size_t parts,
                                       const HasEffect& hasEffect) {
  for (const bool complements : {false, true}) {
    for (std::size_t n = 0; n < parts && !(complements && parts == 2); ++n) {
      Set tried = part(needed, parts, n);
      tried = complements ? without(needed, tried) : tried;
      const Result<bool> effect = hasEffect(tried);
      if (!effect) {
        return effect.error();
      }
      if (*effect) {
        return std::optional(Smaller{std::move(tried), complements});
      }
    }
  }
  return std::optional<Smaller>();
}

}  // namespace

Result<Set> minimalSet(std::size_t count, const HasEffect& hasEffect) {
  Set needed(count);
  std::iota(needed.begin(), needed.end(), std::size_t{0});
  for (std::size_t parts = 2; needed.size() >= 2;) {
    Result<std::optional<Smaller>> found = smaller(needed, parts, hasEffect);
    if (!found) {
      return found.error();
    }
    if (*found) {
      needed = std::move((*found)->set);
      parts = (*found)->isComplement ? std::max<std::size_t>(parts - 1, 2) : 2;
      continue;
    }
    if (parts >= needed.size()) {
      break;
    }
    parts = std::min(needed.size(), 2 * parts);
  }
  return needed;
}

}  // namespace pf::app
