// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/branching/delta.h"

#include <algorithm>
#include <numeric>

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

}  // namespace

Result<Set> minimalSet(std::size_t count, const HasEffect& hasEffect) {
  Set needed(count);
  std::iota(needed.begin(), needed.end(), std::size_t{0});
  for (std::size_t parts = 2; needed.size() >= 2;) {
    bool smaller = false;
    for (const bool complements : {false, true}) {
      for (std::size_t n = 0; n < parts && !smaller && !(complements && parts == 2); ++n) {
        Set tried = part(needed, parts, n);
        tried = complements ? without(needed, tried) : tried;
        const Result<bool> effect = hasEffect(tried);
        if (!effect) {
          return effect.error();
        }
        if (*effect) {
          needed = std::move(tried);
          parts = complements ? std::max<std::size_t>(parts - 1, 2) : 2;
          smaller = true;
        }
      }
    }
    if (smaller) {
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
