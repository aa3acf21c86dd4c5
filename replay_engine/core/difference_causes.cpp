#include "difference_causes.h"

#include "forward_pass.h"

#include <algorithm>
#include <memory>
#include <utility>

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
    const bool counts = difference && !difference->onlyMisses && difference->serial != 0;
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
      for (std::uint32_t i = 0; i < m_all.differences.size(); ++i) {
        if (known->has(i) && (m_last[place.rank] == nullptr || !m_last[place.rank]->has(i))) {
          reached[place.rank].emplace_back(i, place.serial);
        }
      }
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

std::vector<Serial> cone(const Spread& spread, std::uint32_t only) {
  std::vector<Serial> serials;
  for (const auto& reached : spread.reached) {
    Serial first = 0;
    for (const auto& [number, serial] : reached) {
      if ((only == kNone || number == only) && (first == 0 || serial < first)) {
        first = serial;
      }
    }
    serials.push_back(first);
  }
  return serials;
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
    if (difference.cause) {
      difference.coneA = cone(inA, static_cast<std::uint32_t>(i));
      difference.coneB = cone(inB, static_cast<std::uint32_t>(i));
    }
  }
  for (auto& difference : comparison.ranks) {
    if (difference && all.differences.empty()) {
      difference->cause = true;  // nothing but what orders nothing
    }
    if (difference && difference->cause) {
      comparison.firstCauses.push_back(difference->rank);
    }
  }
  comparison.coneA = cone(inA, kNone);
  comparison.coneB = cone(inB, kNone);
}

}  // namespace pf
