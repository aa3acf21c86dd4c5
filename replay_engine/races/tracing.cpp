// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/races/tracing.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "replay_engine/execution/envelope.h"
#include "replay_engine/execution/record_checks.h"

namespace pf {
namespace {

using tracing::Delivery;
using tracing::LeastKnown;

using Trace = std::vector<TracedReceive>;

void add(Trace& trace, std::size_t rank, const Delivery& delivery) {
  trace.push_back({static_cast<Rank>(rank), delivery.index, delivery.probe});
}

Trace naive(const Execution& execution, TracingRules rules) {
  Trace trace;
  for (std::size_t rank = 0; rank < execution.ranks.size(); ++rank) {
    const RankHistory& history = execution.ranks[rank];
    for (std::uint32_t i = 0; i < history.receives.size(); ++i) {
      if (history.receives[i].wantedSource == kAnySource &&
          isCompleted(history, history.receives[i])) {
        trace.push_back({static_cast<Rank>(rank), i, false});
      }
    }
    for (std::uint32_t i = 0; rules == TracingRules::Mpi && i < history.probes.size(); ++i) {
      if (history.probes[i].wantedSource == kAnySource) {
        trace.push_back({static_cast<Rank>(rank), i, true});
      }
    }
  }
  return trace;
}

/// The four requests that accept a message.
std::array<Envelope, 4> requestsFor(const Delivery& delivery) {
  return {{{delivery.source, delivery.comm, delivery.tag},
           {delivery.source, delivery.comm, kAnyTag},
           {kAnySource, delivery.comm, delivery.tag},
           {kAnySource, delivery.comm, kAnyTag}}};
}

Envelope requestOf(const Delivery& delivery) {
  return {delivery.wantedSource, delivery.comm, delivery.wantedTag};
}

// What a rank remembers as printed: races() asks for a message, remember() is told of its receive.

/// Netzer and Miller, Figure 3a: PrevRecv, the last receive that would have accepted the message.
/// Algorithm A, Figure 6, if told of untraced receives only: its walk along the list ends at the
/// last one of these, whatever it finds. By request, not by channel: no receive is entered twice.
class PrintedLists {
 public:
  [[nodiscard]] bool races(const Delivery& delivery) const {
    return std::ranges::any_of(requestsFor(delivery), [&](const Envelope& request) {
      const auto last = m_last.find(request);
      return last != m_last.end() && last->second > delivery.known;
    });
  }
  void remember(const Delivery& delivery) { m_last[requestOf(delivery)] = delivery.completion; }

 private:
  std::unordered_map<Envelope, Serial, EnvelopeHash> m_last;
};

/// Algorithm B, Figure 10: LL[j] is the last untraced receive that listened over channel j and
/// whose message came over another. By request: the last, and the last over another channel than
/// the last one's.
class PrintedArray {
 public:
  [[nodiscard]] bool races(const Delivery& delivery) const {
    return std::ranges::any_of(requestsFor(delivery), [&](const Envelope& request) {
      const auto found = m_last.find(request);
      return found != m_last.end() && std::ranges::any_of(found->second, [&](const Last& last) {
               return last.channel != channelOf(delivery) && last.completion > delivery.known;
             });
    });
  }
  void remember(const Delivery& delivery) {
    std::array<Last, 2>& last = m_last[requestOf(delivery)];
    if (last[0].channel != channelOf(delivery)) {
      last[1] = last[0];
    }
    last[0] = {channelOf(delivery), delivery.completion};
  }

 private:
  struct Last {
    Envelope channel;
    Serial completion = 0;
  };
  static Envelope channelOf(const Delivery& delivery) {
    return {delivery.source, delivery.comm, delivery.tag};
  }
  std::unordered_map<Envelope, std::array<Last, 2>, EnvelopeHash> m_last;
};

template <typename Memory>
void traceAsPrinted(const std::vector<Delivery>& deliveries, bool rememberTraced, std::size_t rank,
                    Trace& trace) {
  Memory memory;
  for (const Delivery& delivery : deliveries) {
    if (delivery.probe) {
      continue;
    }
    const bool traced = memory.races(delivery);
    if (traced) {
      add(trace, rank, delivery);
    }
    if (!traced || rememberTraced) {
      memory.remember(delivery);
    }
  }
}

/// Meehan 5.1: of two messages with the same tag, or both received with any tag, and both received
/// by wildcards, the first is traced if the second's sender did not know of its receipt. His
/// buffers of the messages that may still race find, message by message, the pairs that are found
/// here from the last receive to the first. A probe is as a receive (5.3).
void meehanAsPrinted(const std::vector<Delivery>& deliveries, std::size_t rank, Trace& trace) {
  LeastKnown ofTag;
  LeastKnown byAnyTag;
  for (std::size_t i = deliveries.size(); i-- > 0;) {
    const Delivery& delivery = deliveries[i];
    if (!delivery.wildcard()) {
      continue;
    }
    const bool anyTag = delivery.wantedTag == kAnyTag;
    if (ofTag.race(delivery.comm, delivery.tag, delivery) ||
        (anyTag && byAnyTag.race(delivery.comm, kAnyTag, delivery))) {
      add(trace, rank, delivery);
    }
    ofTag.add(delivery.comm, delivery.tag, delivery.source, delivery.known);
    if (anyTag) {
      byAnyTag.add(delivery.comm, kAnyTag, delivery.source, delivery.known);
    }
  }
}

/// Algorithm A's memory by TracingRules::Mpi: all untraced wildcards, by communicator and tag asked
/// for, and by the source of their messages (the paper's linked lists).
class WholePast {
 public:
  [[nodiscard]] bool races(const Delivery& delivery) const {
    for (const Tag tag : {delivery.tag, kAnyTag}) {
      const auto lists = m_lists.find({delivery.comm, tag});
      if (lists == m_lists.end()) {
        continue;
      }
      for (const auto& [source, list] : lists->second) {
        if (source != delivery.source && racesWithOne(list, delivery)) {
          return true;
        }
      }
    }
    return false;
  }
  void remember(const Delivery& delivery, std::uint32_t /*firstOpen*/) {
    if (delivery.wildcard()) {
      m_lists[{delivery.comm, delivery.wantedTag}][delivery.source].push_back(
          {delivery.index, delivery.completion});
    }
  }

 private:
  struct Entry {
    std::uint32_t index;
    Serial completion;
  };

  static bool racesWithOne(const std::vector<Entry>& list, const Delivery& delivery) {
    for (std::size_t i = list.size(); i-- > 0 && list[i].completion > delivery.known;) {
      if (list[i].index < delivery.index) {
        return true;
      }
    }
    return false;
  }

  std::map<std::pair<std::uint32_t, Tag>, std::map<Rank, std::vector<Entry>>> m_lists;
};

/// Netzer and Miller, Algorithms A and B: the second of two racing deliveries is traced.
template <typename Memory>
void traceSecond(const RankHistory& history, const std::vector<Delivery>& deliveries,
                 bool rememberTraced, std::size_t rank, Trace& trace) {
  Memory memory;
  tracing::OpenReceives open(history);
  for (const Delivery& delivery : deliveries) {
    if (delivery.probe) {
      add(trace, rank, delivery);
      continue;
    }
    open.advance(delivery);
    const bool traced = open.race(delivery) || memory.races(delivery);
    if (!traced || rememberTraced) {
      memory.remember(delivery, open.firstOpen());
    }
    // What is in flight at the end comes too late for the decisions about others.
    if (traced || delivery.racesWithInFlight) {
      add(trace, rank, delivery);
    }
  }
}

void traceRankAsPrinted(TracingAlgorithm algorithm, const std::vector<Delivery>& deliveries,
                        std::size_t rank, Trace& trace) {
  if (algorithm == TracingAlgorithm::Meehan) {
    meehanAsPrinted(deliveries, rank, trace);
  } else if (algorithm == TracingAlgorithm::AlgorithmB) {
    traceAsPrinted<PrintedArray>(deliveries, false, rank, trace);
  } else {
    traceAsPrinted<PrintedLists>(deliveries, algorithm == TracingAlgorithm::NetzerMiller, rank,
                                 trace);
  }
}

/// What races with something later; and the probes that saw a traced message.
void meehan(const std::vector<Delivery>& deliveries, std::size_t rank, Trace& trace) {
  std::unordered_set<std::uint32_t> traced;
  for (const Delivery& delivery : deliveries) {
    if (delivery.racesWithLater && !delivery.probe) {
      add(trace, rank, delivery);
      traced.insert(delivery.message);
    }
  }
  for (const Delivery& delivery : deliveries) {
    if (delivery.probe && (delivery.racesWithLater || traced.contains(delivery.message))) {
      add(trace, rank, delivery);
    }
  }
}

void traceRank(TracingAlgorithm algorithm, const RankHistory& history,
               const std::vector<Delivery>& deliveries, std::size_t rank, Trace& trace) {
  if (algorithm == TracingAlgorithm::Meehan) {
    meehan(deliveries, rank, trace);
  } else if (algorithm == TracingAlgorithm::AlgorithmA) {
    traceSecond<WholePast>(history, deliveries, false, rank, trace);
  } else {
    traceSecond<tracing::Memory>(history, deliveries, algorithm == TracingAlgorithm::NetzerMiller,
                                 rank, trace);
  }
}

}  // namespace

std::vector<TracedReceive> traceWith(TracingAlgorithm algorithm, TracingRules rules,
                                     const Execution& execution) {
  if (algorithm == TracingAlgorithm::Naive) {
    Trace trace = naive(execution, rules);
    std::sort(trace.begin(), trace.end());
    return trace;
  }
  const std::vector<std::vector<Delivery>> byRank = tracing::observedDeliveries(execution);
  Trace trace;
  for (std::size_t rank = 0; rank < byRank.size(); ++rank) {
    if (rules == TracingRules::AsPrinted) {
      traceRankAsPrinted(algorithm, byRank[rank], rank, trace);
    } else {
      traceRank(algorithm, execution.ranks[rank], byRank[rank], rank, trace);
    }
  }
  std::sort(trace.begin(), trace.end());
  return trace;
}

}  // namespace pf
