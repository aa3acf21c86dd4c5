// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of a fuzzer as changes of a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pf::db {

/// `bytes` with parts of it replaced: each time two bytes of `data` for the page, two for the
/// offset in it, one for the length, then what is put there.
inline std::vector<std::uint8_t> patched(std::vector<std::uint8_t> bytes, const std::uint8_t* data,
                                         std::size_t size) {
  constexpr std::size_t kHeader = 5;
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = std::max<std::size_t>(bytes.size() / kPage, 1);
  while (size >= kHeader) {
    const std::size_t page = (data[0] | (std::size_t{data[1]} << 8U)) % pages;
    const std::size_t at = page * kPage + (data[2] | (std::size_t{data[3]} << 8U)) % kPage;
    const std::size_t room = bytes.size() - std::min(bytes.size(), at);
    const std::size_t length = std::min<std::size_t>({data[4] % 32U, size - kHeader, room});
    std::copy_n(data + kHeader, length,
                bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at, bytes.size())));
    data += kHeader + length;
    size -= kHeader + length;
  }
  return bytes;
}

}  // namespace pf::db
