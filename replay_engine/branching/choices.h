// SPDX-License-Identifier: GPL-3.0-or-later
// The choices that MPI made in an execution, in an order in which they may have been made; and what of the execution is
// left when only some of them are made.
//
// A choice is which message a wildcard receive took, which one a wildcard probe saw, or which requests a call of Waitany's kind
// gave. All else follows from them, as each rank is deterministic between them (Netzer and Miller, section 4: the Replay
// Theorem). "Before" is the order of races.h: entries and exits of events, and deliveries. A call of Waitany's kind makes its
// choice at its exit. For ranks with one thread.
//
// What could such a call have given (MPI 4.0, 3.7.5: any request that is done, and of Waitsome and Testsome any of them, at
// least one; what is done when is MPI's own)? Each active request whose operation can end without what comes behind the call:
//   - a receive whose delivery is not after the exit of the call,
//   - a synchronous send of which the same is true (3.4); other sends always, as MPI may keep the message (3.4, 3.5),
//   - a non-blocking collective, if no part that it takes from begins after the exit of the call.
// Not varied are requests of which nothing is known (OfferedKind::Other), cancelled receives, and that a test fails. Of more
// than kMostInSets requests that could be given, sets of several are not varied, but for all of them (unvaried()).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay_engine/causality/chains.h"
#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/prerequisites.h"
#include "replay_engine/causality/send_order.h"
#include "replay_engine/execution/execution.h"

namespace pf {

/// Who chose.
enum class ChosenBy : std::uint8_t { Receive, Probe, Completion };

/// A wildcard receive or probe, or a call of Waitany's kind. Its name is the same in each run that has made the choices before
/// it alike.
struct RunChoice {
  Rank rank = kUnknownRank;
  ChosenBy by = ChosenBy::Receive;
  std::uint32_t index = kNone;  ///< into RankHistory::receives, ::probes, or ::offers
  friend bool operator==(const RunChoice&, const RunChoice&) = default;
};

/// What was chosen: a message by its sender and its place among all that this one sends; or by the rank of the call and its
/// GivenCode.
struct ChosenName {
  Rank sender = kUnknownRank;
  std::uint32_t send = kNone;  ///< into RankHistory::sends, or a GivenCode
  friend bool operator==(const ChosenName&, const ChosenName&) = default;
};

/// What a call of Waitany's kind gave: of one that gives a request its place among those it was offered; of one that gives
/// several a bit for each place.
using GivenCode = std::uint32_t;
/// The requests that a code stands for, by place. Empty: it stands for none of this call.
std::vector<std::uint32_t> placesIn(const OfferedCompletion& call, GivenCode code);
/// "0", "0+2": indices in the call's array.
std::string givenText(const OfferedCompletion& call, GivenCode code);

/// So many that could be given are given in every combination.
inline constexpr std::uint32_t kMostInSets = 5;

/// The message of this name; kNone: there is none.
std::uint32_t messageNamed(const Execution& execution, const ChosenName& name);

/// The event at which the program sees what was chosen. The choice must be one of the execution.
Serial shownAt(const Execution& execution, const RunChoice& choice);
/// The event that asks for it: the post of the receive, the probe, the call.
Serial askedAt(const Execution& execution, const RunChoice& choice);

/// How far an execution comes.
struct Reach {
  std::vector<Serial> done;  ///< events of each rank that are over
  std::vector<bool> made;    ///< by number of the choice: it was made on the way
};

class Choices {
 public:
  /// Needs matchMessages() first. The execution must outlive this.
  explicit Choices(const Execution& execution);

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(m_all.size()); }
  [[nodiscard]] const RunChoice& at(std::uint32_t number) const { return m_all[number]; }
  /// The message that was taken, or seen; kNone: it is a call of Waitany's kind.
  [[nodiscard]] std::uint32_t taken(std::uint32_t number) const { return m_taken[number]; }
  [[nodiscard]] ChosenName chosen(std::uint32_t number) const;
  /// Nothing if that is no choice that was made.
  [[nodiscard]] std::optional<std::uint32_t> find(const RunChoice& choice) const;
  /// Calls of Waitany's kind of which not all that they could have given is varied.
  [[nodiscard]] std::uint64_t unvaried() const;

  /// How far the ranks get when no other choices are made than these (by number).
  [[nodiscard]] Reach reach(const std::vector<bool>& may) const;

  /// All choices, each behind all that are before it. `first`: those that come first; they must be in such an order, and
  /// all that is before one of them among those in front of it.
  [[nodiscard]] std::vector<std::uint32_t> inOrder(std::span<const std::uint32_t> first) const;

  /// The choices before the moment at which a call of Waitany's kind could give this. Ascending numbers, without the call itself.
  /// Nothing: it never could.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> neededToGive(std::uint32_t number,
                                                                       GivenCode code) const;

 private:
  class Walk;
  class Past;

 public:
  /// An execution on its way: choices that were made, and what further ones need beside them. What has been made is not looked at
  /// again, so that a whole execution can be gone through choice by choice.
  class Made {
   public:
    /// None yet. The choices must outlive this.
    explicit Made(const Choices& choices);
    ~Made();
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;

    /// These too; all that they need must be among them, or made.
    void make(std::span<const std::uint32_t> numbers);
    /// All that were made, each behind all that are before it.
    [[nodiscard]] const std::vector<std::uint32_t>& order() const;
    [[nodiscard]] Reach reach() const;

    /// The choices before the moment at which MPI could give `message` to this choice, of those that were not made: what its send needs,
    /// and what the matching order demands (prerequisites.h). Ascending numbers, without the choice itself. Some that were
    /// made may be among them.
    [[nodiscard]] std::vector<std::uint32_t> neededFor(std::uint32_t number, std::uint32_t message);
    /// What else a call of Waitany's kind could have given, ascending.
    [[nodiscard]] std::vector<GivenCode> otherGiven(std::uint32_t number);
    /// As neededFor(), of the moment at which the call could give this. Nothing: it never could.
    [[nodiscard]] std::optional<std::vector<std::uint32_t>> neededToGive(std::uint32_t number,
                                                                         GivenCode code);

   private:
    /// The posts of a rank before where it was asked last.
    struct Earlier {
      std::unique_ptr<EarlierPosts> posts;
      std::uint32_t count = 0;
      Serial begin = 0;
    };

    const Choices& m_choices;
    std::unique_ptr<Walk> m_walk;
    std::unique_ptr<Past> m_past;
    std::vector<Earlier> m_earlier;
  };

 private:
  std::uint32_t add(const RunChoice& choice, std::uint32_t taken);
  void addCompletions(std::uint32_t rank);
  [[nodiscard]] std::vector<std::uint32_t> neededFor(std::uint32_t number, std::uint32_t message,
                                                     Past& past, EarlierPosts& earlier) const;
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> neededToGive(std::uint32_t number,
                                                                       GivenCode code,
                                                                       Past& past) const;
  [[nodiscard]] std::vector<GivenCode> otherGiven(std::uint32_t number, Past& past) const;
  /// Receives of its rank that were posted before it.
  [[nodiscard]] std::uint32_t postsBefore(const RunChoice& choice) const;
  /// The offered requests that could be given, by place.
  [[nodiscard]] std::vector<std::uint32_t> couldEnd(const RunChoice& choice, Past& past) const;
  /// False: it is not known to end at all.
  bool addEndOf(const RunChoice& choice, const OfferedRequest& request, Past& past) const;
  bool addEndOfCollective(Rank rank, std::uint32_t number, Past& past) const;
  [[nodiscard]] const OfferedCompletion& callOf(const RunChoice& choice) const {
    return m_execution.ranks[pf::index(choice.rank)].offers[choice.index];
  }

  [[nodiscard]] std::uint32_t ofMessage(std::uint32_t message) const {
    return m_ofMessage[message];
  }
  /// The probe or call of Waitany's kind that this event is.
  [[nodiscard]] std::uint32_t ofExit(std::uint32_t rank, std::uint32_t serial) const;

  const Execution& m_execution;
  Chains m_chains;
  SendOrder m_sends;
  DeliveryOrder m_order;
  EventGraph m_graph;
  std::vector<RunChoice> m_all;
  std::vector<std::uint32_t> m_taken;
  std::vector<std::uint32_t> m_ofMessage;  ///< the receive's choice that took it, or kNone
  std::vector<std::vector<std::uint32_t>> m_receives;  ///< by rank and index: number, or kNone
  std::vector<std::vector<std::uint32_t>> m_probes;
  std::vector<std::vector<std::uint32_t>> m_completions;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      m_exits;  ///< by rank: (serial, number) of probes and calls of Waitany's kind, ascending
};

}  // namespace pf
