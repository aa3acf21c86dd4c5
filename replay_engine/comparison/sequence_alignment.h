// SPDX-License-Identifier: GPL-3.0-or-later
// What two sequences have in common, in order. Private to the analysis.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pf {

/// a[a], … a[a + length - 1] are aligned with b[b], …
struct MatchedRun {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t length = 0;
  friend bool operator==(const MatchedRun&, const MatchedRun&) = default;
};

/// How much work an alignment may be.
struct AlignmentLimits {
  std::uint32_t edits = 4096;            ///< of a part that is aligned exactly
  std::uint64_t steps = 200'000'000;     ///< of all exact parts together
  std::uint32_t editsWithoutSteps = 16;  ///< once the steps are used up
};

struct SequenceAlignment {
  std::vector<MatchedRun>
      runs;           ///< ascending in a and in b, none that could be joined with its next
  bool exact = true;  ///< a longest common subsequence
};

/// A longest common subsequence, by Myers (An O(ND) Difference Algorithm and Its Variations, 1986, section 4b: linear
/// space). A part that has more edits than `limits` allow is divided at anchors first: the n-th of a symbol in the one
/// with the n-th in the other, as many as are in one order (a longest increasing subsequence, O(N log N)); what has too
/// many edits between two anchors is not aligned. Sequences have fewer than 2^31 elements.
[[nodiscard]] SequenceAlignment alignSequences(std::span<const std::uint32_t> a,
                                               std::span<const std::uint32_t> b,
                                               const AlignmentLimits& limits = {});

}  // namespace pf
