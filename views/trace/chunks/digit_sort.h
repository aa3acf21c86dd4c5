// SPDX-License-Identifier: GPL-3.0-or-later
// Sorting by counting digits: for a million items by a number, some ten times as quick as
// comparing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace pf::views {

/// Items by key(item), an unsigned number; equal ones stay in their order. As many passes as the
/// greatest key has digits of 11 bits.
template <typename T, typename Key>
void sortByDigits(std::vector<T>& items, Key&& key) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  std::uint64_t greatest = 0;
  for (const T& item : items) {
    greatest = std::max<std::uint64_t>(greatest, key(item));
  }
  std::vector<T> next(items.size());
  for (unsigned shift = 0; shift < 64 && greatest >> shift != 0; shift += kBits) {
    const auto digit = [&](const T& item) {
      return std::uint64_t{key(item)} >> shift & (kDigits - 1);
    };
    std::array<std::size_t, kDigits> place{};
    for (const T& item : items) {
      ++place[digit(item)];
    }
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::size_t{0});
    for (const T& item : items) {
      next[place[digit(item)]++] = item;
    }
    items.swap(next);
  }
}

}  // namespace pf::views
