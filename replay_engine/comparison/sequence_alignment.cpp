// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/comparison/sequence_alignment.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace pf {
namespace {

using Symbols = std::span<const std::uint32_t>;

/// By diagonal, from -size to size: how far a path has come; kNowhere: no path is there.
class Furthest {
 public:
  static constexpr std::int64_t kNowhere = -1;

  explicit Furthest(std::size_t size)
      : m_middle(static_cast<std::int64_t>(size) + 1), m_values(2 * size + 3, kNowhere) {}
  [[nodiscard]] std::int64_t& at(std::int64_t diagonal) {
    return m_values[static_cast<std::size_t>(m_middle + diagonal)];
  }
  /// Before paths of `edits` edits are looked for.
  void begin(std::int64_t edits) {
    at(edits + 1) = edits == 0 ? 0 : kNowhere;
    at(-edits - 1) = kNowhere;
  }

 private:
  std::int64_t m_middle;
  std::vector<std::int64_t> m_values;
};

/// A run of equal symbols, possibly empty, on a shortest path of edits.
struct Snake {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t length = 0;
};

/// One step of the search from one end: the furthest point on `diagonal` with one edit more. `equal(x, y)`: the symbols
/// behind x and y, counted from this end, are the same. The snake that it ends with; none: it cannot be reached.
template <typename Equal>
std::optional<Snake> extend(Furthest& furthest, std::int64_t diagonal, std::int64_t n,
                            std::int64_t m, Equal equal) {
  const std::int64_t down = furthest.at(diagonal + 1);
  const std::int64_t left = furthest.at(diagonal - 1);
  std::int64_t x = Furthest::kNowhere;
  if (down != Furthest::kNowhere && down - diagonal <= m) {
    x = down;
  }
  if (left != Furthest::kNowhere && left + 1 <= n) {
    x = std::max(x, left + 1);
  }
  if (x == Furthest::kNowhere) {
    furthest.at(diagonal) = x;
    return std::nullopt;
  }
  const std::int64_t begin = x;
  while (x < n && x - diagonal < m && equal(x, x - diagonal)) {
    ++x;
  }
  furthest.at(diagonal) = x;
  return Snake{static_cast<std::size_t>(begin), static_cast<std::size_t>(begin - diagonal),
               static_cast<std::size_t>(x - begin)};
}

class Alignment {
 public:
  Alignment(Symbols a, Symbols b, const AlignmentLimits& limits)
      : m_a(a), m_b(b), m_limits(limits) {}

  SequenceAlignment run() {
    align({0, m_a.size()}, {0, m_b.size()}, false);
    return std::move(m_result);
  }

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
    [[nodiscard]] std::size_t size() const { return end - begin; }
  };

  void put(std::size_t a, std::size_t b, std::size_t length) {
    if (length == 0) {
      return;
    }
    if (!m_result.runs.empty()) {
      MatchedRun& last = m_result.runs.back();
      if (last.a + last.length == a && last.b + last.length == b) {
        last.length += static_cast<std::uint32_t>(length);
        return;
      }
    }
    m_result.runs.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                             static_cast<std::uint32_t>(length)});
  }

  /// `anchored`: it lies between two anchors, and is not divided at anchors once more.
  void align(Range a, Range b, bool anchored) {
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && m_a[a.begin + same] == m_b[b.begin + same]) {
      ++same;
    }
    put(a.begin, b.begin, same);
    a.begin += same;
    b.begin += same;
    same = 0;
    while (same < a.size() && same < b.size() && m_a[a.end - same - 1] == m_b[b.end - same - 1]) {
      ++same;
    }
    a.end -= same;
    b.end -= same;
    if (a.size() != 0 && b.size() != 0) {
      alignInner(a, b, anchored);
    }
    put(a.end, b.end, same);
  }

  void alignInner(Range a, Range b, bool anchored) {
    if (const std::optional<Snake> middle = middleSnake(a, b)) {
      const std::size_t x = a.begin + middle->a;
      const std::size_t y = b.begin + middle->b;
      align({a.begin, x}, {b.begin, y}, anchored);
      put(x, y, middle->length);
      align({x + middle->length, a.end}, {y + middle->length, b.end}, anchored);
      return;
    }
    m_result.exact = false;
    if (anchored) {
      return;
    }
    for (const auto& [x, y] : anchors(a, b)) {
      align({a.begin, x}, {b.begin, y}, true);
      put(x, y, 1);
      a.begin = x + 1;
      b.begin = y + 1;
    }
    align(a, b, true);
  }

  /// Searches from both ends at once. None: the limits do not allow it. Both ranges begin, and end, with symbols that
  /// differ, so a part left and right of it has fewer edits than the whole.
  std::optional<Snake> middleSnake(Range a, Range b) {
    const auto n = static_cast<std::int64_t>(a.size());
    const auto m = static_cast<std::int64_t>(b.size());
    const std::int64_t delta = n - m;
    const bool odd = delta % 2 != 0;
    const std::uint32_t allowed =
        m_steps < m_limits.steps ? m_limits.edits : m_limits.editsWithoutSteps;
    const std::int64_t most = std::min((n + m + 1) / 2, std::int64_t{allowed / 2 + 1});
    Furthest forward(static_cast<std::size_t>(most) + 1);
    Furthest backward(static_cast<std::size_t>(most) + 1);
    const auto equalForward = [&](std::int64_t x, std::int64_t y) {
      return m_a[a.begin + static_cast<std::size_t>(x)] ==
             m_b[b.begin + static_cast<std::size_t>(y)];
    };
    const auto equalBackward = [&](std::int64_t x, std::int64_t y) {
      return m_a[a.end - 1 - static_cast<std::size_t>(x)] ==
             m_b[b.end - 1 - static_cast<std::size_t>(y)];
    };
    for (std::int64_t edits = 0; edits <= most; ++edits) {
      if (m_steps > m_limits.steps && edits > std::int64_t{m_limits.editsWithoutSteps}) {
        return std::nullopt;
      }
      forward.begin(edits);
      backward.begin(edits);
      m_steps += static_cast<std::uint64_t>(2 * edits + 2);
      const auto within = [&](std::int64_t diagonal, std::int64_t reach) {
        return diagonal >= -reach && diagonal <= reach;
      };
      const std::int64_t low = edits > m ? -m + (edits - m) % 2 : -edits;
      const std::int64_t high = std::min(edits, n);
      for (std::int64_t k = low; k <= high; k += 2) {
        const std::optional<Snake> snake = extend(forward, k, n, m, equalForward);
        m_steps += snake ? snake->length : 0;
        if (snake && odd && within(delta - k, edits - 1) &&
            backward.at(delta - k) != Furthest::kNowhere &&
            forward.at(k) + backward.at(delta - k) >= n) {
          return snake;
        }
      }
      for (std::int64_t k = low; k <= high; k += 2) {
        const std::optional<Snake> snake = extend(backward, k, n, m, equalBackward);
        m_steps += snake ? snake->length : 0;
        if (snake && !odd && within(delta - k, edits) &&
            forward.at(delta - k) != Furthest::kNowhere &&
            forward.at(delta - k) + backward.at(k) >= n) {
          return Snake{a.size() - snake->a - snake->length, b.size() - snake->b - snake->length,
                       snake->length};
        }
      }
    }
    return std::nullopt;
  }

  using Anchor = std::pair<std::size_t, std::size_t>;

  /// (symbol, place), by symbol, then by place.
  static std::vector<std::pair<std::uint32_t, std::size_t>> bySymbol(Symbols all, Range range) {
    std::vector<std::pair<std::uint32_t, std::size_t>> places;
    places.reserve(range.size());
    for (std::size_t i = range.begin; i < range.end; ++i) {
      places.emplace_back(all[i], i);
    }
    std::sort(places.begin(), places.end());
    return places;
  }

  /// The n-th of each symbol in a with the n-th in b, ascending in a.
  [[nodiscard]] std::vector<Anchor> pairsOf(Range a, Range b) const {
    const auto inA = bySymbol(m_a, a);
    const auto inB = bySymbol(m_b, b);
    std::vector<Anchor> pairs;
    auto p = inA.begin();
    auto q = inB.begin();
    while (p != inA.end() && q != inB.end()) {
      if (p->first == q->first) {
        pairs.emplace_back((p++)->second, (q++)->second);
      } else {
        p->first < q->first ? ++p : ++q;
      }
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  /// As many of these pairs as ascend in b, too.
  [[nodiscard]] std::vector<Anchor> anchors(Range a, Range b) const {
    const std::vector<Anchor> pairs = pairsOf(a, b);
    std::vector<std::size_t> ends;  // by length: the last pair of the sequence that ends first
    std::vector<std::size_t> before(pairs.size(), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto at =
          std::lower_bound(ends.begin(), ends.end(), pairs[i].second,
                           [&](std::size_t end, std::size_t y) { return pairs[end].second < y; });
      before[i] = at == ends.begin() ? pairs.size() : *(at - 1);
      at == ends.end() ? ends.push_back(i) : void(*at = i);
    }
    std::vector<Anchor> chosen;
    for (std::size_t i = ends.empty() ? pairs.size() : ends.back(); i != pairs.size();
         i = before[i]) {
      chosen.push_back(pairs[i]);
    }
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }

  Symbols m_a;
  Symbols m_b;
  AlignmentLimits m_limits;
  std::uint64_t m_steps = 0;
  SequenceAlignment m_result;
};

}  // namespace

SequenceAlignment alignSequences(Symbols a, Symbols b, const AlignmentLimits& limits) {
  return Alignment(a, b, limits).run();
}

}  // namespace pf
