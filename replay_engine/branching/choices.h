// SPDX-License-Identifier: GPL-3.0-or-later
// The choices that MPI made in an execution, in an order in which they may have been made; and what of the execution is
// left when only some of them are made.
//
// A choice is which message a wildcard receive took, or which one a wildcard probe saw. All else follows from them, as each
// rank is deterministic between them (Netzer and Miller, section 4: the Replay Theorem). "Before" is the order of races.h:
// entries and exits of events, and deliveries. For ranks with one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replay_engine/causality/chains.h"
#include "replay_engine/causality/delivery_order.h"
#include "replay_engine/causality/event_graph.h"
#include "replay_engine/causality/send_order.h"
#include "replay_engine/execution/execution.h"

namespace pf {

/// A wildcard receive or probe. Its name is the same in each run that has made the choices before it alike.
struct WildcardChoice {
  Rank rank = kUnknownRank;
  bool probe = false;
  std::uint32_t index = kNone;  ///< into RankHistory::receives, or ::probes
  friend bool operator==(const WildcardChoice&, const WildcardChoice&) = default;
};

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
  [[nodiscard]] const WildcardChoice& at(std::uint32_t number) const { return m_all[number]; }
  /// The message that was taken, or seen.
  [[nodiscard]] std::uint32_t taken(std::uint32_t number) const { return m_taken[number]; }
  /// Nothing if that is no choice that was made.
  [[nodiscard]] std::optional<std::uint32_t> find(const WildcardChoice& choice) const;

  /// How far the ranks get when no other choices are made than these (by number).
  [[nodiscard]] Reach reach(const std::vector<bool>& may) const;

  /// All choices, each behind all that are before it. `first`: those that come first; they must be in such an order, and
  /// all that is before one of them among those in front of it.
  [[nodiscard]] std::vector<std::uint32_t> inOrder(std::span<const std::uint32_t> first) const;

  /// The choices before the moment at which MPI could give `message` to this choice: those that its send needs, and those
  /// that the matching order demands (prerequisites.h). Ascending numbers, without the choice itself.
  [[nodiscard]] std::vector<std::uint32_t> neededFor(std::uint32_t number,
                                                     std::uint32_t message) const;

 private:
  class Walk;
  class Past;

  [[nodiscard]] std::uint32_t ofMessage(std::uint32_t message) const {
    return m_ofMessage[message];
  }
  [[nodiscard]] std::uint32_t ofProbeAt(std::uint32_t rank, std::uint32_t serial) const;

  const Execution& m_execution;
  Chains m_chains;
  SendOrder m_sends;
  DeliveryOrder m_order;
  EventGraph m_graph;
  std::vector<WildcardChoice> m_all;
  std::vector<std::uint32_t> m_taken;
  std::vector<std::uint32_t> m_ofMessage;  ///< the receive's choice that took it, or kNone
  std::vector<std::vector<std::uint32_t>> m_receives;  ///< by rank and index: number, or kNone
  std::vector<std::vector<std::uint32_t>> m_probes;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>
      m_probesAt;  ///< by rank: (serial, number), ascending
};

}  // namespace pf
