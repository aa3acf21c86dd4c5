// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/comparison/difference_causes.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "replay_engine/causality/forward_pass.h"

namespace pf {
namespace {

/// A set of differences, by number.
class DifferenceSet {
 public:
  explicit DifferenceSet(std::size_t size = 0) : m_words((size + 63) / 64, 0) {}

  [[nodiscard]] bool has(std::size_t i) const { return (m_words[i / 64] >> (i % 64) & 1U) != 0; }
  void add(std::size_t i) { m_words[i / 64] |= std::uint64_t{1} << (i % 64); }
  void remove(std::size_t i) { m_words[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  [[nodiscard]] bool empty() const {
    return std::all_of(m_words.begin(), m_words.end(),
                       [](std::uint64_t word) { return word == 0; });
  }
  [[nodiscard]] bool covers(const DifferenceSet& other) const {
    for (std::size_t i = 0; i < m_words.size(); ++i) {
      if ((other.m_words[i] & ~m_words[i]) != 0) {
        return false;
      }
    }
    return true;
  }
  /// Calls use(i) for each that `other` (null: the empty set) lacks.
  template <typename Use>
  void eachBeyond(const DifferenceSet* other, Use use) const {
    for (std::size_t i = 0; i < m_words.size(); ++i) {
      std::uint64_t left = m_words[i] & ~(other == nullptr ? 0 : other->m_words[i]);
      for (; left != 0; left &= left - 1) {
        use(static_cast<std::uint32_t>(64 * i) +
            static_cast<std::uint32_t>(std::countr_zero(left)));
      }
    }
  }
  void join(const DifferenceSet& other) {
    for (std::size_t i = 0; i < m_words.size(); ++i) {
      m_words[i] |= other.m_words[i];
    }
  }

 private:
  std::vector<std::uint64_t> m_words;
};

/// Differences that order anything, numbered.
struct Numbered {
  std::vector<Difference*> differences;
  std::vector<std::uint32_t> ofRank;  ///< kNone: none
};

Numbered numbered(Comparison& comparison) {
  Numbered result;
  for (auto& difference : comparison.ranks) {
    const bool counts = difference && !difference->onlyFailedPolls && difference->serial != 0;
    result.ofRank.push_back(counts ? static_cast<std::uint32_t>(result.differences.size()) : kNone);
    if (counts) {
      result.differences.push_back(&*difference);
    }
  }
  return result;
}

/// Follows the differences through one execution.
class Spread {
 public:
  using Known = std::shared_ptr<const DifferenceSet>;

  explicit Spread(const Numbered& all)
      : m_all(all),
        reached(all.ofRank.size()),
        before(all.differences.size(), DifferenceSet(all.differences.size())),
        history(before),
        m_last(all.ofRank.size()) {}

  void run(const Execution& execution) {
    const EventGraph graph(execution);
    ForwardPass<DifferenceSet, Spread> pass(graph, *this, true);
    const std::vector<Known> known = pass.run();
    for (const Difference* each : m_all.differences) {
      const auto rank = static_cast<std::size_t>(each->rank);
      if (each->serial > execution.ranks[rank].events.size()) {
        note(history[m_all.ofRank[rank]], known[rank]);
        note(before[m_all.ofRank[rank]], known[rank]);
      }
    }
  }

  void enter(Place place, Known& known) {
    const std::uint32_t number = m_all.ofRank[place.rank];
    if (number == kNone || m_all.differences[number]->serial != place.serial) {
      return;
    }
    note(history[number], known);
    if (atEntry(number)) {
      note(before[number], known);
      own(number, known);
    }
  }

  void leave(Place place, Known& known) {
    const std::uint32_t number = m_all.ofRank[place.rank];
    if (number != kNone && m_all.differences[number]->serial == place.serial && !atEntry(number)) {
      note(before[number], known);
      own(number, known);
    }
    if (known != m_last[place.rank]) {
      known->eachBeyond(m_last[place.rank].get(), [&](std::uint32_t i) {
        reached[place.rank].emplace_back(i, place.serial);
      });
      m_last[place.rank] = known;
    }
  }

 private:
  const Numbered& m_all;

 public:
  /// By rank: differences, each with the first event that happens after it.
  std::vector<std::vector<std::pair<std::uint32_t, Serial>>> reached;
  std::vector<DifferenceSet> before;   ///< by difference: what precedes it
  std::vector<DifferenceSet> history;  ///< by difference: what precedes the event that it is at

 private:
  /// The event itself is another one, so what it sends is.
  [[nodiscard]] bool atEntry(std::uint32_t number) const {
    const Difference& difference = *m_all.differences[number];
    return difference.otherCall || difference.kind == DifferenceKind::End;
  }

  static void note(DifferenceSet& set, const Known& known) {
    if (known != nullptr) {
      set.join(*known);
    }
  }

  void own(std::uint32_t number, Known& known) const {
    auto with = known == nullptr ? std::make_shared<DifferenceSet>(m_all.differences.size())
                                 : std::make_shared<DifferenceSet>(*known);
    with->add(number);
    known = std::move(with);
  }

  std::vector<Known> m_last;  ///< by rank
};

/// Of all differences.
std::vector<Serial> wholeCone(const Spread& spread) {
  std::vector<Serial> serials;
  for (const auto& reached : spread.reached) {
    serials.push_back(reached.empty() ? 0 : reached.front().second);  // they are in order
  }
  return serials;
}

/// Of each first cause.
void fillCones(const Numbered& all, const Spread& spread, std::vector<Serial> Difference::*cone) {
  for (Difference* each : all.differences) {
    if (each->cause) {
      (each->*cone).assign(spread.reached.size(), 0);
    }
  }
  for (std::size_t rank = 0; rank < spread.reached.size(); ++rank) {
    for (const auto& [number, serial] : spread.reached[rank]) {
      if (all.differences[number]->cause) {
        (all.differences[number]->*cone)[rank] = serial;
      }
    }
  }
}

/// What precedes it, also through others.
void closeOver(std::vector<DifferenceSet>& before) {
  for (std::size_t middle = 0; middle < before.size(); ++middle) {
    for (DifferenceSet& set : before) {
      if (set.has(middle)) {
        set.join(before[middle]);
      }
    }
  }
}

bool isCause(const std::vector<DifferenceSet>& before, const DifferenceSet& history,
             std::size_t number) {
  if (!history.empty()) {
    return false;
  }
  for (std::size_t other = 0; other < before.size(); ++other) {
    if (other != number && before[number].has(other) && !before[other].has(number)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void findCauses(const Execution& a, const Execution& b, Comparison& comparison) {
  const Numbered all = numbered(comparison);
  Spread inA(all);
  Spread inB(all);
  if (!all.differences.empty()) {
    inA.run(a);
    inB.run(b);
  }
  std::vector<DifferenceSet> before = inA.before;
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i].join(inB.before[i]);
    before[i].remove(i);
    inA.history[i].join(inB.history[i]);
    for (std::size_t other = 0; other < before.size(); ++other) {
      if (before[i].has(other)) {
        all.differences[i]->after.push_back(all.differences[other]->rank);
      }
    }
  }
  closeOver(before);
  for (std::size_t i = 0; i < before.size(); ++i) {
    Difference& difference = *all.differences[i];
    difference.cause = isCause(before, inA.history[i], i);
  }
  for (auto& difference : comparison.ranks) {
    if (difference && all.differences.empty()) {
      difference->cause = true;  // nothing but what orders nothing
    }
    if (difference && difference->cause) {
      comparison.firstCauses.push_back(difference->rank);
    }
  }
  fillCones(all, inA, &Difference::coneA);
  fillCones(all, inB, &Difference::coneB);
  comparison.coneA = wholeCone(inA);
  comparison.coneB = wholeCone(inB);
}

}  // namespace pf
