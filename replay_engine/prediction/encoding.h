// SPDX-License-Identifier: GPL-3.0-or-later
// The executions of a program, as clauses. An assignment is a state that some execution reaches: for each
// rank the events that have ended, and which receive has which message. Private to the prediction.
//
// Source: Forejt, Joshi, Kroening, Narayanaswamy and Sharma, A Precise Predictive Analysis for Discovering
// Communication Deadlocks in MPI Programs (TOPLAS 39, 2017; FM 2014), the propositional encoding: variables
// for a match, for a call that is matched, for one that is issued; unique match, match correctness, matched
// only where issued, matches that are possible happen, some call is not matched. Huang and Mercer, Detecting
// MPI Zero Buffer Incompatibility by SMT Encoding (NFM 2015): sends that wait (zero buffers) and that do not
// (infinite buffers).
//
// Where it differs. Events begin and end (MPI_Sendrecv, MPI_Waitall and MPI_Startall do several things).
// The clocks of the papers, which make the order of matches one that can happen, are not clauses: where an
// assignment's order runs in a circle (order_check.h), a clause forbids that circle, and the solver is
// asked again. A state is final where nothing can happen any more; a blocking standard send either waits
// for its receive in a final state or it does not, so each mixture of buffered and synchronous ones is
// looked at, not all or none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "replay_engine/prediction/match_sets.h"
#include "replay_engine/prediction/matching_order.h"
#include "replay_engine/prediction/program_model.h"
#include "replay_engine/prediction/sat_solver.h"
#include "replay_engine/prediction/streams.h"

namespace pf::prediction {

class Encoding {
 public:
  /// How much of the matches is in it.
  enum class Detail : std::uint8_t {
    Matches,  ///< who takes what: a state is one that is reached
    Counts,  ///< only how many, where there is a choice: small, and each state that is reached is one, but not only these
  };
  /// Building it ends at `deadline`: then nothing is decided.
  Encoding(const ProgramModel& model, const MatchSets& sets, Detail detail, Deadline deadline);

  /// Whether a state is reached in which all of `assumed` holds.
  [[nodiscard]] Answer solve(std::span<const Literal> assumed, Deadline deadline);
  [[nodiscard]] Literal newVariable() { return m_solver.newVariable(); }
  void add(std::span<const Literal> clause) { m_solver.add(clause); }
  /// A literal that holds where any, or all, of them do.
  [[nodiscard]] Literal anyOf(std::span<const Literal> parts);
  [[nodiscard]] Literal allOf(std::span<const Literal> parts);

  // What a state is like.

  /// Nothing can happen any more.
  [[nodiscard]] Literal isFinal() const { return m_final; }
  /// No blocking standard send waits for its receive.
  [[nodiscard]] Literal isBuffered() const { return m_buffered; }
  [[nodiscard]] Literal begun(Rank rank, Serial serial) const {
    return serial == 1 ? m_true : ended(rank, serial - 1);
  }
  [[nodiscard]] Literal ended(Rank rank, Serial serial) const {
    return m_ended[index(rank)][serial - 1];
  }
  [[nodiscard]] Literal taken(std::uint32_t message) const { return m_taken[message]; }
  [[nodiscard]] Literal matched(std::uint32_t receive) const { return m_matched[receive]; }
  /// No such match: nothing.
  [[nodiscard]] std::optional<Literal> match(std::uint32_t receive, std::uint32_t message) const;
  /// The receive has another message than in the record.
  [[nodiscard]] Literal flipped(std::uint32_t receive) const { return m_flipped[receive]; }

  // The state that was found, after Answer::Yes and until the next solve().

  [[nodiscard]] bool holds(Literal literal) const { return m_solver.holds(literal); }
  /// The message that the receive has; kNone: none.
  [[nodiscard]] std::uint32_t messageOf(std::uint32_t receive) const {
    return m_found[receive].other;
  }
  /// That it has this message. It has one.
  [[nodiscard]] Literal matchOf(std::uint32_t receive) const { return m_found[receive].literal; }
  /// The event in which the rank is; 0: it has ended all.
  [[nodiscard]] Serial stoppedIn(Rank rank) const;

  // For the order in which it came about (order_check.h).

  struct Seen {
    std::uint32_t message = kNone;
    Literal literal = 0;
  };
  struct Consumed {
    Wait wait;
    Literal literal = 0;
  };
  [[nodiscard]] const ProgramModel& model() const { return m_model; }
  [[nodiscard]] const MatchingOrder& order() const { return m_order; }
  /// What the probe may have seen.
  [[nodiscard]] const std::vector<Seen>& seenBy(std::uint32_t probe) const { return m_seen[probe]; }
  /// What a completion of one or some may have completed.
  [[nodiscard]] const std::vector<Consumed>& consumedBy(Rank rank, Serial serial) const;

 private:
  struct Pair {
    std::uint32_t other = kNone;  ///< a message, or a receive
    Literal literal = 0;
  };
  /// Which events of one or some come before, for each request of a rank.
  using Gone = std::map<std::pair<WaitKind, std::uint32_t>, Literal>;

  void implies(Literal first, Literal second) { m_solver.add({-first, second}); }
  /// Of each first part whether any of it holds; at most one of all does.
  [[nodiscard]] std::vector<Literal> ladder(const std::vector<Pair>& pairs);

  void makeMatches(const MatchSets& sets);
  void addEvents();
  void addMatches();
  void addMatch(std::uint32_t receive, const Pair& pair);
  void addOrders();
  void addFinalMatches();
  void addCounts();
  void addCount(const ReceiveClass& one);
  void addCount(const ReceiveGroup& group);
  /// Of the messages of a stream that they are not taken, in unary.
  [[nodiscard]] std::vector<Literal> leftOf(std::uint32_t stream) const;
  [[nodiscard]] std::vector<Literal> sumOf(std::vector<std::vector<Literal>> numbers);
  [[nodiscard]] std::vector<Literal> sumOf(const std::vector<Literal>& a,
                                           const std::vector<Literal>& b);
  void addCollectives();
  void addFlips();
  void addRank(Rank rank);
  void addEvent(Rank rank, Serial serial, Gone& gone);
  void addStandardSend(const ModelEvent& event, Clause& blocked);
  void addProbe(std::uint32_t probe, Literal ended, Clause& blocked);
  void addSeen(std::uint32_t probe, const Seen& seen);
  void addChoice(Rank rank, Serial serial, Gone& gone, Clause& blocked);
  void atMostOne(const std::vector<Consumed>& choice);
  [[nodiscard]] Literal satisfied(const Wait& wait) const;
  [[nodiscard]] Literal sent(std::uint32_t message) const {
    return begun(m_model.messages[message].source, m_model.messages[message].event);
  }
  /// By a receive that is posted before.
  [[nodiscard]] Literal takenBefore(std::uint32_t message, std::uint32_t receive) const;

  const ProgramModel& m_model;
  Detail m_detail;
  Deadline m_deadline;
  bool m_late = false;  ///< not all clauses are there
  MatchingOrder m_order;
  Streams m_streams;
  SatSolver m_solver;
  Literal m_true = 0;
  Literal m_final = 0;
  Literal m_buffered = 0;
  std::vector<std::vector<Literal>> m_ended;      ///< by rank, serial - 1
  std::vector<std::vector<Pair>> m_ofReceive;     ///< messages
  std::vector<std::vector<Pair>> m_ofMessage;     ///< receives, in posting order
  std::vector<std::vector<Literal>> m_takenUpTo;  ///< by message, place in m_ofMessage
  std::set<std::uint32_t>
      m_choice;  ///< Detail::Counts: receives of which only whether they have a message is said
  std::set<std::uint32_t>
      m_choiceOfMessage;  ///< Detail::Counts: messages of which only whether they are taken is said
  std::vector<Literal> m_taken;
  std::vector<Literal> m_matched;
  std::vector<Literal> m_flipped;
  std::vector<Literal> m_collectives;  ///< all that it awaits has begun
  std::vector<std::vector<Seen>> m_seen;
  std::map<std::pair<Rank, Serial>, std::vector<Consumed>> m_consumed;
  std::vector<Pair> m_found;  ///< by receive
};

}  // namespace pf::prediction
