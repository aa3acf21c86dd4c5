// SPDX-License-Identifier: MIT
// CRC32C (Castagnoli), by the SSE4.2 instruction where there is one. Finds damage, not forgery.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pf {

/// CRC32C of `size` bytes at `data`, continuing from `seed` (a former result, or a salt).
[[nodiscard]] std::uint32_t crc32c(const void* data, std::size_t size, std::uint32_t seed = 0);

}  // namespace pf
