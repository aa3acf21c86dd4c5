// SPDX-License-Identifier: MIT
// Receives from any source that had taken their message when the rank was last looked at, though
// the program had not seen it yet: in the log of the rank, written there by its agent while the
// rank waits in a call. A rank that never comes out of the call cannot say it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pf {

struct MatchedReceive {
  std::uint32_t post;   ///< index of the receive of its rank, in posting order
  std::uint32_t wild;   ///< the same among those from any source
  std::int32_t source;  ///< of the communicator
  std::int32_t tag;
};

struct MatchedReceives {
  static constexpr std::size_t kMost = 72;  ///< more do not fit into the header; 48 before `unseen`
  std::atomic<std::uint64_t> count;  ///< of `receives`: count | ~count << 32; else there are none
  MatchedReceive receives[kMost];
  /// Pending ones of which it could not be seen whether they had, as `count`.
  std::atomic<std::uint64_t> unseen;

  /// How a number is kept that is written by one store, and may be torn by a power cut.
  static constexpr std::uint64_t sealed(std::uint32_t number) {
    return number | std::uint64_t{~number} << 32;
  }
  /// 0 where it is torn, or was never written.
  static constexpr std::uint32_t opened(std::uint64_t word) {
    const auto number = static_cast<std::uint32_t>(word);
    return static_cast<std::uint32_t>(word >> 32) == ~number ? number : 0;
  }
};

}  // namespace pf
