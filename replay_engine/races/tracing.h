// SPDX-License-Identifier: GPL-3.0-or-later
// Which deliveries of an execution a race-only trace must hold: the papers' message-tracing
// algorithms, run offline on a recorded execution.
//
// A trace is *sufficient* when a replay that enforces it cannot but give every receive the message
// that it had. What enforcing means is Netzer and Miller's 4.2 (and Karmarkar's section 5): a
// traced message is tagged with its receive, which takes only it, and no other receive takes it;
// the rest is left to MPI. So of two racing deliveries either may be traced, and a trace must be a
// vertex cover of the races (Netzer and Miller, Theorem 3). Meehan's trace is also enough for
// replays that tag nothing and only replace a traced receive's wildcard by its source.
//
// TracingRules::Mpi is what the papers' algorithms need to be sufficient on MPI. Each rule is
// tested by leaving it out (tests/tracing_rules_test.cpp); for a delivery of message m to
// receive r:
//   channel    m could have gone to an earlier receive of its communicator with any source, its tag
//              or any, and never to one by source: messages of one source do not overtake.
//   posted     receives that do not block are compared in the order of their posts. When r
//   completes,
//              a wildcard posted earlier, fit for m and not yet observed complete, races with m.
//   completion "Happened before" is from the observed completion of a receive, along messages,
//              synchronous sends and collectives, and never through MPI's matching order (a
//              delivery waits for those of the receives posted before), as findRaces() has it: a
//              traced receive is neither in the way of others nor waits for them.
//   block      a wildcard races with all the messages of a source that it could have had but for
//              their order, not the first only: the first may be traced, and so be out of the way
//              (Meehan's block races; Karmarkar's and Netzer and Miller's checks have them anyway).
//   in flight  a message that nobody received cannot be traced. So at the end every receive is
//   traced
//              that could have had one. (Also one whose receive was not observed complete.)
//   probe      the choice of a wildcard probe is traced at the probe: the receive after it only
//              executes it (Meehan 5.3), and no later delivery stands for it. Meehan's algorithm,
//              which need not decide at once, traces only those that race or saw a traced message:
//              tagged, that is apart, and a later one of the same source would be seen instead.
//              What a probe by source sees, and cancellations, are in every recording, and no
//              races.
// All but the first only ever add to a trace.
//
// Sources: Netzer and Miller, Optimal Tracing and Replay for Debugging Message-Passing Parallel
// Programs, 4.1 (Figure 3a); Karmarkar, Vaidya and Netzer (Algorithms A, B: Figures 6, 10); Meehan,
// Race-Condition Detection in Multicomputer Programs, 5.1. All need matchMessages() first, bear
// damaged records, and have no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "replay_engine/execution/execution.h"
#include "replay_engine/races/races.h"

namespace pf {

enum class TracingAlgorithm : std::uint8_t {
  NetzerMiller,  ///< the second of two racing deliveries
  AlgorithmA,    ///< the same, if the first was not traced; remembers the whole past
  AlgorithmB,    ///< the same with bounded memory
  Meehan,        ///< the first of two racing deliveries
  Naive,         ///< every wildcard receive that completed (and, by Mpi, every wildcard probe)
};

enum class TracingRules : std::uint8_t {
  AsPrinted,  ///< as in the papers; a channel is (source, communicator, tag). Sufficient only where
              ///< all receives block, both wildcards of Meehan's pairs accept both messages, there
              ///< are no probes and every message was received.
  Mpi,        ///< with the rules above: always sufficient
};

/// A receive (or wildcard probe) whose delivery is recorded.
struct TracedReceive {
  Rank rank = kUnknownRank;
  std::uint32_t receive = kNone;  ///< into RankHistory::receives, or ::probes
  bool probe = false;
  friend bool operator==(const TracedReceive&, const TracedReceive&) = default;
  friend bool operator<(const TracedReceive& a, const TracedReceive& b) {
    return std::tie(a.rank, a.receive, a.probe) < std::tie(b.rank, b.receive, b.probe);
  }
};

/// What the algorithm traces, by rank and index (a receive before the probe of the same index).
/// Time O(events x (ranks + log events)), for the clocks and the sorting; the decisions take O(1)
/// each, but O(ranks) for Algorithm A by Mpi.
///
/// By Mpi, A and B trace the same, a subset of what Netzer and Miller trace. As printed A and B
/// differ: A checks a message also against those of its own source (Figure 6 inserts NewRecv into
/// the list of its own channel, Figure 10 does not: Lemma 1), so A traces more where one source
/// sends twice in a row. As printed Netzer and Miller have no order of messages at all, not even
/// between two receives by source. Meehan's 5.1.2 compares the senders' clocks (send -> send),
/// which misses races; what runs here is his 5.1.1 (receive -> send), by happened before as
/// everywhere.
[[nodiscard]] std::vector<TracedReceive> traceWith(TracingAlgorithm algorithm, TracingRules rules,
                                                   const Execution& execution);

/// Karmarkar, Vaidya and Netzer's open question (section 6), by TracingRules::Mpi: the decision
/// about a delivery is delayed by `window` wildcard receives of its rank, and of what is then known
/// the better cover is taken; what was decided stays. 0 is Algorithm B; kNone knows the whole rank.
///
/// Never traces more than Algorithm B, whatever comes. That needs care: a cover that is better so
/// far can leave untraced a receive which races with more of the future. So Algorithm B is run
/// beside, and a receive that it traces may be left out only if all that could race with it would
/// also race with one that B has left out (or if nothing is to come). Covers are improved by local
/// search: one left out is tried, those of its races are put in, all that then can be are left out.
/// Time O(receives x window x races within a window) at worst.
[[nodiscard]] std::vector<TracedReceive> traceWithWindow(std::uint32_t window,
                                                         const Execution& execution);

/// Bounds on the smallest vertex cover of the race graph: vertices are the deliveries, and the hits
/// of wildcard probes; an edge joins a receive's (or probe's) with that of each of its
/// alternatives. One that nobody received cannot be in the cover.
struct OptimalTrace {
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  bool exact = true;  ///< lower == upper
};

/// Of findRaces()'s races: exact where every connected component is complete multipartite (cliques
/// too) or has up to 40 vertices (branch and bound); of others a maximal matching is the lower and
/// a greedy cover the upper bound (Netzer and Miller's footnote 3). No sufficient trace has fewer
/// than `lower` deliveries. One with `lower` may not exist: findRaces() knows only the first
/// message of each source as an alternative, and a replay must also mind those behind a traced one.
[[nodiscard]] OptimalTrace optimalTrace(const Execution& execution, const std::vector<Race>& races);

/// What the algorithms are made of.
namespace tracing {

/// A delivery as the program observed it, or the hit of a wildcard probe.
struct Delivery {
  bool probe = false;
  std::uint32_t index = kNone;  ///< into RankHistory::receives, or ::probes
  std::uint32_t comm = kNone;
  Rank wantedSource = kAnySource;
  Tag wantedTag = kAnyTag;
  Rank source = kUnknownRank;  ///< of the message, and its tag
  Tag tag = kAnyTag;
  std::uint32_t message = kNone;
  Serial completion = 0;  ///< event that observed it
  Serial known = 0;  ///< events of the receiving rank that had finished for all that the sender
                     ///< knew; 0 if the send is not in the record
  std::uint32_t number = 0;        ///< of those that its rank observed, in their order
  bool racesWithInFlight = false;  ///< Mpi: wildcard that could have had a message nobody received
  bool racesWithLater = false;     ///< Mpi: one that nobody, or a later receive, received (Meehan)
  [[nodiscard]] bool wildcard() const { return wantedSource == kAnySource; }
};

/// [rank]: in the order of completion, those of one event in the order of posts.
[[nodiscard]] std::vector<std::vector<Delivery>> observedDeliveries(const Execution& execution);

/// Of the messages of each communicator and tag, those whose senders knew least.
class LeastKnown {
 public:
  void add(std::uint32_t comm, Tag tag, Rank source, Serial known);
  /// Is there one from another source, sent without knowing the delivery's completion?
  [[nodiscard]] bool race(std::uint32_t comm, Tag tag, const Delivery& delivery) const;

 private:
  struct Least {
    Serial known;
    Rank source;
  };
  std::map<std::pair<std::uint32_t, Tag>, std::vector<Least>> m_least;  ///< two sources at most
};

/// The wildcards of one rank that are not yet observed complete, as time goes on.
class OpenReceives {
 public:
  explicit OpenReceives(const RankHistory& history);
  /// Just after this delivery was observed. In the order of observedDeliveries().
  void advance(const Delivery& now);
  /// Is there one posted before this receive that accepts its message?
  [[nodiscard]] bool race(const Delivery& delivery);
  /// All deliveries to come are to this receive or later ones.
  [[nodiscard]] std::uint32_t firstOpen() const { return m_firstOpen; }

 private:
  struct Queue {
    std::vector<std::uint32_t> posts;
    std::size_t next = 0;  ///< those before are complete
  };
  [[nodiscard]] bool isOpen(std::uint32_t index) const;

  const RankHistory& m_history;
  std::map<std::pair<std::uint32_t, Tag>, Queue> m_queues;  ///< by comm and tag asked for
  Serial m_now = 0;
  std::uint32_t m_nowIndex = 0;
  std::uint32_t m_firstOpen = 0;
};

/// Algorithm B's memory at one rank: untraced wildcards. Of those with equal communicator and tag
/// asked for, only the last, and the last whose message came from another source, can matter to a
/// receive posted after them all (Karmarkar's Theorem 1); some more are kept while receives posted
/// before them are open.
class Memory {
 public:
  /// Could one of them have had this message?
  [[nodiscard]] bool races(const Delivery& delivery) const;
  /// In the order of completion; no effect unless a wildcard. `firstOpen`: OpenReceives'.
  void remember(const Delivery& delivery, std::uint32_t firstOpen);
  /// Will everything that could have gone to this wildcard, and comes from now on, race with one of
  /// them?
  [[nodiscard]] bool covers(const Delivery& delivery, std::uint32_t firstOpen) const;

 private:
  struct Entry {
    std::uint32_t index;
    Rank source;
    Serial completion;
    std::uint32_t number;
  };
  struct Row {
    std::vector<Entry> entries;  ///< in the order of completion
    std::size_t pruneAt = 4;
  };
  static void prune(Row& row, std::uint32_t firstOpen);

  std::map<std::pair<std::uint32_t, Tag>, Row> m_rows;  ///< by comm and tag asked for
};

}  // namespace tracing
}  // namespace pf
