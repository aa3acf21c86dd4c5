// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes and digests of messages, as RankLog::sent and ::given have them, of two recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pf {

/// Number of the first message (or collective) that has another size, operation or digest in `b` than in `a`. What one of them
/// does not say does not differ.
[[nodiscard]] std::optional<std::size_t> firstOther(const std::vector<unsigned char>& a,
                                                    const std::vector<unsigned char>& b);

/// The sizes alone, in the same order; all bits are set where the log does not say.
[[nodiscard]] std::vector<std::uint64_t> sizesOf(const std::vector<unsigned char>& contents);

}  // namespace pf
