// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "replay_engine/races/tracing.h"

namespace pf {
namespace {

using tracing::Delivery;

/// Could the first, a receive posted before the other, have had the other's message?
bool couldHaveHad(const Delivery& first, const Delivery& other) {
  return first.wildcard() && first.comm == other.comm &&
         (first.wantedTag == kAnyTag || first.wantedTag == other.tag) &&
         first.source != other.source && first.completion > other.known;
}

bool race(const Delivery& a, const Delivery& b) {
  return a.index < b.index ? couldHaveHad(a, b) : couldHaveHad(b, a);
}

/// A delivery about which nothing is decided.
struct Undecided {
  const Delivery* delivery = nullptr;
  bool tracedByB = false;
  bool leftOut = false;              ///< of the trace, by the present plan
  bool mustTrace = false;            ///< races with one that was left out
  std::uint32_t wildcards = 0;       ///< number of wildcards observed up to it
  std::vector<std::uint32_t> races;  ///< with others undecided, by number
};

/// Decides about the deliveries of one rank, first come first decided.
class Window {
 public:
  Window(const RankHistory& history, std::uint32_t size, std::vector<TracedReceive>& trace,
         std::size_t rank)
      : m_open(history), m_size(size), m_trace(trace), m_rank(static_cast<Rank>(rank)) {}

  void observe(const Delivery& delivery) {
    if (delivery.probe) {
      return decide(delivery, true);
    }
    m_open.advance(delivery);
    const bool tracedByB = m_open.race(delivery) || m_ofB.races(delivery);
    if (!tracedByB) {
      m_ofB.remember(delivery, m_open.firstOpen());
    }
    m_wildcards += delivery.wildcard() ? 1U : 0U;
    if (delivery.racesWithInFlight || m_leftOut.races(delivery)) {
      decide(delivery, true);
    } else {
      enter(delivery, tracedByB);
    }
    decideUpTo(m_size);
  }

  void end() {
    m_ended = true;
    decideUpTo(0);
    while (!m_undecided.empty()) {
      decideFirst();
    }
  }

 private:
  Undecided& at(std::uint32_t number) { return m_undecided[number - m_first]; }

  void enter(const Delivery& delivery, bool tracedByB) {
    const auto number = m_first + static_cast<std::uint32_t>(m_undecided.size());
    Undecided entered{&delivery, tracedByB, false, false, m_wildcards, {}};
    for (std::uint32_t other = m_first; other < number; ++other) {
      if (race(*at(other).delivery, delivery)) {
        entered.races.push_back(other);
        at(other).races.push_back(number);
      }
    }
    if (!delivery.wildcard() && entered.races.empty() && allowed(entered)) {
      return decide(delivery, false);
    }
    m_undecided.push_back(std::move(entered));
    at(number).leftOut = fits(number);
    m_changed = true;
  }

  /// May it be left out, others undecided apart?
  bool allowed(const Undecided& one) {
    return !one.mustTrace &&
           (m_ended || (!m_open.race(*one.delivery) &&
                        (!one.tracedByB || m_ofB.covers(*one.delivery, m_open.firstOpen()))));
  }

  bool fits(std::uint32_t number) {
    return std::ranges::none_of(at(number).races,
                                [&](std::uint32_t other) { return at(other).leftOut; }) &&
           allowed(at(number));
  }

  void decideUpTo(std::uint32_t size) {
    while (!m_undecided.empty() && m_wildcards - m_undecided.front().wildcards >= size) {
      decideFirst();
    }
  }

  void decideFirst() {
    if (m_changed && m_undecided.size() > 1) {
      improve();
    }
    m_changed = false;
    const Undecided& first = m_undecided.front();
    for (const std::uint32_t other : first.races) {
      std::erase(at(other).races, m_first);
      at(other).mustTrace = at(other).mustTrace || first.leftOut;
    }
    decide(*first.delivery, !first.leftOut);
    m_undecided.pop_front();
    ++m_first;
  }

  void decide(const Delivery& delivery, bool traced) {
    if (traced) {
      m_trace.push_back({m_rank, delivery.index, delivery.probe});
    } else {
      m_leftOut.remember(delivery, m_open.firstOpen());
    }
  }

  /// Local search, till nothing helps.
  void improve() {
    for (bool better = true; better;) {
      better = false;
      for (std::uint32_t i = 0; i < m_undecided.size(); ++i) {
        better = (!m_undecided[i].leftOut && leaveOut(m_first + i)) || better;
      }
    }
  }

  /// Leaves out this one and, instead of those it races with, what else then can be; if that is
  /// more than before.
  bool leaveOut(std::uint32_t number) {
    if (!allowed(at(number))) {
      return false;
    }
    std::vector<std::uint32_t> removed;
    std::ranges::copy_if(at(number).races, std::back_inserter(removed),
                         [&](std::uint32_t other) { return at(other).leftOut; });
    for (const std::uint32_t other : removed) {
      at(other).leftOut = false;
    }
    std::vector<std::uint32_t> added{number};
    at(number).leftOut = true;
    for (const std::uint32_t gone : removed) {
      for (const std::uint32_t other : at(gone).races) {
        if (!at(other).leftOut && fits(other)) {
          at(other).leftOut = true;
          added.push_back(other);
        }
      }
    }
    if (added.size() > removed.size()) {
      return true;
    }
    for (const std::uint32_t other : added) {
      at(other).leftOut = false;
    }
    for (const std::uint32_t other : removed) {
      at(other).leftOut = true;
    }
    return false;
  }

  tracing::OpenReceives m_open;
  tracing::Memory m_ofB;      ///< what Algorithm B has left out
  tracing::Memory m_leftOut;  ///< what was left out here, decided
  std::uint32_t m_size;
  std::vector<TracedReceive>& m_trace;
  Rank m_rank;
  std::deque<Undecided> m_undecided;
  std::uint32_t m_first = 0;  ///< number of the first undecided
  std::uint32_t m_wildcards = 0;
  bool m_changed = false;
  bool m_ended = false;
};

}  // namespace

std::vector<TracedReceive> traceWithWindow(std::uint32_t window, const Execution& execution) {
  if (window == 0) {
    return traceWith(TracingAlgorithm::AlgorithmB, TracingRules::Mpi, execution);
  }
  const std::vector<std::vector<Delivery>> byRank = tracing::observedDeliveries(execution);
  std::vector<TracedReceive> trace;
  for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
    Window decisions(execution.ranks[rank], window, trace, rank);
    for (const Delivery& delivery : byRank[rank]) {
      decisions.observe(delivery);
    }
    decisions.end();
  }
  std::sort(trace.begin(), trace.end());
  return trace;
}

}  // namespace pf
