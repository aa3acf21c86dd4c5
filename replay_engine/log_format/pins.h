// SPDX-License-Identifier: MIT
// The section ScheduleHeader::pins: the sources that wildcard receives are pinned to, in pages, of which only those are
// there of which something is known. uint64 number of pages; uint32 a page: its number, ascending; to a multiple of 8;
// then the pages: int32 a wildcard receive.
#pragma once

#include <cstdint>
#include <cstring>

namespace pf {

inline constexpr std::uint32_t kPinsAPage = 64;

/// Where the first page begins in the section, in bytes.
[[nodiscard]] constexpr std::uint64_t pinPagesOffset(std::uint64_t pages) {
  return 8 + (pages * 4 + 7) / 8 * 8;
}

/// The int32 of wildcard receive `wild` in a section of `size` bytes, or null.
[[nodiscard]] inline const unsigned char* pinIn(const unsigned char* pins, std::uint64_t size,
                                                std::uint32_t wild) {
  const std::uint32_t number = wild / kPinsAPage;
  std::uint64_t count = 0;
  if (size >= sizeof count) {
    std::memcpy(&count, pins, sizeof count);
  }
  const auto numberAt = [pins](std::uint64_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, pins + sizeof count + index * 4, 4);
    return value;
  };
  std::uint64_t first = number < count ? number : count;
  if (first == count || numberAt(first) != number) {  // some are left out before it
    std::uint64_t last = first;
    first = 0;
    while (first < last) {
      const std::uint64_t middle = first + (last - first) / 2;
      numberAt(middle) < number ? first = middle + 1 : last = middle;
    }
  }
  if (first >= count || numberAt(first) != number) {
    return nullptr;
  }
  return pins + pinPagesOffset(count) + (first * kPinsAPage + wild % kPinsAPage) * 4;
}

}  // namespace pf
